#!/usr/bin/python3
"""szego spectrum against NumPy's LAPACK and SciPy's toeplitz, on matrices formed here from their
definition. usage: test_spectrum.py PROGRAM"""
import os
import sys

from peer import Tap, eigenvalue_bound, scratch, skip, szego

try:
    import numpy as np
    from scipy.linalg import toeplitz
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-scipy are needed")

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def values(result, kind):
    rows = [row for row in result["eigenvalues"] if row["kind"] == kind]
    return np.array([row["re"] + 1j * (row["im"] or 0) for row in rows])


def bound(matrix):
    return eigenvalue_bound(len(matrix), np.linalg.norm(matrix, 2))


def compare_hermitian(name, matrix, *arguments):
    result = szego(PROGRAM, "spectrum", *arguments, "-n", len(matrix), "--all")
    want = np.linalg.eigvalsh(matrix)
    rows = [row for row in result["eigenvalues"] if row["kind"] == "eigenvalue"]
    times = [row["multiplicity"] for row in rows]
    got = np.repeat([row["re"] for row in rows], times)
    tap.close(f"{name}: eigenvalues", float(np.abs(got - want).max()) if len(got) == len(want) else None, 0,
              bound(matrix))
    tap.ok(f"{name}: places", [row["index"] for row in rows] == (np.cumsum(times) - times).tolist())
    row = result["summary"][0]
    tap.close(f"{name}: lambda_min", row["lambda_min"], float(want[0]), bound(matrix))
    tap.close(f"{name}: lambda_max", row["lambda_max"], float(want[-1]), bound(matrix))
    tap.close(f"{name}: width", row["width"], float(want[-1] - want[0]), 2 * bound(matrix))
    singular = np.abs(want)
    if singular.max() > 0:
        stable = float((singular**2).sum() / singular.max() ** 2)
        tap.close(f"{name}: stable rank", row["stable_rank"], stable, 1e-9 * stable)
    # The truncated symbol bounds the eigenvalues from outside.
    if row["symbol_min_lo"] is not None:
        tap.ok(f"{name}: eigenvalues within the certified range",
               row["symbol_min_lo"] <= want[0] + bound(matrix)
               and want[-1] <= row["symbol_max_hi"] + bound(matrix))


def compare_range(name, coefficients, row):
    t = np.linspace(0, 2 * np.pi, 20001)
    lags = np.arange(1, len(coefficients))
    f = coefficients[0].real + 2 * np.real(np.exp(1j * np.outer(t, lags)) @ coefficients[1:])
    slack = 1e-13 * np.abs(coefficients).sum()
    tap.ok(f"{name}: samples within the certified range",
           row["symbol_min_lo"] <= f.min() + slack and f.max() - slack <= row["symbol_max_hi"])
    tap.ok(f"{name}: the range is narrow",
           row["symbol_max_hi"] - row["symbol_max_lo"] <= 1e-12 * np.abs(f).max() + 1e-300)


with scratch() as folder:
    path = os.path.join(folder, "a.npy")
    for count, n in [(1, 3), (5, 5), (7, 40), (3, 200), (257, 257)]:
        column = rng.standard_normal(count) * rng.random(count) ** 4
        np.save(path, column)
        padded = np.zeros(n)
        padded[:count] = column
        compare_hermitian(f"symmetric {count} lags, N = {n}", toeplitz(padded),
                          "--coefficients", path)
        row = szego(PROGRAM, "spectrum", "--coefficients", path, "-n", n)["summary"][0]
        compare_range(f"symmetric {count} lags, N = {n}", column + 0j, row)
    for count, n in [(2, 2), (9, 50), (64, 65)]:
        column = rng.standard_normal(count) + 1j * rng.standard_normal(count)
        column[0] = column[0].real
        np.save(path, column)
        padded = np.zeros(n, complex)
        padded[:count] = column
        compare_hermitian(f"Hermitian {count} lags, N = {n}", toeplitz(padded),
                          "--coefficients", path)
    lags = rng.standard_normal(9)
    np.save(path, lags)
    n = 20
    general = np.array([[lags[i - j + 4] if abs(i - j) <= 4 else 0.0 for j in range(n)]
                        for i in range(n)])
    result = szego(PROGRAM, "spectrum", "--pe", f"file:path={path},lags=full", "-n", n, "--all")
    got = np.sort(values(result, "singular").real)[::-1]
    want = np.linalg.svd(general, compute_uv=False)
    tap.close("general: singular values", float(np.abs(got - want).max()), 0, bound(general))
    got, want = values(result, "eigenvalue"), np.linalg.eigvals(general)
    nearest = max(np.abs(got - value).min() for value in want)
    # Single eigenvalues of a matrix that is not normal are less well conditioned.
    tap.close("general: eigenvalues", float(nearest), 0, 1e6 * bound(general))

for n in (1, 2, 3, 17, 300):
    k = np.arange(n)
    theta = 10000.0 ** (-np.arange(16) / 16)
    compare_hermitian(f"rope, N = {n}", toeplitz(np.cos(np.outer(k, theta)).mean(1)),
                      "--pe", "rope:dim=32")
    if n > 1:
        compare_hermitian(f"alibi, N = {n}", toeplitz(-0.00390625 * k), "--pe", "alibi:heads=1")
    compare_hermitian(f"kms, N = {n}", toeplitz((-0.7) ** k), "--pe", "kms:rho=-0.7")
    position = np.zeros((n, 16))
    angle = np.outer(k, 10000.0 ** (-np.arange(8) / 8))
    position[:, 0::2], position[:, 1::2] = np.sin(angle), np.cos(angle)
    compare_hermitian(f"absolute, N = {n}", position @ position.T, "--pe", "absolute:dim=16")
tap.finish()
