#!/usr/bin/python3
"""What the lag explains of captured logits, `szego logits`, against NumPy: the share and its null by definition, the
kernel and its error, the level of the test, and the band of the contraction. usage: test_lags.py PROGRAM"""
import os
import re
import subprocess
import sys

from peer import PACKAGE, Tap, scratch, skip, szego

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
sys.path.insert(0, PACKAGE)
from szego.safetensors import Entry, write

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("SZG_TEST_SEED", "20251129"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def entries(matrices, causal):
    """Lags and values of what counts: no diagonal, no first token."""
    lags, values = [], []
    for x in matrices:
        i, j = np.indices(x.shape)
        counts = (i >= 1) & (j >= 1) & ((i > j) if causal else (i != j))
        lags.append((i - j)[counts])
        values.append(x[counts])
    return np.concatenate(lags), np.concatenate(values)


def share(matrices, causal):
    lags, values = entries(matrices, causal)
    within = sum(((values[lags == k] - values[lags == k].mean())**2).sum() for k in np.unique(lags))
    return 1 - within / ((values - values.mean())**2).sum()


def means(matrices, causal):
    lags, values = entries(matrices, causal)
    return {int(k): values[lags == k].mean() for k in np.unique(lags)}


def relabelled(matrices):
    out = []
    for x in matrices:
        order = np.concatenate(([0], 1 + rng.permutation(len(x) - 1)))
        out.append(x[np.ix_(order, order)])
    return out


def error_of_one(x, lag):
    """Pairs of entries that share a token, one by one."""
    n = len(x)
    e = {(i, i - lag): x[i, i - lag] for i in range(1, n) if 1 <= i - lag < n}
    mean = np.mean(list(e.values()))
    own = sum((v - mean)**2 for v in e.values())
    shared = sum((e[a] - mean) * (e[b] - mean) for a in e for b in e if a != b and set(a) & set(b))
    m = len(e)
    return np.sqrt((own + max(shared, 0)) / (m * (m - 1))) if m > 1 else None


def error_of_many(matrices, lag):
    parts = [np.array([x[i, i - lag] for i in range(1, len(x)) if 1 <= i - lag < len(x)]) for x in matrices]
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return None
    weight = np.array([len(part) for part in parts]) / sum(len(part) for part in parts)
    mean = np.concatenate(parts).mean()
    spread = (weight**2 * (np.array([part.mean() for part in parts]) - mean)**2).sum()
    return np.sqrt(spread * len(parts) / (len(parts) - 1))


def close_or_empty(name, got, want, bound):
    if want is None:
        tap.ok(f"{name} is empty", got is None)
    else:
        tap.close(name, got, float(want), bound)


def compare(name, tables, matrices, causal):
    """One head. Ranks of the null among draws of NumPy's are Beta variables: 190th, 5th and 195th of 199."""
    row, lags = tables["lag_shares"][0], tables["lags"]
    own = share(matrices, causal)
    tap.close(f"{name}: share", row["lag_share"], own, 1e-9)
    kernel = means(matrices, causal)
    tap.ok(f"{name}: the lags", [lag["lag"] for lag in lags] == sorted(kernel) and row["lags"] == len(kernel)
           and row["sequences"] == len(matrices) and row["entries"] == len(entries(matrices, causal)[0]))
    for lag in lags:
        k = lag["lag"]
        tap.close(f"{name}: mean at {k}", lag["mean"], kernel[k], 1e-10)
        error = error_of_one(matrices[0], k) if len(matrices) == 1 else error_of_many(matrices, k)
        # Over sequences from sums of squares: off by the root of their rounding where all means are equal.
        close_or_empty(f"{name}: error at {k}", lag["error"], error, 1e-9 if len(matrices) == 1 else 1e-7)
    drawn = [relabelled(matrices) for _ in range(300)]
    shares = np.array([share(one, causal) for one in drawn])
    below = (shares < row["lag_null"]).mean()
    tap.ok(f"{name}: rank of the null", 0.86 < below < 0.997, f"{below}")
    p = (1 + (shares >= own).sum()) / 301
    tap.ok(f"{name}: p", abs(p - row["lag_p"]) <= 0.02 + 4.5 * np.sqrt(p * (1 - p) * (1 / 199 + 1 / 300)),
           f"{row['lag_p']} against {p}")
    kernels = [means(one, causal) for one in drawn]
    low = np.mean([np.mean([one[lag["lag"]] < lag["low"] for one in kernels]) for lag in lags])
    high = np.mean([np.mean([one[lag["lag"]] > lag["high"] for one in kernels]) for lag in lags])
    tap.ok(f"{name}: the band has 95%", 0.015 < low < 0.036 and 0.015 < high < 0.036, f"{low}, {high}")


def logits(*words):
    return szego(PROGRAM, "logits", *words, "--all")


def rotated(x, theta):
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * np.arange(x.shape[-2])[:, None] * theta)
    out = np.empty_like(x)
    out[..., 0::2], out[..., 1::2] = turned.real, turned.imag
    return out


def against_numpy(path):
    n, d = 30, 8
    x = rng.standard_normal((n, n)) + 0.5 * np.cos(np.arange(n)[:, None] - np.arange(n))
    np.save(path("one.npy"), x)
    compare("whole", logits(path("one.npy")), [x], False)
    compare("causal", logits(path("one.npy"), "--mask", "causal"), [x], True)
    several = rng.standard_normal((4, n, n)) + rng.standard_normal((4, 1, n))
    np.save(path("several.npy"), several)
    cut = [m[:size, :size] for m, size in zip(several, (30, 12, 21, 30))]
    compare("several", logits(path("several.npy"), "--axes", "batch", "--mask", "causal", "--lengths", "30,12,21,30"),
            cut, True)
    # The same sequence twice is relabelled in two ways: the null is about half of that of one.
    np.save(path("twice.npy"), np.stack((x, x)))
    compare("twice", logits(path("twice.npy"), "--axes", "batch"), [x, x], False)
    # Queries and keys that are rotated by the program: its null has the entries that the mask hides too.
    theta = 10000.0 ** (-np.arange(d // 2) * 2 / d)
    q, k = rng.standard_normal((2, n, d)) + 0.7
    np.save(path("q.npy"), q)
    np.save(path("k.npy"), k)
    tables = logits("--q", path("q.npy"), "--k", path("k.npy"), f"rope:dim={d},pairing=interleaved", "--mask", "causal")
    compare("rotated", tables, [rotated(q, theta) @ rotated(k, theta).T / np.sqrt(d)], True)


def closed_forms(path):
    n = 20
    i = np.arange(n)
    toeplitz = np.sin(i[:, None] - i) + (i[:, None] - i) / 7
    np.save(path("toeplitz.npy"), toeplitz)
    row = logits(path("toeplitz.npy"))["lag_shares"][0]
    tap.close("Toeplitz: share", row["lag_share"], 1.0, 1e-12)
    tap.close("Toeplitz: p", row["lag_p"], 1 / 200, 1e-12)
    np.save(path("equal.npy"), np.full((n, n), 0.1))
    row = logits(path("equal.npy"))["lag_shares"][0]
    tap.ok("equal logits have no share", row["lag_share"] is None and "all equal" in row["note"])
    np.save(path("small.npy"), rng.standard_normal((2, 2)))
    row = logits(path("small.npy"))["lag_shares"][0]
    tap.ok("two tokens have no share", row["lag_share"] is None and "two lags" in row["note"])


def level(path):
    """The test is exact for tokens that are independent draws, a sink at the first one does not change that."""
    heads, n, d = 1200, 12, 6
    q, k = rng.standard_normal((2, heads, n, d))
    np.save(path("lq.npy"), q)
    np.save(path("lk.npy"), k)
    k[:, 0] *= 40
    np.save(path("ls.npy"), k)
    found = []
    for keys in ("lk.npy", "ls.npy"):
        rows = szego(PROGRAM, "logits", "--q", path("lq.npy"), "--k", path(keys), "nope", "--mask", "causal")["lag_shares"]
        found.append(np.array([row["lag_p"] for row in rows]))
    level_of = (found[0] <= 0.05).mean()
    tap.ok("the level is 5%", 0.03 < level_of < 0.07, f"{level_of}")
    tap.ok("p is uniform", np.abs(np.sort(found[0]) - np.arange(1, heads + 1) / heads).max() < 0.05)
    tap.ok("a sink at the first token changes nothing", np.array_equal(*found))


def error_in_distribution(path):
    """The squared distance of the kernel from the truth is the squared error in the mean: also where a token that has
    large logits as a query has them as a key."""
    heads, n, d = 800, 26, 4
    x = rng.standard_normal((heads, n, d)) + 0.8
    np.save(path("eq.npy"), x)
    lags = logits("--q", path("eq.npy"), "--k", path("eq.npy"), "nope", "--mask", "causal", "--scale", "1")["lags"]
    truth = d * 0.64
    for k in (1, 3, 9):
        rows = [row for row in lags if row["lag"] == k]
        ratio = np.mean([row["error"]**2 for row in rows]) / np.mean([(row["mean"] - truth)**2 for row in rows])
        tap.ok(f"error at lag {k}", 0.75 < ratio < 1.33, f"{ratio}")


def masked(path):
    n = 24
    x = rng.standard_normal((n, n))
    np.save(path("x.npy"), x)
    whole = logits(path("x.npy"), "--mask", "causal")["lag_shares"][0]
    hidden = np.triu(np.ones((n, n), bool), 1)
    for name, value, words in (("NaN", np.nan, ["--mask", "causal"]), ("-inf", -np.inf, ["--mask", "causal"]),
                               ("-1e9", -1e9, ["--mask", "causal"]), ("zeros", 0, []),
                               ("zeros, named", 0, ["--mask", "causal"])):
        np.save(path("m.npy"), np.where(hidden, value, x))
        row = logits(path("m.npy"), *words)["lag_shares"][0]
        tap.ok(f"{name}: the share alone", row["lag_share"] == whole["lag_share"] and row["mask"] == "causal"
               and row["lag_null"] is None and row["lag_p"] is None and row["beyond_chance"] is None and "no null" in row["note"])


def bands(path):
    heads, n, d = 3, 24, 8
    theta = 10000.0 ** (-np.arange(d // 2) * 2 / d)
    q, k = rng.standard_normal((2, heads, n, d))
    q[0], k[0] = q[0] + 1, k[0] + 1
    np.save(path("bq.npy"), q)
    np.save(path("bk.npy"), k)
    spec = f"rope:dim={d},pairing=interleaved"
    found = szego(PROGRAM, "logits", "--q", path("bq.npy"), "--k", path("bk.npy"), spec, "--band", "39")

    def ratios(q, k):
        a, b = q @ k.T, rotated(q, theta) @ rotated(k, theta).T
        ends = [np.linalg.eigvalsh(m + m.T)[[0, -1]] for m in (a, b)]
        values = [np.linalg.svd(m, compute_uv=False) for m in (a, b)]
        return np.array([np.ptp(ends[1]) / np.ptp(ends[0]), values[1][0] / values[0][0], values[1].sum() / values[0].sum()])

    for h, (row, plain) in enumerate(zip(found["bands"], found["contraction"])):
        own = ratios(q[h], k[h])
        draws = np.array([ratios(q[h][order], k[h][order]) for order in (rng.permutation(n) for _ in range(400))])
        for c, name in enumerate(("width", "norm", "nuclear")):
            tap.ok(f"band of head {h}, {name}: the ratio is that of contraction",
                   abs(row[f"{name}_ratio"] - plain[f"{name}_ratio"]) < 1e-9)
            low, high = ((draws[:, c] < row[f"{name}_low"]).mean(), (draws[:, c] > row[f"{name}_high"]).mean())
            tap.ok(f"band of head {h}, {name}: ends", low < 0.25 and high < 0.25, f"{low}, {high}")
            p = (1 + (draws[:, c] <= own[c]).sum()) / 401
            tap.ok(f"band of head {h}, {name}: p", abs(p - row[f"{name}_p"]) < 0.03 + 4.5 * np.sqrt(p * (1 - p) / 39 + 1e-4),
                   f"{row[f'{name}_p']} against {p}")
    # As szego.capture_hf writes them: both sides, in single precision.
    arrays = {"q": q, "k": k, "q_coupled": rotated(q, theta), "k_coupled": rotated(k, theta)}
    write(path("dump.safetensors"), [Entry(f"layers.2.{name}", np.dtype("f4"), x.shape, lambda x=x: x.astype("f4"))
                                     for name, x in arrays.items()], {"pairing": "interleaved", "base": "10000"})
    tables = szego(PROGRAM, "logits", path("dump.safetensors"), f"rope:dim={d}", "--band", "39")
    rows = tables["bands"]
    tap.ok("a capture's shares and null", all(abs(a[c] - b[c]) < 1e-5 for a, b in zip(tables["lag_shares"], found["lag_shares"])
                                              for c in ("lag_share", "lag_null", "lag_p")))
    tap.ok("a capture's own band", all(abs(a[c] - b[c]) < 1e-5 for a, b in zip(rows, found["bands"])
                                       for c in ("width_ratio", "width_low", "width_high", "nuclear_high")))
    rows = szego(PROGRAM, "logits", path("dump.safetensors"), "alibi:heads=3", "--band", "39")["bands"]
    tap.ok("another encoding than the capture's", all(row["width_low"] is None and "no band" in row["note"] for row in rows))
    rows = szego(PROGRAM, "logits", path("dump.safetensors"), "--band", "39")["bands"]
    tap.ok("no encoding", all(row["width_low"] is None and "--pe" in row["note"] for row in rows))


def verdicts(path):
    """Which heads are beyond chance among all, by adjusted p-values; one of twelve cannot be with 199 relabellings."""
    for strong, want in ((1, "alone"), (4, "yes")):
        q, k = rng.standard_normal((2, 12, 24, 8))
        q[:strong], k[:strong] = q[:strong] + 4, k[:strong] + 4
        np.save(path("vq.npy"), q)
        np.save(path("vk.npy"), k)
        rows = szego(PROGRAM, "logits", "--q", path("vq.npy"), "--k", path("vk.npy"), "rope:dim=8,pairing=half", "--mask",
                     "causal")["lag_shares"]
        p = np.array([row["lag_p"] for row in rows])
        adjusted = np.array([min(other * len(p) / (p <= other).sum() for other in p if other >= one) for one in p])
        few = not (adjusted <= 0.05 + 1e-12).any() and 0.05 * (p <= 0.05).sum() / 12 < 1 / 200
        words = ["yes" if all_ <= 0.05 + 1e-12 else "alone" if few and one <= 0.05 else "no" for one, all_ in zip(p, adjusted)]
        tap.ok(f"{strong} of twelve heads: which are beyond chance", [row["beyond_chance"] for row in rows] == words,
               f"{[row['beyond_chance'] for row in rows]} {words}")
        tap.ok(f"{strong} of twelve heads: the strong ones are", words[:strong] == [want] * strong or
               (strong == 1 and (p <= 0.05).sum() > 1), str(words))


def threads(path):
    """The bits do not depend on the threads; the words name the heads."""
    texts = []
    q, k = rng.standard_normal((2, 3, 40, 8))
    q[1], k[1], q[2], k[2] = q[1] + 4, k[1] + 4, q[2] + 2, k[2] + 2
    np.save(path("tq.npy"), q)
    np.save(path("tk.npy"), k)
    for count in ("1", "3"):
        folder = path(f"threads-{count}/")
        made = subprocess.run([PROGRAM, "logits", "--q", path("tq.npy"), "--k", path("tk.npy"), "rope:dim=8,pairing=half",
                               "--mask", "causal", "--band", "9", "--threads", count, "-o", folder],
                              capture_output=True, text=True)
        texts.append([open(folder + name + ".csv").read() for name in ("lags", "lag_shares", "bands")])
    tap.ok("threads change nothing", texts[0] == texts[1])
    words = re.search("more of the logits' variance than chance in [23] of 3 heads .at most 5% of them are expected to be false.: "
                      r"head 1 (0\.\d+) .chance 0\.\d+., head 2 (0\.\d+) .chance", made.stderr)
    tap.ok("in words, the largest first", words and float(words[1]) > float(words[2]), made.stderr)


with scratch() as folder:
    def path(name):
        return os.path.join(folder, name)
    for part in (against_numpy, closed_forms, level, error_in_distribution, masked, bands, verdicts, threads):
        part(path)
tap.finish()
