#!/usr/bin/python3
"""szego diff on series of small llamas, against NumPy on whole d x d matrices.
usage: test_diff.py PROGRAM"""
import os
import sys

from peer import EPS, Tap, scratch, skip, tables, write_llama

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def normal(shape):
    heads, key_heads, size, width = shape
    return rng.standard_normal((heads * size, width)), rng.standard_normal((key_heads * size, width))


def entropy(values):
    share = values[values > 0] / values.sum()
    return -(share * np.log(share)).sum()


def angle(a, b):
    """Of the spans of orthonormal columns, from the projectors' difference and the cosines."""
    sine = np.linalg.norm(a @ a.T - b @ b.T, 2)
    return np.arctan2(sine, np.linalg.svd(a.T @ b)[1][-1])


def check_angles(label, row, a, b, error, top, suffix):
    """A backward error E turns a span by at most ||E|| / (gap sigma_1) (Wedin 1972), here of two
    matrices by two programs. The angle of the two is off by no more than the sum."""
    u, s, v = zip(np.linalg.svd(a), np.linalg.svd(b))
    gaps = [x[top - 1] - (x[top] if top < len(x) else 0) for x in s]
    gap = min(g / x[0] for g, x in zip(gaps, s))
    tap.close(f"{label}: gap{suffix}", float(row["gap" + suffix]), gap, 4 * error / min(x[0] for x in s))
    bound = 2 * sum(error / g for g in gaps)
    tap.close(f"{label}: left angle{suffix}", float(row["left_angle" + suffix]),
              angle(u[0][:, :top], u[1][:, :top]), bound)
    tap.close(f"{label}: right angle{suffix}", float(row["right_angle" + suffix]),
              angle(v[0][:top].T, v[1][:top].T), bound)


def check_head(label, found, shape, base, other, top):
    """QR is stable for each column and products for each row, so an error is some d eps of the factors' norms;
    20 covers the constants of both programs, as in peer.eigenvalue_bound. A Frobenius norm is of 2e values."""
    row, spectra = found
    width, norm = shape[3], lambda x: np.linalg.norm(x, 2)
    (qa, ka), (qb, kb) = base, other
    dq, dk = qb - qa, kb - ka
    unit = 20 * width * EPS
    # The program's scale is 1/sqrt(e), rounded; each row of q is then rounded, also in the difference.
    moved = EPS * norm(qa)
    errors = {"base": norm(qa) * norm(ka), "d2": norm(dq) * norm(ka) + norm(qa) * norm(dk), "d3": norm(dq) * norm(dk)}
    errors = {name: unit * value for name, value in errors.items()}
    errors["d2"] += 4 * width**0.5 * moved * norm(ka)
    errors["d3"] += 4 * width**0.5 * moved * norm(dk)
    errors["change"] = errors["d2"] + errors["d3"]
    errors["qk"] = errors["base"] + errors["change"]
    matrices = {"base": qa.T @ ka, "qk": qb.T @ kb, "d2": dq.T @ ka + qa.T @ dk, "d3": dq.T @ dk}
    matrices["change"] = matrices["qk"] - matrices["base"]
    root = width**0.5
    for name, matrix in matrices.items():
        # The dense difference has the error of both its parts.
        error = errors["qk"] if name == "change" else errors[name]
        values = np.linalg.svd(matrix, compute_uv=False)
        tap.close(f"{label}: {name} sigma_max", float(row[name + "_sigma_max"]), values[0], error)
        tap.close(f"{label}: {name} frobenius", float(row[name + "_frobenius"]),
                  float(np.sqrt((values**2).sum())), root * error)
        tap.close(f"{label}: {name} nuclear", float(row[name + "_nuclear"]), values.sum(), width * error)
        got = np.array([float(r["sigma"]) for r in spectra if r["matrix"] == name])
        worst = np.abs(got - values[:len(got)]).max()
        tap.ok(f"{label}: {name} values", len(got) == min(2 * shape[2], width) and worst <= error)
        relative = error / values[0]
        tap.close(f"{label}: {name} stable rank", float(row[name + "_stable_rank"]),
                  (values**2).sum() / values[0]**2, 4 * width * root * relative)
        # dH / dp = -log p - 1; values that are rounding have p below `relative`, width of them.
        tap.close(f"{label}: {name} entropy", float(row[name + "_entropy"]), entropy(values),
                  2 * width * relative * (2 - np.log(relative)))
    frobenius = {name: np.linalg.norm(matrix) for name, matrix in matrices.items()}
    for column in ("change", "d2", "d3"):
        share = frobenius[column] / frobenius["base"]
        tap.close(f"{label}: {column}", float(row[column]), share,
                  root * (errors["qk" if column == "change" else column] + errors["base"] * share) / frobenius["base"])
    error = errors["base"] + errors["qk"]
    check_angles(label, row, matrices["base"], matrices["qk"], error, 1, "_1")
    check_angles(label, row, matrices["base"], matrices["qk"], error, top, "")


def head_rows(layer, head, shape):
    heads, key_heads, size, _ = shape
    key = head // (heads // key_heads)
    return (layer[0][head * size:(head + 1) * size] / size**0.5, layer[1][key * size:(key + 1) * size])


def check_pair(label, shape, found, source, base, other, top):
    rows = [row for row in found["diff"] if row["source"] == source]
    spectra = [row for row in found["diff_spectra"] if row["source"] == source]
    changes = [float(row["change"]) for row in rows]
    tap.ok(f"{label}: what changed most first", changes == sorted(changes, reverse=True))
    tap.ok(f"{label}: one row per head", len(rows) == len(base) * shape[0])
    for row in rows:
        place = int(row["layer"]), int(row["head"])
        mine = [r for r in spectra if (int(r["layer"]), int(r["head"])) == place]
        check_head(f"{label}, {place}", (row, mine), shape,
                   head_rows(base[place[0]], place[1], shape), head_rows(other[place[0]], place[1], shape), top)


def step(layers, size):
    """Each layer a different way from the last one."""
    return [(q + size * 10.0**-i * rng.standard_normal(q.shape), k + size * 10.0**-i * rng.standard_normal(k.shape))
            for i, (q, k) in enumerate(layers)]


def try_series(name, shape, top):
    with scratch() as folder:
        models = [[normal(shape) for _ in range(2)]]
        models.append(step(models[0], 0.3))
        models.append(step(models[1], 1e-7))
        steps = [9, 10, 1000]  # not in the order of their texts
        for number, layers in zip(steps, models):
            write_llama(f"{folder}/training/checkpoint-{number}", shape, layers)
        path = f"{folder}/training/checkpoint-"
        for to, bases in (("first", [0, 0]), ("previous", [0, 1])):
            found = tables(PROGRAM, "diff", f"{folder}/training", "--spectra", "--top", top, "--to", to)
            tap.ok(f"{name} {to}: steps ascend",
                   list(dict.fromkeys(row["step"] for row in found["diff"])) == ["10", "1000"])
            for i, base in zip((1, 2), bases):
                label = f"{name} {to} {steps[i]}"
                check_pair(label, shape, found, path + str(steps[i]), models[base], models[i], top)
                tap.ok(f"{label}: base", {row["base"] for row in found["diff"] if row["step"] == str(steps[i])} ==
                       {path + str(steps[base])})


try_series("thin", (4, 2, 6, 40), 3)   # 2e < d, two query heads a key head
try_series("wide", (2, 2, 12, 16), 5)  # 2e > d

tap.finish()
