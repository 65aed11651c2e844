#!/usr/bin/python3
"""szego checkpoint on the real model of ./demo, against NumPy on weights read here.
usage: test_model.py PROGRAM; SZG_TEST_MODEL names the model's folder."""
import json
import os
import struct
import sys

from peer import EPS, Tap, skip, tables

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
FOLDER = os.environ.get("SZG_TEST_MODEL")
if not FOLDER:
    skip("SZG_TEST_MODEL is not set: ./check --full fetches the model and sets it")

PROGRAM = sys.argv[1]
tap = Tap()
with open(os.path.join(FOLDER, "model.safetensors"), "rb") as file:
    content = file.read()
(length,) = struct.unpack("<Q", content[:8])
header = json.loads(content[8 : 8 + length])


def tensor(name):
    entry = header[name]
    first, last = (8 + length + offset for offset in entry["data_offsets"])
    assert entry["dtype"] == "F32"
    return np.frombuffer(content[first:last], "<f4").reshape(entry["shape"]).astype(float)


def logit_matrix(layer, head, size=32):
    prefix = f"encoder.layer.{layer}.attention.self."
    rows = slice(head * size, (head + 1) * size)
    # Torch keeps [out, in]: q = W_Q x, so that q^T k = x^T W_Q^T W_K y.
    return tensor(prefix + "query.weight")[rows].T @ tensor(prefix + "key.weight")[rows] / size**0.5


def fold(layer, qk):
    """With the gain of the norm whose output the layer reads, and without the mean that it takes away."""
    norm = "embeddings.LayerNorm" if layer == 0 else f"encoder.layer.{layer - 1}.output.LayerNorm"
    centred = tensor(norm + ".weight")[:, None] * (np.eye(len(qk)) - 1 / len(qk))
    return centred.T @ qk @ centred


positions = tensor("embeddings.position_embeddings.weight")
results = {"raw": tables(PROGRAM, "checkpoint", FOLDER, "--raw"), "folded": tables(PROGRAM, "checkpoint", FOLDER)}
for form, layer, head in [(form, *place) for form in results for place in [(0, 0), (2, 7), (5, 11)]]:
    found, qk = results[form], logit_matrix(layer, head)
    for matrix, dense in [("qk", fold(layer, qk) if form == "folded" else qk), ("position", positions @ qk @ positions.T)]:
        label = f"{form}: layer {layer} head {head} {matrix}"
        want = np.linalg.svd(dense, compute_uv=False)
        bound = 20 * len(dense) * EPS * want[0]
        got = sorted((float(row["re"]) for row in found["spectra"]
                      if (row["layer"], row["head"], row["matrix"], row["kind"])
                      == (str(layer), str(head), matrix, "singular")), reverse=True)
        tap.ok(f"{label}: rank listed", len(got) == 32, f"{len(got)} values")
        tap.close(f"{label}: singular values", float(np.abs(np.array(got) - want[: len(got)]).max()),
                  0, bound)
        tap.close(f"{label}: the others are 0", float(want[len(got) :].max()), 0, bound)
        (row,) = [row for row in found["summary"]
                  if (row["layer"], row["head"], row["matrix"]) == (str(layer), str(head), matrix)]
        radius = float(np.abs(np.linalg.eigvals(dense)).max())
        tap.close(f"{label}: radius", float(row["radius"]), radius, 1e-9 * radius)
        if matrix == "position":
            means = [np.diagonal(dense, -lag).mean() for lag in range(1 - len(dense), len(dense))]
            weight = len(dense) - np.abs(np.arange(1 - len(dense), len(dense)))
            tau = float((weight * np.square(means)).sum() / np.square(dense).sum())
            tap.close(f"{label}: toeplitzness", float(row["toeplitzness"]), tau, 1e-11)
tap.finish()
