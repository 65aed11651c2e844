"""What szego makes of every architecture of llama.cpp: tiny files by gguf-py, and numbers by NumPy.

Each file has the attention tensors that gguf-py lists for the architecture, drawn at random. Heads are right
if their singular values are those of the product of their rows, and pairing and scale are llama.cpp's.
"""
import csv
import math
import os
import subprocess
import tempfile

import gguf
import numpy as np

# In llama.cpp's src/llama-arch.cpp, and not yet in gguf-py 0.19.
NEWER = ["cohere2moe", "deepseek32", "deepseek4", "dflash", "eagle3", "gemma4-assistant", "hy_v3", "laguna", "mellum",
         "talkie"]
# llama_model_rope_type: two neighbours rotate. In all others the halves of a head do, or nothing does. GPT-J has
# no code there, and its own pairs are neighbours. DeepSeek-OCR is there, and its graph rotates halves.
NEIGHBOURS = set("""llama llada llama4 deci baichuan internlm2 minicpm xverse command-r cohere2 cohere2moe olmo
arctic deepseek deepseek2 deepseek32 plm chatglm granite granitemoe granitehybrid chameleon bailingmoe neo-bert
smollm3 arcee ernie4_5 ernie4_5-moe mistral3 mistral4 llama-embed maincoder glm-dsa glm4 gptj""".split())
TWO_KINDS = {"gemma4", "laguna", "mimo2", "step35"}  # layers that slide are a stack, and the others
COUNTED = {"afmoe", "smallthinker"}  # every fourth layer does not rotate, whatever the key says
UNROTATED = set("""kimi-linear gpt2 mpt refact bloom jamba t5 t5encoder jais nemotron_h nemotron_h_moe bert
starcoder""".split())
GATED = {"qwen3next", "qwen35", "qwen35moe"}
HEADS, KEY_HEADS, SIZE, WIDTH = 4, 2, 8, 32
RANK, TURNED, VALUE = 12, 4, 8  # of latent attention
SCALES = {"gemma3n": 1, "gemma4": 1, "t5": 1, "t5encoder": 1, "jais": 1 / SIZE, "grok": 0.08838834764831845,
          "granite": 0.25, "granitemoe": 0.25, "granitehybrid": 0.25}


class Model:
    """One file on its way, and for each stack, layer and head its queries' and keys' rows."""

    def __init__(self, path, name, random):
        self.writer, self.name, self.random, self.rows = gguf.GGUFWriter(path, name), name, random, {}
        self.layers = 32 if name == "baichuan" else 2
        arch = {text: key for key, text in gguf.MODEL_ARCH_NAMES.items()}.get(name)
        self.tensors = set(gguf.MODEL_TENSORS.get(arch, [])) if arch is not None else set()

    def has(self, kind):
        return gguf.MODEL_TENSOR[kind] in self.tensors

    def draw(self, name, *shape):
        value = self.random.normal(0, 1, shape).astype(np.float32)
        self.writer.add_tensor(name, value)
        return value.astype(np.float64)

    def ones(self, name, count):
        self.writer.add_tensor(name, np.ones(count, dtype=np.float32))

    def counts(self, layer):
        """Queries' and keys' heads of a layer; full layers of two architectures have half as many."""
        part = 2 if self.name in ("laguna", "mimo2", "step35") and layer % 2 else 1
        return HEADS if self.name == "mimo2" else HEADS // part, KEY_HEADS // part

    def keep(self, stack, layer, queries, keys):
        group = len(queries) // len(keys)
        for head in range(len(queries)):
            self.rows[stack, layer, head] = queries[head], keys[head // group]

    def separate(self, stack, layer, query, key):
        gate = 2 if self.name in GATED else 1
        heads, key_heads = self.counts(layer)
        q = self.draw(query, gate * heads * SIZE, WIDTH).reshape(heads, gate, SIZE, WIDTH)[:, 0]
        self.keep(stack, layer, q, self.draw(key, key_heads * SIZE, WIDTH).reshape(key_heads, SIZE, WIDTH))

    def fused(self, layer):
        rows = self.draw(f"blk.{layer}.attn_qkv.weight", (HEADS + 2 * KEY_HEADS) * SIZE, WIDTH)
        parts = rows.reshape(HEADS + 2 * KEY_HEADS, SIZE, WIDTH)
        self.keep("", layer, parts[:HEADS], parts[HEADS:HEADS + KEY_HEADS])

    def latent(self, layer):
        block, plain = f"blk.{layer}.", SIZE - TURNED
        if self.has("ATTN_Q_B") and self.name != "kimi-linear" or not self.tensors:
            down = self.draw(block + "attn_q_a.weight", RANK, WIDTH)
            self.ones(block + "attn_q_a_norm.weight", RANK)
            queries = self.draw(block + "attn_q_b.weight", HEADS * SIZE, RANK) @ down
        else:
            queries = self.draw(block + "attn_q.weight", HEADS * SIZE, WIDTH)
        down = self.draw(block + "attn_kv_a_mqa.weight", RANK + TURNED, WIDTH)
        self.ones(block + "attn_kv_a_norm.weight", RANK)
        if self.has("ATTN_K_B") or not self.tensors:
            up = self.draw(block + "attn_k_b.weight", HEADS, RANK, plain).transpose(0, 2, 1)
        else:
            up = self.draw(block + "attn_kv_b.weight", HEADS * (plain + VALUE), RANK).reshape(
                HEADS, plain + VALUE, RANK)[:, :plain]
        keys = [np.concatenate([rows @ down[:RANK], down[RANK:]]) for rows in up]
        self.keep("", layer, queries.reshape(HEADS, SIZE, WIDTH), keys)

    def layer(self, layer):
        self.ones(f"blk.{layer}.ffn_norm.weight", WIDTH)
        if self.has("ENC_ATTN_Q"):
            self.separate("encoder", layer, f"enc.blk.{layer}.attn_q.weight", f"enc.blk.{layer}.attn_k.weight")
        if self.has("DEC_ATTN_Q"):
            for stack, part in (("decoder", "attn"), ("cross", "cross_attn")):
                self.separate(stack, layer, f"dec.blk.{layer}.{part}_q.weight", f"dec.blk.{layer}.{part}_k.weight")
        if self.has("ENC_ATTN_Q"):
            return
        if self.name == "kimi-linear" and layer == 0:  # of linear attention
            for part in ("attn_q", "attn_k", "ssm_conv1d_q"):
                self.draw(f"blk.0.{part}.weight", SIZE, WIDTH)
            return
        if self.is_latent():
            self.latent(layer)
            return
        if self.has("ATTN_QKV") and not self.has("ATTN_Q"):
            self.fused(layer)
        else:
            stack = "" if self.name not in TWO_KINDS else "full" if layer % 2 else "sliding"
            self.separate(stack, layer, f"blk.{layer}.attn_q.weight", f"blk.{layer}.attn_k.weight")

    def is_latent(self):
        return (self.has("ATTN_KV_A_MQA") or self.name == "deepseek32") and self.name != "deepseek2-ocr"

    def keys(self):
        latent = self.is_latent()
        values = {"block_count": self.layers, "embedding_length": WIDTH, "context_length": 64,
                  "attention.head_count": HEADS, "attention.head_count_kv": HEADS if latent else KEY_HEADS,
                  "attention.key_length": SIZE, "attention.value_length": VALUE, "attention.key_length_swa": SIZE,
                  "attention.kv_lora_rank": RANK, "attention.q_lora_rank": RANK, "expert_count": 16,
                  "full_attention_interval": 1, "attention.sliding_window": 32,
                  "rope.dimension_count": TURNED if latent else SIZE, "rope.dimension_count_swa": SIZE}
        for place, key in enumerate(("attention.head_count", "attention.head_count_kv")):
            if self.name in TWO_KINDS:
                values[key] = [self.counts(layer)[place] for layer in range(self.layers)]
        if self.name == "kimi-linear":
            values["attention.head_count_kv"] = [0, 1]  # keys are compressed
            values["attention.key_length_mla"], values["attention.value_length_mla"] = SIZE, VALUE
        if self.name == "deepseek2-ocr":
            values["rope.dimension_count"] = 0  # qk_rope_head_dim of its configuration
        for key, value in values.items():
            add = self.writer.add_array if isinstance(value, list) else self.writer.add_uint32
            add(f"{self.name}.{key}", value)
        self.writer.add_float32(f"{self.name}.rope.freq_base", 1e4)
        if self.name not in COUNTED:
            self.writer.add_array(f"{self.name}.attention.sliding_window_pattern",
                                  [layer % 2 == 0 for layer in range(self.layers)])
        if self.name.startswith("granite"):
            self.writer.add_float32(f"{self.name}.attention.scale", 0.25)
        if self.name in ("mpt", "jais"):
            self.writer.add_float32(f"{self.name}.attention.max_alibi_bias", 8)

    def write(self):
        self.keys()
        for layer in range(self.layers):
            self.layer(layer)
        if self.name == "gemma4":
            self.writer.add_tensor("rope_freqs.weight", np.array([1, 1, 1e30, 1e30], dtype=np.float32))
        if self.has("POS_EMBD"):
            self.draw("position_embd.weight", 16, WIDTH)
        for step in ("write_header_to_file", "write_kv_data_to_file", "write_tensors_to_file", "close"):
            getattr(self.writer, step)()


def read(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def wrong_values(model, folder):
    """The first head whose singular values are others than NumPy's; None: all are right."""
    found, scale = {}, SCALES.get(model.name, 1 / math.sqrt(SIZE))
    for row in read(folder, "spectra.csv"):
        if row["kind"] == "singular" and row["matrix"] == "qk":
            stack = row["source"].rpartition(" (")[2].rstrip(")") if row["source"].endswith(")") else ""
            found.setdefault((stack, int(row["layer"]), int(row["head"])), []).append(float(row["re"]))
    for place, (query, key) in model.rows.items():
        want = scale * np.linalg.svd(query.T @ key, compute_uv=False)
        got = np.array(found.get(place, []) + [0] * WIDTH)[:WIDTH]
        if not np.allclose(got, want, rtol=0, atol=1e-11 * want[0]):
            return "layer %d, head %d%s" % (place[1], place[2], place[0] and f" of {place[0]}")
    return None


def wrong_property(model, folder):
    scale = SCALES.get(model.name, 1 / math.sqrt(SIZE))
    pairing = "interleaved" if model.name in NEIGHBOURS else "half"
    rows = read(folder, "architecture.csv")
    pairings = {row["value"] for row in rows if row["property"] == "pairing"}
    if pairings != (set() if model.name in UNROTATED else {pairing}):
        return f"pairing {', '.join(sorted(pairings)) or 'is missing'}"
    for row in rows:
        if row["property"] == "scale" and abs(float(row["value"]) - scale) > 1e-7 * scale:
            return f"scale {row['value']}"
    return None


def judge(szego, name, folder, random):
    """What szego makes of one architecture: a kind, and why."""
    path, out = os.path.join(folder, f"{name}.gguf"), os.path.join(folder, name)
    model = Model(path, name, random)
    model.write()
    done = subprocess.run([szego, "checkpoint", path, "--raw", "--kernel=0", "-o", out + "/"], text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = done.stderr.strip().replace(path + ": ", "").partition("\n")[0]
    said = said.replace(": singular values of every 2-D weight instead of heads", "")
    if "is not read by szego" in said:
        return "refused by name", said.partition("is not read by szego: ")[2].partition(";")[0]
    if "is not known to szego" in said and done.returncode == 0:
        return "whole weights", ""
    if done.returncode:
        return "wrong", said
    wrong = wrong_values(model, out) or wrong_property(model, out)
    return ("wrong", wrong) if wrong else ("right", "")


def count(szego):
    names = sorted(set(gguf.MODEL_ARCH_NAMES.values()) | set(NEWER))
    kinds = {"right": 0, "refused by name": 0, "whole weights": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            kind, why = judge(szego, name, folder, np.random.Generator(np.random.PCG64(len(name))))
            kinds[kind] += 1
            print(f"{name}: {kind}{why and ': ' + why}")
    print(f"gguf-oracle: {len(names)} architectures: " + ", ".join(f"{kinds[kind]} {kind}" for kind in kinds))
    print(f"gguf-oracle: {len(names) - kinds['wrong']} passed, {kinds['wrong']} failed")
    return 1 if kinds["wrong"] or not kinds["right"] else 0
