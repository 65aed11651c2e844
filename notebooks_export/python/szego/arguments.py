"""Arguments that Python's callers give, checked before the library sees them, and texts that it answers."""
import operator
import os
from typing import Optional

import numpy as np

from .errors import ArgumentError


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
