"""What callers give and get, as types: a checker refuses the word that the call would refuse.

Words that a table of `layout` has too are the same in both, in its order; tests/python/test_types.py compares them.
"""
import os
from typing import TYPE_CHECKING, Any, List, Literal, Sequence, Tuple, Union, get_args

from .errors import ArgumentError

Question = Literal["eigenvalues", "singular", "hermitian_part"]
Want = Literal["all", "range"]
Convention = Literal["truncated", "fejer", "closed_form"]
Part = Literal["content", "coupled"]
ValueKind = Literal["eigenvalue", "singular"]  # what a Spectrum holds
Lags = Literal["half", "full"]  # of given coefficients
Precision = Literal["auto", "double"]
KernelKind = Literal["mean", "self"]
KernelFigure = Literal["mean", "self", "lag"]
StackName = Literal["encoder", "decoder", "cross"]
Positions = Literal["none", "learned", "sinusoidal"]
Exported = Literal["npz", "csv", "ipynb"]
ContractionColumn = Literal["width_ratio", "norm_ratio", "nuclear_ratio", "majorised", "margin", "toeplitzness_content",
                            "toeplitzness_coupled"]
CurveColumn = Literal["accuracy", "loss"]
HeadColumn = Literal["toeplitzness", "sigma_max", "effective_rank", "stable_rank"]

Path = Union[str, "os.PathLike[str]"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing import Protocol

    class _HasArray(Protocol):  # a tensor, a frame
        @property
        def __array__(self) -> Any: ...

    class _HasDlpack(Protocol):
        @property
        def __dlpack__(self) -> Any: ...

    Array = npt.NDArray[Any]
    #: What `arguments.array` takes: no text is one.
    ArrayLike = Union[_HasArray, _HasDlpack, Sequence[complex], List[Any], Tuple[Any, ...]]
    Integer = Union[int, "np.integer[Any]"]
else:
    from numpy import ndarray as Array, integer as _integer
    ArrayLike, Integer = Any, Union[int, _integer]


def chosen(value, name: str, words) -> str:
    """One of the words of a Literal."""
    if not isinstance(value, str) or value not in get_args(words):
        raise ArgumentError(f"{name}={value!r}: {', '.join(get_args(words))} are possible", "SZG_EINVAL")
    return value
