"""Arguments that Python's callers give, checked before the library sees them, and texts that it answers."""
import difflib
import functools
import inspect
import operator
import os
import sys
from typing import Callable, Iterable, NamedTuple, Optional, Tuple, TypeVar

import numpy as np

from .display import plain
from .errors import ArgumentError, KeywordError

F = TypeVar("F", bound=Callable)


def unknown_keyword(function: str, name: str, known: Iterable[str], also: str = "") -> KeywordError:
    """The error of a keyword that is none of `known`."""
    known = list(known)
    near = difflib.get_close_matches(name, known, 1)
    said = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return KeywordError(f"{function}: unknown keyword {name!r}; {said}{also}", "SZG_EINVAL")


def keywords(function: F, also: str = "") -> F:
    """The function, which names the nearest keyword where Python's own TypeError would not. also: what else to say."""
    called = function.__qualname__.split(".")[-2] if function.__name__ == "__init__" else function.__name__
    known = {name: None for name, one in inspect.signature(function).parameters.items()
             if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}

    @functools.wraps(function)
    def checked(*args, **named):
        for name in named:
            if name not in known:
                raise unknown_keyword(called, name, known, also)
        return function(*args, **named)
    return checked  # type: ignore[return-value]


def enum(words, name: str, word: str) -> int:
    """The value of one of the words of `layout`."""
    if not isinstance(word, str) or word not in words:
        raise ArgumentError(f"{name}={word!r}: {', '.join(words)} are possible", "SZG_EINVAL")
    return words[word][1]


def flag(value, name: str) -> bool:
    """True or False, nothing that could be taken for it."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name}={value!r}: True or False is needed", "SZG_EINVAL")
    return bool(value)


def integer(value, name: str, least: int = -2**63, bits: int = 63) -> int:
    """An integer from `least` to below 2^bits."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}={value!r}: an integer is needed", "SZG_EINVAL") from None
    if not least <= value < 2**bits:
        raise ArgumentError(f"{name}={value}: {f'at least {least}' if value < least else f'below 2^{bits}'} is "
                            "needed", "SZG_EINVAL")
    return value


def members(value):
    """Itself, to be read number by number; bytes would be the codes of their characters. TypeError."""
    if isinstance(value, (bytes, bytearray)):
        raise TypeError
    return value


_AXES_MOST = 64  # of NumPy; a list may hold itself


def _is_masked(value, depth: int = 0) -> bool:
    """A masked array, or a list of some: NumPy would read what the masks hide."""
    if not isinstance(value, (list, tuple)):
        return isinstance(value, np.ma.MaskedArray)
    plain_row = isinstance(next(iter(value), 0), (int, float, complex))
    return not plain_row and depth < _AXES_MOST and any(_is_masked(one, depth + 1) for one in value)


def asarray(value, name: str) -> np.ndarray:
    """What NumPy makes of it. A tensor of PyTorch refuses with an exception of its own if it has a gradient."""
    if isinstance(value, (str, bytes, bytearray)):
        raise ArgumentError(f"{name}={plain(repr(value))}: an array is needed, not {type(value).__name__}; a SPEC is a "
                            "str", "SZG_EINVAL")
    if _is_masked(value):
        raise ArgumentError(f"{name}: a masked array; fill it first (numpy.ma.filled)", "SZG_EINVAL")
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except Exception as error:  # pylint: disable=broad-except
        raise ArgumentError(f"{name}: no array: {error}", "SZG_EINVAL") from error


# ---- Arrays of numbers ----------------------------------------------------------------------------


class Numbers(NamedTuple):
    """An array as the library reads it, and the type of the caller's ("bfloat16")."""
    array: np.ndarray
    dtype: str


def array(value, name: str, least: int, most: Optional[int] = None, exact: bool = False) -> Numbers:
    """The array of `least` to `most` axes as C-contiguous float64 or complex128: itself if it is that, else a copy.

    Floating types of fewer digits, integers up to 2^53, other strides and byte orders are converted, which changes no
    number. So are tensors that have a gradient or lie on a device, objects with `__array__` or `__dlpack__`, and frames,
    whose rows and columns count by their place. Refused are wider types, whose digits would be lost; bool, which may be
    a mask; masked arrays; and with `exact` everything but lists, integers and arrays that need no copy."""
    if exact:
        made = asarray(value, name)
        dtype = made.dtype.name
    else:
        made, dtype = _read(value, name)
    if made.ndim < least or most is not None and made.ndim > most:
        wanted = f"{least}-D or more" if most is None else " or ".join(f"{d}-D" for d in range(least, most + 1))
        raise ArgumentError(f"{name}: shape {made.shape}; {wanted} is needed{_no_numbers(value, made)}", "SZG_EINVAL")
    if made.size == 0:
        raise ArgumentError(f"{name}: shape {made.shape} holds nothing", "SZG_EINVAL")
    if made.dtype not in (_REAL, _COMPLEX):
        made = _converted(made, name, exact)
    if made.flags.c_contiguous and made.flags.aligned:
        return Numbers(made, dtype)
    if exact:
        raise ArgumentError(f"{name}: strides {made.strides}, and exact=True: pass numpy.ascontiguousarray of it",
                            "SZG_EINVAL")
    return Numbers(np.require(made, requirements=["C", "A"]), dtype)


_REAL, _COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


def _read(value, name: str) -> Tuple[np.ndarray, str]:
    """The array, and what its type is called."""
    if type(value) is np.ndarray and value.dtype.kind != "O":  # pylint: disable=unidiomatic-typecheck # the common case
        return value, value.dtype.name
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_tensor(torch, value, name), str(value.dtype).replace("torch.", "")
    _check_labels(value, name)
    made = asarray(value, name)
    return (_of_objects(made, name) if made.dtype == object and made.ndim else made), made.dtype.name


def _of_tensor(torch, value, name: str) -> np.ndarray:
    """Without its gradient, on the host; NumPy has no bfloat16."""
    try:
        value = value.detach().cpu()
        if value.is_floating_point():
            value = value.to(torch.float64)
        return value.resolve_conj().resolve_neg().numpy()
    except Exception as error:  # pylint: disable=broad-except # sparse, quantised, of the device meta
        raise ArgumentError(f"{name}: no array: {error}", "SZG_EINVAL") from error


def _check_labels(value, name: str) -> None:
    """A frame whose rows and columns have the same labels in another order may be meant by its labels."""
    rows, columns = getattr(value, "index", None), getattr(value, "columns", None)
    if callable(rows) or rows is None or columns is None:
        return
    rows, columns = list(rows), list(columns)
    if rows != columns and sorted(map(repr, rows)) == sorted(map(repr, columns)):
        raise ArgumentError(f"{name}: rows and columns of the frame have the same labels in another order, and count by "
                            "their place: pass frame.loc[frame.columns], or frame.to_numpy() for the places",
                            "SZG_EINVAL")


def _of_objects(made: np.ndarray, name: str) -> np.ndarray:
    """Numbers of Python, as frames of mixed columns have them."""
    for index, one in np.ndenumerate(made):
        if isinstance(one, bool) or not isinstance(one, (int, float, complex, np.number)):
            raise ArgumentError(f"{place(name, index)} is {plain(repr(one))}: a number is needed", "SZG_EINVAL")
        if isinstance(one, int) and abs(one) > 2**53:
            raise ArgumentError(f"{place(name, index)} is {one}: integers beyond 2^53 are no doubles", "SZG_EINVAL")
    return np.array(made.tolist())


def _no_numbers(value, made: np.ndarray) -> str:
    """A hint where NumPy took an object for a single thing."""
    if made.ndim or made.dtype != object:
        return ""
    dense = "; pass .toarray() of it" if hasattr(value, "toarray") else ""
    return f", and {type(value).__name__} is no array{dense}"


def _converted(made: np.ndarray, name: str, exact: bool) -> np.ndarray:
    """As float64 or complex128 with the same numbers."""
    kind, size = made.dtype.kind, made.dtype.itemsize
    if kind in "iu":
        if int(made.max()) > 2**53 or int(made.min()) < -2**53:
            raise ArgumentError(f"{name}: integers beyond 2^53 are no doubles", "SZG_EINVAL")
        return made.astype(np.float64)
    narrow = kind == "f" and size <= 8 or kind == "c" and size <= 16
    own = kind == "V" and made.dtype.isbuiltin == 2  # ml_dtypes: bfloat16, float8_e4m3fn, int4
    if exact or not (narrow or own):
        said = "exact=True: pass .astype(float)" if exact and (narrow or own) else \
            "float64 or complex128 is needed. Where its digits suffice, pass .astype(float)"
        raise ArgumentError(f"{name}: {made.dtype}; {said}", "SZG_EINVAL")
    return made.astype(np.complex128 if kind == "c" else np.float64)


def place(name: str, index) -> str:
    """An entry as Python has it: source[1, 0]."""
    return f"{name}[{', '.join(map(str, index))}]"


def blamed(error: ArgumentError, **arrays: Optional[np.ndarray]) -> ArgumentError:
    """The error of a call of these arguments, which names the first entry that is not finite, if there is one."""
    for name, one in arrays.items():
        bad = [] if one is None else np.argwhere(~np.isfinite(one))[:1].tolist()
        if one is not None and bad:
            said = one[tuple(bad[0])]
            return ArgumentError(f"{place(name, bad[0])} is {said}: every entry must be finite", error.status)
    return error


def spec(value) -> bytes:
    """A SPEC as the library takes it."""
    if not isinstance(value, str):
        raise ArgumentError(f"a SPEC is a text such as \"rope:dim=64\", not {type(value).__name__}", "SZG_EINVAL")
    return words(value, "SPEC")


def words(value, name: str) -> bytes:
    """A text as the library takes it."""
    if not isinstance(value, str) or "\0" in value:
        raise ArgumentError(f"{name}={value!r}: a text without NUL is needed", "SZG_EINVAL")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}={value!r} is no UTF-8", "SZG_EINVAL") from None


def text(value: Optional[bytes]) -> Optional[str]:
    """None of no text and of an empty one."""
    return value.decode("utf-8", "replace") if value else None


def folder_name(value, name: str = "folder") -> str:
    """A path as Python's functions take it."""
    return os.fsdecode(path(value, name))


def path(value, name: str) -> bytes:
    """A path as the library takes it. NUL would cut it off."""
    try:
        made = os.fsencode(value)
    except TypeError:
        raise ArgumentError(f"{name}={value!r}: a path is needed", "SZG_EINVAL") from None
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}={value!r}: no path of this system", "SZG_EINVAL") from None
    if not made:
        raise ArgumentError(f"{name}: the path is empty", "SZG_EINVAL")
    if b"\0" in made:
        raise ArgumentError(f"{name}={value!r} holds a NUL", "SZG_EINVAL")
    return made
