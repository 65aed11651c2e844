#!/usr/bin/python3
"""szego.checkpoint of models in memory: modules, state_dicts and adapters against folders with the same weights.
Where transformers and peft are missing, stand-ins have their names. usage: test_models.py PROGRAM"""
import contextlib
import dataclasses
import gc
import json
import os
import struct
import sys
import threading
import tracemalloc
import types
import weakref

from peer import PACKAGE, Counted, Tap, scratch, skip, write_llama

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import torch
    import szego
    from szego import models, native
    from torch import nn
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-torch are needed")

FAMILIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "families")
tap = Tap()
torch.manual_seed(7)


def load(folder):
    """Tensors by name and the configuration of a folder."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    kinds = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
             "I64": torch.int64}
    state = {}
    for name, entry in json.loads(content[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            numbers = bytearray(content[8 + length:][begin:end])
            state[name] = torch.frombuffer(numbers, dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
    return state, config


class Module(nn.Module):
    """A tree of modules whose parameters have these names."""

    def __init__(self, state=(), config=None):
        super().__init__()
        for name, value in dict(state).items():
            part = self
            *path, last = name.split(".")
            for step in path:
                if step not in dict(part.named_children()):
                    part.add_module(step, Module())
                part = getattr(part, step)
            part.register_parameter(last, nn.Parameter(value, value.is_floating_point()))
        if config is not None:
            self.config = config


def difference(got, want):
    """Where two results differ: "" nowhere; their sources' names apart."""
    if list(got.tables) != list(want.tables):
        return f"tables {list(got.tables)}, not {list(want.tables)}"
    for name, table in want.tables.items():
        for column, cells in table.items():
            mine = got.tables[name][column]
            if column in ("source", "file"):
                continue
            masks = [np.ma.getmaskarray(one) for one in (mine, cells)]
            if not np.array_equal(*masks):
                return f"{name}.{column}: other cells are empty"
            a, b = (np.ma.getdata(one)[~masks[0]] for one in (mine, cells))
            if cells.dtype == object:
                a, b = ([text.replace(found.source, "") for text in texts] for texts, found in ((a, got), (b, want)))
                equal = a == b
            else:
                equal = a.tobytes() == b.tobytes()
            if not equal:
                return f"{name}.{column}: {a[:3]}, not {b[:3]}"
    return ""


def same(name, got, want, source=None):
    wrong = difference(got, want) or ("" if source in (None, got.source) else f"called {got.source}, not {source}")
    tap.ok(name, not wrong and not got.unknown, wrong or str(got.unknown or ""))


def refused(name, call, *words, kind=szego.ArgumentError):
    tap.refused(name, call, *words, kind=kind)


class Configuration:
    """As those of transformers: an object that makes a dict."""

    def __init__(self, fields):
        self.fields, self._name_or_path = fields, "meta/llama"

    def to_dict(self):
        return {**self.fields, "torch_dtype": torch.float32}


def check_families():
    for family in ("bert", "deepseek_v3", "gemma3_text", "gpt2", "gpt_neox", "llama", "modernbert", "t5"):
        folder = os.path.join(FAMILIES, family)
        state, config = load(folder)
        want = szego.checkpoint(folder, circuits=True, draws=2)
        same(f"{family}: a state_dict", szego.checkpoint(state, config, circuits=True, draws=2), want)
        same(f"{family}: a module", szego.checkpoint(Module(state, config), circuits=True, draws=2), want)
    state, config = load(os.path.join(FAMILIES, "llama"))
    want = szego.checkpoint(os.path.join(FAMILIES, "llama"))
    path = os.path.join(FAMILIES, "llama", "config.json")
    fields = dataclasses.make_dataclass("Fields", config)(**config)
    same("a configuration's object", szego.checkpoint(Module(state, Configuration(config))), want, "meta/llama")
    same("a dataclass", szego.checkpoint(Module(state, fields)), want, "Module")
    same("a configuration's path", szego.checkpoint(state, path), want, "state_dict")
    same("config= goes before the module's", szego.checkpoint(Module(state, {}), config=config), want, "Module")
    same("without the prefix", szego.checkpoint({name.replace("model.", "", 1): value for name, value in state.items()},
                                                config), szego.checkpoint(renamed(want.source)), "state_dict")
    wrapped = Module(state, config)
    same("DataParallel", szego.checkpoint(nn.DataParallel(wrapped)), want, "Module")
    compiled = Module({f"_orig_mod.{name}": value for name, value in state.items()})
    compiled._orig_mod.config = config
    same("torch.compile", szego.checkpoint(compiled), want, "Module")
    inner = {name.replace("self_attn.", "self_attn._orig_mod."): value for name, value in state.items()}
    same("layers that torch.compile made", szego.checkpoint(Module(inner, config)), want)
    got, read = szego.kernel(wrapped, 8), szego.kernel(want.source, 8)
    tap.ok("szego.kernel of a module", np.array_equal(got["kernel_kernel"]["self"], read["kernel_kernel"]["self"]))
    bare = szego.checkpoint(state, "none")
    key = "model.layers.1.self_attn.k_proj.weight"
    tap.ok("config=\"none\"", bare.unknown and np.array_equal(
        bare.singular_values(matrix=key), szego.checkpoint(want.source, "none").singular_values(matrix=key)))


stack = contextlib.ExitStack()


def renamed(folder):
    """The folder's model without the prefix "model." of its names."""
    place = stack.enter_context(scratch())
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = content[8:8 + length].replace(b'"model.', b'"')
    with open(os.path.join(place, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + content[8 + length:])
    with open(os.path.join(folder, "config.json"), "rb") as file, open(os.path.join(place, "config.json"),
                                                                       "wb") as copy:
        copy.write(file.read())
    return place


# ---- Numbers wherever they lie --------------------------------------------------------------------


def big_llama(folder):
    """Weights of several blocks of 64 KiB."""
    random = np.random.default_rng(3)
    write_llama(folder, (4, 2, 32, 300), [(random.standard_normal((128, 300)), random.standard_normal((64, 300)))
                                          for _ in range(2)])
    return load(folder)


def flipped(tensor):
    """The same numbers, of which PyTorch keeps the negative."""
    return torch._neg_view(-tensor)


def check_storage(folder):
    state, config = big_llama(folder)
    want = szego.checkpoint(folder)
    wide = {name: torch.stack([value, value + 1], -1) for name, value in state.items()}
    kinds = {
        "transposed": {name: value.t().contiguous().t() for name, value in state.items()},
        "every second number": {name: value[..., 0] for name, value in wide.items()},
        "rows in reverse": {name: value.flip(0).numpy()[::-1] for name, value in state.items()},
        "with gradients": {name: value.requires_grad_() for name, value in load(folder)[0].items()},
        "negative bit": {name: flipped(value) if "q_proj" in name else value for name, value in state.items()},
        "NumPy": {name: value.numpy() for name, value in state.items()},
        "NumPy, Fortran's order": {name: np.asfortranarray(value.numpy()) for name, value in state.items()},
        "NumPy, another byte order": {name: value.numpy().astype(">f8") for name, value in state.items()},
    }
    read_only = {name: value.numpy().copy() for name, value in state.items()}
    for value in read_only.values():
        value.flags.writeable = False
    for kind, tensors in {**kinds, "NumPy, read-only": read_only}.items():
        same(kind, szego.checkpoint(tensors, config), want)
    tap.ok("the negative bit is one", any(value.is_neg() for value in kinds["negative bit"].values()))
    for dtype in (torch.float16, torch.bfloat16):
        less = {name: value.to(dtype) for name, value in state.items()}
        back = {name: value.double() for name, value in less.items()}
        tap.ok(f"{dtype}", np.array_equal(szego.checkpoint(less, config).singular_values(),
                                          szego.checkpoint(back, config).singular_values()))
    check_pieces(kinds["transposed"], config)
    check_kept(state, config)
    check_changed(state, config)


def check_pieces(tensors, config):
    """Of strided tensors no more is copied at once than the rows that a block of 64 KiB lies in."""
    piece, columns = models._piece, np.zeros((4000, 500), order="F")
    tracemalloc.start()
    made = piece(columns, 100000, 108192)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tap.ok("pieces", made.shape == (8192,) and most < 3 * made.nbytes, str(most))
    models._piece = lambda *given: 1 // 0
    refused("a tensor that cannot be had", lambda: szego.checkpoint(tensors, config), "tensor model.layers.",
            "division", kind=szego.LibraryError)
    models._piece = piece


def check_kept(state, config):
    """After the call nothing holds the weights: those of a device would fill it."""
    gc.disable()
    try:
        arrays = {name: value.numpy().copy(order="F") for name, value in state.items()}
        held = [weakref.ref(value) for value in arrays.values()]
        szego.checkpoint(arrays, config)
        del arrays
        tap.ok("no weight is kept", not any(one() is not None for one in held))
    finally:
        gc.enable()


def check_changed(state, config):
    """Weights that another thread changes and replaces: any numbers, but an answer."""
    module, done = Module({name: value.detach().clone() for name, value in state.items()}, config), threading.Event()

    def change():
        while not done.is_set():
            for one in module.parameters():
                one.data.mul_(1.0)
                one.data = one.data.clone()
    thread = threading.Thread(target=change)
    thread.start()
    try:
        found = [szego.checkpoint(module) for _ in range(3)]
    finally:
        done.set()
        thread.join()
    tap.ok("weights that change meanwhile", all(np.isfinite(one.singular_values()).all() for one in found))


# ---- Refusals --------------------------------------------------------------------------------------


def named(name, base=nn.Parameter):
    return type(name, (base,), {})


class Wrapped(torch.Tensor):
    """A tensor whose numbers are elsewhere."""
    @staticmethod
    def __new__(cls, like):
        return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype)

    @classmethod
    def __torch_dispatch__(cls, function, types_, args=(), kwargs=None):
        return args[0]


def check_refused():
    state, config = load(os.path.join(FAMILIES, "llama"))
    key = "model.layers.1.self_attn.k_proj.weight"
    shard = nn.Parameter(torch.empty(0))
    shard.ds_id, shard.ds_shape = 1, state[key].shape
    for name, value, *words in (
            ("meta", state[key].to("meta"), "device \"meta\""),
            ("bitsandbytes, 4 bits", named("Params4bit")(torch.zeros(8, 1, dtype=torch.uint8), False), "bitsandbytes",
             "dequantize"),
            ("bitsandbytes, 8 bits", named("Int8Params")(state[key].to(torch.int8), False), "bitsandbytes"),
            ("a shard of DTensor", state[key].as_subclass(named("DTensor", torch.Tensor)), "DTensor", "gather"),
            ("a shard of DeepSpeed", shard, "ZeRO-3"),
            ("a wrapper", Wrapped(state[key]), "is a Wrapped"),
            ("no shape yet", nn.parameter.UninitializedParameter(), "run the model once"),
            ("sparse", state[key].to_sparse(), "sparse"),
            ("quantised by PyTorch", torch.quantize_per_tensor(state[key], 0.1, 0, torch.qint8),
             "quantised by PyTorch")):
        refused(name, lambda value=value: szego.checkpoint({**state, key: value}, config), key, *words)
        other = szego.checkpoint({**state, "lm_head.weight": value}, config)
        tap.ok(f"{name}, where no head needs it", difference(other, szego.checkpoint(state, config)).startswith(
            "checkpoint_tensors"), difference(other, szego.checkpoint(state, config)))
    sharded = Module(state, config)
    sharded.model.layers.__class__ = named("FullyShardedDataParallel", Module)
    refused("FSDP", lambda: szego.checkpoint(sharded), "model.layers is sharded by FSDP")
    refused("no configuration of a state_dict", lambda: szego.checkpoint(state), "config: a state_dict has none")
    refused("no configuration of a module", lambda: szego.checkpoint(Module(state)), "Module has no attribute config")
    refused("a number as configuration", lambda: szego.checkpoint(state, 5), "config: ", "not int")
    refused("a configuration that is no file", lambda: szego.checkpoint(state, "/nowhere.json"), "/nowhere.json")
    refused("a configuration that is no JSON", lambda: szego.checkpoint(state, {"a": float("inf")}), "config: no JSON")
    refused("sizes that do not fit", lambda: szego.checkpoint(state, {"model_type": "llama", "hidden_size": 5}),
            "config: num_attention_heads")
    refused("a training checkpoint", lambda: szego.checkpoint({"model": state}, config), "'model' is a dict")
    refused("a value of another type", lambda: szego.checkpoint({"a": "b"}, config), "'a': a tensor", "not str")
    refused("a masked array", lambda: szego.checkpoint({key: np.ma.masked_equal(state[key].numpy(), 0)}, config),
            "not MaskedArray")
    refused("a key of another type", lambda: szego.checkpoint({1: state[key]}, config), "1 is no tensor's name")
    refused("a number", lambda: szego.checkpoint(5), "source: a path, a name of the hub, a torch.nn.Module or a state_dict", "not int")
    same("a module's own notes", szego.checkpoint({**state, "a._extra_state": b"x"}, config),
         szego.checkpoint(state, config))


# ---- Names as transformers saves them ---------------------------------------------------------------


@contextlib.contextmanager
def modules(**by_name):
    """Stand-ins under these names, "_" for the point between names of packages."""
    old = {name: sys.modules.get(name) for name in by_name}
    sys.modules.update(by_name)
    try:
        yield
    finally:
        for name, module in old.items():
            if module:
                sys.modules[name] = module
            else:
                del sys.modules[name]


class PreTrainedModel(Module):
    """What save_pretrained looks at."""
    _keys_to_ignore_on_save = ["ignored.weight"]
    _checkpoint_conversion_mapping = {"^text": "model.text", "^model": "model.language"}


def transformers(**names):
    return types.SimpleNamespace(PreTrainedModel=PreTrainedModel,
                                 _get_tied_weight_keys=lambda model: ["lm_head.weight"], **names)


def check_names():
    folder = os.path.join(FAMILIES, "llama")
    state, config = load(folder)
    want = szego.checkpoint(folder)
    tied = {**state, "model.embed_tokens.weight": torch.rand(9, config["hidden_size"])}
    model = PreTrainedModel({**tied, "ignored.weight": torch.zeros(2, 2)}, config)
    model.add_module("lm_head", Module())
    model.lm_head.weight = model.model.embed_tokens.weight
    saved = szego.checkpoint(tied, config)
    with modules(**{"transformers.modeling_utils": transformers()}):
        same("tied and ignored names are not listed", szego.checkpoint(model), saved)
    apart = PreTrainedModel({name.replace("model.", "model.language.", 1): value for name, value in state.items()},
                            config)
    with modules(**{"transformers.modeling_utils": transformers(VLMS=["pretrained"])}):
        same("names of transformers 4", szego.checkpoint(apart), want)
    check_conversion(state, config, want)


def check_conversion(state, config, want):
    """transformers 5: names and layouts of files other than in memory."""
    fused, made = {}, []
    for name, value in state.items():
        if "layers.0" in name and "q_proj" in name:
            fused[name.replace("q_proj", "qk_proj")] = torch.cat([value, state[name.replace("q_proj", "k_proj")]])
        elif "layers.0" not in name or "k_proj" not in name:
            fused[name.replace("model.", "backbone.", 1)] = value
    fused = {name.replace("model.layers", "backbone.layers"): value for name, value in fused.items()}

    def revert(model, tensors):
        assert isinstance(model, PreTrainedModel)
        found = {}
        made.extend(name for name, value in tensors.items() if value.device.type != "meta")
        for name, value in tensors.items():
            name = name.replace("backbone.", "model.", 1)
            if "qk_proj" in name:
                rows = config["num_attention_heads"] * value.shape[0] // (
                    config["num_attention_heads"] + config["num_key_value_heads"])
                found[name.replace("qk_proj", "q_proj")] = value[:rows].clone()
                found[name.replace("qk_proj", "k_proj")] = value[rows:].clone()
            else:
                found[name] = value
        return found
    model = PreTrainedModel(fused, config)
    loading = types.SimpleNamespace(revert_weight_conversion=revert)
    with modules(**{"transformers.modeling_utils": transformers(), "transformers.core_model_loading": loading}):
        same("names of transformers 5", szego.checkpoint(model), want)
        tap.ok("nothing is converted but a layer that needs it", made and all("layers.0" in name for name in made),
               str(made))
        loading.revert_weight_conversion = lambda model, tensors: {
            name: value if value.device.type == "meta" else value[:1] for name, value in revert(model, tensors).items()}
        refused("a conversion that makes another shape", lambda: szego.checkpoint(model), "layers.0.self_attn.",
                "of torch.float32 became (1, ", kind=szego.LibraryError)
        loading.revert_weight_conversion = lambda model, tensors: 1 // 0
        refused("names that transformers cannot tell", lambda: szego.checkpoint(model), "config=model.config",
                kind=szego.LibraryError)


# ---- Adapters --------------------------------------------------------------------------------------


class BaseTunerLayer:
    """peft's: which adapters act."""
    adapter_layer_names = ("lora_A", "lora_B")


class Lora(nn.Module, BaseTunerLayer):
    """W + scaling B A."""

    def __init__(self, base_layer, ranks):
        super().__init__()
        rows, columns = base_layer.weight.shape
        self.base_layer, self.disable_adapters, self.merged_adapters = base_layer, False, []
        self.active_adapters = list(ranks)[:1]
        self.lora_A = nn.ModuleDict({name: nn.Linear(columns, rank, bias=False) for name, rank in ranks.items()})
        self.lora_B = nn.ModuleDict({name: nn.Linear(rank, rows, bias=False) for name, rank in ranks.items()})

    def get_base_layer(self):
        return self.base_layer

    def delta(self, name):
        return self.lora_B[name].weight @ self.lora_A[name].weight * 2

    def merge(self, safe_merge, adapter_names):
        assert not safe_merge and adapter_names is None
        assert set(self.active_adapters) - set(self.merged_adapters)
        for name in self.active_adapters:
            if name not in self.merged_adapters:
                self.base_layer.weight.data += self.delta(name)
                self.merged_adapters.append(name)


class ModulesToSaveWrapper(nn.Module):
    """A module that was trained whole."""
    adapter_layer_names = ("modules_to_save",)

    def __init__(self, module, trained):
        super().__init__()
        self.original_module, self.modules_to_save = module, nn.ModuleDict({"default": trained})
        self.active_adapters, self.disable_adapters, self.merged_adapters = ["default"], False, []

    def unload_and_optionally_merge_module(self, merge, safe_merge, adapter_names):
        assert merge and not safe_merge and adapter_names is None
        return self.modules_to_save["default"]


class PeftModel(nn.Module):
    """peft's wrapper."""

    def __init__(self, model, learns_prompts=False):
        super().__init__()
        self.base_model = types.SimpleNamespace(model=model)
        self.inner, self.active_adapter, self.active_adapters = model, "default", ["default"]
        self.peft_config = {"default": types.SimpleNamespace(is_prompt_learning=learns_prompts,
                                                             peft_type="PROMPT_TUNING")}

    def get_base_model(self):
        return self.inner


def adapted(state, config):
    """The model with adapters on queries and keys of layer 0, and a layer's norm that was trained."""
    model = Module(state, config)
    layer = model.model.layers.get_submodule("0")
    for side in ("q_proj", "k_proj"):
        setattr(layer.self_attn, side, Lora(getattr(layer.self_attn, side), {"default": 2, "other": 3}))
    trained = Module({"weight": torch.rand_like(layer.input_layernorm.weight)})
    layer.input_layernorm = ModulesToSaveWrapper(layer.input_layernorm, trained)
    return model, layer


def merged(state, layer, names):
    """The state_dict that the adapters make."""
    found = dict(state)
    for side in ("q_proj", "k_proj"):
        for name in names:
            key = f"model.layers.0.self_attn.{side}.weight"
            found[key] = found[key] + getattr(layer.self_attn, side).delta(name).detach()
    found["model.layers.0.input_layernorm.weight"] = layer.input_layernorm.modules_to_save["default"].weight
    return found


def check_adapters():
    state, config = load(os.path.join(FAMILIES, "llama"))
    kept = {name: value.clone() for name, value in state.items()}
    model, layer = adapted(state, config)
    sides = [layer.self_attn.q_proj, layer.self_attn.k_proj]
    peft = {"peft": types.SimpleNamespace(PeftModel=PeftModel),
            "peft.tuners.tuners_utils": types.SimpleNamespace(BaseTunerLayer=BaseTunerLayer),
            "peft.utils.other": types.SimpleNamespace(ModulesToSaveWrapper=ModulesToSaveWrapper)}
    with modules(**peft):
        want = szego.checkpoint(merged(state, layer, ["default"]), config)
        same("an adapter", szego.checkpoint(PeftModel(model)), want, "Module + default")
        same("an adapter in a model of its own", szego.checkpoint(model), want, "Module + default")
        for side in sides:
            side.active_adapters = ["default", "other"]
        same("two adapters", szego.checkpoint(model),
             szego.checkpoint(merged(state, layer, ["default", "other"]), config), "Module + default + other")
        tap.ok("the model keeps its weights", all(torch.equal(value, kept[name]) for name, value in state.items()))
        for part in (*sides, layer.input_layernorm):
            part.disable_adapters = True
        same("adapters that are disabled", szego.checkpoint(model), szego.checkpoint(state, config), "Module")
        sides[0].merge(False, None)
        refused("disabled, and merged", lambda: szego.checkpoint(model), "self_attn.q_proj", "unmerge_adapter")
        for part in (*sides, layer.input_layernorm):
            part.disable_adapters = False
        same("one that is merged already", szego.checkpoint(model),
             szego.checkpoint(merged(kept, layer, ["default", "other"]), config), "Module + default + other")
        sides[1].merge(False, None)
        same("all that are merged already", szego.checkpoint(model),
             szego.checkpoint(merged(kept, layer, ["default", "other"]), config), "Module + default + other")
        sides[1].merged_adapters.clear()
        sides[1].delta = lambda name: 1 // 0
        refused("an adapter that cannot be merged", lambda: szego.checkpoint(model), "default, other of",
                "layers.0.self_attn.k_proj (Lora) cannot be merged", kind=szego.LibraryError)
        refused("an adapter of prompts", lambda: szego.checkpoint(PeftModel(model, True)), "default (PROMPT_TUNING)",
                "get_base_model")


# pylint: disable=protected-access
native._forget()
counted = native._library = Counted(native.library())
check_families()
with stack, scratch() as place:
    check_storage(os.path.join(place, "llama"))
    check_refused()
    check_names()
    check_adapters()
idle = sum(map(len, native._idle.values()))
tap.ok("what is opened is closed", counted.open == idle and counted.calls > 100, f"{counted.open} {idle}")
tap.finish()
