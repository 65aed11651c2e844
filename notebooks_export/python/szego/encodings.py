"""Positional encodings as functions of their keys: one for each encoding of the library.

    from szego.encodings import rope
    szego.spectrum(rope(dim=64, base=500000), 512)
    szego.encodings.alibi(heads=8)                # alibi:heads=8

The functions, their keywords, types, ranges and docstrings come from the library's own list
(`szego help specs`); dir(szego.encodings) has their names. A name that is none in Python has an underscore:
rope_absolute is "rope+absolute", rope_bias "rope-bias".
"""
import ctypes
import inspect
import keyword
import os
import re
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from . import native
from .arguments import integer, spec as as_spec, text, unknown_keyword
from .choices import Array, Integer
from .errors import ArgumentError
from .layout import KERNEL_KINDS, KernelFacts
from .native_tables import Copied

__all__ = ["Encoding"]

_TYPES = {"integer": int, "real": float, "text": Union[str, os.PathLike], "list": Union[str, List[int]]}


class Encoding(str):
    """A positional encoding: its SPEC as a text, checked by the library. It stands wherever a SPEC does, prints as
    it and equals it.

        Encoding("rope:base=10000,dim=64")            # rope:dim=64,base=10000: keys in the library's order

    ArgumentError: what is no SPEC, with the library's message.
    """
    __slots__ = ()

    def __new__(cls, spec: str) -> "Encoding":
        def work(context):
            with native.handle(context, "szg_encoding_parse", "szg_encoding_close", as_spec(spec)) as opened:
                return text(native.library().szg_encoding_spec(opened))
        return super().__new__(cls, native.run(work))

    def __repr__(self) -> str:
        return f"Encoding({str(self)!r})"

    @property
    def name(self) -> str:
        """The encoding's name: "rope"."""
        return self.partition(":")[0]

    @property
    def keys(self) -> Dict[str, str]:
        """The keys that are given, and their values as the SPEC has them."""
        return dict(one.split("=", 1) for one in self.partition(":")[2].split(",") if one)

    @property
    def heads(self) -> int:
        """Number of heads; their kernels may differ."""
        return self._asked(lambda context, opened: native.library().szg_encoding_heads(opened))

    @property
    def matrices(self) -> int:
        """Number of matrices of a head: rope+absolute has two."""
        return self._asked(lambda context, opened: native.library().szg_encoding_matrices(opened))

    def about(self, head: Integer = 0, matrix: Integer = 0) -> str:
        """A sentence on the kernel of a head. matrix: rope+absolute has two. LibraryError: no such head."""
        head, matrix = integer(head, "head"), integer(matrix, "matrix")

        def line(context, opened):
            facts = KernelFacts()
            context.call("szg_encoding_facts", opened, head, matrix, ctypes.byref(facts))
            return text(facts.line)
        return self._asked(line)

    def lags(self, n: Integer, *, head: Optional[Integer] = None, matrix: Integer = 0) -> Tuple[Array, Array]:
        """(lags, values) of the n x n matrices: lags -(n-1) .. n-1, shape (2n-1,), the position of the query less that of
        the key, and values of shape (heads, 2n-1), or (2n-1,) of one head. Where a matrix is not Toeplitz, a value is the
        mean along its diagonal; the table of szego.kernel has the spread.

            lags, values = szego.encodings.alibi(heads=4).lags(256)

        No mask is applied: negative lags are keys that come after the query. The type is complex128 if a head has complex
        coefficients. matrix: rope+absolute has two. LibraryError: a table of fewer than n rows or lags, memory.
        """
        n = integer(n, "n", 1)
        values = self._numbers("szg_encoding_lags", (2 * n - 1,), n, head, matrix, None)
        return np.arange(1 - n, n), values

    def matrix(self, n: Integer, *, head: Optional[Integer] = None, matrix: Integer = 0) -> Array:
        """The n x n matrix of each head, shape (heads, n, n), or (n, n) of one head. Row i is the query and column j the
        key: entry (i, j) of a Toeplitz matrix has lag i - j.

            np.linalg.eigvalsh(szego.encodings.rope(dim=64).matrix(256, head=0))

        The rest as for `lags`; the bytes are looked at first, and LibraryError names them if they are not there.
        """
        n = integer(n, "n", 1)
        return self._numbers("szg_encoding_entries", (n, n), n, head, matrix)

    def _numbers(self, function: str, shape: Tuple[int, ...], n: int, head: Optional[int], matrix: int,
                 *rest: Optional[int]) -> np.ndarray:
        """What the function fills, `shape` for each head, once it has said that there is memory for it."""
        matrix = integer(matrix, "matrix")

        def numbers(context, opened):
            heads = _heads(opened, head)
            which = (opened, heads.start, len(heads), matrix, n)
            context.call(function, *which, None, None, *rest)
            parts = [np.empty((len(heads), *shape)) for _ in _parts(context, opened, heads, matrix)]
            context.call(function, *which, *[part.ctypes.data for part in parts], *[None] * (2 - len(parts)), *rest)
            return _joined(parts, head)
        return self._asked(numbers)

    def _asked(self, question):
        def work(context):
            with native.handle(context, "szg_encoding_parse", "szg_encoding_close", as_spec(self)) as opened:
                return question(context, opened)
        return native.run(work)


def _heads(opened, head: Optional[int]) -> range:
    """All heads, or one; the library refuses one that is not there."""
    if head is None:
        return range(native.library().szg_encoding_heads(opened))
    head = integer(head, "head")
    return range(head, head + 1)


def _parts(context, opened, heads: range, matrix: int) -> range:
    """One part, the real one, or two if a head has complex entries."""
    facts, kinds = KernelFacts(), set()
    for head in heads:
        context.call("szg_encoding_facts", opened, head, matrix, ctypes.byref(facts))
        kinds.add(facts.kind)
    return range(1 + any(value in kinds for _, value in KERNEL_KINDS.values()))


def _joined(parts: List[np.ndarray], head: Optional[int]) -> np.ndarray:
    made = parts[0]
    if len(parts) == 2:
        made = np.empty(parts[0].shape, complex)
        made.real, made.imag = parts
    return made if head is None else made[0]


# ---- Values as a SPEC has them ------------------------------------------------------------------


def _word(value, of: str) -> str:
    """A text of a SPEC: commas separate keys there."""
    word = os.fsdecode(value)
    if "," in word:
        raise ArgumentError(f"{of}={word!r}: a SPEC has no commas within a value; rename the file or link to it",
                            "SZG_EINVAL")
    return word


def _number(value, of: str) -> str:
    try:
        return str(integer(value, of))
    except ArgumentError:
        pass
    try:
        return repr(float(value))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{of}={value!r}: a number is needed", "SZG_EINVAL") from None


def _value(value, of: str) -> str:
    """The library checks type and range of what stands in the SPEC."""
    if isinstance(value, bool):
        raise ArgumentError(f"{of}={value}: no key is true or false", "SZG_EINVAL")
    if isinstance(value, (str, bytes, os.PathLike)):
        return _word(value, of)
    if isinstance(value, (list, tuple, range)):
        return "+".join(str(integer(one, of)) for one in value)
    return _number(value, of)


def _spec(name: str, given: dict) -> str:
    parts = []
    for key, value in given.items():
        if re.fullmatch(r"\w+", key) is None:
            raise ArgumentError(f"{name}: {key!r} is no key", "SZG_EINVAL")
        if value is not None:
            plain = key[:-1] if key.endswith("_") and keyword.iskeyword(key[:-1]) else key
            parts.append(f"{plain}={_value(value, plain)}")
    return name + (":" + ",".join(parts) if parts else "")


# ---- Functions ----------------------------------------------------------------------------------


def _line(row: dict) -> str:
    """What the docstring says of a key."""
    said = f"{row['doc']}"
    if row["choices"]:
        said += f": {row['choices'].replace('|', ', ')}"
    elif row["min"] is not None:
        said += f"; {row['min']:.15g} to {row['max']:.15g}"
    if row["default"]:
        said += f" (default {row['default']})"
    return f"{row['key']}: {said}{', required' if row['required'] else ''}"


def _parameter(row: dict) -> inspect.Parameter:
    of = _TYPES.get(row["type"], str)
    default = inspect.Parameter.empty if row["required"] else None
    name = row["key"] + ("_" if keyword.iskeyword(row["key"]) else "")
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default,
                             annotation=of if row["required"] else Optional[of])


def _function(name: str, rows: List[dict]) -> Callable[..., Encoding]:
    known = [row for row in rows if row["key"]]

    def made(**keys) -> Encoding:
        for key in keys:
            if key not in made.__signature__.parameters and not keyword.iskeyword(key):
                raise unknown_keyword(made.__name__, key, made.__signature__.parameters)
        return Encoding(_spec(name, keys))
    made.__name__ = made.__qualname__ = _identifier(name)
    made.__module__ = __name__
    made.__signature__ = inspect.Signature([_parameter(row) for row in known], return_annotation=Encoding)
    source = f" ({rows[0]['reference']})" if rows[0]["reference"] else ""
    lines = [f"{rows[0]['about']}{source}", "", *(_line(row) for row in known), "",
             "None leaves a key to its default. KeywordError: an unknown key; ArgumentError: a value outside its range."]
    made.__doc__ = "\n".join(lines)
    return made


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


_made: Dict[str, Callable[..., Encoding]] = {}


def _functions() -> Dict[str, Callable[..., Encoding]]:
    """A function for each encoding, by its name in Python; made when they are first asked for."""
    if not _made:
        rows: Dict[str, List[dict]] = {}
        for row in _list():
            rows.setdefault(row["encoding"], []).append(row)
        _made.update({_identifier(name): _function(name, of) for name, of in rows.items()})
    return _made


def names() -> List[str]:
    """The names that begin a SPEC."""
    return list(dict.fromkeys(row["encoding"] for row in _list()))


def _list() -> List[dict]:
    """The library's list, None where a cell is empty."""
    def work(context):
        opened = ctypes.c_void_p()
        context.call("szg_encoding_keys", ctypes.byref(opened))
        try:
            columns = Copied(opened.value).columns
        finally:
            native.library().szg_table_close(ctypes.byref(opened))
        return [dict(zip(columns, cells)) for cells in zip(*(column.tolist() for column in columns.values()))]
    return native.run(work)


if TYPE_CHECKING:
    from .encoding_types import *


def _function_of(name: str) -> Callable[..., Encoding]:
    if name.startswith("_") or name not in _functions():
        raise AttributeError(f"no encoding is called {name!r}: {', '.join(_functions())}" if name[:1] != "_"
                             else f"module {__name__!r} has no attribute {name!r}")
    return _functions()[name]


if not TYPE_CHECKING:  # which would take every name
    __getattr__ = _function_of


def __dir__() -> List[str]:
    return sorted([*__all__, *_functions()])
