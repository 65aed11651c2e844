#!/usr/bin/python3
"""szego.spectra: stacks of matrices against NumPy and against single calls, refusals by matrix, threads, memory.
usage: test_native_batch.py PROGRAM"""
import ctypes
import os
import sys

from peer import Tap, eigenvalue_bound, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "notebooks_export", "python"))
try:
    import numpy as np
    import szego
    from szego import native
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def refused(name, call, *words, kind=szego.ArgumentError):
    tap.refused(name, call, *words, kind=kind)


def adjoint(stack):
    return stack.conj().transpose(0, 2, 1)


def close(name, got, want, norm):
    """Rows within what two backward stable solvers may differ by."""
    good = got.values.shape == want.shape and np.isrealobj(got.values)
    tap.ok(f"{name}: shape {want.shape}, real", good, f"{got!r} {got.values.dtype}")
    tap.close(f"{name}: values", float(np.abs(got.values - want).max()) if good else None, 0,
              eigenvalue_bound(max(want.shape[1], 1), norm))


def check_values():
    for b, n in ((1, 1), (1, 7), (5, 1), (9, 2), (40, 17), (3, 64)):
        real = rng.standard_normal((b, n, n))
        whole = real + 1j * rng.standard_normal((b, n, n))
        for kind, general in (("real", real), ("complex", whole)):
            name, own = f"{b} {kind} {n} x {n}", (general + adjoint(general)) / 2
            norm = float(np.linalg.norm(general, 2, axis=(1, 2)).max())
            for hermitian in (None, True):
                close(f"{name}, hermitian={hermitian}", szego.spectra(own, hermitian=hermitian),
                      np.linalg.eigvalsh(own), norm)
            close(f"{name}, singular", szego.spectra(general, question="singular"),
                  np.linalg.svd(general, compute_uv=False), norm)
        close(f"{b} {n} x {n}, Hermitian part", szego.spectra(real, question="hermitian_part"),
              np.linalg.eigvalsh((real + adjoint(real)) / 2), float(np.linalg.norm(real, 2, axis=(1, 2)).max()))
    tall = rng.standard_normal((6, 9, 4))
    for name, stack in (("tall", tall), ("wide", np.ascontiguousarray(adjoint(tall)))):
        close(name, szego.spectra(stack, question="singular"), np.linalg.svd(stack, compute_uv=False),
              float(np.linalg.norm(stack, 2, axis=(1, 2)).max()))
    # Circulant matrices are normal: their eigenvalues are the DFT of the first column, in another order.
    columns = rng.standard_normal((8, 12))
    lag = np.subtract.outer(np.arange(12), np.arange(12)) % 12
    got, want = szego.spectra(np.ascontiguousarray(columns[:, lag])), np.fft.fft(columns)
    away = np.abs(got.values[:, :, None] - want[:, None, :])
    tap.close("circulant matrices", float(max(away.min(1).max(), away.min(2).max())), 0,
              eigenvalue_bound(12, float(np.abs(want).max())))
    tap.ok("complex eigenvalues ascend", got.values.dtype == np.complex128 and (np.diff(got.values.real) >= 0).all())


def same(got, want):
    """Two spectra, field by field."""
    return np.array_equal(got.values, want.values) and got.residual == want.residual and same_but_values(got, want)


def same_but_values(got, want):
    return (got.values.dtype == want.values.dtype and np.array_equal(got.multiplicity, want.multiplicity)
            and all(getattr(got, name) == getattr(want, name) for name in (
                "n", "kind", "zeros", "rank", "normal", "frobenius", "residual_meaning", "method", "solver", "note"))
            and (got.trace == want.trace or np.isnan([got.trace, want.trace]).all()))


def near(got, want):
    """The same; eigenvalues of symmetric matrices, which a stack has a solver of its own for, within what two backward
    stable solvers may differ by. A residual is checked to be below 64 n eps."""
    if got.kind != "eigenvalue" or not got.normal:
        return same(got, want)
    return (same_but_values(got, want) and got.residual <= 64 * got.n * 2.0**-52
            and np.abs(got.values - want.values).max() <= eigenvalue_bound(got.n, got.frobenius))


def check_single():
    """Matrix by matrix what szego.spectrum gives, whatever the number of threads, where solvers differ too."""
    stack = rng.standard_normal((30, 11, 11))
    stack[::3] += adjoint(stack[::3])
    for question in ("eigenvalues", "singular", "hermitian_part"):
        first = szego.spectra(stack, question=question, threads=1)
        for threads in (1, 3, None):
            got = szego.spectra(stack, question=question, threads=threads)
            tap.ok(f"{question}, threads={threads}: the same numbers", all(map(same, got, first)))
            want = [szego.spectrum(matrix, question=question) for matrix in stack]
            tap.ok(f"{question}, threads={threads}: as one by one",
                   len(got) == 30 and all(map(near, got, want)), repr(got))
            tap.ok(f"{question}, threads={threads}: arrays", all(
                np.array_equal(getattr(got, name), [getattr(one, name) for one in want], equal_nan=True)
                for name in ("trace", "frobenius")) and got.solver.tolist() == [one.solver for one in want]
                and got.residual_meaning.tolist() == [one.residual_meaning for one in want])
    got = szego.spectra(stack)
    tap.ok("symmetric and general ones in a stack", got.values.dtype == np.complex128 and got[0].values.dtype == float
           and got.normal[0] and not got.normal[1])
    tap.ok("an element from the end", got[-1].source == "matrix 29 of 30" and near(got[-1], szego.spectrum(stack[-1])))
    tap.ok("an array for NumPy", np.asarray(got) is got.values and np.array(got, copy=True) is not got.values)
    # What np.asarray(..., copy=False) of NumPy 2 asks for: the memory itself, or a refusal.
    one, many = szego.spectrum(stack[0], question="singular"), szego.spectrum("rope:dim=8", 64)
    tap.ok("no copy: the memory itself", got.__array__(copy=False) is got.values
           and one.__array__(copy=False) is one.values and one.__array__(float, copy=False) is one.values)
    tap.ok("a copy where one is asked for", not np.shares_memory(one.__array__(copy=True), one.values)
           and not np.shares_memory(np.asarray(one), one.values) and len(np.asarray(many)) == 64)
    refused("no copy of another type", lambda: one.__array__(np.float32, copy=False), "float32", kind=ValueError)
    refused("no copy of many of another type", lambda: got.__array__(np.complex64, copy=False), kind=ValueError)
    refused("no copy of values that stand several times", lambda: many.__array__(copy=False), "several times",
            kind=ValueError)
    tap.ok("a short repr", len(repr(got)) < 120 and "30 matrices" in repr(got), repr(got))
    refused("an element that is not there", lambda: got[30], kind=IndexError)
    tap.ok("a slice", len(got[1:]) == 29 and same(got[1:][0], got[1]) and got[::-1].residual[0] == got.residual[-1])
    refused("a list of places", lambda: got[[1]], "values", kind=TypeError)
    refused("an axis too many", lambda: got[1, 0], "leading", kind=IndexError)
    large = rng.standard_normal((2, 520, 520))
    close("fewer large ones than threads", szego.spectra(large, question="singular", threads=3),
          np.linalg.svd(large, compute_uv=False), float(np.linalg.norm(large, 2, axis=(1, 2)).max()))


def with_entry(value, *places):
    stack = np.ones((9, 4, 4), complex if isinstance(value, complex) else float)
    for place in places:
        stack[place] = value
    return stack


def check_refusals():
    spectra = szego.spectra
    refused("NaN in two matrices: the first is named", lambda: spectra(with_entry(np.nan, (3, 1, 2), (7, 0, 0))),
            "stack[3, 1, 2] is nan")
    refused("a complex infinity", lambda: spectra(with_entry(complex(0, np.inf), (8, 2, 0)), hermitian=False), "stack[8, 2, 0]")
    refused("a promise that matrix 5 does not keep", lambda: spectra(with_entry(2.0, (5, 0, 1)), hermitian=True),
            "matrix 5", "(1, 0)", "symmetric")
    refused("eigenvalues of 4 x 5", lambda: spectra(np.ones((2, 4, 5))), "matrix 0", "4 x 5", "singular")
    refused("symmetric 4 x 5", lambda: spectra(np.ones((2, 4, 5)), hermitian=True), "(2, 4, 5)", "square")
    for promise in (True, False):
        refused(f"hermitian={promise} of singular values", lambda promise=promise: spectra(
            np.ones((2, 3, 3)), question="singular", hermitian=promise), "hermitian=", "singular")
    refused("a promise that is no flag", lambda: spectra(np.ones((2, 3, 3)), hermitian="no"), "'no'", "True or False")
    refused("one matrix", lambda: spectra(np.eye(3)), "3-D")
    refused("no matrix", lambda: spectra(np.ones((0, 3, 3))), "nothing")
    refused("matrices of order 0", lambda: spectra(np.ones((3, 0, 0))), "nothing")
    refused("float32", lambda: spectra(np.ones((2, 3, 3), np.float32), exact=True), "float32")
    refused("non-contiguous", lambda: spectra(np.ones((4, 6, 6))[::2], exact=True), "ascontiguousarray")
    refused("transposed", lambda: spectra(np.ones((4, 6, 6)).transpose(0, 2, 1), exact=True), "ascontiguousarray")
    refused("an unknown question", lambda: spectra(np.ones((2, 3, 3)), question="eigen"), "hermitian_part")
    refused("threads", lambda: spectra(np.ones((2, 3, 3)), threads=0), "1024")
    refused("a complex Hermitian part", lambda: spectra(with_entry(2j, (1, 0, 1)), question="hermitian_part"),
            "matrix 1", "szg_matrix_hermitian", kind=szego.LibraryError)
    given = rng.standard_normal((3, 5, 5))
    kept = given.copy()
    spectra(given, question="hermitian_part")
    tap.ok("the caller's array is not changed", np.array_equal(given, kept))
    tap.ok("a list of lists", np.array_equal(spectra([[[2, 1], [1, 2]]]).values, spectra(np.array([[[2.0, 1], [1, 2]]])).values))


def check_memory():
    """Each spectrum is closed, also where what follows the call fails."""
    library, stack = native.library(), np.ones((7, 3, 3))
    close_one, closed = library.szg_spectrum_close, []

    def counted(spectrum):
        closed.append(ctypes.addressof(spectrum._obj))
        close_one(spectrum)
    library.szg_spectrum_close = counted
    try:
        szego.spectra(stack)
        copied, szego.batch._copied = szego.batch._copied, None
        refused("a failure after the call", lambda: szego.spectra(stack), kind=TypeError)
        szego.batch._copied = copied
    finally:
        library.szg_spectrum_close = close_one
    tap.ok("every spectrum is closed", len(set(closed[:7])) == len(set(closed[7:])) == 7, str(len(closed)))


for check in (check_values, check_single, check_refusals, check_memory):
    check()
tap.finish()
