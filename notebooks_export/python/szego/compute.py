"""Spectra, symbols and contractions in this process: arrays in and out, by the library (`native`).

Matrices come as one of

- a SPEC of a positional encoding and a length n: spectrum("rope:dim=64", 512);
- Toeplitz coefficients, a 1-D array, and n (default: their number): a_0, a_1, ... of a symmetric matrix where
  they are real, of a Hermitian one where they are complex; lags="full": a_-(c-1) .. a_(c-1), no symmetry;
- a square matrix, a 2-D array.

Arrays may be NumPy's, tensors, frames, or whatever NumPy or DLPack reads; docs/how-to/python.md says what is converted and
what is refused (`arguments.array`). `exact=True` refuses whatever needs a copy. They are not changed, and the result has
the type of theirs as `input_dtype`.
"""
import contextlib
import ctypes
import functools
import math
import sys
from ctypes import byref as _ref
from typing import Mapping, Optional, Union, overload

import numpy as np

from . import layout, native, program
from .arguments import array as _array, blamed, enum as _enum, flag as _flag, integer as _integer
from .arguments import keywords, spec as _spec, text as _text
from .choices import ArrayLike, Convention, Integer, Lags, Question, Want
from .errors import ArgumentError
from .native import handle
from .results import Compared, Contraction, Range, Spectrum, Symbol, Theorem

Source = Union[str, ArrayLike]  # a SPEC, or what is an array
_QUICK = 128  # order of a matrix, or number of coefficients, whose spectrum is there in milliseconds


@overload
def spectrum(source: str, n: Integer, *, question: Question = ..., want: Want = ..., head: Integer = ..., matrix: Integer = ...,
             dense: bool = ..., certify: bool = ..., threads: Optional[int] = ...) -> Spectrum: ...
@overload
def spectrum(source: ArrayLike, n: Optional[Integer] = ..., *, question: Question = ..., want: Want = ..., lags: Lags = ...,
             hermitian: Optional[bool] = ..., dense: bool = ..., certify: bool = ..., exact: bool = ...,
             threads: Optional[int] = ...) -> Spectrum: ...


@functools.partial(keywords, also="; szego.run_spectrum takes the options of the command")
def spectrum(source: Source, n: Optional[Integer] = None, *, question: Question = "eigenvalues", want: Want = "all",
             head: Integer = 0, matrix: Integer = 0, lags: Lags = "half", hermitian: Optional[bool] = None,
             dense: bool = False, certify: bool = True, exact: bool = False, threads: Optional[int] = None) -> Spectrum:
    """Eigenvalues of a kernel, of Toeplitz coefficients, or of a square matrix.

        szego.spectrum("rope:dim=64", 512).eigenvalues        # shape (512,)
        szego.spectrum(np.array([2.0, -1.0]), 100).values
        szego.spectrum(matrix)[-1]                            # matrix of shape (n, n); of many: szego.spectra

    source, n, lags: see the module's words. head, matrix: of a SPEC, which head's matrix (rope+absolute has two).
    question: "eigenvalues", "singular" (singular values) or "hermitian_part" (eigenvalues of (L + L^*)/2).
    want: "all", or "range": the least and the largest value, which large matrices have sooner.
    hermitian: of a square matrix, True: it must be symmetric (Hermitian), and is refused if it is not; False:
        nothing is assumed of a complex one; None: it is looked at, up to 64 eps of its largest entry, as real ones
        are with False too. Singular values have no use for it.
    dense: form the dense matrix and use LAPACK whatever the structure.
    certify: enclose the symbol (`range`) and name the limit theorem, of Toeplitz matrices.
    exact: refuse an array that needs a copy, of another type for instance, and a tensor with a gradient.
    threads: worker threads; None: one for each processor.

    Solvers by structure, and errors: szg_spectrum_compute in <szego/spectrum.h>; methods and their sources:
    docs/explanation/methods.md. ArgumentError (a wrong type, shape or number), LibraryError (no answer, memory),
    with the library's message. Ctrl-C ends the call.
    """
    chosen = _enum(layout.QUESTIONS, "question", question), spectra_options(want, _flag(dense, "dense"))
    given = _Given(source, n, head, matrix, lags, hermitian, exact)
    certify = _flag(certify, "certify")
    tables = None
    if given.spec is not None:
        tables = functools.partial(program.run_spectrum, given.spec, given.n, threads=threads, dense=dense)
    else:
        no_symmetry(question, hermitian)

    def work(context):
        with given.opened(context) as (opened, kernel):
            found = computed(context, given.name, opened, chosen)
            if certify and kernel.toeplitz:
                report = layout.ReportOptions()
                with _symbol(context, opened, report) as symbol:
                    found.update(range=_range(symbol, "truncated"))
            if certify:
                found.update(theorem=kernel.theorem(context))
            return Spectrum(**found, input_dtype=given.dtype, _program=tables)
    return run(work, threads, {"source": given.array}, quick=given.small)


@keywords
def symbol(source: Source, n: Optional[Integer] = None, *, samples: int = 256, convention: Convention = "truncated",
           head: Integer = 0, matrix: Integer = 0, lags: Lags = "half", exact: bool = False,
           threads: Optional[int] = None) -> Symbol:
    """The symbol of a kernel or of Toeplitz coefficients: `samples` values at 2 pi j / samples, and its certified
    range, which holds every eigenvalue (convention "truncated"; "fejer" and "closed_form": <szego/symbol.h>).

        szego.symbol("kms:rho=0.5", 128).range.hi

    LibraryError: no Toeplitz matrix, or no symbol in closed form.
    """
    options = layout.ReportOptions(samples=_integer(samples, "samples", 1),
                                   convention=_enum(layout.CONVENTIONS, "convention", convention))
    given = _Given(source, n, head, matrix, lags, None, exact)
    if given.dense:
        raise ArgumentError("a symbol is that of Toeplitz coefficients (1-D) or of a SPEC; the array is 2-D",
                            "SZG_EINVAL")

    def work(context):
        with given.opened(context) as (opened, kernel), _symbol(context, opened, options) as report:
            values = _numbers(report.sample, 2 * report.samples).view(complex)
            if not report.modulus:
                values = values.real.copy()
            names = [name for name, (_, value) in layout.CONVENTIONS.items() if value == report.convention]
            return Symbol(given.name, given.n, names[0], 2 * np.pi * np.arange(len(values)) / len(values),
                          values, _range(report, names[0]), kernel.theorem(context),
                          _numbers(report.atom_theta, report.atoms),
                          _numbers(report.atom_mass, report.atoms), _text(report.note), given.dtype)
    return run(work, threads, {"source": given.array})


@keywords
def compare(content: ArrayLike, coupled: ArrayLike, *, exact: bool = False, threads: Optional[int] = None) -> Contraction:
    """The same of two real n x n arrays, content and coupled logits of one's own: before mask and softmax. What a causal
    mask hides is 0 in both, and padding is cut off. Masks of finite numbers, -1e9 for instance, are refused, and of
    attention weights a SzegoWarning is given."""
    given = {name: _array(value, name, 2, 2, _flag(exact, "exact")) for name, value in (
        ("content", content), ("coupled", coupled))}
    arrays = {name: one.array for name, one in given.items()}
    for name, array in arrays.items():
        _square(array, name)
        if array.dtype != np.float64:
            raise ArgumentError(f"{name}: complex logits have no contraction; its entries must be real",
                                "SZG_EINVAL")

    def work(context):
        views = [native.library().szg_matrix_dense(len(array), len(array), array.ctypes.data, len(array))
                 for array in arrays.values()]
        return contracted(context, "two matrices", *views, None, given["coupled"].dtype)
    return run(work, threads, arrays)


# ---- Arguments ----------------------------------------------------------------------------------


def run(work, threads: Optional[int], arrays: Mapping[str, Optional[np.ndarray]], **how):
    """native.run; an error names the argument whose entry is not finite."""
    try:
        return native.run(work, threads, **how)
    except ArgumentError as error:
        raise blamed(error, **arrays) from None


def _square(array: np.ndarray, name: str) -> None:
    if array.shape[0] != array.shape[1]:
        raise ArgumentError(f"{name}: shape {array.shape} is not square", "SZG_EINVAL")


class _Kernel:
    """What is known of an opened matrix: whether it is Toeplitz, and its limit theorem."""

    def __init__(self, toeplitz: bool, function: Optional[str] = None, of=None):
        self.toeplitz, self.function, self.of = toeplitz, function, of

    def theorem(self, context) -> Optional[Theorem]:
        if self.function is None:
            return None
        answer = layout.TheoremAnswer()
        context.call(self.function, self.of, _ref(answer))
        return Theorem(_text(answer.name), _text(answer.sentence))


def _only(what: str, **idle) -> None:
    """Refuses a keyword that would change nothing."""
    for name, given in idle.items():
        if given:
            raise ArgumentError(f"{name}= says nothing about {what}: leave it out", "SZG_EINVAL")


def no_symmetry(question: str, hermitian) -> None:
    """Singular values are computed alike with and without symmetry, which nothing would check."""
    if question == "singular":
        _only("singular values", hermitian=hermitian is not None)


_LAGS = {"half": ("", 0), "full": ("", 1)}


class _Given:
    """The matrix that a caller gave, checked as far as Python can."""

    def __init__(self, source, n, head, matrix, lags, hermitian, exact):
        self.spec = self.array = self.dtype = None
        self.n = None if n is None else _integer(n, "n")
        self.head, self.matrix = _integer(head, "head"), _integer(matrix, "matrix")
        self.hermitian = None if hermitian is None else _flag(hermitian, "hermitian")
        self.full = bool(_enum(_LAGS, "lags", lags))
        if isinstance(source, str):
            self._take_spec(source)
            _only("a SPEC", exact=_flag(exact, "exact"))
        else:
            array, self.dtype = _array(source, "source", 1, 2, _flag(exact, "exact"))
            self._take_array(array)

    def _take_spec(self, spec: str):
        _spec(spec)
        _only("a SPEC", lags=self.full, hermitian=self.hermitian is not None)
        if self.n is None:
            raise ArgumentError(f"{spec}: its matrices have any order; give n", "SZG_EINVAL")
        self.spec = self.name = spec
        self.dense = False

    def _take_array(self, array: np.ndarray):
        self.array, self.dense = array, array.ndim == 2
        kind = "complex" if array.dtype.kind == "c" else "real"
        _only("an array", head=self.head, matrix=self.matrix)
        if self.dense:
            _only("a square matrix", lags=self.full)
            _square(array, "source")
            if self.n not in (None, len(array)):
                raise ArgumentError(f"n={self.n} beside a matrix of order {len(array)}", "SZG_EINVAL")
            self.n = len(array)
            self.name = f"a {kind} matrix"
            return
        _only("coefficients", hermitian=self.hermitian is not None)
        if self.full and len(array) % 2 == 0:
            raise ArgumentError(f"lags=\"full\": {len(array)} coefficients; from lag -c to lag c they are an odd "
                                "number", "SZG_EINVAL")
        self.count = (len(array) + 1) // 2 if self.full else len(array)
        self.n = self.count if self.n is None else self.n
        self.name = f"{len(array)} {kind} coefficients"

    @property
    def small(self) -> bool:
        """Whether its spectrum takes milliseconds. A SPEC may read files."""
        return self.array is not None and max(self.n, len(self.array)) <= _QUICK

    @contextlib.contextmanager
    def opened(self, context):
        """(szg_matrix, _Kernel) for a block."""
        if self.spec is not None:
            with handle(context, "szg_encoding_parse", "szg_encoding_close", _spec(self.spec)) as encoding:
                yield from self._of_encoding(context, encoding)
        elif self.dense:
            yield self._of_matrix(), _Kernel(False)
        else:
            letters = ("symmetric", "hermitian", "real", "complex")
            opener = letters[2 * self.full + (self.array.dtype.kind == "c")]
            with handle(context, f"szg_toeplitz_open_{opener}", "szg_toeplitz_close", self.n, self.count,
                        self.array.ctypes.data) as toeplitz:
                yield (native.library().szg_matrix_toeplitz(toeplitz),
                       _Kernel(True, "szg_theorem_of_toeplitz", toeplitz))

    def _of_encoding(self, context, encoding):
        facts, made = layout.KernelFacts(), layout.Matrix()
        context.call("szg_encoding_facts", encoding, self.head, self.matrix, _ref(facts))
        kernel = _Kernel(facts.form != layout.FORMS["not_toeplitz"][1], "szg_theorem_of_encoding", _ref(facts))
        with native.filled(context, "szg_encoding_matrix", "szg_matrix_close", made, encoding, self.head,
                           self.matrix, self.n):
            yield made, kernel

    def _of_matrix(self):
        return matrix_view(self.array, self.hermitian)


def matrix_view(a: np.ndarray, hermitian: Optional[bool]) -> layout.Matrix:
    """The szg_matrix of a 2-D array, which must outlive it."""
    library, (m, n), address = native.library(), a.shape, a.ctypes.data
    if a.dtype.kind == "c":
        if hermitian or (hermitian is None and m == n and _is_hermitian(a)):
            return library.szg_matrix_hermitian(n, address, n)
        return library.szg_matrix_complex(m, n, address, n)
    if hermitian:
        return library.szg_matrix_symmetric(n, address, n)
    return library.szg_matrix_dense(m, n, address, n)


def _is_hermitian(a: np.ndarray) -> bool:
    """Up to 64 eps of the largest entry, as the library looks at real ones. NaN: no, the library names it."""
    with np.errstate(all="ignore"):
        allowed = 64 * sys.float_info.epsilon * np.abs(a).max()
        if allowed < sys.float_info.min:
            return bool(_same(a.real, a.real.T, False).all() and _same(a.imag, a.imag.T, True).all())
        return bool(np.abs(a - a.conj().T).max() <= allowed)


# ---- Without arithmetic, for the host may flush denormal numbers to zero --------------------------


def _magnitude_bits(reals: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(reals).view(np.uint64) & np.uint64(2**63 - 1)


def _same(a: np.ndarray, b: np.ndarray, negated: bool) -> np.ndarray:
    bits = _magnitude_bits(a)
    return (bits == _magnitude_bits(b)) & (((np.signbit(a) != np.signbit(b)) == negated) | (bits == 0))


def is_zero(values: np.ndarray) -> np.ndarray:
    return (_magnitude_bits(values.real) == 0) & (_magnitude_bits(values.imag) == 0)


def _is_negative(reals: np.ndarray) -> np.ndarray:
    return np.signbit(reals) & ~is_zero(reals)


def complex_of(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    made = np.empty(re.shape, complex)
    made.real, made.imag = re, im
    return made


# ---- Results ------------------------------------------------------------------------------------


def _numbers(pointer, count: int) -> np.ndarray:
    """A copy of `count` doubles."""
    made = np.empty(count)
    if count:
        ctypes.memmove(made.ctypes.data, pointer, made.nbytes)
    return made


def computed(context, source: str, view, chosen) -> dict:
    """Fields of Spectrum."""
    question, options = chosen
    with native.filled(context, "szg_spectrum_compute", "szg_spectrum_close", layout.Spectrum(), _ref(view),
                       question, _ref(options)) as found:
        return fields_of(source, found)


def fields_of(source: str, found) -> dict:
    values = _numbers(found.re, found.count)
    if found.im:
        values = complex_of(values, _numbers(found.im, found.count))
    kind = "singular" if found.kind == layout.KINDS["singular"][1] else "eigenvalue"
    values, multiplicity = _with_zeros(values, found.zeros, kind, found.n)
    return {"source": source, "n": found.n, "kind": kind, "values": values, "multiplicity": multiplicity,
            "zeros": found.zeros, "rank": None if found.rank < 0 else found.rank, "normal": found.normal,
            "trace": found.trace, "frobenius": found.frobenius, "residual": found.residual,
            "residual_meaning": _text(found.residual_meaning), "note": _text(found.note),
            "method": method_name(found.method), "solver": method_solver(found.method)}


@functools.lru_cache(maxsize=None)
def method_name(method: int) -> Optional[str]:
    """The algorithm in words."""
    return _text(native.library().szg_method_name(method))


@functools.lru_cache(maxsize=None)
def method_solver(method: int) -> Optional[str]:
    """Its lasting name."""
    return _text(native.library().szg_method_solver(method))


def spectra_options(want: str = "all", dense: bool = False) -> layout.SpectraOptions:
    """Made once: the library only reads them."""
    return _options(_enum(layout.WANTS, "want", want), dense)


@functools.lru_cache(maxsize=None)
def _options(want: int, dense: bool) -> layout.SpectraOptions:
    return layout.SpectraOptions(want=want, dense=dense)


def _with_zeros(values: np.ndarray, zeros: int, kind: str, n: int):
    """Puts the zeros where the order has them: one value, which counts those by structure and the computed ones."""
    if zeros <= 0 and values.all():  # where the host flushes denormal numbers, they are looked at below
        return values, np.ones(len(values), np.int64)
    computed = is_zero(values)
    if zeros <= 0 and (len(values) < n or not computed.any()):  # of a part, the two ends are two values
        return values, np.ones(len(values), np.int64)
    values = values[~computed]
    multiplicity = np.ones(len(values), np.int64)
    before = _is_negative(values.real) | (is_zero(values.real) & _is_negative(values.imag))
    at = len(values) if kind == "singular" else int(before.sum())
    return np.insert(values, at, 0), np.insert(multiplicity, at, max(zeros, 0) + int(computed.sum()))


@contextlib.contextmanager
def _symbol(context, view, options):
    with native.filled(context, "szg_symbol_compute", "szg_matrix_report_close", layout.MatrixReport(),
                       _ref(view), _ref(options)) as report:
        yield report


def _range(report, convention: str) -> Optional[Range]:
    """None where the report encloses no symbol."""
    symbol_range = report.symbol
    if not symbol_range.method:
        return None
    bounds = "singular values" if report.modulus else "nothing" if convention == "fejer" else "eigenvalues"
    return Range(symbol_range.min.lo, symbol_range.min.hi, symbol_range.max.lo, symbol_range.max.hi,
                 symbol_range.theta_min, symbol_range.theta_max, bounds, _text(symbol_range.method))


_SUMMARY = ("lambda_min", "lambda_max", "width", "radius", "sigma_min", "sigma_max", "condition", "stable_rank",
            "effective_rank", "nuclear", "frobenius")


def _compared(report, source: str) -> Compared:
    singular = Spectrum(**fields_of(source, report.singular)) if report.singular.kind else None
    return Compared(Spectrum(**fields_of(source, report.eigenvalues)), singular, report.hermitian_part,
                    {name: getattr(report.summary, name) for name in _SUMMARY}, report.toeplitzness.value,
                    None if report.toeplitz_part else _range(report, "truncated"), _text(report.note) or "")


def contracted(context, source: str, content, coupled, kind, dtype: Optional[str]) -> Contraction:
    """The Contraction of two szg_matrix."""
    options = layout.ReportOptions(all=True, no_symbol=True)
    with native.filled(context, "szg_contraction_compute", "szg_contraction_close", layout.Contraction(),
                       _ref(content), _ref(coupled), _ref(options)) as found:
        ratios = found.ratios
        holds = ratios.eigenvalues.order == layout.ORDERS["holds"][1]
        return Contraction(source, found.n, ratios.width, ratios.norm, ratios.nuclear,
                           holds if ratios.ordered else None,
                           ratios.eigenvalues.margin if ratios.ordered else math.nan, kind,
                           _compared(found.content, "content"), _compared(found.coupled, "logits"), dtype)
