"""Models in memory as the library reads them: modules, state_dicts, adapters. Numbers stay where they are.

The library gets the address of what lies contiguous in the processor's memory. It asks for the rest piece by piece:
tensors of a device, strided ones, weights with an adapter merged in. PyTorch, transformers and peft are not imported:
who has such a model has imported them.
"""
import ctypes
import dataclasses
import json
import math
import os
import re
import sys
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import adapters, layout
from .arguments import words
from .errors import ArgumentError, LibraryError

_TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3",
          "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0", "bool": "BOOL", "complex64": "C64",
          **{f"{sign}int{bits}": f"{sign.upper()}{'' if sign else 'I'}{bits}" for sign in ("", "u")
             for bits in (8, 16, 32, 64)}}


class Weight(NamedTuple):
    """A tensor. like: one with its shape and type, and its numbers unless `make` gives them."""
    like: Any
    make: Optional[Callable[[], Any]] = None
    refusal: Optional[str] = None

    def take(self):
        """The numbers. The library knows their shape and type from `like`."""
        if not self.make:
            return self.like
        made = self.make()
        if made.shape != self.like.shape or made.dtype != self.like.dtype:
            raise LibraryError(f"{tuple(self.like.shape)} of {self.like.dtype} became {tuple(made.shape)} of {made.dtype}")
        return made


# ---- What may be given ----------------------------------------------------------------------------


def is_model(given) -> bool:
    """Whether it is a model in memory, no path."""
    torch = sys.modules.get("torch")
    return isinstance(given, Mapping) or bool(torch and isinstance(given, torch.nn.Module))


class Model:
    """A model in memory for szg_checkpoint_open_tensors. Whoever uses `struct` keeps the object alive meanwhile.

    given: a torch.nn.Module or a state_dict. config: its configuration; None: that of the module.
    errors: what the tensors that could not be had raised.
    """

    def __init__(self, given, config=None):
        if isinstance(given, Mapping):
            weights, name = _of_dict(given), "state_dict"
        else:
            given, merged = adapters.base_of(_unwrapped(given))
            config = getattr(given, "config", None) if config is None else config
            weights, name = _of_module(given, merged), type(given).__name__
        if config is None:
            raise ArgumentError("config: " + (
                "a state_dict has none" if isinstance(given, Mapping) else f"{name} has no attribute config") +
                ": pass config=model.config, a dict, or the path of a config.json; with config=\"none\" each 2-D "
                "tensor is read by itself", "SZG_EINVAL")
        called = config.get("_name_or_path") if isinstance(config, Mapping) else getattr(config, "_name_or_path", None)
        name = called if isinstance(called, str) and called else name
        if not isinstance(given, Mapping) and merged:
            name = " + ".join([name, *merged.names])
        self._weights, self.errors = list(weights.items()), []
        self._read = layout.TENSOR_READ(_reader(self._weights, self.errors))
        self.struct = self._struct(words(name, "the model's name"), _config_text(config))

    def _struct(self, name: bytes, config: Optional[bytes]) -> layout.Tensors:
        self._tensors = (layout.Tensor * len(self._weights))()
        self._kept: List[Any] = []  # what the structs point to
        for one, (key, weight) in zip(self._tensors, self._weights):
            shape = (ctypes.c_int64 * len(weight.like.shape))(*weight.like.shape)
            address = None if weight.make or weight.refusal else _address(weight.like)
            texts = [words(key, "a tensor's name"), _type(weight.like).encode(), (weight.refusal or "").encode()]
            self._kept += [shape, *texts]
            one.name, one.dtype, one.refusal = texts[0], texts[1], texts[2] or None
            one.dims, one.shape, one.data = len(shape), ctypes.addressof(shape), address
        return layout.Tensors(name=name, config=config, tensor=ctypes.addressof(self._tensors),
                              count=len(self._weights), read=self._read)


def _reader(weights: List[Tuple[str, Weight]], errors: List[Exception]) -> Callable:
    """szg_tensor_read, of any thread. It does not know the model, which would then live on in a circle."""
    def read(_user, index, offset, count, out) -> int:
        name, weight = weights[index]
        try:
            _copy(weight.take(), offset, count, out)
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(LibraryError(f"tensor {name}: {error}"))
            errors[-1].__cause__ = error
            return 1
    return read


def _unwrapped(module):
    """The model that DataParallel, DeepSpeed or torch.compile was given."""
    while True:
        wrappers = {base.__name__ for base in type(module).__mro__}
        if "FullyShardedDataParallel" in wrappers:
            return module  # its shards are refused by name
        if hasattr(module, "_orig_mod"):
            module = module._orig_mod  # pylint: disable=protected-access
        elif wrappers & {"DataParallel", "DistributedDataParallel", "DeepSpeedEngine"}:
            module = module.module
        else:
            return module


# ---- Tensors by name ------------------------------------------------------------------------------


def _of_dict(given: Mapping) -> Dict[str, Weight]:
    torch, weights = sys.modules.get("torch"), {}
    for key, value in given.items():
        if not isinstance(key, str):
            raise ArgumentError(f"state_dict: {key!r} is no tensor's name", "SZG_EINVAL")
        if torch and isinstance(value, torch.Tensor):
            weights[key] = _weight(torch, value)
        elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            weights[key] = Weight(value)
        elif isinstance(value, Mapping):
            raise ArgumentError(f"state_dict: {key!r} is a dict: if the weights are in it, pass that dict",
                                "SZG_EINVAL")
        elif not key.endswith("_extra_state"):  # a module's own notes
            raise ArgumentError(f"state_dict: {key!r}: a tensor of PyTorch or an array of NumPy is needed, not "
                                f"{type(value).__name__}", "SZG_EINVAL")
    return weights


def _of_module(module, merged: Optional[adapters.Merged]) -> Dict[str, Weight]:
    """Names as in the files that save_pretrained writes."""
    torch = sys.modules["torch"]
    for name, part in module.named_modules():
        if any(base.__name__ == "FullyShardedDataParallel" for base in type(part).__mro__):
            raise ArgumentError(f"{name or 'the model'} is sharded by FSDP: gather the weights "
                                "(FullStateDictConfig) and pass the state_dict with config=", "SZG_EINVAL")
    weights = {}
    for key, value in module.state_dict(keep_vars=True).items():
        if isinstance(value, torch.Tensor) and not (merged and merged.covers(key)):
            weights[key.replace("_orig_mod.", "")] = _weight(torch, value)
    for key, (value, make) in (merged.weights() if merged else {}).items():
        weight = _weight(torch, value)
        weights[key.replace("_orig_mod.", "")] = weight if weight.refusal else weight._replace(make=make)
    utils = sys.modules.get("transformers.modeling_utils")
    if utils and isinstance(module, utils.PreTrainedModel):
        for name in getattr(module, "_keys_to_ignore_on_save", None) or ():
            weights.pop(name, None)
        return _renamed(utils, module, _untied(utils, module, weights))
    return weights


def _weight(torch, tensor) -> Weight:
    refusal = _refusal(torch, tensor)
    if refusal and isinstance(tensor, getattr(torch.nn.parameter, "UninitializedTensorMixin", ())):
        return Weight(torch.empty(0), refusal=refusal)
    return Weight(tensor.detach(), refusal=refusal)


def _refusal(torch, tensor) -> Optional[str]:
    """Why the tensor has no numbers of its own here; None: it has."""
    kind = type(tensor)
    bases = {base.__name__ for base in kind.__mro__}
    if bases & {"Params4bit", "Int8Params"}:
        return ("is quantised by bitsandbytes: call model.dequantize() before, or read the checkpoint that it was made "
                "from")
    if "DTensor" in bases:
        return ("is a shard (DTensor) of a model that several processes share: gather it first "
                "(torch.distributed.checkpoint.state_dict.get_model_state_dict with full_state_dict=True)")
    if hasattr(tensor, "ds_id") and hasattr(tensor, "ds_shape"):
        return "is a shard of DeepSpeed's ZeRO-3: gather it first (deepspeed.zero.GatheredParameters)"
    if "UninitializedTensorMixin" in bases:
        return "has no shape yet: run the model once before"
    if "FakeTensor" in bases or tensor.device.type == "meta":
        return ("is on the device \"meta\" and has no numbers: load the weights, and without device_map if accelerate "
                "keeps them elsewhere")
    if kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return f"is a {kind.__name__}, whose numbers szego does not know: pass the model before it was converted"
    if tensor.is_quantized or tensor.layout != torch.strided:
        return f"is {'quantised by PyTorch' if tensor.is_quantized else 'sparse'}: pass it dequantised and dense"
    return None


def _untied(utils, model, weights: Dict[str, Weight]) -> Dict[str, Weight]:
    """Without the names that the model declares to be others' copies: files have each tensor once."""
    declared = getattr(utils, "_get_tied_weight_keys", lambda model: None)(model) or []
    shared: Dict[tuple, List[str]] = {}
    for name, weight in weights.items():
        if not weight.refusal:
            shared.setdefault((weight.like.device, weight.like.data_ptr(), weight.like.shape), []).append(name)
    for names in shared.values():
        copies = [name for name in sorted(names) if any(re.search(pattern, name) for pattern in declared)]
        for name in copies[:len(names) - 1]:
            del weights[name]
    return weights


# ---- Names as transformers saves them ---------------------------------------------------------------


def _renamed(utils, model, weights: Dict[str, Weight]) -> Dict[str, Weight]:
    loading = sys.modules.get("transformers.core_model_loading")
    revert = getattr(loading, "revert_weight_conversion", None)
    if not revert:
        return _renamed_4(utils, model, weights)
    groups: Dict[str, Dict[str, Weight]] = {}
    for name, weight in weights.items():  # conversions join tensors of one layer alone
        groups.setdefault("".join(re.split(r"(\.\d+\.)", name, maxsplit=1)[:2]), {})[name] = weight
    found: Dict[str, Weight] = {}
    recent = adapters.Recent()
    for group in groups.values():
        found.update(_reverted(lambda state: revert(model, state), group, recent))
    return found


def _reverted(revert: Callable, group: Dict[str, Weight], recent: adapters.Recent) -> Dict[str, Weight]:
    """Tensors that are renamed stay; those that are made anew are made when they are asked for."""
    torch = sys.modules["torch"]
    blank = {name: torch.empty_like(weight.like, device="meta") for name, weight in group.items()}
    known = {id(tensor): group[name] for name, tensor in blank.items()}
    try:
        saved = revert(dict(blank))
    except Exception as error:
        raise LibraryError(f"transformers cannot say how it saves {next(iter(group))}: {error}: pass "
                           "model.state_dict() with config=model.config, or a folder of save_pretrained") from error

    def made() -> Dict[str, Any]:
        with torch.no_grad():
            return revert({name: weight.take() for name, weight in group.items()})
    refusal = next((weight.refusal for weight in group.values() if weight.refusal), None)
    return {name: known.get(id(tensor)) or Weight(tensor, lambda name=name: recent(id(group), made)[name], refusal)
            for name, tensor in saved.items()}


def _renamed_4(utils, model, weights: Dict[str, Weight]) -> Dict[str, Weight]:
    """As save_pretrained of transformers 4 does."""
    classes = [base.__name__.lower() for base in type(model).__mro__[:-1]]
    backwards = {}
    if any(part in name for name in classes for part in getattr(utils, "VLMS", ())):
        backwards = {new: re.sub(r"\(.*\)", "", old.lstrip("^"))
                     for old, new in getattr(model, "_checkpoint_conversion_mapping", {}).items()}
    found = {}
    for name, weight in weights.items():
        for pattern, replacement in backwards.items():
            name, count = re.subn(pattern, replacement, name)
            if count:
                break
        found[name] = weight
    return getattr(model, "_fix_state_dict_keys_on_save", dict)(found)


# ---- Configuration ----------------------------------------------------------------------------------


def _config_text(config) -> Optional[bytes]:
    """The text of config.json; None: no architecture is assumed."""
    if isinstance(config, str) and config == "none":
        return None
    if isinstance(config, (str, os.PathLike)):
        try:
            with open(config, "rb") as file:
                return file.read()
        except OSError as error:
            raise ArgumentError(f"config: {error}", "SZG_EINVAL") from None
    if hasattr(config, "model_type") and hasattr(config, "to_json_string"):
        return words(config.to_json_string(), "config")  # as save_pretrained writes it: without the class's defaults
    fields = _fields(config)
    try:  # What is no JSON (a torch.dtype) describes no head.
        return words(json.dumps(fields, default=plain_value, allow_nan=False), "config")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"config: no JSON: {error}", "SZG_EINVAL") from None


def _fields(config) -> dict:
    if isinstance(config, Mapping):
        return dict(config)
    if hasattr(config, "to_dict"):
        return config.to_dict()
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        return {one.name: getattr(config, one.name) for one in dataclasses.fields(config)}
    raise ArgumentError("config: a configuration of transformers, a dict, a dataclass or the path of a config.json is "
                        f"needed, not {type(config).__name__}", "SZG_EINVAL")


def plain_value(value):
    """What JSON lacks, for json.dumps: a number of NumPy is one, the rest a text."""
    return value.item() if isinstance(value, np.generic) else str(value)


# ---- Bytes ------------------------------------------------------------------------------------------


def _type(tensor) -> str:
    """As safetensors calls it; another name where it has none."""
    name = str(tensor.dtype).replace("torch.", "") if not isinstance(tensor, np.ndarray) else tensor.dtype.name
    return _TYPES.get(name, name)


def _lies_whole(tensor) -> bool:
    """Row-major without gaps, its bytes as they are."""
    if isinstance(tensor, np.ndarray):
        return tensor.flags.c_contiguous and tensor.dtype.isnative
    return tensor.is_contiguous() and not getattr(tensor, "is_neg", bool)()


def _address(tensor) -> Optional[int]:
    """Where the numbers lie; None: the library asks for them."""
    if not _lies_whole(tensor):
        return None
    if isinstance(tensor, np.ndarray):
        return tensor.ctypes.data or None
    return (tensor.data_ptr() or None) if tensor.device.type == "cpu" else None


def _piece(tensor, start: int, stop: int):
    """Elements start .. stop - 1 in row-major order, contiguous and in the processor's memory: nothing more than the
    rows that they lie in is copied."""
    if not _lies_whole(tensor) and len(tensor.shape):
        row = math.prod(tensor.shape[1:])
        first = start // row
        tensor, start, stop = tensor[first:-(-stop // row)], start - first * row, stop - first * row
    piece = tensor.reshape(-1)[start:stop]
    if isinstance(piece, np.ndarray):
        return np.ascontiguousarray(piece, piece.dtype.newbyteorder("="))
    return getattr(piece, "resolve_neg", lambda: piece)().contiguous().cpu()


def _copy(tensor, offset: int, count: int, out: int) -> None:
    """Bytes offset .. offset + count - 1, whole elements, to the address `out`."""
    size = tensor.dtype.itemsize if isinstance(tensor, np.ndarray) else tensor.element_size()
    piece = _piece(tensor, offset // size, (offset + count) // size)
    ctypes.memmove(out, piece.ctypes.data if isinstance(piece, np.ndarray) else piece.data_ptr(), count)
