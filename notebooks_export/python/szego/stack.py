"""Results of one kind for every place of leading axes."""
from typing import Any, Generic, Sequence, Tuple, TypeVar, overload

import numpy as np

from .choices import Array
from .display import Shown
from .leading import Leading, place
from .tabled import Framed, column
from .tables import Table

T = TypeVar("T")


class Stack(Leading, Framed, Shown, Generic[T]):
    """Results of one kind, such as the Contraction of every head, with the leading axes that the arrays had.

    stack[i, j] is one result; stack[i] of two axes, and slices, are a Stack. An attribute is the array of that attribute
    of all: stack.width has the shape `shape`, NaN where it is None. frame(): a row each.
    """
    __slots__ = ("_each",)

    def __init__(self, each: Array) -> None:
        self._each = each

    @classmethod
    def of(cls, each: Sequence[T], shape: Tuple[int, ...]) -> "Stack[T]":
        """From the results in C order."""
        held = np.empty(len(each), object)
        held[:] = each
        return cls(held.reshape(shape))

    @property
    def shape(self) -> Tuple[int, ...]:
        """Of the leading axes."""
        return self._each.shape

    @overload
    def __getitem__(self, index: slice) -> "Stack[T]": ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...  # one result, or a Stack, by the number of axes

    def __getitem__(self, index):
        found = self._each[place(index, self.shape)]
        return Stack(found) if isinstance(found, np.ndarray) else found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = [getattr(one, name) for one in self._each.flat]
        if all(isinstance(value, bool) for value in found):
            return np.array(found).reshape(self.shape)
        if all(value is None or isinstance(value, (bool, int, float, str, np.generic)) for value in found):
            made = column(found)
            return np.ma.filled(made.astype(float), np.nan).reshape(self.shape) if np.ma.isMaskedArray(
                made) and made.dtype != object else np.ma.getdata(made).reshape(self.shape)
        return Stack.of(found, self.shape)  # results within each

    def _table(self) -> Table:
        """A row each: its place, and what its own table has."""
        rows = [one._table() for one in self._each.flat]
        places = np.indices(self.shape).reshape(len(self.shape), -1)
        table = Table({f"axis_{k}": numbers for k, numbers in enumerate(places)})
        for name in rows[0] if rows else ():
            table[name] = column([None if one[name][0] is np.ma.masked else one[name][0] for one in rows])
        return table

    def _facts(self):
        yield "shape", self.shape
        for name, cells in list(self._table().items())[len(self.shape):]:
            yield name, cells

    def __dir__(self):
        return sorted({*super().__dir__(), *(name for one in self._each.flat[:1] for name in dir(one))})

    def __repr__(self) -> str:
        first = "".join(f": the first is {one!r}" for one in self._each.flat[:1])
        return f"<szego.Stack of {' x '.join(map(str, self.shape))}{first}>"
