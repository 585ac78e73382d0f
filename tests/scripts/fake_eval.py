#!/usr/bin/env python3
"""Stands in for `vase` and `peer_answers` in tests of scripts/results: folders and summaries of the real form at once.

Of four problems the full cache has p-0, p-1 and p-2 right, `random` p-0 alone, any other policy p-0 and p-1. A divergence is
0.1 x (1 + place of the policy's name in the alphabet) x 128 / budget, the noise floor 0.003. `tune` counts 100 positions of rows in
f16 and 200 of others, and has the divergences of TUNED on p-1, half as much again on p-2. $FAKE_EVAL_LOG lists the calls; with
$FAKE_EVAL_FAIL in its arguments a call fails.
"""
import json
import math
import os
import pathlib
import statistics
import sys

PROBLEMS = 4
PRESETS = ("full", "random", "snapkv", "vase-attnv")
TUNED = {"vase-attnv": 0.4, "snapkv": 0.8, "vase-attnv-weighted": 0.01}
EVERYWHERE = 0.1  # of other policies, on every text
RIGHT = {"full": 3, "libllama": 3, "random": 1}


def values(words, flag):
    return [words[i + 1] for i, word in enumerate(words) if word == flag]


def line(policy, budget, run, problem):
    right = problem < RIGHT.get(policy, 2)
    return {
        "task": "gsm8k", "id": f"p-{problem}", "policy": policy, "budget": budget, "run": run, "sample": 0, "seed": 1, "evict_seed": run,
        "expected": "1", "extracted": "1", "right": right, "finish": "eos", "label": "ok" if right else "loop", "prompt_tokens": 50,
        "generated_tokens": 100 + problem, "evicted": 0, "kv_bytes": 1048576, "prompt": "A SECRET PROBLEM", "text": "A SECRET TEXT",
        "tokens": [1, 2, problem if policy != "libllama" or problem else 9],
        "timing": {"process": "a", "start": 1767322800.0 + problem, "seconds": 2.0, "tokens_per_s": 9.0},
    }  # fmt: skip


def write_folder(folder, cells, seeds, greedy, more={}):
    lines = [line(policy, budget, run, problem) for policy, budget in cells for run in range(seeds if budget else 1) for problem in (1, 0, 3, 2)]
    config = {
        "tasks": [{"name": "gsm8k"}], "cells": [{"policy": policy, "budget": budget} for policy, budget in cells], "build": "0.1.0 (test)",
        "model_name": "Tiny 1B", "sampling": {"temperature": 0 if greedy else 0.6},
    } | more  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"hash": "0123456789abcdef", "config": config, "items": len(lines)}))
    if "FAKE_EVAL_CUT" in os.environ:
        lines.pop()
    (folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))


def eval_run(words):
    budgets = [int(one) for one in values(words, "--kv-budget")]
    cells = [(policy, budget) for policy in values(words, "--policy") for budget in ([0] if policy == "full" else budgets)]
    seeds = int((values(words, "--seeds") or ["1"])[0])
    products = {"products": "ggml"} if "--products" in words else {}
    write_folder(pathlib.Path(values(words, "--out")[0]), cells, seeds, "--greedy" in words, products)


def peer(words):
    write_folder(pathlib.Path(words[-1]), [("libllama", 0)], 1, True)


def row(folder, policy, budget, lines):
    shares = {}
    for one in lines:
        shares.setdefault(one["id"], []).append(one["right"])
    means = [statistics.fmean(one) for one in shares.values()]
    lost = RIGHT["full"] - RIGHT.get(policy, 2)
    against = {
        "problems": PROBLEMS, "difference": -lost / PROBLEMS, "low": -lost / PROBLEMS - 0.25, "high": 0.25 - lost / PROBLEMS, "sign_test_p": 1.0,
        "budget_to_length": 0.75 if budget else None, "budget_to_mean_length": 0.75 if budget else None,
    }  # fmt: skip
    return {
        "folder": folder, "task": "gsm8k", "policy": policy, "budget": budget, "problems": PROBLEMS, "texts": len(lines),
        "pass_at_1": statistics.fmean(means), "pass_at_1_error": statistics.stdev(means) / math.sqrt(len(means)), "runs": 1,
        "strict": statistics.fmean(means), "loop": 0.25, "garbage": 0, "truncated": 0, "no_answer": 0, "generated_tokens_mean": 101.5,
        "generated_tokens_max": 103, "prompt_tokens_mean": 50, "tokens_per_s": 9, "kv_bytes": 1048576,
        "against_full": None if policy == "full" else against,
    }  # fmt: skip


def eval_show(folders):
    rows, shown = [], []
    for folder in folders:
        path = pathlib.Path(folder)
        config = json.loads((path / "config.json").read_text())
        lines = [json.loads(one) for one in (path / "results.jsonl").read_text().splitlines()]
        for cell in config["config"]["cells"]:
            own = [one for one in lines if (one["policy"], one["budget"]) == (cell["policy"], cell["budget"])]
            rows.append(row(folder, cell["policy"], cell["budget"], own))
        shown.append({"folder": folder, "texts": len(lines), "expected": config["items"], "complete": len(lines) == config["items"],
                      "hash": config["hash"], "config": config["config"]})  # fmt: skip
    print(json.dumps({"rows": rows, "folders": shown}))


def kl_row(policy, budget):
    mean = 0.1 * (1 + PRESETS.index(policy)) * 128 / budget
    return {"policy": policy, "budget": budget, "texts": 2, "positions": 100, "kl_mean": mean, "kl_error": mean / 10, "kl_median": 0,
            "kl_p99": 1, "kl_max": 2, "same_top": 0.9, "same_top_error": 0.01, "perplexity": 3, "perplexity_error": 0.1, "perplexity_full": 3}  # fmt: skip


def eval_kl(words):
    cells = [(policy, int(budget)) for policy in values(words, "--policy") for budget in values(words, "--kv-budget")]
    rows = [kl_row(policy, budget) for policy, budget in cells]
    with open(values(words, "--out")[0], "w", encoding="utf-8") as out:
        for one in [{"policy": "full, f32 rows", "budget": 0}] + rows:
            for text in ("p-0", "p-1"):
                entry = {"policy": one["policy"], "budget": one["budget"], "evict_seed": 0, "text": text, "positions": 50}
                print(json.dumps(entry | {"kl_mean": one.get("kl_mean", 0.003), "same_top": 0.9}), file=out)
    print(json.dumps({"complete": True, "rows": rows, "noise_floors": [{"kl_mean": 0.003}], "model": "0123", "build": "0.1.0 (test)"}))


def tune_row(text, policy, kv_type, positions, seeds):
    kl = TUNED[policy] * {"p-1": 1, "p-2": 1.5}[text] if policy in TUNED else EVERYWHERE
    return {"policy": policy, "kv_type": kv_type, "budget": 64 if kv_type == "f16" else 180, "kv_bytes": 2097152, "texts": 1,
            "positions": positions * seeds, "seeds": seeds, "kl_mean": kl, "kl_error": None, "same_top": 0.9}  # fmt: skip


def own_types(policy):
    """"vase @q4_0" is tried with that type alone."""
    return [policy.partition(" @")[2]] if " @" in policy else []


def tune(words):
    """One text; q8_0 is what the megabytes never buy."""
    (path,) = values(words, "--text")
    text = json.loads(pathlib.Path(path).read_text())["id"]
    seeds, types = int((values(words, "--seeds") or ["1"])[0]), values(words, "--kv-type")
    pairs = [(policy.partition(" @")[0], kv_type) for policy in values(words, "--policy") for kv_type in own_types(policy) or types]
    positions = 100 if {kv_type for _, kv_type in pairs} == {"f16"} else 200
    measured = [tune_row(text, *pair, positions, seeds) for pair in pairs if pair[1] != "q8_0"]
    refused = [{"policy": policy, "kv_type": kv_type, "why": "5 MiB needed"} for policy, kv_type in pairs if kv_type == "q8_0"]
    floors = [{"policy": "full, f32 rows", "kl_mean": 0.002 if text == "p-1" else 0.004}]
    print(json.dumps({"complete": True, "budget_mb": float(values(words, "--kv-budget-mb")[0]), "counted_from": 80, "measured": measured,
                      "not_measured": refused, "noise_floors": floors, "model": "0123", "build": "0.1.0 (test)"}))  # fmt: skip


def run(words):
    print(json.dumps({"prompt_ids": [1, 2], "prompt_tokens": 2, "tokens": [3] * len(words[-1]), "text": "A SECRET TEXT"}))


def policies(_):
    print(json.dumps({"presets": [{"name": name} for name in PRESETS]}))


def info(_):
    print(json.dumps({"name": "Tiny 1B"}))


def main():
    words = sys.argv[1:]
    if "FAKE_EVAL_LOG" in os.environ:
        with open(os.environ["FAKE_EVAL_LOG"], "a", encoding="utf-8") as log:
            print(*words, file=log)
    if os.environ.get("FAKE_EVAL_FAIL") in words:
        sys.exit("error: the fake was told to fail")
    if words == ["--version"]:
        return print("vase 0.1.0 (test)")
    if pathlib.Path(sys.argv[0]).name == "peer_answers":
        return peer(words)
    verbs = {"run": eval_run, "show": lambda rest: eval_show(rest[1:]), "kl": eval_kl}
    return {"policies": policies, "info": info, "tune": tune, "run": run}[words[0]](words) if words[0] != "eval" else verbs[words[1]](words[2:])


main()
