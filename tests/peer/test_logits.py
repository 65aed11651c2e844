#!/usr/bin/python3
"""szego logits against NumPy's LAPACK, on a dump of queries and keys that is rotated here entry by
entry, and on random logits; softmax statistics against NumPy's and PyTorch's, of the program and of the
package. usage: test_logits.py PROGRAM"""
import os
import sys

from peer import EPS, PACKAGE, Tap, scratch, skip, szego

try:
    import numpy as np
    sys.path.insert(0, PACKAGE)
    import szego as package
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
try:
    import torch
except ImportError:
    torch = None

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


def weights(logits, causal, sink):
    """Softmax weights in two passes; the learned sink's come last."""
    n = len(logits)
    seen = np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)
    x = np.where(seen, logits, -np.inf)
    if sink is not None:
        x = np.hstack((x, np.full((n, 1), sink)))
    p = np.exp(x - x.max(1, keepdims=True))
    return x, p / p.sum(1, keepdims=True)


def softmax(logits, *, causal=False, cap=None, sinks=(), sink=None):
    """The statistics by their definitions, and what rounding does to logits of this size: a logit is off by
    u |x| of its own and by d u |q| |k| of the product, an entropy by 2 log(n) times that and n sums."""
    n = len(logits)
    seen = np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)
    x, p = weights(logits if cap is None else cap * np.tanh(logits / cap), causal, sink)
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(1)
    count = np.isfinite(x).sum(1)
    last = max(sinks, default=-1)
    several = count > 1
    return {"largest": logits[seen].max(), "smallest": logits[seen].min(), "entropy_mean": entropy.mean(),
            "entropy_normalised": (entropy[several] / np.log(count[several])).mean(),
            "entropy_min": entropy[several].min(), "entropy_max": entropy.max(), "first_share": p[1:, 0].mean(),
            "sink_share": p[last + 1:, list(sinks)].sum(1).mean() if sinks else None,
            "learned_share": p[:, -1].mean() if sink is not None else None}


def compare_softmax(name, got, want, error, n):
    """Shares move by at most 2 error of themselves, all by n u of the sums."""
    bound = 4 * np.log(n) * error + 8 * n * EPS
    for key, value in want.items():
        if value is not None:
            tap.close(f"{name}: {key}", got[key], float(value), bound * (1 + abs(value)))


def compare_statistics(folder):
    heads, groups, n, d = 4, 2, 600, 16
    theta = 10000.0 ** (-np.arange(d // 2) * 2 / d)
    q, k = 2 * rng.standard_normal((heads, n, d)), rng.standard_normal((groups, n, d))
    np.save(os.path.join(folder, "sq.npy"), q)
    np.save(os.path.join(folder, "sk.npy"), k)
    for causal in (False, True):
        rows = szego(PROGRAM, "logits", "--q", os.path.join(folder, "sq.npy"), "--k", os.path.join(folder, "sk.npy"),
                     "--pe", f"rope:dim={d},pairing=interleaved", "--statistics", "--sinks", "0,3", "--soft-cap", "9",
                     *(["--mask", "causal"] if causal else []))["statistics"]
        tap.ok("two rows per head", [(row["head"], row["matrix"]) for row in rows] ==
               [(h, name) for h in range(heads) for name in ("content", "logits")])
        for row in rows:
            h = row["head"]
            sides = (q[h], k[h // 2]) if row["matrix"] == "content" else (rotated(q[h], theta),
                                                                         rotated(k[h // 2], theta))
            logits = sides[0] @ sides[1].T / np.sqrt(d)
            norms = np.linalg.norm(q[h], axis=1).max() * np.linalg.norm(k[h // 2], axis=1).max()
            # Turning by up to n radians is off by n u, twice; the products by d u.
            error = (2 * n + 2 * d) * EPS * norms / np.sqrt(d)
            got = {**row, "largest": row["largest_logit"], "smallest": row["smallest_logit"]}
            name = f"softmax of head {h}, {row['matrix']}, causal {causal}"
            compare_softmax(name, got, softmax(logits, causal=causal, cap=9, sinks=(0, 3)), error, n)
            tap.ok(f"{name}: its place", abs(logits[row["largest_query"], row["largest_key"]] -
                                            row["largest_logit"]) <= error)
            tap.ok(f"{name}: gamma_d |q| |k|", 0 < row["logit_error"] <= (d + 4) * EPS * norms / np.sqrt(d))
            tap.close(f"{name}: q_norm_max", row["q_norm_max"], float(np.linalg.norm(q[h], axis=1).max()),
                      4 * n * EPS * norms)
            if torch:
                mask = torch.ones(n, n, dtype=torch.bool).tril() if causal else torch.ones(n, n, dtype=torch.bool)
                x = 9 * torch.tanh(torch.from_numpy(logits) / 9)
                made = torch.distributions.Categorical(logits=x.masked_fill(~mask, -1e300))
                tap.close(f"{name}: PyTorch's entropy", row["entropy_mean"], float(made.entropy().mean()),
                          (4 * np.log(n) * error + 8 * n * EPS) * (1 + np.log(n)))
    # In process, with a learned sink: the same numbers.
    found = package.logits_statistics(q[1], k[0], f"rope:dim={d},pairing=interleaved", causal=True, sinks=[2], sink_logit=1.5)
    logits = rotated(q[1], theta) @ rotated(k[0], theta).T / np.sqrt(d)
    error = (2 * n + 2 * d) * EPS * found.q_norm_max * found.k_norm_max / np.sqrt(d)
    compare_softmax("in process", vars(found), softmax(logits, causal=True, sinks=(2,), sink=1.5), error, n)
    plain = package.logits_statistics(q[1], k[0], "nope", part="content", unscaled=True)
    tap.close("in process: unscaled", plain.largest, float((q[1] @ k[0].T).max()), plain.error * 2)
    tap.close("in process: norms", plain.q_norm_max, found.q_norm_max, 8 * d * EPS * plain.q_norm_max)
    tap.ok("in process: what does not apply", np.isnan(plain.sink_share) and np.isnan(plain.learned_share))
    for words, given in (("sink 600 is no token", {"sinks": [600]}), ("soft_cap", {"soft_cap": -1.0}),
                         ("sinks='0'", {"sinks": "0"}), ("sink_logit", {"sink_logit": float("nan")})):
        tap.refused(f"in process: {words}", lambda given=given: package.logits_statistics(q[1], k[0], "nope", **given),
                    words, kind=package.ArgumentError)
    compare_precisions(d)


def compare_precisions(d):
    """From 1,024 tokens on products are in single precision: NumPy's numbers within the stated bounds, and 10^-5. The
    largest logit is NumPy's to the rounding of doubles."""
    n = 1100
    theta = 10000.0 ** (-np.arange(d // 2) * 2 / d)
    q, k = 2 * rng.standard_normal((n, d)), rng.standard_normal((n, d))
    logits = rotated(q, theta) @ rotated(k, theta).T / np.sqrt(d)
    want = softmax(logits, causal=True, sinks=(1, 2))
    rounding = (2 * n + 2 * d) * EPS * np.linalg.norm(q, axis=1).max() * np.linalg.norm(k, axis=1).max()
    for precision, made in (("auto", "single"), ("double", "double")):
        found = package.logits_statistics(q, k, f"rope:dim={d},pairing=interleaved", causal=True, sinks=[1, 2],
                                          precision=precision)
        tap.ok(f"precision {precision}: {made}", found.precision == made and
               (1e-7 < found.error < 1e-4 if made == "single" else found.error < 1e-12), repr(vars(found)))
        tap.close(f"{made}: largest", found.largest, float(want["largest"]), rounding)
        tap.ok(f"{made}: its place", abs(logits[found.largest_query, found.largest_key] - found.largest) <= rounding)
        for name in ("entropy_mean", "entropy_normalised", "entropy_min", "entropy_max", "first_share", "sink_share"):
            bound = min(found.weight_error, 1e-5) * want[name] + 8 * n * EPS
            tap.close(f"{made}: {name}", getattr(found, name), float(want[name]), float(bound))


with scratch() as folder:
    path = lambda name: os.path.join(folder, name)
    heads, n, d = 3, 40, 16
    theta = 10000.0 ** (-np.arange(d // 2) * 2 / d)
    q, k = rng.standard_normal((2, heads, n, d)) + rng.standard_normal((2, heads, 1, d))
    np.save(path("q.npy"), q)
    np.save(path("k.npy"), np.asfortranarray(k))
    rows = szego(PROGRAM, "logits", "--q", path("q.npy"), "--k", path("k.npy"),
                 "--pe", f"rope:dim={d},pairing=interleaved")["contraction"]
    tap.ok("one row per head", [row["head"] for row in rows] == list(range(heads)))
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
    compare_statistics(folder)
tap.finish()
