"""What calls of the library answer: arrays of their own, copied from the library, and the words with them."""
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, Optional, Union, overload

import numpy as np

from . import program_tables
from .choices import Array, Convention, Integer, ValueKind
from .display import Shown, plain
from .errors import ArgumentError, LibraryError, MissingPackageError
from .tabled import Framed, for_numpy
from .tables import Results, Table


@dataclass(frozen=True)
class Range(Framed, Shown):
    """Where a symbol's minimum and maximum lie, certified by ball arithmetic (Arb), rounded outwards.

    min_lo <= min a <= min_hi and max_lo <= max a <= max_hi; theta_min, theta_max: where a takes min_hi and
    max_lo. bounds: what lies within lo .. hi: "eigenvalues"; "singular values" (the symbol is complex, the
    range that of |a|, and hi bounds them); "nothing" (the range of a Fejer mean). method: the theorems.

    lo, hi = range are the outer ends, `x in range` is lo <= x <= hi.
    """
    min_lo: float
    min_hi: float
    max_lo: float
    max_hi: float
    theta_min: float
    theta_max: float
    bounds: str
    method: str
    _exact = True

    def _brief(self) -> str:
        return f"[{self.min_lo!r}, {self.max_hi!r}], bounds {self.bounds}"

    def __iter__(self) -> Iterator[float]:
        return iter((self.min_lo, self.max_hi))

    def __contains__(self, x: Any) -> bool:
        try:
            return bool(self.min_lo <= x <= self.max_hi)
        except (TypeError, ValueError):
            raise ArgumentError(f"{plain(repr(x))} in range: a real number is needed; of an array x, (range.lo <= x) & "
                                "(x <= range.hi)", "SZG_EINVAL") from None

    def arb(self) -> Any:
        """The range as a ball of python-flint (flint.arb), which holds lo and hi. MissingPackageError: it is missing."""
        try:
            import flint  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise MissingPackageError("Range.arb needs python-flint: pip install python-flint") from error
        return flint.arb(self.min_lo).union(flint.arb(self.max_hi))

    @property
    def lo(self) -> float:
        """The certified lower end, min_lo."""
        return self.min_lo

    @property
    def hi(self) -> float:
        """The certified upper end, max_hi."""
        return self.max_hi


@dataclass(frozen=True)
class Theorem(Shown):
    """The strongest limit theorem whose hypotheses hold for the family N = 1, 2, ...

    name: none, szego, szego+rank-one, avram-parter, avram-parter+rank-one, tyrtyshnikov-zamarashkin;
    sentence: what follows from it, or why no theorem applies.
    """
    name: str
    sentence: str

    def _brief(self) -> str:
        return f"{self.name}: {self.sentence}"


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Framed, Shown):
    """Eigenvalues or singular values of an n x n matrix.

    A spectrum is the sequence of its n values, each as often as it stands, ascending (singular values descend): len(s),
    s[0], s[-5:], iteration and np.asarray(s). `eigenvalues` or `singular_values`, which of them it has, is that array.
    Of 10^9 values, most of them 0, s[:5] makes five; `values` and `multiplicity` are the short form:

    values: the listed values, in the same order; float64, or complex128 where some are not real, ascending by real,
        then imaginary part.
    multiplicity: int64, how often each one stands. It is 1 but for the value 0, which counts the `zeros` by structure
        (a rank argument, no threshold) and the values that were computed as exactly 0: these may be tiny instead.
    complete: the multiplicities sum to n. A spectrum of want="range" may be the two ends alone, and has no array; an
        end that could not be established is NaN, and `note` says so.
    kind: "eigenvalue" or "singular". zeros: how many values are 0 by structure. rank: the exact rank, None
        where the structure does not tell it.
    residual: how well the values were confirmed; residual_meaning says what it measures.
    trace, frobenius: of the matrix, computed apart from the values (NaN: they were not).
    method: the algorithm in words; solver: its lasting name (docs/explanation/methods.md).
    range: the certified range of the symbol (None: not Toeplitz, or not asked for); theorem: which limit
        theorem applies (None likewise). Any in their types keeps a type checker from asking for a test of None.
    input_dtype: the type of the array that was given ("bfloat16"); None of a SPEC.
    tables: of a SPEC, the tables of `szego spectrum`; the program runs when they are first asked for.
    """
    source: str
    n: int
    kind: ValueKind
    values: Array
    multiplicity: Array
    zeros: int
    rank: Optional[int]
    normal: bool
    trace: float
    frobenius: float
    residual: float
    residual_meaning: str
    method: str
    solver: str
    note: Optional[str]
    range: Union[Range, Any] = None
    theorem: Union[Theorem, Any] = None
    input_dtype: Optional[str] = None
    _program: Optional[Callable[[], Results[Table]]] = None
    _made: Dict[str, Results[Table]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every value is listed."""
        return int(self.multiplicity.sum()) == self.n

    @property
    def eigenvalues(self) -> Array:
        """All n eigenvalues, zeros included: shape (n,), in the order of `values`. LibraryError: the spectrum is one of
        singular values, or not complete."""
        return self._all("eigenvalue", "question=\"eigenvalues\"")

    @property
    def singular_values(self) -> Array:
        """All n singular values, zeros included, descending: shape (n,). LibraryError likewise."""
        return self._all("singular", "question=\"singular\"")

    def _all(self, kind: str, asked: str) -> np.ndarray:
        if self.kind != kind:
            raise LibraryError(f"{self!r} has none of these: ask for {asked}")
        return self._at(slice(None))

    def _at(self, index) -> np.ndarray:
        """Values by their place, without making the others."""
        if not self.complete:
            raise LibraryError(f"{self!r} lists {len(self.values)} values of {self.n}: ask for want=\"all\"")
        ends = np.cumsum(self.multiplicity)
        if not isinstance(index, slice):
            return self.values[np.searchsorted(ends, range(self.n)[index], "right")]
        chosen = range(self.n)[index]
        places = chosen if chosen.step > 0 else chosen[::-1]
        below = np.clip(-((places.start - ends) // places.step), 0, len(places))  # of the places, before each end
        try:
            found = np.repeat(self.values, np.diff(below, prepend=0))
        except MemoryError:
            raise LibraryError(f"{self!r}: {len(places)} values are no array here: values and multiplicity are all of them, "
                               "and a slice is some", "SZG_ENOMEM") from None
        return found if chosen.step > 0 else found[::-1]

    def __len__(self) -> int:
        return self.n

    @overload
    def __getitem__(self, index: Integer) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Array: ...

    def __getitem__(self, index):
        if isinstance(index, bool) or not isinstance(index, (int, np.integer, slice)):
            raise TypeError("an item of a Spectrum is one of its n values, by its number or a slice; tables are in "
                            "`tables`, and numpy.asarray(spectrum) takes any index")
        return self._at(index)

    def __contains__(self, x: Any) -> bool:
        self._at(0)
        return isinstance(x, (int, float, complex, np.number)) and bool((self.values == x).any())

    def __iter__(self) -> Iterator[Any]:
        self._at(0)  # which refuses one that is not complete
        return (value for value, times in zip(self.values, self.multiplicity) for _ in range(times))

    def _table(self) -> Table:
        """value, multiplicity."""
        return Table(value=self.values, multiplicity=self.multiplicity)

    def _results(self) -> Results[Table]:
        return program_tables.saved(program_tables.of_spectrum, self)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        if copy is False and (self.multiplicity != 1).any():
            raise ValueError(f"{self!r} lists a value that stands several times: an array of all needs a copy")
        return for_numpy(self.values if copy is False else self._at(slice(None)), dtype, copy)

    @property
    def tables(self) -> Results[Table]:
        """The tables of `szego spectrum` for the same SPEC and n: every head, the values that the program
        lists. The program runs when they are first asked for."""
        if self._program is None:
            raise LibraryError(f"{self!r} has no tables of the program: those are of a SPEC; the array is in "
                               "`values`")
        if "tables" not in self._made:
            self._made["tables"] = self._program()
        return self._made["tables"]

    def __repr__(self) -> str:
        of = f"{len(self.values)} {'listed ' if self.complete else 'of the '}"
        shown = "no values"
        if len(self.values):
            shown = f"{self.values[0]:.6g} .. {self.values[-1]:.6g}"
        zeros = f", {self.zeros} zeros" if self.zeros else ""
        kind = "singular values" if self.kind == "singular" else "eigenvalues"
        return (f"<szego.Spectrum of {plain(self.source)}, n={self.n}: {of}{kind} {shown}"
                f"{zeros}, residual {self.residual:.2g}>")


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Framed, Shown):
    """The symbol a(theta) = sum_k a_k e^{ik theta} on a grid, and its certified range.

    theta: 2 pi j / samples, shape (samples,); values: a there, float64, complex128 where the symbol is complex.
    convention: what stands for a symbol of infinitely many lags: "truncated" (the lags |k| < n of the matrix),
        "fejer" or "closed_form".
    atom_theta, atom_mass: of almost periodic kernels, a_k = sum_j mass_j cos(k theta_j); else of length 0.
    """
    source: str
    n: int
    convention: Convention
    theta: Array
    values: Array
    range: Union[Range, Any]
    theorem: Theorem
    atom_theta: Array
    atom_mass: Array
    note: Optional[str]
    input_dtype: Optional[str] = None

    def _table(self) -> Table:
        """theta, value."""
        return Table(theta=self.theta, value=self.values)

    def _results(self) -> Results[Table]:
        return program_tables.saved(program_tables.of_symbol, self)

    def __repr__(self) -> str:
        ends = f"[{self.range.lo:.6g}, {self.range.hi:.6g}]" if self.range else "none"
        return (f"<szego.Symbol of {plain(self.source)}, n={self.n}: {len(self.values)} samples, {self.convention}, "
                f"certified range {ends}>")


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Framed, Shown):
    """One of the two matrices of a contraction.

    eigenvalues: those of the Hermitian part (L + L^T)/2 where `hermitian_part`, else of L, which is symmetric;
    singular: singular values of L (None where the eigenvalues give them). summary: the numbers of the table
    `summary` by column; NaN: it does not exist, and `note` says why.
    """
    eigenvalues: Spectrum
    singular: Optional[Spectrum]
    hermitian_part: bool
    summary: Dict[str, float]
    toeplitzness: float
    range: Optional[Range]
    note: str

    def _table(self) -> Table:
        """The columns of the table `summary`."""
        return Table({name: np.array([value]) for name, value in self.summary.items()})

    def __repr__(self) -> str:
        return f"<szego.Compared: {self.eigenvalues!r}>"


@dataclass(frozen=True, eq=False, repr=False)
class Contraction(Framed, Shown):
    """Coupled against content logits (claim B3c).

    width: (largest - least eigenvalue of the Hermitian part), coupled over content; norm: largest singular
    values; nuclear: sums of singular values. Each is NaN where it does not exist.
    majorised: whether the coupled eigenvalues are majorised by the content's, within rounding; None where a
    spectrum is not complete. margin: the least slack of its partial sums.
    content_kind: what `content` is: "same_qk", "zeroed"; None of two given matrices.
    """
    source: str
    n: int
    width: float
    norm: float
    nuclear: float
    majorised: Optional[bool]
    margin: float
    content_kind: Optional[str]
    content: Compared
    coupled: Compared
    input_dtype: Optional[str] = None

    def __repr__(self) -> str:
        words = {True: "majorised", False: "not majorised", None: "majorisation unknown"}[self.majorised]
        return (f"<szego.Contraction of {plain(self.source)}, n={self.n}: width {self.width:.6g}, norm {self.norm:.6g}, "
                f"nuclear {self.nuclear:.6g}, {words}>")
