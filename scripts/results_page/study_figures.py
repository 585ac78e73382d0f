"""What docs/answers-per-megabyte.md shows: each figure with the runs that it is made of."""
import study_tables as tables
from page import Figure

KINDS = ("tune", "write", "join")  # runs that belong to this page

ALT = "KL divergence from the full cache against megabytes, a line for each type of rows and policy: "

FIGURES = (
    Figure("mb-aims", ("mb-coder-r16-m64-default", "mb-coder-r16-m64-quick", "mb-smollm2-r32-m128-default", "mb-smollm2-r32-m128-quick"), "", tables.aims_table),
    Figure("mb-choice", ("mb-*",), "", tables.choice_table),
    Figure("mb-texts", ("texts-gsm8k-*", "texts-kinds-*"), "", tables.texts_table),
    Figure("mb-coder-r16", ("mb-coder-r16-*",), ALT + "Qwen2.5-Coder-1.5B, R = 16", tables.points_table),
    Figure("mb-coder-r64", ("mb-coder-r64-*",), ALT + "Qwen2.5-Coder-1.5B, R = 64", tables.points_table),
    Figure("mb-smollm2-r32", ("mb-smollm2-r32-*",), ALT + "SmolLM2-135M, R = 32", tables.points_table),
    Figure("types", ("types-*",), "", tables.types_table),
    Figure("mb-held-gsm8k", ("mb-held-gsm8k-*",), "", tables.points_table),
    Figure("mb-held-math", ("mb-held-math-*",), "", tables.points_table),
    Figure("mb-held-kinds", ("mb-held-kinds-*",), "", tables.points_table),
    Figure("mb-held-smollm2", ("mb-held-smollm2-*",), "", tables.points_table),
)
