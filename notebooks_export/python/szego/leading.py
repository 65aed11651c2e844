"""Leading axes of results: how they are indexed, and the sequence over the first of them."""
from typing import Any, Iterator, Tuple

import numpy as np


def place(index, shape: Tuple[int, ...]) -> tuple:
    """An index of leading axes: numbers and slices, no more than there are axes. TypeError, IndexError."""
    index = index if isinstance(index, tuple) else (index,)
    if any(isinstance(one, bool) or not isinstance(one, (int, np.integer, slice)) for one in index):
        raise TypeError("an item is chosen by numbers and slices of the leading axes; `values` takes any index")
    if len(index) > len(shape):
        raise IndexError(f"{len(index)} indices of {len(shape)} leading axes, whose shape is {shape}")
    return index


class Leading:
    """The base of a result with leading axes, which has `shape` and items."""
    __slots__ = ()

    @property
    def shape(self) -> Tuple[int, ...]:
        """Of the leading axes."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))
