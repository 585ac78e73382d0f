#!/usr/bin/env python3
"""Distils the gates of SeerAttention-R (arXiv 2506.08889) for a model, for `--policy read=seer:gates=FILE`.

  vase capture --model MODEL --text TEXT --tokens 2048 --out text.npz     # all layers
  scripts/distil_gates.py text.npz --out MODEL.gates
  vase run --model MODEL --policy read=seer:gates=MODEL.gates --kv-budget 512 ...

Each layer and KV head has a gate of its own: two matrices that make a key of a block (out of the largest, smallest and mean
channels of its keys before RoPE) and a query (out of the group's queries before RoPE). They are trained so that
softmax over blocks (query . key / sqrt width) follows the model's own attention: the largest probability of a token in each
block, over the tokens of the block and the heads of the group, made to sum to one (KL divergence, Adam). Only blocks that
are full and before the query count; the newest block is always read. Needs NumPy alone. docs/policies.md 4.16 has the
formulas, src/policies/read/seer_gates.h the file.
"""
import argparse
import struct
import sys

import numpy as np


def layers_of(path):
    """Opens a capture; returns it and the number of its layers."""
    arrays = np.load(path)
    layers = 0
    while f"layer{layers}.K" in arrays:
        layers += 1
    if layers == 0:
        sys.exit(f"{path}: no arrays layer0.K, ...; make it with `vase capture` without --layers")
    return arrays, layers


def rotate(x, positions, base):
    """RoPE on rows [n][w], channel pairs (f, f + w/2)."""
    half = x.shape[1] // 2
    angle = positions[:, None] * base ** (-np.arange(half) / half)
    cosine, sine = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=1)


def unrotate(x, positions, base):
    return rotate(x, -positions, base)


class Head:
    """What one KV head of one captured text gives to learn from."""

    def __init__(self, arrays, layer, kv_head, block):
        def get(name):
            return arrays[f"layer{layer}.{name}"]

        keys, queries = get("K")[kv_head], get("Q")
        group = queries.shape[0] // get("K").shape[0]
        mine = slice(kv_head * group, kv_head * group + group)
        tokens, width = keys.shape
        blocks = tokens // block
        plain = get("K_plain")[kv_head][: blocks * block].reshape(blocks, block, width)
        self.pooled = np.concatenate([plain.max(1), plain.min(1), plain.mean(1)], axis=1)  # [blocks][3 width]
        self.block_positions = np.arange(blocks) * float(block)
        first = min(2 * block, tokens)  # queries with at least two full blocks behind them
        self.positions = np.arange(first, tokens, dtype=float)
        plain_queries = get("Q_plain")[mine][:, first:]
        self.queries = plain_queries.transpose(1, 0, 2).reshape(len(self.positions), group * width)
        self.past = (np.arange(blocks)[None] + 1) * block <= self.positions[:, None]  # [queries][blocks]
        best = np.zeros((len(self.positions), blocks), np.float32)
        causal = np.arange(tokens)[None] <= self.positions[:, None]
        for head in queries[mine]:
            logits = np.where(causal, head[first:] @ keys.T / np.sqrt(width), -np.inf)
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            best = np.maximum(best, p[:, : blocks * block].reshape(len(p), blocks, block).max(2))
        best = np.where(self.past, best, 0)
        self.target = best / np.maximum(best.sum(1, keepdims=True), 1e-30)


def gate_logits(head, wk, wq, base, rows):
    """Logits [rows][blocks], and the rotated keys and queries."""
    k = rotate(head.pooled @ wk.T, head.block_positions, base)
    q = rotate(head.queries[rows] @ wq.T, head.positions[rows], base)
    return q @ k.T / np.sqrt(len(wk)), k, q


def softmax_past(logits, past):
    logits = np.where(past, logits, -np.inf)
    p = np.exp(logits - logits.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def step(head, wk, wq, base, rows):
    """Gradients of the mean KL for some queries."""
    logits, k, q = gate_logits(head, wk, wq, base, rows)
    slope = (softmax_past(logits, head.past[rows]) - head.target[rows]) / (len(rows) * np.sqrt(len(wk)))
    gk = unrotate(slope.T @ q, head.block_positions, base)
    gq = unrotate(slope @ k, head.positions[rows], base)
    return gk.T @ head.pooled, gq.T @ head.queries[rows]


def measure(head, wk, wq, base, reads):
    """Mean KL, and the share of the attention's best `reads` full blocks that the gate's best hold."""
    logits, _, _ = gate_logits(head, wk, wq, base, np.arange(len(head.positions)))
    p = softmax_past(logits, head.past)
    kl = (head.target * (np.log(head.target + 1e-12) - np.log(p + 1e-12))).sum(1).mean()
    rows = head.past.sum(1) > reads
    if not rows.any():
        return kl, np.nan
    chosen = np.argsort(np.where(head.past, -logits, np.inf), 1)[rows, :reads]
    wanted = np.argsort(-head.target, 1)[rows, :reads]
    return kl, (chosen[:, :, None] == wanted[:, None]).any(2).mean()


def train(heads, width, base, steps, rate, rng):
    """Adam over all texts, with a rate that falls to nothing."""
    pooled, queries = heads[0].pooled.shape[1], heads[0].queries.shape[1]
    weights = [rng.normal(0, n**-0.5, (width, n)).astype(np.float32) for n in (pooled, queries)]
    start = [w.copy() for w in weights]
    m, v = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    for t in range(1, steps + 1):
        head = heads[rng.integers(len(heads))]
        rows = rng.integers(len(head.positions), size=min(256, len(head.positions)))
        for i, g in enumerate(step(head, *weights, base, rows)):
            m[i] += 0.1 * (g - m[i])
            v[i] += 0.01 * (g * g - v[i])
            scale = rate * (1 + np.cos(np.pi * t / steps)) / 2
            weights[i] -= scale * (m[i] / (1 - 0.9**t)) / (np.sqrt(v[i] / (1 - 0.99**t)) + 1e-8)
    return weights, start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+", metavar="TEXT.npz", help="what `vase capture` wrote, all layers")
    parser.add_argument("--out", required=True, help="gate file to write")
    parser.add_argument("--held-out", metavar="TEXT.npz", help="another capture to measure on; the first text when absent")
    parser.add_argument("--block", type=int, default=64, help="tokens per block (64)")
    parser.add_argument("--width", type=int, default=128, help="channels of a gate's keys and queries, even (128)")
    parser.add_argument("--rope-base", type=float, default=10000, help="of the gates' own RoPE (10000)")
    parser.add_argument("--steps", type=int, default=300, help="of Adam, 256 queries each (300)")
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate at the start (0.003)")
    parser.add_argument("--reads", type=int, default=4, help="blocks by which the recall is measured (4)")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    if o.width < 2 or o.width % 2 or o.block < 1 or o.steps < 1:
        parser.error("--width must be even and positive, --block and --steps positive")

    texts = [layers_of(path) for path in o.captures]
    held, _ = layers_of(o.held_out or o.captures[0])
    arrays, layers = texts[0]
    kv_heads, tokens, head_dim = arrays["layer0.K"].shape
    group = arrays["layer0.Q"].shape[0] // kv_heads
    if tokens < 4 * o.block or held["layer0.K"].shape[1] < 4 * o.block:
        parser.error(f"a text has {tokens} tokens; at least four blocks of {o.block} are needed")
    rng = np.random.default_rng(o.seed)
    measured = []
    with open(o.out, "wb") as out:
        out.write(b"VASESEER" + struct.pack("<7If", 1, layers, kv_heads, group, head_dim, o.block, o.width, o.rope_base))
        for layer in range(layers):
            for kv_head in range(kv_heads):
                heads = [Head(a, layer, kv_head, o.block) for a, _ in texts]
                weights, start = train(heads, o.width, o.rope_base, o.steps, o.rate, rng)
                for w in weights:
                    out.write(np.ascontiguousarray(w, "<f4").tobytes())
                test = Head(held, layer, kv_head, o.block)
                measured.append([*measure(test, *start, o.rope_base, o.reads), *measure(test, *weights, o.rope_base, o.reads)])
            done = np.nanmean(measured, axis=0)
            print(f"layer {layer + 1}/{layers}: KL {done[0]:.3f} random, {done[2]:.3f} distilled; "
                  f"recall of the best {o.reads} blocks {done[1]:.3f} random, {done[3]:.3f} distilled", flush=True)


if __name__ == "__main__":
    main()
