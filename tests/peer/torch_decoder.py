"""The decoder of the paper in PyTorch, in both readings, written from the table of facts about the
released code, not from szego: the independent half of test_train.py."""
import math

import torch
from torch.nn import functional

TEXT = {"mask": "causal", "mask_padding": True, "keys_values": "self", "pooling": "real",
        "final_norm": False, "activation": "relu", "added_sinusoid": "none",
        "position_table": "fixed", "extra_position_table": False, "biases": "all",
        "classes": "labels", "ignored_label": -1, "rotated_layers": "all",
        "rotary_queries": "per_head", "latent_rotation": "true"}
RELEASED = {**TEXT, "mask": "none", "mask_padding": False, "keys_values": "embedding",
            "pooling": "all", "position_table": "trained", "classes": "vocabulary",
            "ignored_label": 0, "rotary_queries": "shared", "latent_rotation": "table_halves"}
RELEASED_MLA = {**RELEASED, "mask_padding": True, "keys_values": "self", "pooling": "real",
                "final_norm": True, "activation": "gelu", "extra_position_table": True,
                "biases": "not_attention", "ignored_label": -1}


def switches(profile, encoding, options):
    """Every switch of a model; encoding is (name, {key: value})."""
    name, keys = encoding
    if profile == "text":
        chosen = dict(TEXT)
        if name == "mla":
            chosen["biases"] = "not_attention"
    elif name == "mla":
        chosen = dict(RELEASED_MLA)
    else:
        chosen = dict(RELEASED)
        if name == "rope" and "rotate" not in keys:
            chosen["added_sinusoid"] = "halves"
    chosen.update(options)
    return chosen


def frequencies(dim, base):
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def yarn_ramp(dim, base, original, fast=32, slow=1):
    """Peng et al. 2023: 0 for pairs that turn more than `fast` times in the original context, 1 for those that
    turn fewer than `slow` times, linear between."""
    def pair(turns):
        return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), dim - 1)
    high += 0.001 if low == high else 0
    return ((torch.arange(dim // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)


def scaled_frequencies(dim, keys):
    """Angles a position, and what rotated queries and keys are multiplied by."""
    base, factor, kind = float(keys.get("base", 10000)), keys.get("factor"), keys.get("scaling")
    if kind == "linear":
        return frequencies(dim, base) / factor, 1.0
    if kind == "ntk":
        return frequencies(dim, base * factor ** (dim / (dim - 2))), 1.0
    if kind == "dynamic":
        stretch = factor * max(keys["length"], keys["original"]) / keys["original"] - (factor - 1)
        return frequencies(dim, base * stretch ** (dim / (dim - 2))), 1.0
    if kind == "yarn":
        ramp, theta = yarn_ramp(dim, base, keys["original"]), frequencies(dim, base)
        return theta * (1 - ramp) + theta / factor * ramp, 0.1 * math.log(factor) + 1
    if kind == "llama3":
        theta = frequencies(dim, base)
        smooth = ((keys["original"] * theta / (2 * math.pi) - 1) / 3).clamp(0, 1)  # low 1, high 4
        return (1 - smooth) * theta / factor + smooth * theta, 1.0
    return frequencies(dim, base), 1.0


def sinusoid(length, width, interleaved, base=10000.0):
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequencies(width, base)
    if interleaved:
        return torch.stack([angle.sin(), angle.cos()], 2).reshape(length, width)
    return torch.cat([angle.sin(), angle.cos()], 1)


def parse_list(text, count):
    if text is None or text == "all":
        return set(range(count))
    found = set()
    for part in text.split("+"):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def rotate(x, theta, half, amplitude=1.0):
    """Su et al. 2021 on the first dimensions, a pair for each of theta [pairs] or [heads, 1, pairs]:
    x [..., heads, length, dim]. What turns is multiplied by YaRN's amplitude."""
    rotary, positions = 2 * theta.shape[-1], torch.arange(x.shape[-2], dtype=torch.float64)
    cos, sin = torch.cos(positions[:, None] * theta), torch.sin(positions[:, None] * theta)
    turned, rest = x[..., :rotary], x[..., rotary:]
    if half:
        first, second = turned[..., : rotary // 2], turned[..., rotary // 2 :]
        turned = torch.cat([first * cos - second * sin, first * sin + second * cos], -1)
    else:
        first, second = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack([first * cos - second * sin, first * sin + second * cos], -1).flatten(-2)
    return torch.cat([amplitude * turned, rest], -1)


def rotate_table_halves(x, length, base):
    """The released MLA: a table of two halves [sin | cos] read with stride 2, even columns as sines
    and odd ones as cosines, outputs concatenated."""
    table = sinusoid(length, x.shape[-1], False, base)
    sin, cos = table[:, 0::2], table[:, 1::2]
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


def t5_bucket(relative, buckets, most, bidirectional):
    """Raffel et al. 2020, relative = j - i."""
    result = 0
    if bidirectional:
        buckets //= 2
        result = buckets if relative > 0 else 0
        distance = abs(relative)
    else:
        distance = max(-relative, 0)
    exact = buckets // 2
    if distance < exact:
        return result + distance
    large = exact + int(math.log(distance / exact) / math.log(most / exact) * (buckets - exact))
    return result + min(large, buckets - 1)


def alibi_slopes(heads, rule):
    if rule == "exp":
        return [math.exp(-h / heads) for h in range(heads)]
    assert heads & (heads - 1) == 0
    return [2.0 ** (-8 * (h + 1) / heads) for h in range(heads)]


class Decoder:
    def __init__(self, sizes, encoding, chosen, classes, table=None):
        self.s, self.o = sizes, chosen
        self.name, self.keys = encoding
        self.classes = sizes["vocabulary"] if chosen["classes"] == "vocabulary" else classes
        self.head = sizes["width"] // sizes["heads"]
        self.rotary = self.keys.get("rope", self.head)  # mla: of the rotary part
        self.table = None if table is None else torch.tensor(table, dtype=torch.float64)
        self.p = {}
        self.unrotated = None  # (layer, head)

    # ---- Parameters: names as PyTorch would have them, shapes [out, in] ----

    def shapes(self):
        s, width = self.s, self.s["width"]
        attention_bias = self.o["biases"] == "all"
        bias = self.o["biases"] != "none"
        found = {"embedding.weight": (s["vocabulary"], width)}

        def linear(name, out, into, with_bias):
            found[name + ".weight"] = (out, into)
            if with_bias:
                found[name + ".bias"] = (out,)

        def norm(name):
            found[name + ".weight"] = found[name + ".bias"] = (width,)

        if self.name == "learned" or (self.name == "random" and
                                      self.o["position_table"] == "trained"):
            found["position_encoding.position_embeddings.weight"] = (s["max_length"], width)
        if self.o["extra_position_table"]:
            found["pos_embed"] = (s["max_length"], width)
        for layer in range(s["layers"]):
            at = f"layers.{layer}."
            norm(at + "norm1"), norm(at + "norm2")
            if self.name == "mla":
                queries = 1 if self.o["rotary_queries"] == "shared" else s["heads"]
                latent, latent_kv = s["latent_query"], s["latent_kv"]
                linear(at + "attn.W_DQ", latent, width, attention_bias)
                linear(at + "attn.W_DKV", latent_kv, width, attention_bias)
                linear(at + "attn.W_UQ", width, latent, attention_bias)
                linear(at + "attn.W_UK", width, latent_kv, attention_bias)
                linear(at + "attn.W_UV", width, latent_kv, attention_bias)
                linear(at + "attn.W_QR", queries * self.rotary, latent, attention_bias)
                linear(at + "attn.W_KR", self.rotary, width, attention_bias)
                linear(at + "attn.out_proj", width, width, attention_bias)
            else:
                for part in "qkv":
                    linear(at + part + "_linear", width, width, attention_bias)
                linear(at + "out_linear", width, width, attention_bias)
            linear(at + "ffn.0", s["hidden"], width, bias)
            linear(at + ("ffn.3" if self.name == "mla" else "ffn.2"), width, s["hidden"], bias)
            if self.name == "relative":
                found[at + "relative_bias_table"] = (2 * s["max_length"] - 1, s["heads"])
            if self.name == "t5":
                found[at + "relative_bias_table"] = (self.keys["buckets"], s["heads"])
        if self.o["final_norm"]:
            norm("ln_f")
        linear("fc_out", self.classes, width, bias)
        return found

    def linear(self, name, x):
        return functional.linear(x, self.p[name + ".weight"], self.p.get(name + ".bias"))

    def norm(self, name, x):
        return functional.layer_norm(x, (self.s["width"],), self.p[name + ".weight"],
                                     self.p[name + ".bias"], 1e-5)

    def own(self, layer, head):
        """The parameters of one head: (name, index of its rows or columns)."""
        at, rows = f"layers.{layer}.", slice(head * self.head, (head + 1) * self.head)
        found = [(at + "relative_bias_table", (slice(None), head))]
        if self.name == "mla":
            sizes = {"W_UQ": self.head, "W_UK": self.head, "W_UV": self.head, "W_QR": self.rotary}
            for name, size in sizes.items():
                if name != "W_QR" or self.o["rotary_queries"] == "per_head":
                    own = slice(head * size, (head + 1) * size)
                    found += [(f"{at}attn.{name}.weight", own), (f"{at}attn.{name}.bias", own)]
            found.append((at + "attn.out_proj.weight", (slice(None), rows)))
        else:
            for part in "qkv":
                found += [(f"{at}{part}_linear.weight", rows), (f"{at}{part}_linear.bias", rows)]
            found.append((at + "out_linear.weight", (slice(None), rows)))
        return [(name, index) for name, index in found if name in self.p]

    # ---- Positions ----

    def embed(self, tokens):
        length, width = tokens.shape[1], self.s["width"]
        x = functional.embedding(tokens, self.p["embedding.weight"])
        if self.name in ("absolute", "rope+absolute"):
            x = x + sinusoid(length, width, True)
        rows = self.p.get("position_encoding.position_embeddings.weight")
        if rows is None and self.name == "random":
            rows = self.table
        if rows is not None:
            x = x + rows[:length]
        if self.o["added_sinusoid"] != "none":
            x = x + sinusoid(length, width, self.o["added_sinusoid"] == "interleaved")
        if "pos_embed" in self.p:
            x = x + self.p["pos_embed"][:length]
        return x

    def bias(self, layer, length):
        """[heads, length, length], added to the scaled products."""
        heads = self.s["heads"]
        i, j = torch.arange(length)[:, None], torch.arange(length)[None, :]
        if self.name == "alibi":
            default = "published" if self.o["profile"] == "text" else "exp"
            slopes = torch.tensor(alibi_slopes(heads, self.keys.get("slopes", default)),
                                  dtype=torch.float64)
            return -slopes[:, None, None] * (i - j).abs()
        if self.name == "rope-bias":
            theta = frequencies(self.head, float(self.keys.get("base", 10000)))
            return self.keys.get("scale", 1.0) * torch.cos((i - j)[..., None] * theta).mean(-1)
        if self.name == "relative":
            table = self.p[f"layers.{layer}.relative_bias_table"]
            return table[j - i + self.s["max_length"] - 1].permute(2, 0, 1)
        if self.name == "t5":
            table = self.p[f"layers.{layer}.relative_bias_table"]
            buckets = torch.tensor([[t5_bucket(b - a, self.keys["buckets"],
                                               self.keys["max_distance"],
                                               self.keys.get("direction") != "causal")
                                     for b in range(length)] for a in range(length)])
            return table[buckets].permute(2, 0, 1)
        return 0.0

    def angles(self):
        """Per position, of every pair: [pairs], or [heads, 1, pairs] in bands of one RoPE over all heads."""
        rotary, heads = self.keys.get("rotary", self.head), self.s["heads"]
        base = float(self.keys.get("base", 10000))
        if "theta" in self.keys:
            return torch.full((rotary // 2,), self.keys["theta"], dtype=torch.float64)
        if self.keys.get("bands") != "heads":
            return scaled_frequencies(rotary, self.keys)[0]
        bands = frequencies(rotary * heads, base).chunk(heads)
        return torch.stack([bands[(h + self.keys.get("band_shift", 0)) % heads] for h in range(heads)])[:, None]

    def amplitude(self):
        return scaled_frequencies(self.rotary, self.keys)[1]

    def turn(self, layer, x):
        """Queries or keys [batch, heads, length, head] of one layer."""
        if self.name not in ("rope", "rope+absolute") or layer not in parse_list(
                self.o["rotated_layers"], self.s["layers"]):
            return x
        turned = rotate(x, self.angles(), self.keys.get("pairing") == "half", self.amplitude())
        heads = parse_list(self.keys.get("rotate"), self.s["heads"])
        which = torch.tensor([h in heads and (layer, h) != self.unrotated for h in range(self.s["heads"])])
        return torch.where(which[None, :, None, None], turned, x)

    # ---- Layers ----

    def split(self, x, size=None):
        """[batch, length, heads * d] to [batch, heads, length, d]; d is a head's size, or given."""
        return x.unflatten(-1, (-1, size or self.head)).transpose(1, 2)

    def masked(self, logits, lengths):
        length = logits.shape[-1]
        if self.o["mask"] == "causal":
            later = torch.ones(length, length, dtype=torch.bool).triu(1)
            logits = logits.masked_fill(later, -math.inf)
        if self.o["mask_padding"]:
            padding = torch.arange(length)[None, :] >= lengths[:, None]
            logits = logits.masked_fill(padding[:, None, None, :], -math.inf)
        return logits

    def mix(self, q, k, v, scale, bias, lengths):
        logits = self.masked(q @ k.transpose(-1, -2) * scale + bias, lengths)
        return (logits.softmax(-1) @ v).transpose(1, 2).flatten(2)

    def attend(self, layer, x, source, lengths):
        at = f"layers.{layer}."
        q = self.turn(layer, self.split(self.linear(at + "q_linear", x)))
        k = self.turn(layer, self.split(self.linear(at + "k_linear", source)))
        v = self.split(self.linear(at + "v_linear", source))
        out = self.mix(q, k, v, self.head ** -0.5, self.bias(layer, x.shape[1]), lengths)
        return self.linear(at + "out_linear", out)

    def turn_latent(self, x):
        base = float(self.keys.get("base", 10000))
        if self.o["latent_rotation"] == "table_halves":
            return rotate_table_halves(x, x.shape[-2], base)
        return rotate(x, scaled_frequencies(self.rotary, self.keys)[0], self.keys.get("pairing") == "half",
                      self.amplitude())

    def attend_latent(self, layer, x, source, lengths):
        at, heads = f"layers.{layer}.attn.", self.s["heads"]
        queries, both = self.linear(at + "W_DQ", x), self.linear(at + "W_DKV", source)
        rotary_q = self.split(self.linear(at + "W_QR", queries), self.rotary)
        rotary_k = self.split(self.linear(at + "W_KR", source), self.rotary)
        rotary_q, rotary_k = (x.expand(-1, heads, -1, -1) for x in (rotary_q, rotary_k))
        if self.o["rotated_layers"] == "all":
            which = torch.tensor([(layer, h) != self.unrotated for h in range(heads)])[:, None, None]
            rotary_q, rotary_k = (torch.where(which, self.turn_latent(x), x) for x in (rotary_q, rotary_k))
        q = torch.cat([self.split(self.linear(at + "W_UQ", queries)), rotary_q], -1)
        k = torch.cat([self.split(self.linear(at + "W_UK", both)), rotary_k], -1)
        v = self.split(self.linear(at + "W_UV", both))
        out = self.mix(q, k, v, (self.head + self.rotary) ** -0.5, 0.0, lengths)
        return self.linear(at + "out_proj", out)

    def logits(self, tokens, lengths):
        x = embedded = self.embed(tokens)
        act = functional.gelu if self.o["activation"] == "gelu" else functional.relu
        attend = self.attend_latent if self.name == "mla" else self.attend
        for layer in range(self.s["layers"]):
            at = f"layers.{layer}."
            normed = self.norm(at + "norm1", x)
            source = embedded if self.o["keys_values"] == "embedding" else normed
            x = x + attend(layer, normed, source, lengths)
            inner = act(self.linear(at + "ffn.0", self.norm(at + "norm2", x)))
            x = x + self.linear(at + ("ffn.3" if self.name == "mla" else "ffn.2"), inner)
        if self.o["final_norm"]:
            x = self.norm("ln_f", x)
        if self.o["pooling"] == "all":
            pooled = x.mean(1)
        else:
            real = torch.arange(tokens.shape[1])[None, :] < lengths[:, None]
            pooled = (x * real[..., None]).sum(1) / lengths[:, None]
        return self.linear("fc_out", pooled)

    def loss(self, logits, labels):
        return functional.cross_entropy(logits, labels, ignore_index=self.o["ignored_label"])
