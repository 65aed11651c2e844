#!/usr/bin/python3
"""The Python package's calls of the library: structs and functions against the headers, spectra against NumPy,
closed forms, refusals, Ctrl-C, threads. usage: test_native.py PROGRAM COMPILER INCLUDE..."""
import ctypes
import os
import pickle
import platform
import shutil
import signal
import subprocess
import sys
import threading
import warnings

from peer import EPS, INTERRUPT, PACKAGE, Counted, Tap, eigenvalue_bound, python, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    from szego import compute, layout, native
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM, COMPILER, INCLUDES = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
LIBRARY = os.environ["SZEGO_LIBRARY"]
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def refused(name, call, *words, kind=szego.SzegoError):
    tap.refused(name, call, *words, kind=kind)


AT_EXIT = """
import szego
class Last:
    def __del__(self):
        szego.spectrum("rope:dim=8", 16)
kept = Last()
"""

FORKS = """
import multiprocessing, signal, sys, threading
import numpy as np
import szego

def spectrum():
    return szego.spectrum("t5:heads=2,seed=3", 20).values.tobytes()

def child():
    signal.alarm(20)
    sys.exit(0 if spectrum() == want else 1)

def work():
    while not ended.is_set():
        szego.spectrum(array, threads=2)

signal.alarm(60)  # a hang ends with a signal
array = 1 / (1 + np.add.outer(np.arange(600.0), np.arange(600.0)))
want, ended = spectrum(), threading.Event()
thread = threading.Thread(target=work)
thread.start()
codes = []
for _ in range(8):
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    codes.append(process.exitcode)
ended.set()
thread.join()
print(codes, spectrum() == want)
"""

#: FTZ and DAZ of MXCSR, which glibc keeps at byte 28 of a fenv_t; before szego is loaded, or after.
FLUSHES = """
import ctypes, sys
import numpy as np

def flush():
    libm, state = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)()
    libm.fegetenv(state)
    state[7] |= 0x8040
    libm.fesetenv(state)

if sys.argv[1] == "before":
    flush()
import szego
from szego.compute import is_zero
flush()
units = lambda *numbers: np.array(numbers, np.int64).view(float).reshape(2, 2)  # of 2^-1074
bits = lambda found: np.ascontiguousarray(found).view(np.int64).tolist()
symmetric, other = units(5, 3, 3, 5), np.zeros((2, 2), complex)
other.real = units(5, 3, 1, 5)
print(bits(symmetric[0] * 2.0), bits(szego.spectrum(symmetric).values), bits(szego.spectra([symmetric])[0].values),
      bits(szego.spectrum(other).values.real), is_zero(symmetric).any())
"""

# ---- The headers --------------------------------------------------------------------------------

TYPES = {ctypes.c_int64: "int64", ctypes.c_double: "double", ctypes.c_bool: "bool", ctypes.c_size_t: "size"}


def fields(kind, prefix=""):
    """(C expression, offset, size, type's name) of each field; unions and structs without a name from within."""
    for name, of in kind._fields_:
        at = getattr(kind, name).offset
        if isinstance(of, type) and issubclass(of, (ctypes.Structure, ctypes.Union)) and not issubclass(
                of, layout.Struct):
            yield from ((text, at + offset, size, word) for text, offset, size, word in
                        fields(of, f"{prefix}{name}."))
        else:
            yield prefix + name, at, ctypes.sizeof(of), TYPES.get(of, "other")


def expected():
    lines = []
    for kind in layout.STRUCTS:
        lines.append(f"{kind.c_name} {ctypes.sizeof(kind)}")
        lines += [f"{kind.c_name}.{name} {at} {size} {word}" for name, at, size, word in fields(kind)]
    return lines + [f"{name} {value}" for enum in layout.ENUMS for name, value in enum.values()]


def program_text():
    """Prints the same of the headers. The functions are declared again: other types do not compile."""
    text = ["#include <stdio.h>", "#include <szego/szego.h>", layout.FUNCTIONS,
            f"_Static_assert(SZG_VERSION_NUMBER == {layout.VERSION_NUMBER}, \"VERSION_NUMBER\");",
            # size_t and int64_t differ in sign, a bool and a char are told apart by _Generic alone.
            "#define WORD(x) _Generic((x), int64_t: \"int64\", double: \"double\", bool: \"bool\", "
            "size_t: \"size\", default: \"other\")", "int main(void) {"]
    for kind in layout.STRUCTS:
        c = kind.c_name
        text.append(f'printf("{c} %zu\\n", sizeof({c})); static {c} x_{c};')
        text += [f'printf("{c}.{name} %zu %zu %s\\n", offsetof({c}, {name}), sizeof x_{c}.{name}, '
                 f"WORD(x_{c}.{name}));" for name, *_ in fields(kind)]
    text += [f'printf("{name} %d\\n", (int){name});' for enum in layout.ENUMS for name, _ in enum.values()]
    return "\n".join(text + ["return 0; }"])


def check_headers(folder):
    source, made = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program_text())
    done = subprocess.run([COMPILER, "-std=c11", "-Werror", source, "-o", made,
                           *(f"-I{include}" for include in INCLUDES)], capture_output=True, text=True, check=False)
    tap.ok("functions are declared as in the headers", done.returncode == 0, done.stderr)
    if done.returncode:
        return
    tap.ok("the package's version is the headers'", szego.__version__ == native._version(layout.VERSION_NUMBER),
           szego.__version__)
    said = subprocess.run([made], capture_output=True, text=True, check=True).stdout.splitlines()
    wrong = [f"{got}, here {want}" for got, want in zip(said, expected()) if got != want]
    tap.ok("structs and enumerators are those of the headers", len(said) == len(expected()) > 150 and not wrong,
           "; ".join(wrong))


# ---- Loading ------------------------------------------------------------------------------------

def check_loading(folder):
    say = "import szego\ntry: print(szego.spectrum([2, -1], 9).n)\nexcept szego.LibraryError as e: print('ERR', e)"
    said = python(say, SZEGO_LIBRARY="/nowhere/libszego.so.0").stdout
    tap.ok("SZEGO_LIBRARY that is not there", said.startswith("ERR /nowhere/libszego.so.0") and
           "SZEGO_LIBRARY" in said, said)
    for name, body, words in (("of a later series", "int szg_version_number(void) { return 2000; }",
                               ("is version 0.2.0", "needs 0.1.0")),
                              ("that is older", "int szg_version_number(void) { return 999; }",
                               ("is version 0.0.999",)),
                              ("of another kind", "int other;", ("is no libszego",))):
        source, made = os.path.join(folder, "a.c"), os.path.join(folder, "a.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(body)
        subprocess.run([COMPILER, "-shared", "-fPIC", source, "-o", made], check=True)
        said = python(say, SZEGO_LIBRARY=made).stdout
        tap.ok(f"a library {name}", said.startswith("ERR") and all(word in said for word in words), said)
    away = os.path.join(folder, "site")
    shutil.copytree(os.path.join(PACKAGE, "szego"), os.path.join(away, "szego"))
    said = python("from szego import native\nnative.SONAME = 'libszego-none.so.0'\n" + say, path=away).stdout
    tap.ok("a library that is nowhere", all(word in said for word in (
        "ERR", "beside the package (" + away, "the system's libraries", "SZEGO_LIBRARY", "meson install"))
        and "build tree" not in said, said)
    os.symlink(LIBRARY, os.path.join(away, "szego", layout.SONAME))
    name = say + "\nfrom szego import native; print(native.library()._name)"
    said = python(name, path=away).stdout.split()
    # A source tree: include/szego/szego.h is there, and what was built.
    tree = os.path.join(folder, "tree")
    shutil.copytree(PACKAGE, os.path.join(tree, "notebooks_export", "python"))
    for part in ("include/szego", "build/plain"):
        os.makedirs(os.path.join(tree, part))
    with open(os.path.join(tree, "include", "szego", "szego.h"), "w", encoding="utf-8"):
        pass
    built = os.path.join(tree, "build", "plain", layout.SONAME)
    os.symlink(LIBRARY, built)
    found = python(name, path=os.path.join(tree, "notebooks_export", "python")).stdout.split()
    tap.ok("the build tree", found == ["9", built], str(found))
    tap.ok("beside the package", said == ["9", os.path.join(away, "szego", layout.SONAME)], str(said))


# ---- Values -------------------------------------------------------------------------------------

def same(name, got, matrix, want=None):
    """All n eigenvalues against LAPACK's through NumPy."""
    want = np.linalg.eigvalsh(matrix) if want is None else want
    got = np.asarray(got)
    tap.ok(f"{name}: all n values", got.shape == want.shape)
    tap.close(f"{name}: values", float(np.abs(got - want).max()) if got.shape == want.shape else None, 0,
              eigenvalue_bound(len(matrix), np.linalg.norm(matrix, 2)))


def toeplitz(column):
    lag = np.subtract.outer(np.arange(len(column)), np.arange(len(column)))
    return np.where(lag >= 0, column[np.abs(lag)], np.conj(column)[np.abs(lag)])


def toeplitz_of(lags):
    """Of lags -(n - 1) .. n - 1."""
    n = (len(lags) + 1) // 2
    return lags[np.subtract.outer(np.arange(n), np.arange(n)) + n - 1]


def check_arrays():
    for count, n in [(1, 1), (3, 40), (64, 64), (90, 50), (200, 513)]:
        for imaginary in (0, 1j):
            column = rng.standard_normal(count) + imaginary * rng.standard_normal(count)
            column[0] = column[0].real
            padded = np.zeros(n, column.dtype)
            padded[:min(count, n)] = column[:n]
            matrix, found = toeplitz(padded), szego.spectrum(column, n)
            name = f"{column.dtype} coefficients, {count}, n = {n}"
            same(name, found, matrix)
            slack = eigenvalue_bound(n, np.linalg.norm(matrix, 2))
            tap.ok(f"{name}: within the certified range", found.range.bounds == "eigenvalues" and
                   found.range.lo <= found.values[0] + slack and found.values[-1] <= found.range.hi + slack)
            tap.ok(f"{name}: theorem", found.theorem.name == "szego" and bool(found.theorem.sentence))
            same(f"{name}: dense", szego.spectrum(matrix), matrix)
            same(f"{name}: promised", szego.spectrum(matrix, hermitian=True), matrix)
    # Eigenvalues 2 - 2 cos(k pi / (n + 1)), k = 1 .. n; the matrix's norm is below 4.
    n = 300
    want = 2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))
    got = szego.spectrum([2, -1], n).values
    tap.close("second difference: closed form", float(np.abs(got - want).max()), 0, eigenvalue_bound(n, 4))
    # A pair i, -i: no rounding can move them by more, the matrix is normal.
    got = szego.spectrum(np.array([[0.0, -1], [1, 0]]))
    tap.close("a complex pair", float(np.abs(got.eigenvalues - [-1j, 1j]).max()), 0, eigenvalue_bound(2, 1))
    # A circulant matrix is normal; its eigenvalues are the DFT of its first column.
    column = rng.standard_normal(24) + 1j * rng.standard_normal(24)
    got, want = szego.spectrum(toeplitz_of(np.concatenate([column[1:], column]))), np.fft.fft(column)
    away = np.abs(np.subtract.outer(got.values, want))
    tap.close("a complex matrix that is not Hermitian", float(max(away.min(0).max(), away.min(1).max())), 0,
              eigenvalue_bound(24, np.abs(want).max()))
    tap.ok("complex eigenvalues ascend", got.values.dtype == np.complex128 and (np.diff(got.values.real) >= 0).all())
    general = rng.standard_normal((30, 30))
    for name, matrix in (("real", general), ("complex", general + 1j * rng.standard_normal((30, 30)))):
        want = np.linalg.svd(matrix, compute_uv=False)
        got = szego.spectrum(matrix, question="singular")
        tap.ok(f"{name}: kind", got.kind == "singular" and got.complete)
        tap.close(f"{name}: singular values", float(np.abs(got.values - want).max()), 0,
                  eigenvalue_bound(30, want[0]))
    same("hermitian part", szego.spectrum(general, question="hermitian_part"), (general + general.T) / 2)
    lags = rng.standard_normal(9)
    matrix = toeplitz_of(np.pad(lags, 15))
    want = np.linalg.svd(matrix, compute_uv=False)
    got = szego.spectrum(lags, 20, lags="full", question="singular")
    tap.close("full lags: singular values", float(np.abs(got.values - want).max()), 0, eigenvalue_bound(20, want[0]))
    tap.ok("full lags: |a| bounds them", got.range.bounds == "singular values" and want[0] <= got.range.hi)


def kernels(n):
    k = np.arange(n)
    yield "rope:dim=64", toeplitz(np.cos(np.outer(k, 10000.0 ** (-np.arange(32) / 32))).mean(1))
    yield "alibi:heads=1", toeplitz(-0.00390625 * k)
    yield "kms:rho=-0.7", toeplitz((-0.7) ** k)
    yield "nope", np.zeros((n, n))


def check_kernels():
    for n in (2, 17, 512):
        for spec, matrix in kernels(n):
            found = szego.spectrum(spec, n)
            same(f"{spec}, n = {n}", found, matrix)
            tap.ok(f"{spec}, n = {n}: multiplicities", found.complete and found.multiplicity.sum() == n and
                   found.multiplicity.dtype == np.int64 and len(found.values) == len(found.multiplicity) and
                   found.multiplicity.max() >= max(found.zeros, 1) and np.all(found.multiplicity[found.values != 0] == 1)
                   and (found.zeros == 0 or (found.values == 0).sum() == 1))
            # Each value is off by no more than that, and so is their mean.
            tap.close(f"{spec}, n = {n}: the mean is the diagonal's", float(found.eigenvalues.mean()), matrix[0, 0],
                      eigenvalue_bound(n, np.linalg.norm(matrix, 2)))
    found = szego.spectrum("rope:dim=64", 512)
    tap.ok("rope: 448 zeros by structure", found.zeros == 448 and found.rank == 64 and len(found.values) <= 65
           and found.solver == "reduced" and "trace" in found.residual_meaning and found.theorem.name == "none")
    # Rows of a table: P P^T is not Toeplitz, but its family has a sentence.
    drawn = szego.spectrum("random:dim=16,seed=1", 40)
    tap.ok("no Toeplitz matrix: no range", drawn.range is None and drawn.theorem.name == "none" and drawn.zeros == 24
           and drawn.complete)
    angle = np.outer(np.arange(40), 10000.0 ** (-np.arange(8) / 8))
    rows = np.concatenate([np.sin(angle), np.cos(angle)], 1)
    same("P P^T of rope+absolute", szego.spectrum("rope+absolute:dim=16", 40, matrix=1), rows @ rows.T)
    ends = szego.spectrum("kms:rho=0.9", 3000, want="range")
    every = szego.spectrum("kms:rho=0.9", 3000).values
    # The closed form's bracket of the symbol (1 - rho) / (1 + rho) .. (1 + rho) / (1 - rho).
    tap.ok("the range alone", 0.1 / 1.9 <= every[0] and every[-1] <= 19
           and np.abs(ends.values[[0, -1]] - every[[0, -1]]).max() <= eigenvalue_bound(3000, 19))
    tap.ok("a spectrum's tables are the program's", found.tables.provenance["."]["command"] == "spectrum"
           and found.tables["spectrum_summary"]["n"].tolist() == [512])
    for spec in ("rope:dim=64", "alibi:heads=1", "t5:seed=3", "nope", "random:dim=16,seed=1"):
        found, table = szego.spectrum(spec, 200), szego.run_spectrum(spec, 200, all=True)["spectrum_eigenvalues"]
        listed = table["kind"] == "eigenvalue"
        values, times = (table["re"] + 1j * table["im"])[listed], table["multiplicity"][listed]
        index = table["index"][listed]
        zero = values == 0
        if zero.any():  # the program lists zeros that were computed one by one
            times[zero.argmax()] = times[zero].sum()
            values, times, index = (np.delete(one, np.flatnonzero(zero)[1:]) for one in (values, times, index))
        tap.ok(f"{spec}: the program lists the same", times.tolist() == found.multiplicity.tolist()
               and np.abs(values - found.values).max() <= eigenvalue_bound(200, found.frobenius)
               and index.tolist() == (np.cumsum(times) - times).tolist())
        # A sum of 200 values, each off by the bound of a solver.
        tap.close(f"{spec}: the weighted mean is trace / n", float((values.real * times).sum() / 200),
                  found.trace / 200, eigenvalue_bound(200, found.frobenius))
    found = szego.spectrum("rope:dim=64", 512)
    other = szego.run_spectrum("rope:dim=8", 16, part="ratio", content="gaussian:dim=8")
    tap.ok("options of the program", isinstance(other, szego.Results) and len(other["spectrum_contraction"]["n"]) == 1)
    both = szego.run_spectrum("rope:dim=8", "16,32")
    tap.ok("two lengths are the program's", both["spectrum_summary"]["n"].tolist() == [16, 32])
    for one in (found, szego.symbol("rope:dim=64", 512)):
        tap.ok(f"a short repr {one!r}", len(repr(one)) < 200 and "rope:dim=64" in repr(one))


def check_symbol():
    a = rng.standard_normal(40)
    for n in (40, 25):
        found = szego.symbol(a, n, samples=101)
        t = 2 * np.pi * np.arange(101) / 101
        want = a[0] + 2 * np.cos(np.outer(t, np.arange(1, n))) @ a[1:n]
        # Sums of 2 n terms, each of a rounded angle below 2 pi n: (2 n + 2 pi n) eps sum |a|, and the FFT's.
        slack = 10 * n * EPS * 2 * np.abs(a).sum()
        tap.close(f"samples, n = {n}", float(np.abs(found.values - want).max()), 0, slack)
        tap.ok(f"samples within the range, n = {n}", found.range.lo <= want.min() + slack
               and want.max() - slack <= found.range.hi and found.values.dtype == np.float64)
    edges = szego.symbol([2.0, -1.0], 9).range
    tap.ok("2 - 2 cos t: 0 and 4 are enclosed", edges.min_lo <= 0 <= edges.min_hi and edges.max_lo <= 4 <= edges.max_hi
           and edges.max_hi - edges.max_lo < 1e-12)
    rope = szego.symbol("rope:dim=8", 33)
    # Frequencies of four pairs; powers of 10000^(1/4) = 10 within a few roundings.
    tap.ok("atoms", np.allclose(rope.atom_theta, [1, 0.1, 0.01, 0.001], rtol=8 * EPS, atol=0)
           and np.allclose(rope.atom_mass, 0.25, rtol=EPS, atol=0))
    closed = szego.symbol("kms:rho=0.5", 8, convention="closed_form")
    tap.ok("closed form", closed.convention == "closed_form" and abs(closed.range.hi - 3) <= 8 * EPS
           and abs(closed.values[0] - 3) <= 8 * EPS)
    tap.ok("the Fejer mean bounds nothing", szego.symbol(a, convention="fejer").range.bounds == "nothing")
    refused("a symbol of a matrix", lambda: szego.symbol(np.eye(3)), "2-D", kind=szego.ArgumentError)
    refused("no closed form", lambda: szego.symbol(a, convention="closed_form"), "closed form")


def coupled(spec, q, k):
    """Logits from their definition, of a SPEC with one head."""
    n, d = q.shape
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    if spec.startswith("alibi"):
        return q @ k.T / np.sqrt(d) - 0.00390625 * np.abs(lag)
    halves = spec.endswith("pairing=half")
    pairs = [x[:, :d // 2] + 1j * x[:, d // 2:] if halves else x[:, 0::2] + 1j * x[:, 1::2] for x in (q, k)]
    theta = 10000.0 ** (-np.arange(d // 2) / (d // 2))
    return sum(np.outer(pairs[0][:, t], pairs[1][:, t].conj()) * np.exp(1j * lag * theta[t])
               for t in range(d // 2)).real / np.sqrt(d)


def check_logits():
    n, d = 48, 16
    q, k = rng.standard_normal((2, 3, n, d))
    for spec in ("rope:dim=16,pairing=interleaved", "rope:dim=16,pairing=half", "alibi:heads=1"):
        for causal in (False, True):
            name = f"{spec}{', causal' if causal else ''}"
            mask = np.tril if causal else lambda x: x
            want, content = mask(coupled(spec, q[0], k[0])), mask(q[0] @ k[0].T / np.sqrt(d))
            # The entries here and there differ by rounded angles: n theta eps each; and the solvers.
            slack = eigenvalue_bound(n, np.linalg.norm(want, 2))
            slack += 2 * n * EPS * np.linalg.norm(np.abs(q[0]) @ np.abs(k[0]).T)
            singular = np.linalg.svd(want, compute_uv=False)
            got = szego.logits(q, k, spec, head=0, question="singular", causal=causal)
            tap.close(f"{name}: singular values", float(np.abs(got.singular_values - singular).max()), 0, slack)
            part = np.linalg.eigvalsh((want + want.T) / 2)
            got = szego.logits(q[0], k[0], spec, question="hermitian_part", causal=causal)
            tap.close(f"{name}: Hermitian part", float(np.abs(got.eigenvalues - part).max()), 0, slack)
            found = szego.contraction(q[0], k[0], spec, causal=causal)
            without = np.linalg.svd(content, compute_uv=False)
            plain = np.linalg.eigvalsh((content + content.T) / 2)
            # Quotients of numbers off by `slack` above and below.
            for word, top, bottom, count in (("norm", singular[0], without[0], 1),
                                             ("nuclear", singular.sum(), without.sum(), n),
                                             ("width", part[-1] - part[0], plain[-1] - plain[0], 2)):
                tap.close(f"{name}: {word}", getattr(found, word), top / bottom,
                          2 * count * slack * (1 + top / bottom) / bottom)
            order = (np.cumsum(plain[::-1]) - np.cumsum(part[::-1]))[:-1].min()
            tap.ok(f"{name}: majorisation", found.majorised is bool(order > -n * slack) or abs(order) < n * slack)
            tap.ok(f"{name}: both spectra", found.content.eigenvalues.complete
                   and np.abs(found.coupled.eigenvalues.eigenvalues - part).max() <= slack and found.content_kind == "same_qk")
    head = szego.logits(q, k, "nope", head=2, question="singular", part="content").singular_values
    want = np.linalg.svd(q[2] @ k[2].T / np.sqrt(d), compute_uv=False)
    tap.close("head 2", float(np.abs(head - want).max()), 0, eigenvalue_bound(n, want[0]))
    lag = np.subtract.outer(np.arange(96), np.arange(96))
    found = szego.compare(np.ones((96, 96)), np.cos(lag / 4))
    # Correlation matrix of positive cosines: Bapat and Sunder 1985.
    tap.ok("two matrices", found.majorised is True and found.width < 1 and found.content_kind is None
           and len(repr(found)) < 200)
    for word, call in {"head": lambda: szego.logits(q, k, "nope", head=3),
                       "shape": lambda: szego.logits(q[0], k, "nope"),
                       "real": lambda: szego.logits(q[0] + 0j, k[0], "nope"),
                       "order": lambda: szego.compare(np.eye(3), np.eye(4)),
                       "square": lambda: szego.compare(np.ones((3, 4)), np.eye(3)),
                       "dimension": lambda: szego.logits(q[0], k[0], "rope:dim=64,pairing=half")}.items():
        refused(f"logits: {word}", call, word if word != "shape" else "q has shape", kind=szego.ArgumentError)


def check_questions():
    """What q and k do not tell is asked for, and never taken from a default."""
    q, k = rng.standard_normal((2, 3, 8, 4))
    calls = {"logits": szego.logits, "contraction": szego.contraction, "logits_statistics": szego.logits_statistics}
    for name, call in calls.items():
        for spec in ("rope", "rope:dim=4", "rope:dim=4,scaling=linear,factor=2", "rope+absolute:dim=4",
                     "mla:content=2,rope=2"):
            refused(f"{name}: {spec} without its pairing", lambda call=call, spec=spec: call(q[0], k[0], spec), spec,
                    "pairing=half", "pairing=interleaved", "Hugging Face", "GPT-J", kind=szego.ArgumentError)
        for spec in ("nope", "alibi:heads=1", "rope-bias:dim=4", "kms:rho=0.5"):
            tap.ok(f"{name}: {spec} has no pairing", call(q[0], k[0], spec).n == 8)
        refused(f"{name}: other heads than the encoding's", lambda call=call: call(q, k, "alibi:heads=8"),
                "alibi:heads=8 has 8 heads", "(3, 8, 4) 3", "before tokens", kind=szego.ArgumentError)
        refused(f"{name}: a head of the encoding", lambda call=call: call(q[0], k[0], "alibi:heads=3"), "alibi:heads=3",
                "3 heads", "(8, 4)", "head=H", kind=szego.ArgumentError)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            call(q[:1], k[:1], "nope")
            call(q, k, "nope", head=2)
            silent = len(said)
            call(np.ones((9, 8, 4)), np.ones((9, 8, 4)), "nope", head=8)
        tap.ok(f"{name}: more heads than tokens", silent == 0 and len(said) == 1
               and issubclass(said[0].category, szego.SzegoWarning) and said[0].filename == __file__
               and "9 heads of 8 tokens" in str(said[0].message) and "swapaxes(-3, -2)" in str(said[0].message),
               str([str(one.message) for one in said]))


# ---- Refusals -----------------------------------------------------------------------------------

class Tensor:
    """As PyTorch's with a gradient."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


REFUSED = {
    "nan": (lambda: szego.spectrum([1.0, np.nan], 4), "source[1] is nan", "finite"),
    "nan in a Hermitian lag": (lambda: szego.spectrum(np.array([1, 0, 1j * np.nan]), 4), "source[2] is"),
    "nan in a full lag": (lambda: szego.spectrum([np.nan, 1.0, 1.0], lags="full"), "source[0] is"),
    "infinity in a matrix": (lambda: szego.spectrum(np.array([[1, np.inf], [0, 1]])), "source[0, 1] is inf"),
    "a complex NaN": (lambda: szego.spectrum(np.array([[1, np.nan], [0, 1]], complex)), "source[0, 1] is (nan"),
    "a complex a_0": (lambda: szego.spectrum(np.array([1j, 1])), "lag 0"),
    "negative n": (lambda: szego.spectrum([2.0, 1.0], -3), "-3"),
    "negative n of a SPEC": (lambda: szego.spectrum("rope:dim=64", -3), "-3"),
    "n of a matrix": (lambda: szego.spectrum(np.eye(3), 4), "order 3"),
    "n that is none": (lambda: szego.spectrum("nope", 3.0), "3.0"),
    "n beyond 2^63": (lambda: szego.spectrum("nope", 2**63), "2^63"),
    "no n": (lambda: szego.spectrum("rope:dim=64"), "give n"),
    "a head that is not there": (lambda: szego.spectrum("rope:dim=64", 8, head=7), "7"),
    "float32": (lambda: szego.spectrum(np.eye(3, dtype=np.float32), exact=True), "float32"),
    "a byte-swapped array": (lambda: szego.spectrum(np.eye(3).astype(">f8"), exact=True), ">f8"),
    "bool": (lambda: szego.spectrum(np.eye(3, dtype=bool)), "bool"),
    "texts": (lambda: szego.spectrum(["a", "b"]), "float64"),
    "ragged": (lambda: szego.spectrum([[1, 2], [3]]), "array"),
    "what refuses to be an array": (lambda: szego.spectrum(Tensor()), "source", "detach"),
    "queries that refuse it": (lambda: szego.logits(Tensor(), np.eye(4), "nope"), "q", "detach"),
    "a stack that refuses it": (lambda: szego.spectra(Tensor()), "stack", "detach"),
    "tokens that refuse it": (lambda: szego.train(data=([Tensor()], [1])), "sequence 0", "detach"),
    "non-contiguous": (lambda: szego.spectrum(np.ones((6, 6))[::2, ::2], exact=True), "ascontiguousarray"),
    "a column": (lambda: szego.spectrum(np.ones((6, 6))[:, 0], exact=True), "ascontiguousarray"),
    "masked": (lambda: szego.spectrum(np.ma.masked_less([1.0, 0.0], 0.5)), "masked"),
    "not square": (lambda: szego.spectrum(np.ones((3, 4))), "(3, 4)"),
    "3-D": (lambda: szego.spectrum(np.ones((2, 2, 2))), "(2, 2, 2)"),
    "empty": (lambda: szego.spectrum(np.ones(0)), "nothing"),
    "integers that are no doubles": (lambda: szego.spectrum(np.array([2**53 + 1, 1])), "2^53"),
    "an even number of full lags": (lambda: szego.spectrum([1.0, 2.0], lags="full"), "odd"),
    "an unknown question": (lambda: szego.spectrum("nope", 4, question="eigen"), "hermitian_part"),
    "an unknown SPEC": (lambda: szego.spectrum("ropey", 4), "did you mean rope"),
    "a NUL": (lambda: szego.spectrum("rope\0x", 4), "NUL"),
    "a surrogate": (lambda: szego.spectrum("rope\udcff", 4), "UTF-8"),
    "no array": (lambda: szego.spectrum(None, 4), "shape ()"),
    "full lags of a SPEC": (lambda: szego.spectrum("nope", 4, lags="full"), "lags="),
    "full lags of a matrix": (lambda: szego.spectrum(np.eye(3), lags="full"), "lags="),
    "a head of an array": (lambda: szego.spectrum(np.eye(3), head=1), "head="),
    "Hermitian coefficients": (lambda: szego.spectrum([1.0, 2.0], 9, hermitian=True), "hermitian="),
    "threads": (lambda: szego.spectrum("nope", 4, threads=0), "1024"),
    "an option of the program": (lambda: szego.spectrum([2.0, -1.0], 4, part="ratio"), "part", "run_spectrum"),
    "several orders": (lambda: szego.spectrum("nope", "4,5"), "n='4,5'"),
    "symmetry and singular values": (lambda: szego.spectrum(np.array([[1.0, 2], [3, 4]]), question="singular",
                                                            hermitian=True), "hermitian=", "singular"),
    "a promise that is not kept": (lambda: szego.spectrum(np.array([[1.0, 2], [3, 4]]), hermitian=True), "symmetric"),
}


def check_refusals():
    library = native.library()
    native._library = counted = Counted(library)
    open_files = len(os.listdir("/proc/self/fd"))
    with threads_forgotten():
        for name, (call, *words) in REFUSED.items():
            refused(name, call, *words, kind=szego.ArgumentError)
        refused("no memory", lambda: szego.spectrum([2.0, 1.0], 2**20, dense=True), "TiB")
        refused("a part of a spectrum", lambda: szego.spectrum("kms:rho=0.5", 10**6, want="range").eigenvalues, "want")
        q = rng.standard_normal((8, 4))
        spoiled = rng.standard_normal((2, 8, 4))
        spoiled[1, 6, 2] = np.inf
        refused("keys that are not finite", lambda: szego.contraction(np.stack([q, q]), spoiled, "nope", head=1),
                "k[1, 6, 2] is inf", "finite", kind=szego.ArgumentError)
        szego.contraction(q, q, "alibi:heads=2", head=1)
        szego.symbol("t5:heads=2,seed=1", 9)
        idle = sum(map(len, native._idle.values()))
        tap.ok("nothing stays open but contexts that wait", counted.open == idle > 0, f"{counted.open} {idle}")
        tap.ok("no file stays open", len(os.listdir("/proc/self/fd")) == open_files)
        before = counted.open
        szego.spectrum("rope:dim=8", 9)
        tap.ok("a context waits for the next call", counted.open == before)
    native._library = library
    given = rng.standard_normal((5, 5))
    kept = given.copy()
    szego.spectrum(given, question="hermitian_part")
    tap.ok("the caller's array is not changed", np.array_equal(given, kept))
    check_kept()
    refused("a table of a spectrum", lambda: szego.spectrum("nope", 4)["spectrum_summary"], "`tables`", kind=TypeError)
    refused("tables of an array", lambda: szego.spectrum(given).tables, "SPEC")


def check_kept():
    """Results go to another process and to files: pickled, they are what they were."""
    q = rng.standard_normal((6, 4))
    for found in (szego.spectrum("rope:dim=8", 40), szego.spectrum(q[:4]), szego.symbol("kms:rho=0.5", 9),
                  szego.contraction(q, q, "rope:dim=4,pairing=half"), szego.contraction(q[None], q[None], "nope"), szego.spectra(q[None, :4]), szego.encodings.rope(dim=8)):
        again = pickle.loads(pickle.dumps(found))
        tap.ok(f"pickled: {type(found).__name__}", repr(again) == repr(found) and np.array_equal(
            getattr(again, "values", 0), getattr(found, "values", 0)))
    found = pickle.loads(pickle.dumps(szego.spectrum("rope:dim=8", 40)))
    tap.ok("a pickled spectrum has its tables", "spectrum_summary" in found.tables)


class threads_forgotten:
    """Contexts that wait are closed before and after the block."""

    def __enter__(self):
        native._forget()

    def __exit__(self, *_):
        native._forget()


# ---- Contexts, threads, Ctrl-C ------------------------------------------------------------------

def check_contexts():
    context = native.Context(2)
    with context._busy:
        refused("a context in use by another thread", lambda: context.call("szg_encoding_parse", b"nope", None),
                "another thread")
        refused("closing it meanwhile", context.close, "another thread")
    context.cancel()
    opened = ctypes.c_void_p()
    context.call("szg_toeplitz_open_symmetric", 200, 2, np.array([2.0, 1]).ctypes.data, ctypes.byref(opened))
    view, made = native.library().szg_matrix_toeplitz(opened), layout.Spectrum()
    try:
        context.call("szg_spectrum_compute", ctypes.byref(view), 0, None, ctypes.byref(made))
        tap.ok("a cancelled context refuses", False)
    except szego.LibraryError as error:
        tap.ok("a cancelled context refuses", error.status == "SZG_ECANCEL" and "interrupted" in str(error), str(error))
    native.library().szg_toeplitz_close(ctypes.byref(opened))
    context.close()
    context.close()
    context.cancel()
    refused("a closed context", lambda: context.call("szg_encoding_parse", b"nope", None), "closed")
    before = len(os.listdir("/proc/self/task"))
    for threads in range(1, 25):
        szego.spectrum("nope", 4, threads=threads)
    # Four contexts wait, of at most 24 threads each; all of them would have 300.
    tap.ok("contexts of other numbers of threads do not pile up", len(os.listdir("/proc/self/task")) <= before + 96
           and sum(map(len, native._idle.values())) <= 4 and native._idle[24] and not any(
               context.busy for waiting in native._idle.values() for context in waiting))
    answers, errors = {}, []
    wanted = {n: szego.spectrum("t5:heads=2,seed=3", n).values for n in range(20, 28)}

    def work(n):
        try:
            answers[n] = [szego.spectrum("t5:heads=2,seed=3", n).values for _ in range(20)]
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)
    running = [threading.Thread(target=work, args=(n,)) for n in wanted]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    tap.ok("eight threads", not errors and all(np.array_equal(one, wanted[n]) for n in wanted for one in answers[n]),
           str(errors))
    tap.ok("few contexts wait", max(map(len, native._idle.values())) <= native._IDLE_CONTEXTS)
    done = python(AT_EXIT, SZEGO_LIBRARY=LIBRARY)
    tap.ok("a call from __del__ at exit ends", "the interpreter is ending" in done.stderr, done.stderr)
    done = python(FORKS, SZEGO_LIBRARY=LIBRARY)
    tap.ok("children of a fork while a thread computes", done.stdout.strip() == f"{[0] * 8} True",
           f"{done.returncode} {done.stdout} {done.stderr}")
    for when in ("before", "after") if platform.machine() == "x86_64" else ():
        done = python(FLUSHES, when, SZEGO_LIBRARY=LIBRARY)
        tap.ok(f"denormal numbers, flushed to zero from {when} the import",
               done.stdout.strip() == "[0, 0] [2, 8] [2, 8] [3, 7] False", f"{done.stdout} {done.stderr}")
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(szego.spectrum("t5:heads=2,seed=3", 20).values, wanted[20]) else 1)
    tap.ok("a child after a fork", os.waitpid(child, 0)[1] == 0)


def check_bench():
    run = "import sys; from szego.bench import main; sys.exit(main(sys.argv[1:]))"
    done = python(run, "--markdown", "--only", "64", "1", SZEGO_LIBRARY=LIBRARY)
    heading, line, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    numbers = [[float(cell) for cell in row[2:] if cell] for row in rows]
    tap.ok("the timing script", done.returncode == 0 and len(rows) == 6 and {len(row) for row in rows} == {7}
           and heading[0] == "question" and line[0] == "---" and {row[1] for row in rows} == {"1", "all"}
           and all(len(row) in (3, 5) and min(row) > 0 for row in numbers), done.stdout + done.stderr)
    tap.ok("its usage", python(run, "0", SZEGO_LIBRARY=LIBRARY).returncode == 2)
    done = python(run, "--only", "Monitor", "1", SZEGO_LIBRARY=LIBRARY)
    tap.ok("a text that no question has", done.returncode == 2 and "--only Monitor: no question has" in done.stderr and
           not done.stdout, done.stdout + done.stderr)


INTERRUPTED = INTERRUPT + """
def wait():
    # LAPACK runs after copies and checks, O(n^2): a second of the processor's time.
    start = time.process_time()
    while sys.argv[1] == "dense" and time.process_time() < 1 + start and not said:
        time.sleep(0.01)

interrupt_in("szg_spectrum_compute", wait)
draw = np.random.default_rng(1).standard_normal
try:
    szego.spectrum(draw(20000) if sys.argv[1] == "lags" else draw((2500, 2500)), threads=1)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", "before the end" if not said else said[0])
if sys.argv[1] == "lags":
    ended.wait()
    print(*said)
else:
    ended.set()
print(szego.spectrum([2, -1], 3).n, flush=True)
os._exit(0)
"""


# A small matrix is solved in the caller's thread. A signal that comes just after the library's call may leave the
# context taken: the next call gets another one.
QUICK = """
import os, signal, sys, threading
import numpy as np, szego
from szego import native
call = native.Context.call

def watched(context, name, *arguments):
    call(context, name, *arguments)
    if sys.argv[1] == "True":
        context._busy.acquire()
    global thread
    thread = threading.current_thread().name
    os.kill(os.getpid(), signal.SIGINT)

native.Context.call = watched
try:
    szego.spectrum(np.eye(3))
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", thread)
native.Context.call = call
print(szego.spectrum(np.eye(4)).n)
"""


def check_interrupt():
    """A signal once the library runs. LAPACK's general eigenvalues cannot stop: the call is left alone. The
    divide and conquer stops: its status is that of a cancelled call."""
    done = python(INTERRUPTED, "dense", SZEGO_LIBRARY=LIBRARY)
    tap.ok("Ctrl-C in LAPACK is raised at once, and the next call works",
           done.stdout.split("\n") == ["interrupted before the end", "3", ""], done.stdout + done.stderr)
    for held in (False, True):
        done = python(QUICK, str(held), SZEGO_LIBRARY=LIBRARY)
        tap.ok(f"Ctrl-C in a quick call, context in use: {held}", done.stdout.split() == ["interrupted", "MainThread", "4"],
               done.stdout + done.stderr)
    done = python(INTERRUPTED, "lags", SZEGO_LIBRARY=LIBRARY)
    tap.ok("Ctrl-C cancels the call", done.stdout.split("\n")[1:] == ["SZG_ECANCEL", "3", ""]
           and done.stdout.startswith("interrupted "), done.stdout + done.stderr)


for check in (check_headers, check_loading):
    with scratch() as place:
        check(place)
for check in (check_arrays, check_kernels, check_symbol, check_logits, check_questions, check_refusals, check_contexts,
              check_bench, check_interrupt):
    check()
tap.finish()
