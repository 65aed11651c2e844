"""Spectra of many matrices of one shape, in this process: one matrix per thread, arrays in and out."""
import contextlib
import ctypes
from ctypes import byref as _ref
from dataclasses import dataclass, replace
from typing import Any, Callable, Optional, Sequence, Tuple, overload

import numpy as np

from . import layout, native
from .arguments import array as _array, enum, flag, keywords, text
from .choices import Array, ArrayLike, Question, ValueKind
from .compute import complex_of, is_zero, matrix_view, method_name, method_solver, no_symmetry, run, spectra_options
from .display import Shown
from .errors import ArgumentError, LibraryError
from .leading import Leading, place
from .results import Spectrum
from .tabled import Framed, for_numpy
from .tables import Table


@dataclass(frozen=True, eq=False, repr=False)
class Spectra(Leading, Framed, Shown):
    """Eigenvalues or singular values of the matrices of a stack, a row each. The leading axes are those of the stack.

    values: shape (..., k), k = n eigenvalues or min(m, n) singular values a row. Real eigenvalues ascend, singular
        values descend; complex128 where a matrix of the stack has an eigenvalue that is not real, ascending by
        real, then imaginary part. Of want="range" a row is the first and the last of them.
    residual: shape (...), how well each matrix's values were confirmed; residual_meaning: what it measures.
        trace, frobenius: of each matrix, computed apart from the values (NaN: not).
    normal: whether it is known that the moduli of the eigenvalues are the singular values.
    kind: "eigenvalue" or "singular". method, solver: a text for each matrix (docs/explanation/methods.md).
    source: what the matrices are. input_dtype: the type of the array that was given ("bfloat16").

    eigenvalues or singular_values, which of them it has, is `values`, where every value is listed.
    spectra[i], or spectra[i, j], is the Spectrum of one matrix, with the same numbers; spectra[i] of two leading axes and
    slices are Spectra. np.asarray(spectra) is `values`.
    """
    kind: ValueKind
    values: Array
    residual: Array
    residual_meaning: Array
    trace: Array
    frobenius: Array
    normal: Array
    method: Array
    solver: Array
    source: str
    input_dtype: Optional[str] = None
    _each: Optional[np.ndarray] = None  # of Spectrum, where these know more than the arrays
    _ends: bool = False  # a row is the two ends alone

    @property
    def shape(self) -> Tuple[int, ...]:
        """Of the leading axes."""
        return self.residual.shape

    @property
    def eigenvalues(self) -> Array:
        """All eigenvalues, shape (..., n). LibraryError: they are singular values, or the two ends alone."""
        return self._all("eigenvalue", "question=\"eigenvalues\"")

    @property
    def singular_values(self) -> Array:
        """All singular values, descending, shape (..., k). LibraryError likewise."""
        return self._all("singular", "question=\"singular\"")

    def _all(self, kind: str, asked: str) -> Array:
        if self.kind != kind:
            raise LibraryError(f"{self!r} has none of these: ask for {asked}")
        if self._ends:
            raise LibraryError(f"{self!r} lists the two ends of each: ask for want=\"all\"")
        return self.values

    @overload
    def __getitem__(self, index: slice) -> "Spectra": ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...  # a Spectrum, or Spectra, by the number of axes

    def __getitem__(self, index):
        at = place(index, self.shape)
        found = replace(self, **{name: getattr(self, name)[at] for name in _ARRAYS},
                        _each=None if self._each is None else self._each[at])
        if isinstance(found.residual, np.ndarray):
            return found
        return found._each if found._each is not None else self._one(at)

    def _one(self, at: tuple) -> Spectrum:
        values = self.values[at]
        if values.dtype.kind == "c" and is_zero(values.imag).all():
            values = values.real
        count, numbers = len(values), ", ".join(str(range(side)[one]) for one, side in zip(at, self.shape))
        of = " x ".join(map(str, self.shape))
        return Spectrum(f"matrix {numbers} of {of}", count, self.kind, values.copy(), np.ones(count, np.int64), 0,
                        None, bool(self.normal[at]), float(self.trace[at]), float(self.frobenius[at]),
                        float(self.residual[at]), self.residual_meaning[at], self.method[at], self.solver[at], None,
                        input_dtype=self.input_dtype)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        return for_numpy(self.values, dtype, copy)

    def _table(self) -> Table:
        """A row a value: the place of its matrix, its own, and what it is."""
        places = np.indices(self.values.shape).reshape(self.values.ndim, -1)
        names = ["matrix"] if len(self.shape) == 1 else [f"axis_{k}" for k in range(len(self.shape))]
        return Table({**dict(zip([*names, "index"], places)), "value": self.values.ravel()})

    def __repr__(self) -> str:
        what = "singular values" if self.kind == "singular" else "eigenvalues"
        largest = f", largest residual {self.residual.max():.2g}" if self.residual.size else ""
        return (f"<szego.Spectra of {' x '.join(map(str, self.shape))} matrices: {self.values.shape[-1]} {what} each"
                f"{largest}>")


_ARRAYS = ("values", "residual", "residual_meaning", "trace", "frobenius", "normal", "method", "solver")


def gathered(each: Sequence[Spectrum], shape: Tuple[int, ...], ends: bool, source: str) -> Spectra:
    """Spectra of what was computed one by one. ends: of each the first and the last value alone."""
    rows = [one.values[[0, -1]] if ends else np.asarray(one) for one in each]
    held = np.empty(len(each), object)
    held[:] = each

    def of(name: str, dtype) -> np.ndarray:
        return np.array([getattr(one, name) for one in each], dtype).reshape(shape)
    return Spectra(each[0].kind, np.stack(rows).reshape(*shape, -1), of("residual", float), of("residual_meaning", object),
                   of("trace", float), of("frobenius", float), of("normal", bool), of("method", object),
                   of("solver", object), source, each[0].input_dtype, held.reshape(shape), ends)


@keywords
def spectra(stack: ArrayLike, *, question: Question = "eigenvalues", hermitian: Optional[bool] = None, exact: bool = False,
            threads: Optional[int] = None) -> Spectra:
    """Eigenvalues or singular values of each matrix of a stack, an array of shape (..., n, n).

        szego.spectra(logits).values                          # (layers, heads, n, n) -> (layers, heads, n)
        szego.spectra(stack, question="singular").residual    # (b, m, n) -> (b,)

    stack: finite numbers, of any type that szego.spectrum takes of a matrix; (..., m, n) for singular values. It is not
        changed. The last two axes are a matrix.
    question: "eigenvalues", "singular" (singular values) or "hermitian_part" (eigenvalues of (L + L^*)/2).
    hermitian: True: each matrix must be symmetric (Hermitian), and is refused if it is not; False: nothing is
        assumed of complex ones; None: each is looked at, up to 64 eps of its largest entry. Singular values have
        no use for it.
    exact: refuse a stack that needs a copy, of another type for instance.
    threads: worker threads; None: one for each processor. The numbers do not depend on them below order 512.

    Every matrix is solved and checked as szego.spectrum does it (szg_spectrum_batch in <szego/spectrum.h>). Symmetric
    ones up to order 256, eight or more, are solved together: their last digits may differ from szego.spectrum's.
    ArgumentError, LibraryError: the message names the first bad matrix of the stack, counted over all leading axes, or
    the entry ("stack[3, 1, 0] is nan"). Ctrl-C ends the call between two matrices.
    """
    asked = enum(layout.QUESTIONS, "question", question)
    whole, dtype = _array(stack, "stack", 3, None, flag(exact, "exact"))
    no_symmetry(question, hermitian)
    hermitian = None if hermitian is None else flag(hermitian, "hermitian")
    if hermitian and whole.shape[-2] != whole.shape[-1]:
        raise ArgumentError(f"stack: shape {whole.shape} is not one of square matrices", "SZG_EINVAL")
    shape, array = whole.shape[:-2], whole.reshape(-1, *whole.shape[-2:])

    def work(context):
        views = (layout.Matrix * len(array))(*(matrix_view(matrix, hermitian) for matrix in array))
        with solved(context, views, asked, spectra_options()) as made:
            return _copied(made, min(array.shape[1:]), shape, dtype)
    return run(work, threads, {"stack": whole})


@contextlib.contextmanager
def solved(context, views, asked: int, options: layout.SpectraOptions):
    """The szg_spectrum of each szg_matrix, for a block."""
    made = (layout.Spectrum * len(views))()
    context.call("szg_spectrum_batch", len(views), views, asked, _ref(options), made)
    try:
        yield made
    finally:
        for one in made:
            native.library().szg_spectrum_close(_ref(one))


_FIELDS = ("kind", "re", "im", "normal", "trace", "frobenius", "residual", "residual_meaning", "method")
_FORMATS = {ctypes.c_int: np.intc, ctypes.c_bool: np.bool_, ctypes.c_double: np.float64}
#: szg_spectrum as NumPy reads it: pointers are addresses.
_RECORD = np.dtype({"names": _FIELDS,
                    "formats": [_FORMATS.get(dict(layout.Spectrum._fields_)[name], np.uintp) for name in _FIELDS],
                    "offsets": [getattr(layout.Spectrum, name).offset for name in _FIELDS],
                    "itemsize": ctypes.sizeof(layout.Spectrum)})


def _rows(addresses: np.ndarray, count: int) -> np.ndarray:
    """The `count` doubles at each address, as a row; zeros where it is NULL."""
    rows = np.zeros((len(addresses), count))
    for row, address in enumerate(addresses.tolist()):
        if address:
            ctypes.memmove(rows.ctypes.data + 8 * count * row, address, 8 * count)
    return rows


def _words(numbers: np.ndarray, read: Callable[[int], Optional[str]]) -> np.ndarray:
    """What `read` says of each number; it is asked once of each different one."""
    each, which = np.unique(numbers, return_inverse=True)
    known = np.empty(len(each), object)
    known[:] = [read(number) for number in each.tolist()]
    return known[which]


def _copied(made, count: int, shape: Tuple[int, ...], dtype: str) -> Spectra:
    """Of dense matrices every one of `count` values is listed."""
    read = np.frombuffer(made, _RECORD)
    values = _rows(read["re"], count)
    if read["im"].any():
        values = complex_of(values, _rows(read["im"], count))
    kind = "singular" if made[0].kind == layout.KINDS["singular"][1] else "eigenvalue"
    return Spectra(kind, values.reshape(*shape, count), *(one.reshape(shape) for one in (
        read["residual"].copy(), _words(read["residual_meaning"], lambda address: text(ctypes.c_char_p(address).value)),
        read["trace"].copy(), read["frobenius"].copy(), read["normal"].copy(),
        _words(read["method"], method_name), _words(read["method"], method_solver))),
                   f"{len(values)} matrices", dtype)
