"""Adapters of peft in a model in memory: weights as its own merge makes them, a module at a time."""
import copy
import os
import sys
import threading
from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Tuple

from .errors import ArgumentError, LibraryError

_ROOM = 1 << 30  # bytes that are kept at least, where that many were made


class Recent:
    """What was made last, for all threads: a thread works on the queries and keys of a layer."""

    def __init__(self) -> None:
        self._made: "OrderedDict[int, Tuple[Any, int]]" = OrderedDict()
        self._lock, self._most = threading.Lock(), 2 * (os.cpu_count() or 1) + 2

    def __call__(self, key: int, make: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
        """Tensors by name: those made under this key, or new ones."""
        with self._lock:
            if key not in self._made:
                new = make()
                self._made[key] = new, sum(one.numel() * one.element_size() for one in new.values())
            self._made.move_to_end(key)
            while len(self._made) > self._most or (len(self._made) > 2 and sum(
                    size for _, size in self._made.values()) > _ROOM):
                self._made.popitem(last=False)
            return self._made[key][0]


def base_of(model) -> Tuple[Any, Optional["Merged"]]:
    """The model that peft's wrapper, if it is one, holds; and its adapters."""
    peft = sys.modules.get("peft")
    if not peft:
        return model, None
    if isinstance(model, (peft.PeftModel, getattr(peft, "PeftMixedModel", peft.PeftModel))):
        for name in model.active_adapters if isinstance(model.active_adapters, list) else [model.active_adapter]:
            kind = model.peft_config[name]
            if getattr(kind, "is_prompt_learning", False):
                raise ArgumentError(f"the adapter {name} ({getattr(kind.peft_type, 'value', kind.peft_type)}) adds "
                                    "tokens and changes no weight: pass model.get_base_model()", "SZG_EINVAL")
        model = model.get_base_model() if hasattr(model, "get_base_model") else model.base_model.model
    found = Merged(model)
    return model, found if found else None


class Merged:
    """Modules of a model that an adapter changes. names: of the adapters whose changes are read."""

    def __init__(self, model):
        self._module, self._recent = {}, Recent()
        kinds = _kinds()
        for name, module in model.named_modules():
            if isinstance(module, kinds) and not self.covers(name + "."):
                self._module[name] = module
        for name, module in self._module.items():
            if module.disable_adapters and module.merged_adapters:
                raise ArgumentError(f"{name}: its adapters are disabled, and merged into its weights: call "
                                    "unmerge_adapter() of peft's model before", "SZG_EINVAL")
        self.names = list(dict.fromkeys(name for module in self._module.values()
                                        for name in [*module.merged_adapters, *_pending(module)]))

    def __bool__(self) -> bool:
        return bool(self._module)

    def covers(self, key: str) -> bool:
        """Whether the tensor is one of such a module."""
        parts = key.split(".")
        return any(".".join(parts[:end]) in self._module for end in range(1, len(parts)))

    def weights(self) -> Dict[str, Tuple[Any, Optional[Callable[[], Any]]]]:
        """By name without the adapter: the tensor without it, and what makes the one with it (None: it is that)."""
        return {f"{path}.{name}": (value, self._maker(path, module, name) if _pending(module) else None)
                for path, module in self._module.items() for name, value in _plain(module).items()}

    def _maker(self, path: str, module, name: str) -> Callable[[], Any]:
        return lambda: self._recent(id(module), lambda: _merged(path, module))[name]


def _kinds() -> tuple:
    tuners, other = sys.modules.get("peft.tuners.tuners_utils"), sys.modules.get("peft.utils.other")
    return tuple(getattr(place, name) for place, name in (
        (tuners, "BaseTunerLayer"), (other, "AuxiliaryTrainingWrapper"), (other, "ModulesToSaveWrapper"))
                 if hasattr(place, name))


def _pending(module) -> List[str]:
    """Adapters of the module that act and are not merged."""
    if module.disable_adapters:
        return []
    there = {key for layer in module.adapter_layer_names for key in _keys(module, layer)}
    return [name for name in module.active_adapters if name in there and name not in module.merged_adapters]


def _keys(module, path: str):
    for part in path.split("."):
        module = getattr(module, part, {})
    return module.keys()


def _plain(module) -> Dict[str, Any]:
    """The tensors of the module without its adapters."""
    while hasattr(module, "base_layer") or hasattr(module, "original_module"):
        module = module.base_layer if hasattr(module, "base_layer") else module.original_module
    return module.state_dict(keep_vars=True)


def _merged(path: str, module) -> Dict[str, Any]:
    """The tensors as peft merges them, of a copy of the module."""
    torch = sys.modules["torch"]
    try:
        with torch.no_grad():
            own = copy.deepcopy(module)
            if hasattr(own, "unload_and_optionally_merge_module"):
                own = own.unload_and_optionally_merge_module(merge=True, safe_merge=False, adapter_names=None)
            else:
                own.merge(safe_merge=False, adapter_names=None)
                own = own.get_base_layer()
            return {name: value.detach() for name, value in own.state_dict().items()}
    except Exception as error:
        raise LibraryError(f"the adapter {', '.join(_pending(module))} of {path} ({type(module).__name__}) cannot be "
                           f"merged: {error}") from error
