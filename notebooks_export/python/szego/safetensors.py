"""Writes safetensors files, one array at a time, without the package of that name."""
import json
import struct
from typing import Any, Callable, Dict, NamedTuple, Sequence, Tuple

import numpy as np

from .choices import Array
from .files import replaced

_NAMES = {"float64": "F64", "float32": "F32", "int64": "I64"}


class Entry(NamedTuple):
    """A tensor that is made when it is written: large files need no more memory than one tensor."""
    name: str
    dtype: "np.dtype[Any]"
    shape: Tuple[int, ...]
    make: Callable[[], Array]


def write(path: str, entries: Sequence[Entry], metadata: Dict[str, str]) -> None:
    """The file, beside its target and then renamed. Wide elements come first, so that all data is
    aligned."""
    ordered = sorted(entries, key=lambda entry: -np.dtype(entry.dtype).itemsize)
    header, at = {"__metadata__": metadata}, 0
    for entry in ordered:
        size = int(np.prod(entry.shape, dtype=np.int64)) * np.dtype(entry.dtype).itemsize
        header[entry.name] = {"dtype": _NAMES[np.dtype(entry.dtype).name],
                              "shape": [int(side) for side in entry.shape],
                              "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with replaced(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for entry in ordered:
            made = np.asarray(entry.make(), np.dtype(entry.dtype).newbyteorder("<"))
            if made.shape != tuple(entry.shape):
                raise ValueError(f"{entry.name}: shape {made.shape}, expected {entry.shape}")
            file.write(made.tobytes())
