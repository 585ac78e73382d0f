#!/usr/bin/env python3
"""Files that NumPy writes are read by `vase select`, and NumPy reads what it writes.

Usage: numpy_test.py VASE_PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BUDGET, BUFFER = 24, 8


def select(program, *arguments):
    command = [program, "select", "--policy", "score=key-norm", "--kv-budget", str(BUDGET), "--kv-buffer", str(BUFFER)]
    done = subprocess.run(command + list(arguments), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def expected(keys):
    """Rows with the smallest key norms, and the buffer."""
    norms = np.linalg.norm(keys[:, :-BUFFER].astype(np.float32), axis=-1)
    best = np.sort(np.argsort(norms, axis=-1, kind="stable")[:, : BUDGET - BUFFER])
    newest = np.tile(np.arange(keys.shape[1] - BUFFER, keys.shape[1]), (len(keys), 1))
    return np.concatenate([best, newest], axis=1)


def main(program):
    random = np.random.default_rng(1)
    keys, values = random.standard_normal((3, 50, 16)), random.standard_normal((3, 50, 16))
    positions = np.arange(100, 150)
    with tempfile.TemporaryDirectory() as folder:
        path, out = pathlib.Path(folder, "in.npz"), pathlib.Path(folder, "out.npz")
        for save in (np.savez, np.savez_compressed):
            for kind in ("<f2", "<f4", "<f8"):
                k = keys.astype(kind)
                save(path, K=k, V=values.astype(kind), positions=positions.astype("<i4"))
                heads = json.loads(select(program, "--in", str(path), "--json"))["heads"]
                assert (np.array([head["kept"] for head in heads]) == expected(k)).all(), (save, kind)
        with open(path, "wb") as stream:  # not seekable back: sizes come behind the data
            pipe = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=stream)
            np.savez(pipe.stdin, K=keys, V=values)
            pipe.stdin.close()
            pipe.wait()
        select(program, "--in", str(path))
        np.savez(path, K=np.asfortranarray(keys), V=values, positions=positions)
        select(program, "--in", str(path), "--out", str(out))
        with np.load(out) as result:
            assert (result["kept"] == expected(keys)).all()
            assert (result["positions"] == result["kept"] + 100).all()
            assert result["protected"].dtype == bool and not result["protected"].any()
            norms = -np.linalg.norm(keys[:, :-BUFFER], axis=-1)
            assert np.allclose(result["scores"], norms, rtol=1e-5)
        folder_of_arrays = pathlib.Path(folder, "arrays")
        folder_of_arrays.mkdir()
        np.save(folder_of_arrays / "K.npy", keys)
        np.save(folder_of_arrays / "V.npy", values)
        kept = pathlib.Path(folder, "kept.npy")
        select(program, "--in", str(folder_of_arrays), "--out", str(kept))
        assert (np.load(kept) == expected(keys)).all()


if __name__ == "__main__":
    main(sys.argv[1])
