"""Spectra, symbols and contractions in this process: arrays in and out, by the library (`native`).

Matrices come as one of

- a SPEC of a positional encoding and a length n: spectrum("rope:dim=64", 512);
- Toeplitz coefficients, a 1-D array, and n (default: their number): a_0, a_1, ... of a symmetric matrix where
  they are real, of a Hermitian one where they are complex; lags="full": a_-(c-1) .. a_(c-1), no symmetry;
- a square matrix, a 2-D array.

Arrays are float64 or complex128, C-contiguous and finite; others are refused, for a conversion could hide that
a number has fewer digits than its type. Lists and arrays of integers are converted. They are not changed.
"""
import contextlib
import functools
import inspect
import math
import sys
import warnings
from ctypes import byref as _ref
from typing import Optional, Union

import numpy as np

from . import layout, native, program
from .arguments import asarray as _asarray, enum as _enum, flag as _flag, integer as _integer
from .arguments import keywords, spec as _spec, text as _text
from .errors import ArgumentError, LibraryError, SzegoWarning
from .native import handle
from .results import Compared, Contraction, Range, Spectrum, Symbol, Theorem

Source = Union[str, np.ndarray]
_QUICK = 128  # order of a dense matrix, whose spectrum is there in milliseconds


def spectrum(source: Source, n: Optional[int] = None, *, question: str = "eigenvalues", want: str = "all",
             head: int = 0, matrix: int = 0, lags: str = "half", hermitian: Optional[bool] = None,
             dense: bool = False, certify: bool = True, threads: Optional[int] = None, **options) -> Spectrum:
    """Eigenvalues of a kernel, of Toeplitz coefficients, or of a square matrix.

        szego.spectrum("rope:dim=64", 512).expanded()         # shape (512,)
        szego.spectrum(np.array([2.0, -1.0]), 100).values
        szego.spectrum(matrix).values                         # matrix of shape (n, n); of many: szego.spectra

    source, n, lags: see the module's words. head, matrix: of a SPEC, which head's matrix (rope+absolute has two).
    question: "eigenvalues", "singular" (singular values) or "hermitian_part" (eigenvalues of (L + L^*)/2).
    want: "all", or "range": the least and the largest value, which large matrices have sooner.
    hermitian: of a square matrix, True: it must be symmetric (Hermitian), and is refused if it is not; False:
        nothing is assumed of a complex one; None: it is looked at, up to 64 eps of its largest entry, as real ones
        are with False too. Singular values have no use for it.
    dense: form the dense matrix and use LAPACK whatever the structure.
    certify: enclose the symbol (`range`) and name the limit theorem, of Toeplitz matrices.
    threads: worker threads; None: one for each processor.

    Solvers by structure, and errors: szg_spectrum_compute in <szego/spectrum.h>; methods and their sources:
    docs/explanation/methods.md. ArgumentError (a wrong type, shape or number), LibraryError (no answer, memory),
    with the library's message. Ctrl-C ends the call.

    Other options are those of the command `szego spectrum`, with underscores for hyphens: True is a flag, a list
    repeats its option, None and False leave it out. KeywordError, a TypeError: there is no such option. `all` and
    `frames` shape the result's `tables`; with any other option, or n as a text ("256,512"), the program computes, and
    its tables are the result (Results). It takes a SPEC, and of the keywords above dense and threads.
    """
    options = program.chosen(options, inspect.signature(spectrum).parameters)
    shape = {name: options.pop(name) for name in ("all", "frames") if name in options}
    if options or isinstance(n, str):
        _need_program(source, [*options, *(["n as a text"] if isinstance(n, str) else [])], question=question, want=want,
                      head=head, matrix=matrix, lags=lags, hermitian=hermitian, certify=certify)
        return program.spectrum(source, n, threads=threads, dense=dense, **shape, **options)
    chosen = (_enum(layout.QUESTIONS, "question", question),
              layout.SpectraOptions(want=_enum(layout.WANTS, "want", want), dense=_flag(dense, "dense")))
    given = _Given(source, n, head, matrix, lags, hermitian)
    certify = _flag(certify, "certify")
    tables = None
    if given.spec is not None:
        tables = functools.partial(program.spectrum, given.spec, given.n, threads=threads, dense=dense, **shape)
    else:
        _only("an array", **shape)
        no_symmetry(question, hermitian)

    def work(context):
        with given.opened(context) as (opened, kernel):
            found = _compute(context, given.name, opened, chosen)
            if certify and kernel.toeplitz:
                report = layout.ReportOptions()
                with _symbol(context, opened, report) as symbol:
                    found.update(range=_range(symbol, "truncated"))
            if certify:
                found.update(theorem=kernel.theorem(context))
            return Spectrum(**found, _program=tables)
    return native.run(work, threads, quick=given.dense and given.n <= _QUICK)


@keywords
def symbol(source: Source, n: Optional[int] = None, *, samples: int = 256, convention: str = "truncated",
           head: int = 0, matrix: int = 0, lags: str = "half", threads: Optional[int] = None) -> Symbol:
    """The symbol of a kernel or of Toeplitz coefficients: `samples` values at 2 pi j / samples, and its certified
    range, which holds every eigenvalue (convention "truncated"; "fejer" and "closed_form": <szego/symbol.h>).

        szego.symbol("kms:rho=0.5", 128).range.hi

    LibraryError: no Toeplitz matrix, or no symbol in closed form.
    """
    options = layout.ReportOptions(samples=_integer(samples, "samples", 1),
                                   convention=_enum(layout.CONVENTIONS, "convention", convention))
    given = _Given(source, n, head, matrix, lags, None)
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
                          _numbers(report.atom_mass, report.atoms), _text(report.note))
    return native.run(work, threads)


@keywords
def logits(q, k, spec: str, *, part: str = "coupled", question: str = "eigenvalues", want: str = "all",
           head: Optional[int] = None, causal: bool = False, unscaled: bool = False,
           threads: Optional[int] = None) -> Spectrum:
    """The spectrum of the logits that queries and keys make with an encoding, before softmax.

        szego.logits(q, k, "rope:dim=64,pairing=half")        # q, k of a Hugging Face model, before the rotation

    q, k: real, shape (n, d), or (heads, n, d), of which `head` is taken: with several heads it is required. It
    is the encoding's head too (slopes, tables), unless the encoding treats all heads alike.
    spec: a rotary one names its pairing, which q and k do not tell: "half" of Llama-style models of Hugging Face,
    "interleaved" of the original RoPE, GPT-J and Cohere. szego.rope(like=model.config) has the model's own.
    part: "coupled" (everything) or "content" (without position, rotation and bias). causal: zeros above the diagonal. unscaled: without the factor
    1/sqrt(d). The sum is <szego/coupling.h>'s (claims B1c, E12c); positions of additive encodings enter
    unprojected. The logits stay factored: no n x n array is made where the structure affords it.
    """
    chosen = (_enum(layout.QUESTIONS, "question", question),
              layout.SpectraOptions(want=_enum(layout.WANTS, "want", want)))
    which = _enum(layout.PARTS, "part", part)
    given = Queries(q, k, spec, head, causal, unscaled)

    def work(context):
        with given.opened(context) as (opened, _):
            view = native.library().szg_logits_matrix(opened, which)
            return Spectrum(**_compute(context, f"{part} logits of {spec}", view, chosen))
    return native.run(work, threads)


@keywords
def contraction(q, k, spec: str, *, head: Optional[int] = None, causal: bool = False, unscaled: bool = False,
                threads: Optional[int] = None) -> Contraction:
    """Coupled against content logits of queries and keys: how the encoding changes width, norm and nuclear norm,
    and whether it contracts (szg_contraction_compute, claim B3c). Arguments are those of `logits`: a rotary SPEC
    names its pairing, and of several heads `head` names one.

        szego.contraction(q, k, "rope:dim=64,pairing=half", head=3).width
        [szego.contraction(q, k, "rope:dim=64,pairing=half", head=h).width for h in range(len(q))]
    """
    given = Queries(q, k, spec, head, causal, unscaled)

    def work(context):
        with given.opened(context) as (opened, kind):
            content, coupled = (native.library().szg_logits_matrix(opened, value)
                                for value in (layout.PARTS["content"][1], layout.PARTS["coupled"][1]))
            return _contraction(context, spec, content, coupled, kind)
    return native.run(work, threads)


@keywords
def compare(content, coupled, *, threads: Optional[int] = None) -> Contraction:
    """The same of two real n x n arrays, content and coupled logits of one's own: before mask and softmax. What a causal
    mask hides is 0 in both, and padding is cut off. Masks of finite numbers, -1e9 for instance, are refused, and of
    attention weights a SzegoWarning is given."""
    arrays = [_array(value, name, (2,)) for value, name in ((content, "content"), (coupled, "coupled"))]
    for array, name in zip(arrays, ("content", "coupled")):
        _square(array, name)
        if array.dtype != np.float64:
            raise ArgumentError(f"{name}: complex logits have no contraction; its entries must be real",
                                "SZG_EINVAL")

    def work(context):
        views = [native.library().szg_matrix_dense(len(array), len(array), array.ctypes.data, len(array))
                 for array in arrays]
        return _contraction(context, "two matrices", *views, None)
    return native.run(work, threads)


# ---- Arguments ----------------------------------------------------------------------------------


def _array(value, name: str, dimensions) -> np.ndarray:
    """The array itself where it serves, a new one of a list or of integers."""
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"{name}: a masked array; fill it first (numpy.ma.filled)", "SZG_EINVAL")
    array = _asarray(value, name)
    if array.ndim not in dimensions:
        wanted = " or ".join(f"{d}-D" for d in dimensions)
        raise ArgumentError(f"{name}: shape {array.shape}; {wanted} is needed", "SZG_EINVAL")
    if array.size == 0:
        raise ArgumentError(f"{name}: shape {array.shape} holds nothing", "SZG_EINVAL")
    if array.dtype.kind in "iu":
        if int(array.max()) > 2**53 or int(array.min()) < -2**53:
            raise ArgumentError(f"{name}: integers beyond 2^53 are no doubles", "SZG_EINVAL")
        array = np.ascontiguousarray(array, np.float64)
    if array.dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
        raise ArgumentError(f"{name}: {array.dtype}; float64 or complex128 is needed. Where its digits suffice, "
                            "pass .astype(float)", "SZG_EINVAL")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ArgumentError(f"{name}: strides {array.strides}; pass numpy.ascontiguousarray of it", "SZG_EINVAL")
    return array


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


def _need_program(source, why, **idle) -> None:
    """Refuses what the program, which computes because of `why`, cannot take: keywords of calls in process that are
    not at their defaults."""
    why = ", ".join(why)
    if not isinstance(source, str):
        raise ArgumentError(f"{why}: no keyword for an array; the program's options need a SPEC", "SZG_EINVAL")
    known = inspect.signature(spectrum).parameters
    _only(f"what the program computes ({why})",
          **{name: repr(value) != repr(known[name].default) for name, value in idle.items()})


_LAGS = {"half": ("", 0), "full": ("", 1)}


class _Given:
    """The matrix that a caller gave, checked as far as Python can."""

    def __init__(self, source, n, head, matrix, lags, hermitian):
        self.spec = self.array = None
        self.n = None if n is None else _integer(n, "n")
        self.head, self.matrix = _integer(head, "head"), _integer(matrix, "matrix")
        self.hermitian = None if hermitian is None else _flag(hermitian, "hermitian")
        self.full = bool(_enum(_LAGS, "lags", lags))
        if isinstance(source, str):
            self._take_spec(source)
        else:
            self._take_array(_array(source, "source", (1, 2)))

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


# ---- Queries and keys ---------------------------------------------------------------------------


class Queries:
    """The queries and keys that a caller gave, and how their logits are made; checked as far as Python can. It is made
    in the caller's thread, so that a warning names the caller's line."""

    def __init__(self, q, k, spec, head, causal, unscaled):
        self.head = None if head is None else _integer(head, "head", 0)
        q, k = _array(q, "q", (2, 3)), _array(k, "k", (2, 3))
        if q.shape != k.shape:
            grouped = q.ndim == k.ndim == 3 and len(k) and len(q) % len(k) == 0 and q.shape[1:] == k.shape[1:]
            hint = (f": {len(q) // len(k)} query heads share a key head: pass k.repeat({len(q) // len(k)}, axis=0)"
                    if grouped else ": both need one shape")
            raise ArgumentError(f"q has shape {q.shape}, k {k.shape}{hint}", "SZG_EINVAL")
        for name, array in (("q", q), ("k", k)):
            if array.dtype != np.float64:
                raise ArgumentError(f"{name}: {array.dtype}; queries and keys are real", "SZG_EINVAL")
        self.stacked = q.ndim == 3
        if self.stacked:
            at = self._of_stack(q.shape)
            q, k = q[at], k[at]
        self.q, self.k, self.spec = q, k, _spec(spec)
        self.options = layout.LogitsOptions(causal=_flag(causal, "causal"), unscaled=_flag(unscaled, "unscaled"))

    def _of_stack(self, shape) -> int:
        """Which head of (heads, n, d)."""
        heads, n, _ = shape
        if heads > n:
            warnings.warn(f"q has shape {shape}, which is read as {heads} heads of {n} tokens: more heads than tokens. If "
                          f"it has {heads} tokens of {n} heads, pass numpy.ascontiguousarray(q.transpose(1, 0, 2)), "
                          "and k likewise", SzegoWarning, stacklevel=5)
        if self.head is None and heads > 1:
            raise ArgumentError(f"q has shape {shape}, which is {heads} heads, and each call treats one: head=H "
                                f"chooses it; a list over range({heads}) has all of them", "SZG_EINVAL")
        at = self.head or 0
        if at >= heads:
            raise ArgumentError(f"q: shape {shape} has no head {at}", "SZG_EINVAL")
        return at

    def _of_encoding(self, encoding) -> int:
        """Which head of the encoding."""
        heads = native.library().szg_encoding_heads(encoding)
        if heads == 1 and self.stacked:
            return 0
        if heads > 1 and self.head is None:
            name = _text(native.library().szg_encoding_spec(encoding))
            raise ArgumentError(f"{name} has {heads} heads, and q of shape {self.q.shape} is one: head=H says which",
                                "SZG_EINVAL")
        return self.head or 0

    @contextlib.contextmanager
    def opened(self, context):
        """(szg_logits, what its content is) for a block."""
        with contextlib.ExitStack() as stack:
            def opened(opener, closer, *arguments):
                return stack.enter_context(handle(context, opener, closer, *arguments))
            encoding = opened("szg_encoding_parse", "szg_encoding_close", self.spec)
            (n, d), at = self.q.shape, (self.q.ctypes.data, self.k.ctypes.data)
            content = opened("szg_content_open_qk", "szg_content_close", n, d, at[0], d, at[1], d)
            made = opened("szg_logits_open", "szg_logits_close", encoding, self._of_encoding(encoding), content, n,
                          _ref(self.options))
            yield made, _text(native.library().szg_contraction_content_kind(encoding))


# ---- Results ------------------------------------------------------------------------------------


def _numbers(pointer, count: int) -> np.ndarray:
    """A copy of `count` doubles."""
    if not count:
        return np.empty(0)
    return np.ctypeslib.as_array(pointer, (count,)).copy()


def _compute(context, source: str, view, chosen) -> dict:
    """Fields of Spectrum."""
    question, options = chosen
    with native.filled(context, "szg_spectrum_compute", "szg_spectrum_close", layout.Spectrum(), _ref(view),
                       question, _ref(options)) as found:
        return _fields(source, found)


def _fields(source: str, found) -> dict:
    library = native.library()
    values = _numbers(found.re, found.count)
    if found.im:
        values = complex_of(values, _numbers(found.im, found.count))
    kind = "singular" if found.kind == layout.KINDS["singular"][1] else "eigenvalue"
    values, multiplicity = _with_zeros(values, found.zeros, kind, found.n)
    return {"source": source, "n": found.n, "kind": kind, "values": values, "multiplicity": multiplicity,
            "zeros": found.zeros, "rank": None if found.rank < 0 else found.rank, "normal": found.normal,
            "trace": found.trace, "frobenius": found.frobenius, "residual": found.residual,
            "residual_meaning": _text(found.residual_meaning), "note": _text(found.note),
            "method": _text(library.szg_method_name(found.method)),
            "solver": _text(library.szg_method_solver(found.method))}


def _with_zeros(values: np.ndarray, zeros: int, kind: str, n: int):
    """Puts the zeros where the order has them: one value, which counts those by structure and the computed ones."""
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
    singular = Spectrum(**_fields(source, report.singular)) if report.singular.kind else None
    return Compared(Spectrum(**_fields(source, report.eigenvalues)), singular, report.hermitian_part,
                    {name: getattr(report.summary, name) for name in _SUMMARY}, report.toeplitzness.value,
                    None if report.toeplitz_part else _range(report, "truncated"), _text(report.note) or "")


def _contraction(context, source: str, content, coupled, kind) -> Contraction:
    options = layout.ReportOptions(all=True, no_symbol=True)
    with native.filled(context, "szg_contraction_compute", "szg_contraction_close", layout.Contraction(),
                       _ref(content), _ref(coupled), _ref(options)) as found:
        ratios = found.ratios
        holds = ratios.eigenvalues.order == layout.ORDERS["holds"][1]
        return Contraction(source, found.n, ratios.width, ratios.norm, ratios.nuclear,
                           holds if ratios.ordered else None,
                           ratios.eigenvalues.margin if ratios.ordered else math.nan, kind,
                           _compared(found.content, "content"), _compared(found.coupled, "logits"))
