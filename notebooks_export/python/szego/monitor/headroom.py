"""Proved bounds of the logits of a model in memory, with the weights that it has now."""
import ctypes
import sys
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from .. import adapters, layout, models, native
from ..errors import LibraryError, SzegoError
from ..native_tables import Copied

#: Unit roundoffs of what queries and keys may be rounded to.
UNITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}


class Bound(NamedTuple):
    """Of a head. value: None where there is none; said: what it follows from, or why there is none."""
    value: Optional[float]
    said: str


class Bounds(NamedTuple):
    """By (layer, head), and what is to be said of other heads."""
    heads: Dict[Tuple[int, int], Bound]
    otherwise: str

    def find(self, layer: int, head: Optional[int]) -> Bound:
        """Of a head; None: what is to be said of the layer."""
        return Bound(None, self.otherwise) if head is None else self.heads.get((layer, head), Bound(None, self.otherwise))


NO_MODEL = Bounds({}, "no bound: the monitor was given no model")


def arithmetic(torch: Any, dtype: Any, device: Any) -> Tuple[str, float]:
    """What products of that type are computed in, and its unit roundoff."""
    name = str(dtype).replace("torch.", "")
    if name == "float32":
        cuda = getattr(device, "type", "cpu") == "cuda"
        chosen = getattr(torch, "get_float32_matmul_precision", lambda: "highest")()
        if chosen == "medium":
            return "float32 as bfloat16", 2.0**-8
        if chosen == "high" or cuda and torch.backends.cuda.matmul.allow_tf32:
            return "float32 as TF32", 2.0**-11
    if name not in UNITS:
        raise LibraryError(f"queries of {name} have no bound here: {', '.join(UNITS)} do")
    return name, UNITS[name]


def bounds(model: Any, dtype: Any, device: Any) -> Bounds:
    """Of every head, for queries and keys of that type."""
    torch = sys.modules["torch"]
    try:
        name, unit = arithmetic(torch, dtype, device)
        if adapters.base_of(models._unwrapped(model))[1]:  # pylint: disable=protected-access
            return Bounds({}, "no bound: adapters are added beside the weights, and rounded apart")
        return Bounds(_read(model, unit, name), "no bound: the head is not one that szego.checkpoint knows in this model")
    except SzegoError as error:
        return Bounds({}, f"no bound: {error}")


def _read(model: Any, unit: float, name: str) -> Dict[Tuple[int, int], Bound]:
    opened = models.Model(model)
    choices = layout.CheckpointChoices()

    def work(context):
        with native.handle(context, "szg_checkpoint_open_tensors", "szg_checkpoint_close", ctypes.byref(opened.struct),
                           ctypes.byref(choices)) as checkpoint:
            with native.handle(context, "szg_checkpoint_bounds", "szg_table_close", checkpoint, unit) as found:
                return Copied(found).columns
    try:
        columns = native.run(work, reword=lambda message: None)
    except LibraryError:
        if opened.errors:
            raise opened.errors[0]  # pylint: disable=raise-missing-from
        raise
    made = {}
    for at, place in enumerate(zip(columns["layer"].tolist(), columns["head"].tolist())):
        if np.ma.getmaskarray(columns["bound"])[at]:
            made[place] = Bound(None, f"no bound: {columns['note'][at]}")
        else:
            made[place] = Bound(float(columns["bound"][at]), f"{columns['bound_kind'][at]}, {name}")
    return made
