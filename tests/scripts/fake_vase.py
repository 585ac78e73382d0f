#!/usr/bin/env python3
"""Stands in for `vase bench`: the JSON that it would write, with speeds out of a formula instead of measurements.

A step takes what reading its bytes at 25 GB/s takes; libllama reads the rows of a cache at 6 (plain) or 1.5 GB/s (flash).
"""
import argparse
import itertools
import json

SHAPES = {"qwen3-0.6b": (0.4e9, 28), "qwen3-4b": (2.4e9, 36), "qwen3-14b": (8.1e9, 40)}  # bytes of weights, layers
KV_HEADS, META, BUFFER = 8, 16, 64
ROWS = {"f16": 256, "q8_0": 136, "q4_0": 72}  # bytes of a row of 128 channels
GB = 1e9


def integers(text):
    return [int(one) for one in text.split(",")]


def parse():
    app = argparse.ArgumentParser()
    app.add_argument("verb")
    app.add_argument("--model")
    app.add_argument("--shape", choices=SHAPES)
    for flag, default in (("--depth", "0"), ("--batch", "1"), ("--prompt", ""), ("--tokens", ""), ("--kv-budget", "1024"), ("--chunk", "256")):
        app.add_argument(flag, default=default)
    app.add_argument("--policy", action="append", required=True)
    app.add_argument("--peer", default="none")
    app.add_argument("--repeats", type=int, default=5)
    app.add_argument("--memory-mb", type=int)
    app.add_argument("--kv-budget-mb", type=int)
    app.add_argument("--kv-type", action="append", choices=ROWS)
    app.add_argument("--products", default="own")
    app.add_argument("--weights", default="q4_0")
    app.add_argument("--kv-stagger", default="on")
    for flag in ("--peer-tokens", "--format", "--out"):
        app.add_argument(flag)
    for flag in ("--predict", "--sweep-batch"):
        app.add_argument(flag, action="store_true")
    return app.parse_args()


def with_repeats(name, value, repeats):
    """The fields of a measurement whose repeats lie within 2 % of the value."""
    if value is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None, f"{name}_repeats": []}
    values = [value * (1 + 0.02 * (i % 3 - 1)) for i in range(repeats)]
    return {name: value, f"{name}_low": min(values), f"{name}_high": max(values), f"{name}_repeats": values}


def speeds(options, weights, slot, batch, slots, seen):
    """Tokens per second of ours, libllama with and without flash attention, and of ours over the faster."""
    ours = batch / ((weights + batch * slots * slot) / (25 * GB))
    theirs = {}
    for mode, gb in (("flash", 1.5), ("plain", 6)):
        asked = options.peer in ("llama", f"llama-{mode}")
        theirs[mode] = batch / (weights * (0.8 + 0.2 * batch) / (22 * GB) + batch * seen * slot / (gb * GB)) if asked else None
    best = max((one for one in theirs.values() if one), default=None)
    return ours, theirs["flash"], theirs["plain"], best and ours / best


def row(options, test, depth, batch, policy, kv_type, budget, products, chunk):
    weights, layers = SHAPES.get(options.shape, (0.1e9, 30))
    row_bytes = ROWS[kv_type]
    if options.kv_budget_mb:
        budget = int(options.kv_budget_mb * 2**20 / (layers * KV_HEADS * (2 * row_bytes + META))) - BUFFER
    seen = depth + int(test[2:])
    full = policy == "full"
    capacity = seen if full else budget + BUFFER
    per_slot = layers * KV_HEADS * 2 * row_bytes
    if options.memory_mb:
        room = options.memory_mb * 2**20 - weights
        batch = max(0, int(room // (layers * KV_HEADS * capacity * (2 * row_bytes + META))))
    mib = layers * KV_HEADS * capacity * (2 * row_bytes + META) * max(batch, 1) / 2**20
    ours, flash, plain, ratio = speeds(options, weights, per_slot, batch, min(seen, capacity), seen) if batch else [None] * 4
    if ours and products == "ggml":
        ours /= 2
    step_ms = 1e3 * batch / ours if batch else None
    predicted = ours * 1.04 if options.predict and batch else None
    fields = {
        "date": "2026-01-02T03:04:05Z", "cpu": "Test Processor", "simd": "AVX3", "build": "0.1.0 (test)", "compiler": "clang 19.1.7",
        "model": f"{options.shape} (random weights)" if options.shape else "Tiny 135M Instruct", "fingerprint": "0123456789abcdef",
        "test": test, "depth": depth, "batch": batch, "threads": 2, "chunk": chunk, "policy_name": policy, "budget": budget if not full else capacity,
        "products": products, "staggered": options.kv_stagger == "on",
        "capacity": capacity, "key_type": kv_type, "value_type": kv_type, "repeats": options.repeats, "incomplete": False,
        "token_ms_p50": step_ms, "token_ms_p90": step_ms and 1.02 * step_ms, "token_ms_p99": step_ms and 1.1 * step_ms,
        "token_ms_max": step_ms and 1.2 * step_ms, "worst_over_median": 1.2, "evicting_over_other": None if full else 1.1,
        "eviction_percent": 0 if full else 0.4, "tokens_seen": seen, "kv_mib": mib, "weights_mib": weights / 2**20,
        "compute_mib": 6, "memory_limit_mib": options.memory_mb, "peak_resident_mib": weights / 2**20 + 520 + 1.01 * mib,
        "memory": {"layers": layers, "kv_heads": KV_HEADS, "sequences": max(batch, 1), "key_row_bytes": row_bytes, "value_row_bytes": row_bytes,
                   "metadata_bytes": META, "summary_bytes": 0, "scratch_bytes": 0},
        "prediction_error_percent": 4 if predicted else None,
    }  # fmt: skip
    measured = {
        "tokens_per_s": ours, "peer_flash_tokens_per_s": flash, "peer_plain_tokens_per_s": plain, "ratio_vs_peer": ratio,
        "read_gb_per_s": 25 if batch else None, "limit_fraction": 0.9 if batch else None, "predicted_tokens_per_s": predicted,
    }  # fmt: skip
    for name, value in measured.items():
        fields |= with_repeats(name, value, options.repeats)
    return fields


def main():
    options = parse()
    tests = [f"pp{n}" for n in integers(options.prompt or "0") if n] + [f"tg{n}" for n in integers(options.tokens or "0") if n]
    rows = []
    for depth, batch, test in itertools.product(integers(options.depth), integers(options.batch), tests):
        for policy in options.policy:
            budgets = integers(options.kv_budget)[:1] if policy == "full" else integers(options.kv_budget)
            products = ["own", "ggml"] if options.products == "both" else [options.products]
            variants = itertools.product(options.kv_type or ["f16"], budgets, products, integers(options.chunk))
            rows += [row(options, test, depth, batch, policy, *variant) for variant in variants]
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"incomplete": False, "rows": rows}, out)
    print(f"{len(rows)} rows")


main()
