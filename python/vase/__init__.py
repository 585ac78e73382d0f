"""Language models that think for as long as they like in a fixed amount of KV memory.

    model = vase.Model("model.gguf")
    engine = vase.Engine(model, "vase-attnv", budget=256)
    for text in engine.submit("Once upon a time"):
        print(text, end="", flush=True)

Names, options and defaults are those of the C++ library (docs/library.md); what each policy does is in docs/policies.md.
"""

from vase._vase import (
    Counters,
    EvictionRecord,
    Head,
    MemoryPlan,
    Model,
    ModelShape,
    Needs,
    Policy,
    Selection,
    Session,
    rope_frequencies,
)
from vase._vase import version as __version__
from vase.arrays import select
from vase.engine import Engine
from vase.error import Error
from vase.scorer import Scorer

__all__ = [
    "Counters",
    "Engine",
    "Error",
    "EvictionRecord",
    "Head",
    "MemoryPlan",
    "Model",
    "ModelShape",
    "Needs",
    "Policy",
    "Scorer",
    "Selection",
    "Session",
    "rope_frequencies",
    "select",
]
