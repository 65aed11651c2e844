"""Proved bounds of the logits of a model in memory, with the weights that it has now."""
import ctypes
import functools
import re
import sys
import types
from typing import Any, Dict, Iterator, NamedTuple, Optional, Set, Tuple

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


#: Packages whose modules multiply in another arithmetic than the types of their tensors say.
_FOREIGN = {"torchao", "transformer_engine", "bitsandbytes", "auto_gptq", "gptqmodel", "awq", "hqq", "quanto", "optimum", "torch.ao"}

#: Packages whose modules compute what a configuration of transformers says.
_KNOWN = {"torch", "transformers", "szego"}


#: Classes that keep shards of weights, of FSDP. To ask such a model for its state_dict in a forward takes away the weights
#: that the forward has gathered.
_SHARDED = {"FSDPModule", "FullyShardedDataParallel"}


class Arithmetic(NamedTuple):
    """What a model computes in. unit: its unit roundoff."""
    name: str
    unit: float


def _autocast(torch: Any, device: str) -> Set[Any]:
    """The type that autocast computes products in at this moment, if it is on."""
    if hasattr(torch, "get_autocast_dtype"):
        try:
            return {torch.get_autocast_dtype(device)} if torch.is_autocast_enabled(device) else set()
        except RuntimeError:  # a device without autocast
            return set()
    if device == "cpu":
        return {torch.get_autocast_cpu_dtype()} if torch.is_autocast_cpu_enabled() else set()
    return {torch.get_autocast_gpu_dtype()} if torch.is_autocast_enabled() else set()


def arithmetic(torch: Any, model: Any, query: Any) -> Arithmetic:
    """The coarsest that queries may come from: their own type, those of the weights, or autocast's. A rotation in float32
    hides what type its queries had before. query: None where none was seen: bfloat16, which covers finer types too."""
    types = {one.dtype for one in model.parameters() if one.is_floating_point()}
    device = next((one.device.type for one in model.parameters()), "cpu")
    types |= {torch.bfloat16} if query is None else {query.dtype, *_autocast(torch, device)}
    names = sorted(str(one).replace("torch.", "") for one in types)
    unknown = [name for name in names if name not in UNITS]
    if unknown:
        raise LibraryError(f"numbers of {unknown[0]} have no bound here: those of {', '.join(UNITS)} have")
    name = max(names, key=UNITS.__getitem__)
    if name == "float32":
        return _single(torch, device)
    reduced = {"float16": "allow_fp16_reduced_precision_reduction", "bfloat16": "allow_bf16_reduced_precision_reduction"}.get(name, "")
    if device == "cuda" and getattr(torch.backends.cuda.matmul, reduced, False):
        return Arithmetic(f"{name}, with sums in single precision ({reduced} is on, and allows others)", UNITS[name])
    return Arithmetic(name, UNITS[name])


def _single(torch: Any, device: str) -> Arithmetic:
    """Products of float32, as PyTorch is set to compute them."""
    chosen = getattr(torch, "get_float32_matmul_precision", lambda: "highest")()
    if chosen == "medium":
        return Arithmetic("float32 by bfloat16", UNITS["bfloat16"])
    if chosen == "high" or device == "cuda" and torch.backends.cuda.matmul.allow_tf32:
        return Arithmetic("float32 by TF32", 2.0**-11)
    return Arithmetic("float32", UNITS["float32"])


def bounds(model: Any, query: Any) -> Bounds:
    """Of every head, in the arithmetic that the model is in now. query: queries that it has just computed, or None."""
    torch = sys.modules["torch"]
    try:
        if any(base.__name__ in _SHARDED for part in model.modules() for base in type(part).__mro__):
            return Bounds({}, "no bound: the weights are shards (FSDP), which are not gathered for it")
        if any(getattr(part, "_state_dict_pre_hooks", None) for part in model.modules()):
            return Bounds({}, "no bound: hooks of state_dict may change the model while it is read")
        foreign = {".".join(type(part).__module__.split(".")[:count]) for part in model.modules() for count in (1, 2)} & _FOREIGN
        if foreign:
            return Bounds({}, f"no bound: modules of {min(foreign)} have an arithmetic of their own")
        if adapters.base_of(models._unwrapped(model))[1]:  # pylint: disable=protected-access
            return Bounds({}, "no bound: adapters are added beside the weights, and rounded apart")
        found, assumed = arithmetic(torch, model, query), _assumed(model)
        said = found.name if assumed is None else f"{found.name}; assumed, as its configuration says: {assumed}"
        heads = _read(model, found.unit, said)
        dropping = _dropping(torch, model)
        if dropping is not None:  # the norm of these embeddings is all that bounds the first layer's input
            heads.update({place: Bound(None, dropping) for place, one in heads.items() if place[0] == 0 and one.said[:5] == "input"})
        return Bounds(heads, "no bound: szego.checkpoint knows no such head in this model")
    except SzegoError as error:
        return Bounds({}, f"no bound: {error}")
    except Exception as error:  # pylint: disable=broad-except # of a part of the model: any
        return Bounds({}, f"no bound: {type(error).__name__}: {error}")


def _dropping(torch: Any, model: Any) -> Optional[str]:
    """Dropout after a norm of embeddings: it multiplies some numbers of the norm's output."""
    for part in model.modules():
        below = list(part.children())
        rates = [one.p for one in below if isinstance(one, torch.nn.Dropout) and one.training and one.p]
        if rates and re.search("Embedding", type(part).__name__) and any("Norm" in type(one).__name__ for one in below):
            return f"no bound: dropout of {rates[0]} follows the norm of {type(part).__name__}, and enlarges what it leaves"
    return None


# ---- Whether the model computes what its configuration says ----

def _package(function: Any) -> str:
    """The package where a function was written, whatever it says of itself (functools.wraps)."""
    function = getattr(function, "__func__", function)
    while isinstance(function, functools.partial):
        function = function.func
    home = getattr(function, "__globals__", {}).get("__name__") or type(function).__module__
    return home.split(".")[0]


def _written(function: Any) -> Iterator[str]:
    """The packages of a function and of those that it wraps."""
    while function is not None:
        yield _package(function)
        function = getattr(function, "__wrapped__", None)


def _assumed(model: Any) -> Optional[str]:
    """What of a model is not transformers' or PyTorch's own, so that it may compute something else than its configuration
    says; None: nothing. What the whole model does to its inputs changes no bound."""
    whole = models._unwrapped(model)  # pylint: disable=protected-access
    for name, part in whole.named_modules():
        kind, called = type(part), f"{name or 'the model'} ({type(part).__name__})"
        if kind.__module__.split(".")[0] not in _KNOWN:
            return called
        forwards = [kind.forward, *([vars(part)["forward"]] if name and "forward" in vars(part) else [])]
        if not {package for one in forwards for package in _written(one)} <= _KNOWN:
            return f"the forward of {called}, which was replaced"
        hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()] if name else []
        if not {package for one in hooks for package in _written(one)} <= _KNOWN:
            return f"hooks of {called}"
    for home in sorted({type(part).__module__ for part in whole.modules()}):
        for name, one in vars(sys.modules.get(home, object)).items() if home.startswith("transformers.models.") else ():
            if isinstance(one, types.FunctionType) and re.search("rotary|rotate|norm|eager", name) and not set(_written(one)) <= _KNOWN:
                return f"{home}.{name}, which was replaced"
    return None


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
        note = "" if np.ma.getmaskarray(columns["note"])[at] else str(columns["note"][at])
        if np.ma.getmaskarray(columns["bound"])[at]:
            made[place] = Bound(None, f"no bound: {note}")
        else:
            made[place] = Bound(float(columns["bound"][at]), "; ".join(filter(None, [f"{columns['bound_kind'][at]}, {name}", note])))
    return made
