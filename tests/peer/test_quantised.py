#!/usr/bin/python3
"""Packed weights: models whose weights NumPy dequantises have the same spectra, in families of every kind; damaged ones
say what is wrong, and cost one layer. usage: test_quantised.py PROGRAM ROOT"""
import csv
import json
import os
import struct
import subprocess
import sys

from peer import Tap, scratch, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM, DATA = sys.argv[1], os.path.join(os.environ["SZG_TEST_DATA"], "quantised")
SEED = int(os.environ.get("SZG_TEST_SEED", "33"), 0)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
random = np.random.default_rng(SEED)


# ---- Files: a dictionary of (type, shape, bytes) ----

def read(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(length)), file.read()
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def write(folder, config, tensors, metadata=None):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def stored(kind, array):
    return kind, array.shape, np.ascontiguousarray(array).tobytes()


def analyse(folder, *options):
    """The rows of spectra.csv, and all that the program says."""
    out = os.path.join(folder, "out")
    done = subprocess.run([PROGRAM, "checkpoint", folder, "-o", out, "--format", "csv", *options],
                          capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode not in (0, 2, 3):  # of usage, or of data: all others are faults, and a sanitizer's
        sys.exit(f"{folder}: exit {done.returncode}: {said}")
    rows = []
    if os.path.exists(os.path.join(out, "spectra.csv")):
        with open(os.path.join(out, "spectra.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        for name in os.listdir(out):
            if name.endswith(".csv") or name.endswith(".json"):
                with open(os.path.join(out, name), encoding="utf-8") as file:
                    said += file.read()
    return rows, said


# ---- Weights that NumPy packs and dequantises ----

def words(codes, bits):
    """Lines of codes as words, low bits first."""
    stream = ((codes[:, :, None] >> np.arange(bits)) & 1).reshape(len(codes), -1, 32).astype(np.uint64)
    return (stream << np.arange(32, dtype=np.uint64)).sum(2).astype(np.uint32)


def gptq(stem, rows, columns):
    group = 16
    codes, zeros = random.integers(0, 16, (columns, rows)), random.integers(0, 16, (columns // group, rows))
    scales = random.standard_normal((columns // group, rows)).astype(np.float16)
    index = random.permutation(np.arange(columns) // group).astype(np.int32)
    parts = {"qweight": stored("I32", words(codes.T, 4).T), "qzeros": stored("I32", words(zeros, 4)),
             "scales": stored("F16", scales), "g_idx": stored("I32", index)}
    weight = (scales[index].astype(float) * (codes - zeros[index])).T
    return {stem + "." + name: part for name, part in parts.items()}, weight


def mlx(stem, rows, columns):
    codes = random.integers(0, 16, (rows, columns))
    scales, biases = random.standard_normal((2, rows, columns // 32)).astype(np.float16)
    parts = {"weight": stored("U32", words(codes, 4)), "scales": stored("F16", scales), "biases": stored("F16", biases)}
    weight = codes * scales.astype(float).repeat(32, 1) + biases.astype(float).repeat(32, 1)
    return {stem + "." + name: part for name, part in parts.items()}, weight


def int8(stem, rows, columns):
    codes = random.integers(-127, 128, (rows, columns)).astype(np.int8)
    scales = np.abs(random.standard_normal(rows)).astype(np.float32)
    parts = {"weight": stored("I8", codes), "SCB": stored("F32", scales)}
    return {stem + "." + name: part for name, part in parts.items()}, codes * (scales.astype(float) / 127)[:, None]


METHODS = {"gptq": (gptq, {"quantization_config": {"quant_method": "gptq", "bits": 4, "checkpoint_format": "gptq_v2",
                                                   "desc_act": True}}),
           "mlx": (mlx, {"quantization": {"bits": 4, "group_size": 32}}),
           "int8": (int8, {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}})}
# Names and sizes of the weights of one layer.
FAMILIES = {
    "llama": ({"num_key_value_heads": 1, "hidden_size": 64, "num_attention_heads": 2, "head_dim": 32},
              {"self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64)}),
    "phi3": ({"num_key_value_heads": 2, "hidden_size": 64, "num_attention_heads": 2, "original_max_position_embeddings": 64,
              "max_position_embeddings": 64, "rms_norm_eps": 1e-5}, {"self_attn.qkv_proj": (192, 64)}),
    "deepseek_v3": ({"num_key_value_heads": 2, "hidden_size": 64, "num_attention_heads": 2, "q_lora_rank": 32,
                     "kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 16, "v_head_dim": 16},
                    {"self_attn.q_a_proj": (32, 64), "self_attn.q_b_proj": (64, 32),
                     "self_attn.kv_a_proj_with_mqa": (48, 64), "self_attn.kv_b_proj": (64, 32)}),
}
LATENT = {"self_attn.q_a_layernorm.weight": 32, "self_attn.kv_a_layernorm.weight": 32}

def become_adapter(folder):
    for old, new in (("config.json", "adapter_config.json"), ("model.safetensors", "adapter_model.safetensors")):
        os.rename(os.path.join(folder, old), os.path.join(folder, new))


def adapter(folder, weight):
    """Writes one over queries, and gives what it makes of their weight."""
    up, down = (random.standard_normal(shape).astype(np.float32) for shape in ((len(weight), 4), (4, weight.shape[1])))
    begin = "base_model.model.model.layers.0.self_attn.q_proj."
    write(folder, {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]},
          {begin + "lora_A.weight": stored("F32", down), begin + "lora_B.weight": stored("F32", up)})
    become_adapter(folder)
    return weight + 2 * up.astype(float) @ down.astype(float)


def replacement(folder, weight):
    """The same, with a whole weight in place of the model's (modules_to_save)."""
    weight = random.standard_normal(weight.shape)
    write(folder, {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "modules_to_save": ["q_proj"]},
          {"base_model.model.model.layers.0.self_attn.q_proj.weight": stored("F64", weight)})
    become_adapter(folder)
    return weight


for method, (pack, settings), change in [(method, packing, change) for method, packing in METHODS.items()
                                         for change in (adapter, replacement)]:  # QLoRA: the adapter is added to what the codes say
    sizes, weights = FAMILIES["llama"]
    shared = {"model_type": "llama", "num_hidden_layers": 1, "rope_theta": 10000.0} | sizes
    packed, whole = {}, {}
    for name, shape in weights.items():
        parts, whole[name] = pack("model.layers.0." + name, *shape)
        packed |= parts
    with scratch() as folder, scratch() as over:
        whole["self_attn.q_proj"] = change(over, whole["self_attn.q_proj"])
        write(folder, shared | settings, packed)
        got, said = analyse(folder, "--adapter", over)
    with scratch() as folder:
        write(folder, shared, {f"model.layers.0.{name}.weight": stored("F64", weight) for name, weight in whole.items()})
        want, _ = analyse(folder)
    keys, values = (lambda row: (row["layer"], row["head"], row["matrix"])), []
    for rows in (got, want):
        values.append(np.array([float(row["re"]) for row in rows]))
    tap.ok(f"{change.__name__} over {method}: {len(want)} values",
           len(want) > 32 and [keys(row) for row in got] == [keys(row) for row in want]
           and np.abs(values[0] - values[1]).max() <= 1e-12 * np.abs(values[1]).max(), "" if got else said)

for family, (sizes, weights) in FAMILIES.items():
    for method, (pack, settings) in METHODS.items():
        packed, whole = {}, {}
        for name, shape in weights.items():
            parts, weight = pack("model.layers.0." + name, *shape)
            packed |= parts
            whole["model.layers.0." + name + ".weight"] = stored("F64", weight)
        for name, size in LATENT.items() if family == "deepseek_v3" else ():
            gain = stored("F32", 1 + random.standard_normal(size).astype(np.float32))
            packed["model.layers.0." + name] = whole["model.layers.0." + name] = gain
        shared = {"model_type": family, "num_hidden_layers": 1, "rope_theta": 10000.0} | sizes
        with scratch() as folder:
            write(folder, shared | settings, packed)
            got, said = analyse(folder)
        with scratch() as folder:
            write(folder, shared, whole)
            want, _ = analyse(folder)
        values = [[(row["layer"], row["head"], row["matrix"], row["re"], row["im"]) for row in rows] for rows in (got, want)]
        # The same doubles, of which the same is computed.
        tap.ok(f"{family} by {method}: {len(want)} values", len(want) > 32 and values[0] == values[1], "" if want else said)


# ---- Damage: layer 0 is bad and says why, layer 1 is kept ----

Q = "model.layers.0.self_attn.q_proj."


def without(name):
    return lambda tensors, config: tensors.pop(Q + name)


def narrower(name):
    """Without its last column, or element."""
    def change(tensors, config):
        kind, shape, content = tensors[Q + name]
        width = len(content) // int(np.prod(shape))
        kept = np.frombuffer(content, np.uint8).reshape(*shape, width)[..., :-1, :]
        tensors[Q + name] = (kind, kept.shape[:-1], kept.tobytes())
    return change


def bytes_of(name, place, content):
    def change(tensors, config):
        kind, shape, old = tensors[Q + name]
        tensors[Q + name] = (kind, shape, old[:place] + content + old[place + len(content):])
    return change


def retyped(name, kind):
    def change(tensors, config):
        tensors[Q + name] = (kind, *tensors[Q + name][1:])
    return change


def setting(*path, value):
    def change(tensors, config):
        for key in path[:-1]:
            config = config[key]
        if value is None:
            config.pop(path[-1])
        else:
            config[path[-1]] = value
    return change


def beside(tensors, config):
    tensors[Q + "weight"] = ("F32", [32, 64], bytes(8192))


# How many layers a damage costs; 0: one head.
KEPT = [{"0", "1"}, {"1"}, set()]
QC = "quantization_config"
NAN16, NAN32 = b"\x00\x7e", b"\x00\x00\xc0\x7f"
def reshaped(name, *shape):
    def change(tensors, config):
        tensors[Q + name] = (tensors[Q + name][0], shape, tensors[Q + name][2] if np.prod(shape) else b"")
    return change


DAMAGES = [
    ("int8", reshaped("weight", 32, 0), 1, "it has shape [32, 0], and that of a matrix is needed"),
    ("mlx4", reshaped("weight", 256), 1, "it has shape [256], and that of a matrix is needed"),
    ("gptq4", without("scales"), 1, "q_proj.scales is missing: fetch the checkpoint again"),
    ("gptq4", without("qzeros"), 1, "q_proj.qzeros is missing"),
    ("gptq4", without("g_idx"), 1, "q_proj.g_idx is missing, and quantization_config.desc_act is true"),
    ("gptq4", narrower("scales"), 1, "q_proj.scales has shape [4, 31], and [4, 32] goes with"),
    ("gptq4", narrower("g_idx"), 1, "q_proj.g_idx has shape [63], and [64] goes with"),
    ("gptq4", narrower("qzeros"), 1, "make codes of 3 bits, and quantization_config.bits is 4"),
    ("gptq4", retyped("scales", "I16"), 1, "q_proj.scales has type I16, and F32, F16 or BF16 is needed"),
    ("gptq4", bytes_of("g_idx", 4 * 5, struct.pack("<i", 4)), 1, "g_idx: column 5 is of group 4, and", "has 4 groups"),
    ("gptq4", bytes_of("g_idx", 4 * 5, struct.pack("<i", -1)), 1, "g_idx: column 5 is of group -1"),
    ("gptq4", bytes_of("scales", 2 * 33, NAN16), 1, "q_proj.scales: the weight at [1, 1] is NaN"),
    ("gptq4", bytes_of("qzeros", 0, b"\xff"), 0, "q_proj.qzeros: the zero of row 0, group 0 is stored as 15", "as 16 or as 0"),
    ("gptq4", setting(QC, "checkpoint_format", value=None), 2, "--set quantization_config.checkpoint_format=gptq"),
    ("gptq4", setting(QC, "checkpoint_format", value="marlin"), 2, "its format marlin"),
    ("gptq4", setting(QC, "quant_method", value=None), 2, "--set quantization_config.quant_method=gptq says so, or awq"),
    ("gptq4", setting(QC, "bits", value=8), 2, "codes of 4 bits, and quantization_config.bits is 8"),
    ("gptq4", beside, 1, "codes of the same weight are in the file too"),
    ("awq", without("qzeros"), 1, "q_proj.qzeros is missing"),
    ("awq", setting(QC, "version", value="gemv"), 2, "its order gemv (quantization_config.version)"),
    ("awq", setting(QC, "bits", value=8), 2, "codes of 8 bits (quantization_config.bits)"),
    ("awq", bytes_of("scales", 0, b"\x00\x7c"), 1, "q_proj.scales: the weight at [0, 0] is infinity"),
    ("nf4_nested", without("weight.nested_absmax"), 1, "q_proj.weight.nested_absmax is missing"),
    ("nf4_nested", bytes_of("weight.nested_absmax", 0, NAN32), 1, "nested_absmax: the weight at [0] is NaN"),
    ("nf4_nested", without("weight.quant_state.bitsandbytes__nf4"), 1, "quant_state.bitsandbytes__nf4 or fp4 is missing"),
    ("nf4_nested", bytes_of("weight.quant_state.bitsandbytes__nf4", 0, b"["), 1, "its state "),
    ("nf4", narrower("weight.absmax"), 1, "q_proj.weight.absmax has shape [31], and [32] goes with"),
    ("nf4", bytes_of("weight.quant_map", 8, NAN32), 1, "quant_map: the weight at [2] is NaN"),
    ("int8", narrower("SCB"), 1, "q_proj.SCB has shape [31], and [32] goes with"),
    ("int8", bytes_of("weight_format", 0, b"\x02"), 1, "its order is that of a processor (weight_format 2)"),
    ("int8", bytes_of("SCB", 4, NAN32), 1, "q_proj.SCB: the weight at [1] is NaN"),
    ("words4", without("weight_shape"), 1, "q_proj.weight_shape is missing"),
    ("words4", bytes_of("weight_shape", 8, struct.pack("<q", 1 << 40)), 1, "which does not go with its shape"),
    ("words4", setting(QC, "quant_method", value=None), 2, "--set quantization_config.quant_method=compressed-tensors"),
    ("words4", setting(QC, "config_groups", "group_0", "weights", "group_size", value=24), 2, "makes as many"),
    ("words4", setting(QC, "config_groups", "group_0", "weights", "num_bits", value=2), 2, "num_bits makes as many"),
    ("words4_zeros", narrower("weight_zero_point"), 1, "weight_zero_point has shape [4, 3], and [4, 4] goes with"),
    ("bytes8", narrower("weight_scale"), 1, "q_proj.weight_scale has shape [32, 0]"),
    ("float8_channel", setting(QC, "quant_method", value="quanto"), 2, "quantised by quanto"),
    ("float8_channel", setting(QC, value=None), 2, "--set quantization_config.quant_method=compressed-tensors"),
    ("float8_block", setting(QC, "config_groups", value={}), 2, "weight_block_size is missing"),
    ("float8_tensor", bytes_of("weight_scale", 0, NAN32), 1, "q_proj.weight_scale: the weight at [0] is NaN"),
    ("mlx4", setting("quantization", "bits", value=None), 2, "--set quantization.bits=4 gives it"),
    ("mlx4", setting("quantization", "bits", value=7), 2, "codes of 7 bits (quantization.bits)"),
    ("mlx4", setting("quantization", "group_size", value=48), 2, "are no groups of 48 codes of 4 bits"),
    ("mlx4", setting("quantization", "mode", value="nvfp4"), 2, "its mode nvfp4", "mlx_lm.convert"),
    ("mlx4", setting("quantization", Q[:-1], value={"bits": 2, "group_size": 64}), 1, "scales has shape [32, 1], and [32, 2]"),
    ("mlx4", without("biases"), 1, "q_proj.biases is missing"),
    ("mxfp4", narrower("weight_scales"), 1, "weight_scales is missing, or is no U8"),
    ("mxfp4", bytes_of("weight_scales", 0, b"\xff"), 1, "weight_scales: the weight at [0, 0] is NaN"),
]

for kind, change, bad, *sentences in DAMAGES:
    with open(os.path.join(DATA, kind, "config.json"), encoding="utf-8") as file:
        config = json.load(file) | {"num_hidden_layers": 2}
    tensors = read(os.path.join(DATA, kind, "model.safetensors"))
    tensors |= {name.replace("layers.0", "layers.1"): tensor for name, tensor in tensors.items()}
    change(tensors, config)
    with scratch() as folder:
        write(folder, config, tensors)
        rows, said = analyse(folder)
    said = said.replace('""', '"')
    layers = {row["layer"] for row in rows}
    missing = [words for words in sentences if words not in said]
    tap.ok(f"{kind}: {sentences[0][:60]}", not missing and layers == KEPT[bad],
           f"{missing} not in {said[:1500]} {layers}" if missing else f"layers {sorted(layers)}")

# What the messages ask for helps.
for kind, change, option in [("gptq4", setting(QC, "checkpoint_format", value=None), QC + ".checkpoint_format=gptq"),
                             ("gptq4", setting(QC, "quant_method", value=None), QC + ".quant_method=gptq"),
                             ("float8_channel", setting(QC, value=None), QC + ".quant_method=compressed-tensors"),
                             ("mlx4", setting("quantization", "bits", value=None), "quantization.bits=4")]:
    with open(os.path.join(DATA, kind, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    tensors = read(os.path.join(DATA, kind, "model.safetensors"))
    change(tensors, config)
    with scratch() as folder:
        write(folder, config, tensors)
        rows, said = analyse(folder, "--set", option)
    tap.ok(f"{kind} with --set {option}", len(rows) > 0, "" if rows else said[:600])

# A file of szego.hub without the codes; and what the tensors of a whole one are for.
tensors = read(os.path.join(DATA, "nf4_nested", "model.safetensors"))
with open(os.path.join(DATA, "nf4_nested", "config.json"), encoding="utf-8") as file:
    config = json.load(file)
with scratch() as folder:
    write(folder, config, tensors)
    analyse(folder)
    with open(os.path.join(folder, "out", "tensors.csv"), encoding="utf-8") as file:
        used = {row["tensor"]: row["used"] for row in csv.DictReader(line for line in file if not line.startswith("#"))}
tap.ok("scales are used", used[Q + "weight"] == "query" and {used[Q + "weight." + part] for part in
       ("absmax", "nested_absmax", "nested_quant_map")} == {"scale"}, str(used))
kind, shape, content = tensors.pop(Q + "weight")
entry = {Q + "weight": {"dtype": kind, "shape": list(shape), "data_offsets": [0, len(content)]}}
with scratch() as folder:
    write(folder, config, tensors, {"szego.left_out": json.dumps(entry)})
    rows, said = analyse(folder)
tap.ok("codes that were not fetched", not rows and "hf download ORG/NAME" in said, said[:500])
tap.finish()
