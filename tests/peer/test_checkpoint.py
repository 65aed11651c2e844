#!/usr/bin/python3
"""szego checkpoint on small llamas whose heads try its factors, against NumPy on whole matrices.
usage: test_checkpoint.py PROGRAM"""
import csv
import os
import subprocess
import sys

from peer import EPS, Tap, scratch, skip, tables, write_llama

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = sys.argv[1]
WIDTH, SIZE, HEADS, KEY_HEADS = 1100, 12, 6, 2  # more columns than two blocks of the LQ
tap = Tap()
random = np.random.default_rng(7)


def graded(rows):
    return rows * 10.0 ** -np.linspace(0, 13, len(rows))[:, None]


def deficient(rows):
    """Half of the rank, up to 1e-14 of the size."""
    half = random.standard_normal((len(rows), len(rows) // 2)) @ rows[: len(rows) // 2]
    return half + 1e-14 * rows


KINDS = {"random": lambda rows: rows, "graded": graded, "deficient": deficient,
         "huge": lambda rows: rows * 2.0**400, "tiny": lambda rows: rows * 2.0**-400}


def rows_of(heads, kind):
    return np.concatenate([KINDS[kind](random.standard_normal((SIZE, WIDTH))) for _ in range(heads)])


def head_rows(found, layer, head, kind):
    return [complex(float(row["re"]), float(row["im"])) for row in found["spectra"]
            if (row["layer"], row["head"], row["kind"]) == (str(layer), str(head), kind)]


def check_head(found, layer, head, q, k, label):
    """Factors are exact for rows that are off by c d eps of their norms, and the solvers of e x e matrices for
    one that is off by c e eps: 20 covers the constants of both sides, as in peer.eigenvalue_bound."""
    norm = np.linalg.norm(q, 2) * np.linalg.norm(k, 2)
    bound = 20 * WIDTH * EPS * norm
    # From products of the QR's own Q: no triangle of ours, and no square of a singular value.
    basis, triangle = np.linalg.qr(k.T)
    want = np.linalg.svd(q.T @ triangle.T, compute_uv=False)
    got = np.array(sorted((z.real for z in head_rows(found, layer, head, "singular")), reverse=True))
    tap.close(f"{label}: singular values", float(np.abs(got - want[:SIZE]).max()), 0, bound)
    values = np.array(head_rows(found, layer, head, "eigenvalue"))
    small = k @ q.T
    # An eigenvalue of a matrix within the bound makes it singular to that, however it is conditioned.
    least = max(np.linalg.svd(small - z * np.eye(SIZE), compute_uv=False)[-1] for z in values)
    tap.close(f"{label}: eigenvalues", float(least), 0, bound)
    tap.close(f"{label}: trace", float(abs(values.sum() - np.trace(small))), 0, SIZE * bound)


layers = [(rows_of(HEADS, a), rows_of(KEY_HEADS, b))
          for a, b in [("random", "random"), ("graded", "random"), ("deficient", "graded"),
                       ("deficient", "deficient"), ("huge", "tiny")]]
same = rows_of(KEY_HEADS, "random")  # queries that are multiples of their keys: symmetric matrices
layers.append((np.concatenate([np.tile(3 * rows, (HEADS // KEY_HEADS, 1))
                               for rows in same.reshape(KEY_HEADS, SIZE, WIDTH)]), same))
with scratch() as folder:
    write_llama(os.path.join(folder, "model"), (HEADS, KEY_HEADS, SIZE, WIDTH), layers)
    found = tables(PROGRAM, "checkpoint", os.path.join(folder, "model"))
for layer, (q, k) in enumerate(layers):
    for head in range(HEADS):
        key = head // (HEADS // KEY_HEADS)
        check_head(found, layer, head, q[head * SIZE:][:SIZE] / np.sqrt(SIZE), k[key * SIZE:][:SIZE],
                   f"layer {layer} head {head}")
symmetric = [row for row in found["summary"] if row["layer"] == str(len(layers) - 1)]
# All eigenvalues are real there; of the other layers few heads have no complex pair.
tap.ok("multiples of the keys: symmetric matrices have a width", len(symmetric) == HEADS
       and all(row["width"] for row in symmetric) and not all(row["width"] for row in found["summary"]),
       str([row["solver"] for row in symmetric]))

# The benchmark's own comparison: normal rows of 256 numbers, where the norms' product is at most
# (16 + sqrt 32) / (16 - sqrt 32) = 2.1 times sigma_1, and both sides are off.
result = subprocess.run([PROGRAM, "bench", "-q", "--quick", "--format", "csv", "checkpoint:heads"],
                        env={**os.environ, "SZEGO_PYTHON": sys.executable}, capture_output=True, text=True)
rows = list(csv.DictReader(result.stdout.splitlines()))
tap.ok("the benchmark runs", result.returncode == 0, result.stderr)
tap.close("the benchmark's answers agree", float(rows[0]["difference"] or "nan"), 0, 2 * 20 * 256 * EPS * 2.1)
tap.finish()
