import operator

import numpy as np

from vase import _vase
from vase.error import Error

_INT32 = 2**31 - 1


def _array(name, given, shape, kind):
    """`given` as a dense array of `kind`, of the rank of `shape`; numbers of another kind are refused, not cast."""
    array = np.asarray(given)
    wanted = np.floating if kind == np.float32 else np.integer
    if not np.issubdtype(array.dtype, wanted):
        raise Error(f"{name} holds {array.dtype}; allowed: {'float' if kind == np.float32 else 'integer'} numbers")
    rank = shape.count("[")
    if array.ndim != rank:
        raise Error(f"{name} has {array.ndim} axes; it must be {shape}")
    if kind == np.int32 and array.size and (array.min() < 0 or array.max() > np.iinfo(np.int32).max):
        raise Error(f"{name} must lie in 0 to {np.iinfo(np.int32).max}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=kind)


def _integer(name, given, low, high):
    try:
        number = operator.index(given)
    except TypeError:
        raise Error(f"{name} is {given!r}; allowed: integers from {low} to {high}") from None
    if not low <= number <= high:
        raise Error(f"{name} is {number}; allowed: integers from {low} to {high}")
    return number


def scores(given, name, count):
    """What a Scorer returned, as [count] f32."""
    array = np.asarray(given)
    if not np.can_cast(array.dtype, np.float64, "same_kind"):
        raise Error(f"the scorer '{name}' returned {array.dtype}; numbers are needed")
    if array.shape != (count,):
        raise Error(f"the scorer '{name}' returned shape {array.shape}; one number per candidate is ({count},)")
    return np.ascontiguousarray(array, dtype=np.float32)


def select(
    policy,
    keys,
    values,
    *,
    budget,
    buffer=64,
    positions=None,
    queries=None,
    prompt_tokens=0,
    log_weight=None,
    rope_base=None,
    rope_frequencies=None,
    rope_adjacent=False,
    rope_magnitude=1.0,
    layer=0,
    kv_head=0,
    layers=0,
    kv_heads=0,
    seed=0,
    stream=0,
    eviction=0,
):
    """Applies a policy (a Policy or its text) to the arrays of one KV head; returns a Selection.

    keys, values: [n][d], the candidates and then the `buffer` newest tokens; keys as rotated as attention uses them.
    positions: [n] ascending integers; 0 .. n-1 when left out.
    queries: [W][G][d] of the W newest tokens, oldest first, for policies that look at attention or queries.
    budget: rows that stay, the buffer included. prompt_tokens: positions below it belong to the prompt.
    log_weight: [n] added to the logits of each row.
    rope_base, or rope_frequencies [pairs]: for policies that turn keys back.
    layer, kv_head, layers, kv_heads: which head this is, of how many. seed, stream, eviction: of the random draws.

    Raises Error that names the array for a wrong rank, dtype or shape, NaN and infinity.
    """
    if isinstance(policy, str):
        policy = _vase.Policy(policy)
    keys = _array("keys", keys, "[n][d]", np.float32)
    if rope_base is not None and rope_frequencies is not None:
        raise Error("rope_base and rope_frequencies mean the same; give one")
    if rope_base is not None:
        rope_frequencies = _vase.rope_frequencies(rope_base, keys.shape[1])
    return _vase._select(
        policy,
        keys,
        _array("values", values, "[n][d]", np.float32),
        None if positions is None else _array("positions", positions, "[n]", np.int32),
        None if queries is None else _array("queries", queries, "[W][G][d]", np.float32),
        None if log_weight is None else _array("log_weight", log_weight, "[n]", np.float32),
        None if rope_frequencies is None else _array("rope_frequencies", rope_frequencies, "[pairs]", np.float32),
        rope_adjacent,
        rope_magnitude,
        _integer("budget", budget, 1, _INT32),
        _integer("buffer", buffer, 1, _INT32),
        _integer("prompt_tokens", prompt_tokens, 0, _INT32),
        _integer("layer", layer, 0, _INT32),
        _integer("kv_head", kv_head, 0, _INT32),
        _integer("layers", layers, 0, _INT32),
        _integer("kv_heads", kv_heads, 0, _INT32),
        _integer("seed", seed, 0, 2**64 - 1),
        _integer("stream", stream, 0, 2**32 - 1),
        _integer("eviction", eviction, 0, 2**32 - 1),
    )
