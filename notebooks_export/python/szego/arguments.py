"""Arguments that Python's callers give, checked before the library sees them, and texts that it answers."""
import difflib
import functools
import inspect
import operator
import os
from typing import Callable, Iterable, Optional, TypeVar

import numpy as np

from .display import plain
from .errors import ArgumentError, KeywordError

F = TypeVar("F", bound=Callable)


def unknown_keyword(function: str, name: str, known: Iterable[str]) -> KeywordError:
    """The error of a keyword that is none of `known`."""
    known = list(known)
    near = difflib.get_close_matches(name, known, 1)
    said = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return KeywordError(f"{function}: unknown keyword {name!r}; {said}", "SZG_EINVAL")


def keywords(function: F) -> F:
    """The function, which names the nearest keyword where Python's own TypeError would not."""
    known = [name for name, one in inspect.signature(function).parameters.items()
             if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]

    @functools.wraps(function)
    def checked(*args, **named):
        for name in named:
            if name not in known:
                raise unknown_keyword(function.__name__, name, known)
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


def asarray(value, name: str) -> np.ndarray:
    """What NumPy makes of it. A tensor of PyTorch refuses with an exception of its own if it has a gradient."""
    if isinstance(value, (str, bytes, bytearray)):
        raise ArgumentError(f"{name}={plain(repr(value))}: an array is needed, not {type(value).__name__}; a SPEC is a "
                            "str", "SZG_EINVAL")
    try:
        return np.asarray(value)
    except Exception as error:  # pylint: disable=broad-except
        raise ArgumentError(f"{name}: no array: {error}", "SZG_EINVAL") from error


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
