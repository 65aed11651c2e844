"""Spectra of many matrices of one shape, in this process: one matrix per thread, arrays in and out."""
import ctypes
from ctypes import byref as _ref
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Tuple

import numpy as np

from . import layout, native
from .arguments import enum, flag, keywords, text
from .compute import _array, complex_of, is_zero, matrix_view, no_symmetry
from .display import Shown
from .errors import ArgumentError
from .results import Spectrum
from .tabled import for_numpy


@dataclass(frozen=True, eq=False, repr=False)
class Spectra(Shown):
    """Eigenvalues or singular values of b matrices, a row each.

    values: shape (b, k), k = n eigenvalues or min(m, n) singular values a row. Real eigenvalues ascend, singular
        values descend; complex128 where a matrix of the stack has an eigenvalue that is not real, ascending by
        real, then imaginary part.
    residual: shape (b,), how well each matrix's values were confirmed; residual_meaning: b texts, what it
        measures. trace, frobenius: shape (b,), of each matrix, computed apart from the values (NaN: not).
    normal: shape (b,), whether it is known that the moduli of the eigenvalues are the singular values.
    kind: "eigenvalue" or "singular". method, solver: b texts (docs/explanation/methods.md).

    spectra[i] is the Spectrum of matrix i, with the same numbers. np.asarray(spectra) is `values`.
    """
    kind: str
    values: np.ndarray
    residual: np.ndarray
    residual_meaning: Tuple[str, ...]
    trace: np.ndarray
    frobenius: np.ndarray
    normal: np.ndarray
    method: Tuple[str, ...]
    solver: Tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Spectrum:
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            raise TypeError("an element of Spectra is the Spectrum of one matrix, by its number; `values` takes slices")
        i = range(len(self))[index]  # IndexError, and negative numbers
        values = self.values[i]
        if values.dtype.kind == "c" and is_zero(values.imag).all():
            values = values.real
        count = len(values)
        return Spectrum(f"matrix {i} of {len(self)}", count, self.kind, values.copy(), np.ones(count, np.int64), 0,
                        None, bool(self.normal[i]), float(self.trace[i]), float(self.frobenius[i]),
                        float(self.residual[i]), self.residual_meaning[i], self.method[i], self.solver[i], None)

    def __iter__(self) -> Iterator[Spectrum]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype=None, copy=None):
        return for_numpy(self.values, dtype, copy)

    def __repr__(self) -> str:
        b, count = self.values.shape
        what = "singular values" if self.kind == "singular" else "eigenvalues"
        return f"<szego.Spectra of {b} matrices: {count} {what} each, largest residual {self.residual.max():.2g}>"


@keywords
def spectra(stack, *, question: str = "eigenvalues", hermitian: Optional[bool] = None,
            threads: Optional[int] = None) -> Spectra:
    """Eigenvalues or singular values of each matrix of a stack, an array of shape (b, n, n).

        szego.spectra(logits).values                          # (heads, n, n) -> (heads, n)
        szego.spectra(stack, question="singular").residual    # (b, m, n) -> (b,)

    stack: float64 or complex128, C-contiguous and finite, as szego.spectrum takes a matrix; (b, m, n) for
        singular values. It is not changed.
    question: "eigenvalues", "singular" (singular values) or "hermitian_part" (eigenvalues of (L + L^*)/2).
    hermitian: True: each matrix must be symmetric (Hermitian), and is refused if it is not; False: nothing is
        assumed of complex ones; None: each is looked at, up to 64 eps of its largest entry. Singular values have
        no use for it.
    threads: worker threads; None: one for each processor. The numbers do not depend on them below order 512.

    Every matrix is solved and checked as szego.spectrum does it (szg_spectrum_batch in <szego/spectrum.h>). Symmetric
    ones up to order 256, eight or more, are solved together: their last digits may differ from szego.spectrum's.
    ArgumentError, LibraryError: the message names the first bad matrix of the stack, and the entry ("matrix 3:
    entry (1, 0) is nan"). Ctrl-C ends the call between two matrices.
    """
    asked = enum(layout.QUESTIONS, "question", question)
    array = _array(stack, "stack", (3,))
    no_symmetry(question, hermitian)
    hermitian = None if hermitian is None else flag(hermitian, "hermitian")
    if hermitian and array.shape[1] != array.shape[2]:
        raise ArgumentError(f"stack: shape {array.shape} is not one of square matrices", "SZG_EINVAL")

    def work(context):
        views = (layout.Matrix * len(array))(*(matrix_view(matrix, hermitian) for matrix in array))
        made = (layout.Spectrum * len(array))()
        context.call("szg_spectrum_batch", len(array), views, asked, _ref(layout.SpectraOptions()), made)
        try:
            return _copied(made, min(array.shape[1:]))
        finally:
            for one in made:
                native.library().szg_spectrum_close(_ref(one))
    return native.run(work, threads)


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


def _words(numbers: np.ndarray, read: Callable[[int], Optional[bytes]]) -> Tuple[str, ...]:
    """What `read` says of each number; it is asked once of each different one."""
    known = {number: text(read(number)) for number in set(numbers.tolist())}
    return tuple(known[number] for number in numbers.tolist())


def _copied(made, count: int) -> Spectra:
    """Of dense matrices every one of `count` values is listed."""
    library, read = native.library(), np.frombuffer(made, _RECORD)
    values = _rows(read["re"], count)
    if read["im"].any():
        values = complex_of(values, _rows(read["im"], count))
    kind = "singular" if made[0].kind == layout.KINDS["singular"][1] else "eigenvalue"
    return Spectra(kind, values, read["residual"].copy(),
                   _words(read["residual_meaning"], lambda address: ctypes.c_char_p(address).value),
                   read["trace"].copy(), read["frobenius"].copy(), read["normal"].copy(),
                   _words(read["method"], library.szg_method_name),
                   _words(read["method"], library.szg_method_solver))
