"""Calls of the attention function of transformers: the queries, keys, scale and mask that each layer hands on.

    with watched(model, seen):
        model(**inputs)            # each attention calls seen(Attention(...)), then its own function

Attentions of transformers look their function up in ALL_ATTENTION_FUNCTIONS, or call the eager_attention_forward of
their file. `watched` replaces these two names in the files of the model's classes, for as long as it is open. The
implementation in use keeps its name, so that the masks are what they were, and the function its arguments. A pass that
gradient checkpointing repeats is seen once, and code that torch.compile traces is not seen.
"""
import contextlib
import functools
import inspect
import re
import sys
import threading
from typing import Any, Callable, ContextManager, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

_TABLE, _EAGER = "ALL_ATTENTION_FUNCTIONS", re.compile(r"(^|_)eager_attention_forward$")
#: The file of the table: its classes list the functions, and call none.
_HOME = "transformers.modeling_utils"


class Attention(NamedTuple):
    """One call of an attention function, as the model makes it. The tensors are the model's own."""
    module: Any                # that computes the attention
    layer: int                 # Place.layer
    query: Any                 # [batch, heads, N, d], after rotation
    key: Any                   # [batch, key heads, N, d], which may be fewer
    mask: Any                  # None, a tensor that is added, one of booleans, or what flash and flex take
    scaling: float             # the factor of q . k
    cap: Optional[float]       # C where logits x become C tanh(x / C)
    sinks: Any                 # learned logits of a sink, one a head
    causal: Optional[bool]     # None: neither the call nor the module says
    window: Optional[int]      # keys that a query sees at most
    bias: Any                  # a tensor that is added to the logits besides the mask
    packed: bool               # whether arguments alone, and no mask, separate several sequences in one row
    name: str                  # of the module in the model
    stack: str                 # Place.stack
    recompute: Callable        # (query, key, value) -> what the model's function returns with the other arguments of the call


class Place(NamedTuple):
    """One attention module. Layers of one stack differ in the number in their name alone."""
    module: Any
    name: str                  # "vision_tower.layers.3.self_attn"
    stack: str                 # "vision_tower.layers.*.self_attn"
    #: The number in the name; the place in the stack, from 0, where the name has none, or two. Of a model with several
    #: stacks the place among all attentions, unless a stack is chosen.
    layer: int


# ---- Which modules ----

@functools.lru_cache(maxsize=None)
def uses_interface(cls: type) -> bool:
    """Whether a method of the class looks its attention function up."""
    methods = (inspect.unwrap(method) for owner in cls.__mro__ if owner.__module__ != _HOME
               for method in vars(owner).values() if inspect.isfunction(method))
    return any(_TABLE in method.__code__.co_names for method in methods)


def places(model: Any, stack: Optional[str] = None, known: Callable[[type], bool] = uses_interface) -> List[Place]:
    """Attention modules, whose classes are those that are `known`, in the order of the model."""
    named = ((name.replace("_orig_mod.", ""), module) for name, module in model.named_modules() if known(type(module)))
    found = [(re.sub(r"(?<![^.])\d+(?![^.])", "*", name), name, module) for name, module in named]
    stacks = {pattern for pattern, _, _ in found}
    found = [one for one in found if stack in (None, one[0])]
    several = stack is None and len(stacks) > 1
    return [Place(module, name, pattern, at if several or pattern.count("*") != 1 else
                  int(next(part for part in name.split(".") if part.isdigit())))
            for at, (pattern, name, module) in enumerate(found)]


# ---- The function that calls `seen` and the model's own ----

_lock = threading.Lock()
_watchers: Tuple["_Watcher", ...] = ()
_running = threading.local()


class _Watcher(NamedTuple):
    modules: Dict[int, Place]
    seen: Callable[[Attention], None]
    guard: Callable[[int], ContextManager]


class _Reached(BaseException):
    """Ends a forward that is run for its queries and keys."""

    def __init__(self, query: Any, key: Any) -> None:
        super().__init__()
        self.sides = query, key


def reached(forward: Callable, *args: Any, **kwargs: Any) -> Tuple[Any, Any]:
    """Queries and keys that the forward of an attention module hands on; the attention itself is not computed. Only
    within `seen`."""
    _running.stops = True
    try:
        forward(*args, **kwargs)
    except _Reached as found:
        return found.sides
    finally:
        _running.stops = False
    raise RuntimeError("the forward called no attention function")


def compiled(module: Any) -> bool:
    """Whether torch.compile was given this module: its attentions cannot be watched."""
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def repeats() -> bool:
    """Whether a backward pass runs this again (gradient checkpointing). PyTorch before 2.0 cannot tell: False."""
    import torch  # pylint: disable=import-outside-toplevel
    task = getattr(torch._C, "_current_graph_task_id", None)  # pylint: disable=protected-access
    return task is not None and task() != -1


def unseen() -> bool:
    """Whether this runs in a compiled graph, or again in a backward pass."""
    import torch  # pylint: disable=import-outside-toplevel
    compiler = getattr(torch, "compiler", None)
    return (compiler is not None and compiler.is_compiling()) or repeats()


def _wrapped(function: Callable) -> Callable:
    if hasattr(function, "szego_original"):
        return function

    @functools.wraps(function)
    def attention(module, *args, **kwargs):
        if unseen():
            return function(module, *args, **kwargs)
        if getattr(_running, "stops", False):
            given = dict(zip(("query", "key"), args), **kwargs)
            raise _Reached(given["query"], given["key"])
        if getattr(_running, "module", None) is module:
            return function(module, *args, **kwargs)
        _running.module = module
        try:
            for watcher in _watchers:
                place = watcher.modules.get(id(module))
                if place is not None:
                    with watcher.guard(place.layer):
                        watcher.seen(_call(place, function, args, kwargs))
            return function(module, *args, **kwargs)
        finally:
            _running.module = None

    attention.szego_original = function  # type: ignore[attr-defined]
    return attention


def _call(place: Place, function: Callable, args: Sequence[Any], kwargs: Dict[str, Any]) -> Attention:
    given = dict(zip(("query", "key", "value", "attention_mask"), args), **kwargs)
    query, module = given["query"], place.module
    parameters = _parameters(function)
    # A function that takes no soft cap ignores one: SDPA of transformers 4.
    cap = given.get("softcap") if "softcap" in parameters else None
    sinks = next((given[name] for name in ("s_aux", "sinks") if given.get(name) is not None), None)

    def recompute(query, key, value):
        rest = {name: x for name, x in given.items() if name not in ("query", "key", "value")}
        return function(module, query, key, value, **rest)

    return Attention(module, place.layer, query, given["key"], given.get("attention_mask"), _scaling(module, given, parameters),
                     cap, sinks, getattr(module, "is_causal", None) if given.get("is_causal") is None else given["is_causal"],
                     given.get("sliding_window"), given.get("position_bias"), _packed(given), place.name, place.stack, recompute)


def _packed(given: Dict[str, Any]) -> bool:
    """Whether several sequences follow each other, as flash attention is told: by their ends, or by positions that begin anew."""
    if given.get("attention_mask") is not None:
        return False
    ends, places_of = given.get("cu_seq_lens_q"), given.get("position_ids")
    if ends is not None:
        return len(ends) > 2
    return getattr(places_of, "ndim", 0) == 2 and len(places_of) == 1 and bool((places_of[0, 1:] == 0).any())


@functools.lru_cache(maxsize=None)
def _parameters(function: Callable) -> Sequence[str]:
    return tuple(inspect.signature(function).parameters)


def _scaling(module: Any, given: Dict[str, Any], parameters: Sequence[str]) -> float:
    """The factor of a call. Functions without the argument compute it from the module: GPT-2 in transformers 4."""
    size = given["query"].shape[-1]
    if "scaling" in parameters:
        return float(size**-0.5 if given.get("scaling") is None else given["scaling"])
    scale = size**-0.5 if getattr(module, "scale_attn_weights", True) else 1.0
    return scale / (module.layer_idx + 1) if getattr(module, "scale_attn_by_inverse_layer_idx", False) else scale


class _Functions:
    """ALL_ATTENTION_FUNCTIONS whose functions are watched."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def __getitem__(self, name: str) -> Callable:
        return _wrapped(self._table[name])

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def get(self, name: str, default: Any = None) -> Any:
        function = self._table.get(name, default)
        return _wrapped(function) if callable(function) else function

    def get_interface(self, name: str, default: Callable) -> Callable:
        return _wrapped(self._table.get_interface(name, default))


# ---- Installing ----

#: By the name of a file's module: how many watchers need it, and what its names were.
_installed: Dict[str, Tuple[int, Dict[str, Any]]] = {}


def _install(name: str) -> None:
    count, saved = _installed.get(name, (0, {}))
    if not count:
        names = vars(sys.modules[name])
        saved = {key: value for key, value in names.items() if key == _TABLE or (_EAGER.search(key) and callable(value))}
        names.update({key: _Functions(value) if key == _TABLE else _wrapped(value) for key, value in saved.items()})
    _installed[name] = (count + 1, saved)


def _remove(name: str) -> None:
    count, saved = _installed.pop(name)
    if count > 1:
        _installed[name] = (count - 1, saved)
    else:
        vars(sys.modules[name]).update(saved)


@contextlib.contextmanager
def watched(model: Any, seen: Callable[[Attention], None], layers: Optional[Sequence[int]] = None,
            stack: Optional[str] = None, guard: Callable[[int], ContextManager] = contextlib.nullcontext) -> Iterator[List[Place]]:
    """Within the block each attention of the model calls `seen`, and then its own function with the same arguments.
    Gives the attentions that are watched. layers: those whose Place.layer is among these; None: all. guard: by Place.layer a
    block within which the arguments are read and `seen` is called; what it lets through ends the model's pass."""
    global _watchers  # pylint: disable=global-statement
    chosen = [place for place in places(model, stack) if layers is None or place.layer in layers]
    watcher = _Watcher({id(place.module): place for place in chosen}, seen, guard)
    files = {owner.__module__ for place in chosen for owner in type(place.module).__mro__
             if owner.__module__ != _HOME and _TABLE in vars(sys.modules.get(owner.__module__, object))}
    with _lock:
        for name in files:
            _install(name)
        _watchers += (watcher,)
    try:
        yield chosen
    finally:
        with _lock:
            _watchers = tuple(one for one in _watchers if one is not watcher)
            for name in files:
                _remove(name)
