#!/usr/bin/python3
"""szego logits against NumPy's LAPACK, on a dump of queries and keys that is rotated here entry by
entry, and on random logits. usage: test_logits.py PROGRAM"""
import os
import sys

from peer import EPS, Tap, scratch, skip, szego

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def summary(matrix):
    n = len(matrix)
    values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    singular = np.linalg.svd(matrix, compute_uv=False)
    share = singular / singular.sum()
    share = share[share > 0]
    means = {k: np.diagonal(matrix, -k).mean() for k in range(1 - n, n)}
    energy = sum((n - abs(k)) * m * m for k, m in means.items())
    t = np.linspace(0, 2 * np.pi, 20001)
    symbol = np.abs(sum(m * np.exp(1j * k * t) for k, m in means.items()))
    return {"values": values[::-1], "singular": singular, "lambda_min": values[0],
            "lambda_max": values[-1], "width": values[-1] - values[0],
            "radius": np.abs(values).max(), "sigma_max": singular[0],
            "stable_rank": (singular**2).sum() / singular[0]**2,
            "effective_rank": np.exp(-(share * np.log(share)).sum()),
            "toeplitzness": energy / (matrix**2).sum(), "symbol": symbol}


def compare(name, row, suffix, one, bound):
    for key in ("lambda_min", "lambda_max", "width", "radius", "sigma_max"):
        tap.close(f"{name}: {key}{suffix}", row[key + suffix], float(one[key]), bound)
    for key in ("stable_rank", "effective_rank", "toeplitzness"):
        tap.close(f"{name}: {key}{suffix}", row[key + suffix], float(one[key]), 1e-9 * len(one["values"]))
    # |a| between two samples 2 pi / 20000 apart moves by less than degree times that.
    most, least = one["symbol"].max(), one["symbol"].min()
    slack = 1e-9 * most
    tap.ok(f"{name}: symbol{suffix} within its enclosure",
           row["symbol_min_lo" + suffix] <= least + slack and
           most <= row["symbol_max_hi" + suffix] + slack and
           row["symbol_max_lo" + suffix] <= most * 1.001)


def compare_pair(name, row, content, coupled):
    a, b = summary(content), summary(coupled)
    bound = 100 * len(content) * EPS * (a["sigma_max"] + b["sigma_max"])
    compare(name, row, "_content", a, bound)
    compare(name, row, "_coupled", b, bound)
    tap.close(f"{name}: width ratio", row["width_ratio"], float(b["width"] / a["width"]), 1e-10)
    tap.close(f"{name}: norm ratio", row["norm_ratio"], float(b["sigma_max"] / a["sigma_max"]), 1e-10)
    tap.close(f"{name}: nuclear ratio", row["nuclear_ratio"],
              float(b["singular"].sum() / a["singular"].sum()), 1e-9)
    room = np.cumsum(a["values"]) - np.cumsum(b["values"])
    room[-1] = -abs(room[-1])
    tap.close(f"{name}: margin", row["margin"], float(room.min()), len(content) * bound)
    if abs(room.min()) > len(content) * bound:
        tap.ok(f"{name}: majorised", row["majorised"] == (1 if room.min() > 0 else 0))


def rotated(x, theta):
    i = np.arange(len(x))[:, None]
    turned = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * i * theta)
    out = np.empty_like(x)
    out[:, 0::2], out[:, 1::2] = turned.real, turned.imag
    return out


with scratch() as folder:
    path = lambda name: os.path.join(folder, name)
    heads, n, d = 3, 40, 16
    theta = 10000.0 ** (-np.arange(d // 2) * 2 / d)
    q, k = rng.standard_normal((2, heads, n, d)) + rng.standard_normal((2, heads, 1, d))
    np.save(path("q.npy"), q)
    np.save(path("k.npy"), np.asfortranarray(k))
    rows = szego(PROGRAM, "logits", "--q", path("q.npy"), "--k", path("k.npy"),
                 "--pe", f"rope:dim={d}")["contraction"]
    tap.ok("one row a head", [row["head"] for row in rows] == list(range(heads)))
    for h, row in enumerate(rows):
        content = q[h] @ k[h].T / np.sqrt(d)
        coupled = rotated(q[h], theta) @ rotated(k[h], theta).T / np.sqrt(d)
        compare_pair(f"rope, head {h}", row, content, coupled)
    content = rng.standard_normal((2, 2, 25, 25)).astype("f4")
    coupled = rng.standard_normal((2, 2, 25, 25)).astype("f4")
    np.save(path("content.npy"), content)
    np.save(path("coupled.npy"), coupled)
    rows = szego(PROGRAM, "logits", "--content", path("content.npy"), "--coupled",
                 path("coupled.npy"), "--lengths", "25,11", "--axes", "batch,head")["contraction"]
    for index, row in enumerate(rows):
        b, h, m = index // 2, index % 2, (25, 11)[index // 2]
        tap.ok(f"labels of row {index}", (row["probe"], row["head"], row["n"]) == (str(b), h, m))
        compare_pair(f"batch {b}, head {h}", row, content[b, h, :m, :m].astype(float),
                     coupled[b, h, :m, :m].astype(float))
tap.finish()
