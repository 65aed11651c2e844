"""Writes safetensors files, one array at a time, without the package of that name."""
import json
import os
import struct
import tempfile
from typing import Callable, Dict, NamedTuple, Sequence, Tuple

import numpy as np

_NAMES = {"float64": "F64", "float32": "F32", "int64": "I64"}


class Entry(NamedTuple):
    """A tensor that is made when it is written: large files need no more memory than one tensor."""
    name: str
    dtype: np.dtype
    shape: Tuple[int, ...]
    make: Callable[[], np.ndarray]


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
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".szego-")
    try:
        with open(handle, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for entry in ordered:
                made = np.ascontiguousarray(entry.make(), np.dtype(entry.dtype).newbyteorder("<"))
                if made.shape != tuple(entry.shape):
                    raise ValueError(f"{entry.name}: shape {made.shape}, expected {entry.shape}")
                file.write(made.tobytes())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
