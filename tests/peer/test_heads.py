#!/usr/bin/python3
"""The tables `heads` and `kernel` of szego checkpoint against NumPy, which sums over every lag or pair of positions.
usage: test_heads.py PROGRAM [SEED]"""
import csv
import os
import subprocess
import sys

import head_models
from head_models import analyse, analyse_all, number
from peer import Tap, scratch, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 29
MULTIPLIER = float(os.environ.get("SZG_TEST_MULTIPLIER", "1"))
tap = Tap()
print(f"# seed {SEED}")
random = np.random.default_rng(SEED)


class Model:
    """One layer of random weights: HEADS query heads and GROUPS key heads of SIZE dimensions, WIDTH wide."""

    def __init__(self, kind, length=96, size=12, width=40, heads=4, groups=2, turning=None, base=50.0, **config):
        self.length, self.size, self.width, self.heads, self.groups = length, size, width, heads, groups
        self.turning, self.base = turning or size, base
        self.both, self.normed = kind == "eurobert", kind == "qwen3"
        self.centred = kind in ("starcoder2", "stablelm")
        self.config = {"model_type": kind, "hidden_size": width, "num_attention_heads": heads,
                       "num_key_value_heads": groups, "num_hidden_layers": 1, "rope_theta": base, "head_dim": size,
                       "max_position_embeddings": length} | config
        self.window = config.get("sliding_window") or length
        self.q, self.k = (random.standard_normal((n * size, width)) for n in (heads, groups))
        self.gain = 1 + 0.3 * random.standard_normal(width)
        self.shift = 0.2 * random.standard_normal(width) if self.centred else np.zeros(width)
        biased = self.centred
        self.q_bias = random.standard_normal(heads * size) if biased else np.zeros(heads * size)
        self.k_bias = random.standard_normal(groups * size) if biased else np.zeros(groups * size)
        self.q_gain = 1 + 0.3 * random.standard_normal(size) if self.normed else None
        self.k_gain = 1 + 0.3 * random.standard_normal(size) if self.normed else None
        if self.normed:
            self.k_gain[0] = 0  # as trained models have it: rows with gains have lost this one
        self.embeddings = None

    def tensors(self):
        layer = "model.layers.0."
        found = {"self_attn.q_proj.weight": self.q, "self_attn.k_proj.weight": self.k, "input_layernorm.weight": self.gain}
        if self.centred:
            found |= {"input_layernorm.bias": self.shift, "self_attn.q_proj.bias": self.q_bias,
                      "self_attn.k_proj.bias": self.k_bias}
        if self.normed:
            found |= {"self_attn.q_norm.weight": self.q_gain, "self_attn.k_norm.weight": self.k_gain}
        named = {layer + name: value for name, value in found.items()}
        return named | ({} if self.embeddings is None else {"model.embed_tokens.weight": self.embeddings})

    # ---- What a head is made of ----

    def sides(self, head):
        """A, B, beta_Q, beta_K before a norm of queries or keys; the scale is in A and beta_Q unless there is one."""
        e, key = self.size, head // (self.heads // self.groups)
        q, k = self.q[head * e:(head + 1) * e], self.k[key * e:(key + 1) * e]
        scale = 1 if self.normed else e**-0.5
        beta_q = scale * (q @ self.shift + self.q_bias[head * e:(head + 1) * e])
        beta_k = k @ self.shift + self.k_bias[key * e:(key + 1) * e]
        a, b = scale * q * self.gain, k * self.gain
        if self.centred:
            a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
        return a, b, beta_q, beta_k

    def rotations(self):
        """R_k of every lag, and the weights of the lags."""
        n = min(self.length, self.window)
        lags = np.arange(1 - n, n) if self.both else np.arange(n)
        weight = 1 / (1 + np.abs(lags))
        half = self.turning // 2
        angle = np.outer(lags, self.base ** (-2 * np.arange(half) / self.turning))
        r = np.zeros((len(lags), self.size, self.size))
        r[:, np.arange(self.turning, self.size), np.arange(self.turning, self.size)] = 1
        first, second = np.arange(half), np.arange(half, 2 * half)
        r[:, first, first] = r[:, second, second] = np.cos(angle)
        r[:, first, second], r[:, second, first] = np.sin(angle), -np.sin(angle)
        return lags, weight / weight.sum(), r

    def isotropic(self, count):
        x = random.standard_normal((count, self.width))
        return x * np.sqrt(self.width) / np.linalg.norm(x, axis=1, keepdims=True)


def variance(weight, kernel):
    return float(weight @ (kernel - weight @ kernel) ** 2)


def noise_of(r, weight, gram_q, gram_k, mean_q, mean_k, turning):
    """sum_k w_k v(k), from dense rotations."""
    turned = mean_k.copy()
    turned[turning:] = 0
    v = [np.sum(gram_q * (m @ (gram_k + np.outer(turned, turned)) @ m.T)) + mean_q @ m @ gram_k @ m.T @ mean_q
         for m in r]
    return float(weight @ v)


def check_numbers(label, row, want, bound):
    head_models.check_numbers(tap, label, row, want, bound)


# ---- Closed forms ----

def check_closed(label, model):
    lags, weight, r = model.rotations()
    f = model.width / (model.width - 1) if model.centred else 1
    for row in analyse(model):
        a, b, beta_q, beta_k = model.sides(int(row["head"]))
        self_kernel = np.array([f * np.trace(a.T @ m @ b) + beta_q @ m @ beta_k for m in r])
        mean_kernel = np.array([beta_q @ m @ beta_k for m in r])
        noise = noise_of(r, weight, f * a @ a.T, f * b @ b.T, beta_q, beta_k, model.turning)
        own, mean = variance(weight, self_kernel), variance(weight, mean_kernel)
        want = {"lag_max": min(model.length, model.window) - 1, "lag_min": lags[0], "self_share": own / (own + noise),
                "self_noise": noise**0.5, "self_min": self_kernel.min(), "self_max": self_kernel.max()}
        if model.centred:
            want |= {"mean_share": mean / (mean + noise), "mean_noise": noise**0.5, "mean_min": mean_kernel.min(),
                     "mean_max": mean_kernel.max()}
        check_numbers(f"{label}, head {row['head']}", row, want, 1e-12)
        tap.ok(f"{label}, head {row['head']}: the largest value's lag", int(row["self_peak"]) == lags[self_kernel.argmax()],
               row["self_peak"])
        tap.ok(f"{label}, head {row['head']}: a mean token is known where biases are",
               (row["mean_share"] != "") == model.centred, row["mean_share"])


check_closed("RMS norm", Model("llama"))
check_closed("RMS norm, both signs", Model("eurobert"))
check_closed("LayerNorm, biases", Model("starcoder2"))
check_closed("LayerNorm, half of the head turns", Model("stablelm", turning=6, partial_rotary_factor=0.5,
                                                        use_qkv_bias=True, qk_layernorm=False))
check_closed("a window", Model("mistral", sliding_window=17))
check_closed("one position", Model("llama", length=1))

# ---- A norm of queries and keys: many tokens ----


def check_normed():
    model, tokens = Model("qwen3"), 400000
    _, weight, r = model.rotations()
    x = model.isotropic(tokens)
    for row in analyse(model):
        a, b, _, _ = model.sides(int(row["head"]))
        q, k = x @ a.T, x @ b.T
        q *= model.q_gain / np.sqrt((q**2).mean(1, keepdims=True)) * model.size**-0.5
        k *= model.k_gain / np.sqrt((k**2).mean(1, keepdims=True))
        cross, zero = k.T @ q / tokens, np.zeros(model.size)
        kernel = np.array([np.sum(m.T * cross) for m in r])
        noise = noise_of(r, weight, q.T @ q / tokens, k.T @ k / tokens, zero, zero, model.turning)
        own = variance(weight, kernel)
        # 1,024 tokens of the program: a deviation of about 1 / 32 of the correction, which is 0.2 here at most.
        check_numbers(f"q and k norms, head {row['head']}", row,
                      {"self_share": own / (own + noise), "self_noise": noise**0.5}, 0.03)


check_normed()

# ---- Layer 0: the vocabulary ----


def check_vocabulary(exponent):
    model = Model("llama")
    direction = random.standard_normal(model.width)
    model.embeddings = random.standard_normal((300, model.width)) + direction
    _, weight, r = model.rotations()
    z = model.embeddings / np.sqrt((model.embeddings**2).mean(1, keepdims=True))
    mean, covariance = z.mean(0), np.cov(z.T, bias=True)
    model.embeddings = np.ldexp(model.embeddings, exponent)
    for row in analyse(model):
        a, b, _, _ = model.sides(int(row["head"]))
        kernel = np.array([a @ mean @ m @ b @ mean for m in r])
        noise = noise_of(r, weight, a @ covariance @ a.T, b @ covariance @ b.T, a @ mean, b @ mean, model.turning)
        own = variance(weight, kernel)
        check_numbers(f"vocabulary times 2^{exponent}, head {row['head']}", row, {"mean_share": own / (own + noise)}, 1e-12)


for power in (0, -700, 700):
    check_vocabulary(power)

# ---- Chance ----


def with_vocabulary(model):
    model.embeddings = random.standard_normal((60, model.width)) + random.standard_normal(model.width)
    return model


#: Models in which W_Q and W_K are independent. Behind each, the kernels that have draws.
RANDOM_MODELS = (
    ("llama", lambda: Model("llama", heads=8, groups=8, size=8, width=16, length=24), ("self",)),
    ("grouped heads", lambda: Model("llama", heads=8, groups=2, size=16, width=48, length=256, base=1e4), ("self",)),
    ("biases", lambda: Model("starcoder2", heads=6, groups=3, size=8, width=32, length=33), ("self",)),
    ("half of a head turns", lambda: Model("stablelm", heads=4, groups=4, size=12, width=24, length=48, turning=6,
                                           partial_rotary_factor=0.5, use_qkv_bias=True, qk_layernorm=False), ("self",)),
    ("q and k norms", lambda: Model("qwen3", heads=4, groups=2, size=8, width=64, length=64), ("self",)),
    ("both signs", lambda: Model("eurobert", heads=4, groups=4, size=16, width=300, length=40), ("self",)),
    ("known tokens", lambda: with_vocabulary(Model("llama", heads=8, groups=4, size=8, width=32, length=64)),
     ("mean", "self")),
    ("added positions", lambda: Plain("gpt2", heads=6, size=6, width=36, length=32), ("mean",)))


def check_level():
    """The draws leave p uniform on its 1,000 values, so that about 5% of the heads have p <= 0.05. Heads of a model
    share its signs, and some their keys."""
    models = max(len(RANDOM_MODELS), int(48 * MULTIPLIER))
    low, heads = ({kernel: np.zeros(models) for kernel in ("mean", "self")} for _ in range(2))
    shapes = True
    for index in range(models):
        _, make, kernels = RANDOM_MODELS[index % len(RANDOM_MODELS)]
        model = make()
        for row in analyse(model, "--kernel", "0"):
            for kernel in kernels:
                if row[kernel + "_p"]:
                    exceeds = number(row, kernel + "_p") <= 0.05
                    heads[kernel][index] += 1
                    low[kernel][index] += exceeds
                    shapes &= exceeds or row[kernel + "_shape"] == "flat" or model.centred
    tap.ok("heads within chance are flat where no bias has a part", shapes)
    for kernel, count in heads.items():
        rate = low[kernel].sum() / count.sum()
        # Three errors of a binomial number, twice the variance since heads of a model depend on each other.
        slack = 3 * np.sqrt(2 * 0.05 * 0.95 / count.sum()) if models < 1000 else 0
        tap.ok(f"{kernel}: 3% to 6% of random heads exceed chance at 5%", 0.03 - slack <= rate <= 0.06 + slack,
               f"{low[kernel].sum():.0f} of {count.sum():.0f} heads, {100 * rate:.2f}%, in {np.sum(count > 0)} models")


# ---- Planted heads ----


def plant(values):
    """A llama's head whose self kernel is proportional to the real part of sum_t values[t] e^{i k theta_t}."""
    model = Model("llama", heads=1, groups=1, size=32, width=64, length=256, base=1e4)
    model.gain[:] = 1
    half = model.size // 2
    basis = np.linalg.qr(random.standard_normal((model.width, model.size)))[0].T
    block = np.zeros((model.size, model.size))
    at = np.arange(half)
    block[at, at] = block[at + half, at + half] = np.real(values)
    block[at, at + half], block[at + half, at] = -np.imag(values), np.imag(values)
    model.k, model.q = basis, block @ basis + 0.02 * random.standard_normal((model.size, model.width))
    return analyse(model)[0]


theta = 1e4 ** (-np.arange(16) / 16)
at_lag_one = plant(np.where(np.arange(16) < 10, np.exp(-1j * theta), 0))
tap.ok("the previous token: peaked at lag 1", (at_lag_one["self_shape"], at_lag_one["self_peak"]) == ("peaked", "1"),
       f"{at_lag_one['self_shape']} {at_lag_one['self_peak']}")
falling = plant(np.ones(16))
tap.ok("the nearest tokens: decaying from lag 0", (falling["self_shape"], falling["self_peak"]) == ("decaying", "0"),
       f"{falling['self_shape']} {falling['self_peak']}")
one = np.zeros(16)
one[3] = 1
wave = plant(one)
tap.ok("one pair: periodic", (wave["self_shape"], wave["self_carrier"]) == ("periodic", "3"), f"{wave['self_shape']} {wave['self_carrier']}")
tap.close("its wavelength", number(wave, "self_wavelength"), 2 * np.pi / theta[3], 1e-12)
far = plant(-np.ones(16))
tap.ok("a kernel that grows with the lag: no peak nearby", far["self_shape"] in ("rising", "peaked") and int(far["self_peak"]) > 100,
       f"{far['self_shape']} {far['self_peak']}")
for label, row in (("previous token", at_lag_one), ("decaying", falling), ("periodic", wave)):
    tap.ok(f"{label}: more than chance", number(row, "self_p") == 0.001, row["self_p"])


def plant_all():
    """One layer. Heads 0 and 1: the mean query and the mean key make lag 1 and a wave. Heads 2 and 3: traces make the same,
    from rows that do not see the mean token. Heads 4 and 5: nothing, with large and small logits."""
    model = Model("llama", heads=6, groups=6, size=32, width=256, length=256, base=1e4)
    model.gain[:] = 1
    mean = random.standard_normal(model.width)
    mean /= np.linalg.norm(mean)
    model.embeddings = 0.3 * random.standard_normal((400, model.width)) + 3 * mean
    half = model.size // 2
    lag_one, wave = np.where(np.arange(half) < 10, np.exp(-1j * theta), 0), 3 * one + 0j

    def rows(scale):
        drawn = scale * random.standard_normal((model.size, model.width)) / np.sqrt(model.width)
        return drawn - np.outer(drawn @ mean, mean)

    def plant_pair(head, q, k):
        at = slice(head * model.size, (head + 1) * model.size)
        model.q[at], model.k[at] = q, k
    for head, values in enumerate((lag_one, wave)):
        query = np.concatenate([values.real, values.imag]) / 4
        key = np.concatenate([values != 0, np.zeros(half)]) / 4
        plant_pair(head, rows(0.5) + np.outer(query, mean), rows(0.5) + np.outer(key, mean))
    for head, values in ((2, lag_one), (3, wave)):
        key = np.linalg.qr(rows(1).T)[0].T
        block = np.block([[np.diag(values.real), -np.diag(values.imag)], [np.diag(values.imag), np.diag(values.real)]])
        plant_pair(head, block @ key + 0.1 * rows(1), key)
    plant_pair(4, rows(3), rows(3))
    plant_pair(5, rows(1), rows(1))
    return analyse(model)


PLANTED = plant_all()
for kernel, heads, others in (("mean", (0, 1), (2, 3, 4, 5)), ("self", (2, 3), (0, 1, 4, 5))):
    ranked = sorted(range(6), key=lambda head: -number(PLANTED[head], kernel + "_share"))
    tap.ok(f"planted in the {kernel} kernel: first in its order", set(ranked[:2]) == set(heads), str(ranked))
    previous, waves = (PLANTED[head] for head in heads)
    tap.ok(f"planted in the {kernel} kernel: what stands out, and nothing else",
           [row["stands_out"] == kernel for row in PLANTED] == [head in heads for head in range(6)],
           str([row["stands_out"] for row in PLANTED]))
    tap.ok(f"planted in the {kernel} kernel: the previous token", (previous[kernel + "_shape"], previous[kernel + "_peak"]) ==
           ("peaked", "1"), f"{previous[kernel + '_shape']} {previous[kernel + '_peak']}")
    tap.ok(f"planted in the {kernel} kernel: a wave", (waves[kernel + "_shape"], waves[kernel + "_carrier"]) ==
           ("periodic", "3"), f"{waves[kernel + '_shape']} {waves[kernel + '_carrier']}")
    tap.ok(f"planted in the {kernel} kernel: the others have less than a tenth",
           all(number(PLANTED[head], kernel + "_share") < 0.1 for head in others),
           str([round(number(row, kernel + "_share"), 4) for row in PLANTED]))

# ---- Positions that are added to embeddings, and biases by the lag ----


class Plain:
    """Two layers of HEADS heads that do not rotate, with all biases that the family has."""

    def __init__(self, kind, heads=3, size=6, width=20, length=24, tokens=50, **config):
        self.kind, self.heads, self.size, self.width, self.length = kind, heads, size, width, length
        self.both = kind in ("bert", "mpnet", "t5")
        self.centred = kind != "t5"
        self.scale = 1 if kind == "t5" else size**-0.5
        biased = kind not in ("t5", "mpt")
        draw = random.standard_normal
        inner = heads * size
        self.q, self.k = draw((2, inner, width)), draw((2, inner, width))
        self.q_bias, self.k_bias = biased * draw((2, inner)), biased * draw((2, inner))
        self.gain, self.shift = 1 + 0.3 * draw((2, width)), biased * 0.3 * draw((2, width))
        self.embeddings = draw((tokens, width))
        self.positions = 0.8 * np.cumsum(draw((length, width)), 0) / 3  # neighbours are alike
        self.types = draw((2, width)) if kind == "bert" else np.zeros((2, width))
        self.table = 20 * draw((8, heads))
        sizes = {"bert": {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": 2},
                 "gpt2": {"n_embd": width, "n_head": heads, "n_layer": 2},
                 "bloom": {"n_embed": width, "n_head": heads, "n_layer": 2, "seq_length": length},
                 "mpt": {"d_model": width, "n_heads": heads, "n_layers": 2, "max_seq_len": length,
                         "attn_config": {"alibi": True}},
                 "t5": {"d_model": width, "num_heads": heads, "d_kv": size, "num_layers": 2, "num_decoder_layers": 2,
                        "n_positions": length, "relative_attention_max_distance": 12},
                 "mpnet": {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": 2,
                           "max_position_embeddings": length + 2, "relative_attention_max_distance": 12}}
        self.config = {"model_type": kind} | sizes[kind] | config

    def tensors(self):
        return {"bert": self.bert, "mpnet": self.bert, "gpt2": self.gpt2, "bloom": self.bloom, "mpt": self.mpt,
                "t5": self.t5}[self.kind]()

    def bert(self):
        mpnet = self.kind == "mpnet"
        place = "attention.attn." if mpnet else "attention.self."
        query, key = ("q", "k") if mpnet else ("query", "key")
        found = {"embeddings.word_embeddings.weight": self.embeddings, "embeddings.LayerNorm.weight": self.gain[0],
                 "embeddings.LayerNorm.bias": self.shift[0], "encoder.layer.0.output.LayerNorm.weight": self.gain[1],
                 "encoder.layer.0.output.LayerNorm.bias": self.shift[1]}
        rows = np.zeros((2, self.width)) if mpnet else np.zeros((0, self.width))
        found["embeddings.position_embeddings.weight"] = np.concatenate([rows, self.positions])
        found |= {"encoder.relative_attention_bias.weight": self.table} if mpnet else {
            "embeddings.token_type_embeddings.weight": self.types}
        for i in range(2):
            name = f"encoder.layer.{i}.{place}"
            found |= {f"{name}{query}.weight": self.q[i], f"{name}{key}.weight": self.k[i],
                      f"{name}{query}.bias": self.q_bias[i], f"{name}{key}.bias": self.k_bias[i]}
        return found

    def gpt2(self):
        found = {"wte.weight": self.embeddings, "wpe.weight": self.positions}
        for i in range(2):
            values = np.zeros_like(self.q[i])
            found |= {f"h.{i}.attn.c_attn.weight": np.concatenate([self.q[i], self.k[i], values]).T,
                      f"h.{i}.attn.c_attn.bias": np.concatenate([self.q_bias[i], self.k_bias[i], values[:, 0]]),
                      f"h.{i}.ln_1.weight": self.gain[i], f"h.{i}.ln_1.bias": self.shift[i]}
        return found

    def bloom(self):
        found, e = {"word_embeddings.weight": self.embeddings}, self.size
        for i in range(2):
            rows = [np.concatenate([x[h * e:(h + 1) * e] for x in (self.q[i], self.k[i], self.k[i])])
                    for h in range(self.heads)]
            bias = [np.concatenate([x[h * e:(h + 1) * e] for x in (self.q_bias[i], self.k_bias[i], self.k_bias[i])])
                    for h in range(self.heads)]
            found |= {f"h.{i}.self_attention.query_key_value.weight": np.concatenate(rows),
                      f"h.{i}.self_attention.query_key_value.bias": np.concatenate(bias),
                      f"h.{i}.input_layernorm.weight": self.gain[i], f"h.{i}.input_layernorm.bias": self.shift[i]}
        return found

    def mpt(self):
        return {name: value for i in range(2) for name, value in
                ((f"blocks.{i}.attn.Wqkv.weight", np.concatenate([self.q[i], self.k[i], self.k[i]])),
                 (f"blocks.{i}.norm_1.weight", self.gain[i]))}

    def t5(self):
        found = {"shared.weight": self.embeddings}
        for stack in ("encoder", "decoder"):
            name = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
            found[name] = self.table if stack == "encoder" else self.table[::-1]
            for i in range(2):
                block = f"{stack}.block.{i}.layer.0."
                found |= {f"{block}SelfAttention.q.weight": self.q[i], f"{block}SelfAttention.k.weight": self.k[i],
                          f"{block}layer_norm.weight": self.gain[i]}
            found |= {f"decoder.block.{i}.layer.1.EncDecAttention.{side}.weight": self.k[i]
                      for i in range(2) for side in "qk"}
        return found

    def sides(self, layer, head):
        """A, B, beta_Q, beta_K, the scale in A and beta_Q."""
        at = slice(head * self.size, (head + 1) * self.size)
        a, b = (w[layer][at] * self.gain[layer] for w in (self.q, self.k))
        beta_q = self.q[layer][at] @ self.shift[layer] + self.q_bias[layer][at]
        beta_k = self.k[layer][at] @ self.shift[layer] + self.k_bias[layer][at]
        if self.centred:
            a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
        return self.scale * a, b, self.scale * beta_q, beta_k

    def lags(self, both=None):
        both = self.both if both is None else both
        lags = np.arange(1 - self.length if both else 0, self.length)
        return lags, 1 / (1 + np.abs(lags)) / np.sum(1 / (1 + np.abs(lags)))


def bucket(lag, both, rows, distance):
    """T5's, by thresholds instead of logarithms: row exact + r begins where lag^(half - exact) is large enough."""
    half = rows // 2 if both else rows
    exact, base, size = half // 2, half if lag < 0 else 0, abs(lag)
    if size < exact:
        return base + size
    steps = half - exact
    reached = [r for r in range(steps) if (size / exact)**steps >= (distance / exact)**r * (1 - 1e-6)]
    return base + exact + max(reached)


def biases(model, head, both=None):
    lags, _ = model.lags(both)
    if model.kind in ("bloom", "mpt"):
        n = 2**int(np.log2(model.heads))
        slope = 2**(-8 * (head + 1) / n) if head < n else 2**(-4 * (2 * (head - n) + 1) / n)
        return -slope * lags
    both = model.both if both is None else both
    table = model.table if both or model.kind != "t5" else model.table[::-1]
    return np.array([table[bucket(k, both, 8, 12)][head] for k in lags])


def check_biased(label, model, stack="", both=None, layers=(0, 1)):
    """Of isotropic tokens: the content's logits have the variance f^2 ||A^T B||^2 + f ||B^T beta_Q||^2."""
    found = {name: [row for row in rows if stack in row["source"]] for name, rows in analyse_all(model).items()}
    f = model.width / (model.width - 1) if model.centred else 1
    lags, weight = model.lags(both)
    for row in found["heads"]:
        layer, head = int(row["layer"]), int(row["head"])
        if layer not in layers:
            continue
        a, b, beta_q, beta_k = model.sides(layer, head)
        kernel = biases(model, head, both) + beta_q @ beta_k
        noise = f**2 * np.sum((a.T @ b)**2) + f * np.sum((b.T @ beta_q)**2)
        own = variance(weight, kernel)
        name = f"{label}, layer {layer}, head {head}"
        check_numbers(name, row, {"mean_share": own / (own + noise), "mean_noise": noise**0.5, "mean_min": kernel.min(),
                                  "mean_max": kernel.max(), "lag_min": lags[0], "lag_max": lags[-1]}, 1e-11)
        tap.ok(f"{name}: the largest lag", kernel[lags == int(row["mean_peak"])] > kernel.max() - 1e-9, row["mean_peak"])
        tap.ok(f"{name}: nothing is drawn", not any(row[x] for x in ("mean_null", "mean_p", "self_share", "mean_carrier",
                                                                     "mean_wavelength", "spread")))
        tap.ok(f"{name}: its size decides", row["stands_out"] == ("mean" if own / (own + noise) >= 0.1 else ""))
        nearest = min(lags[kernel == kernel.max()], key=lambda lag: (abs(lag), -lag))
        tap.ok(f"{name}: of equal values the nearest lag", lags[kernel.argmax()] == nearest or
               abs(int(row["mean_peak"])) <= abs(lags[kernel.argmax()]), row["mean_peak"])
        tap.ok(f"{name}: isotropic tokens", row["mean_tokens"] == "isotropic", row["mean_tokens"])
        rows = [x for x in found["kernel"] if (x["layer"], x["head"]) == (row["layer"], row["head"])]
        got = {int(x["lag"]): number(x, "mean") for x in rows}
        tap.ok(f"{name}: every lag", sorted(got) == list(lags))
        tap.close(f"{name}: the kernel", max(abs(got[k] - v) for k, v in zip(lags, kernel)), 0, 1e-11)


T5 = Plain("t5")
check_biased("T5, encoder", T5, stack="encoder")
check_biased("T5, decoder", T5, stack="decoder", both=False)
tap.ok("T5: nothing says where tokens of another stack stand", all(
    "another sequence" in row["note"] for row in analyse(T5) if "(cross)" in row["source"]))
check_biased("Bloom, heads between powers of two", Plain("bloom", heads=6, size=4, width=24))
check_biased("MPT", Plain("mpt", heads=4, size=5))
check_biased("MPNet behind layer 0", Plain("mpnet", heads=4, size=5), layers=(1,))


def tokens_at(model):
    """Embeddings and positions behind the norm without gains: [positions, tokens, width]."""
    x = model.embeddings[None] + model.types[0] + model.positions[:, None]
    x = x - x.mean(2, keepdims=True)
    return x / np.sqrt((x**2).mean(2, keepdims=True))


def check_absolute(label, model):
    found, (lags, weight), n = analyse_all(model), model.lags(), model.length
    z = tokens_at(model)
    mean = z.mean(1)
    content = np.array([z[v % n, v] - mean[v % n] for v in range(z.shape[1])])
    pairs = [[(i, i - k) for i in range(n) if 0 <= i - k < n] for k in lags]
    for row in found["heads"]:
        name, head = f"{label}, layer {row['layer']}, head {row['head']}", int(row["head"])
        if row["layer"] == "1":
            if model.kind != "mpnet":
                tap.ok(f"{name}: not known", not row["mean_share"] and "before layer 0" in row["note"], row["note"])
            continue
        w_a, w_b, beta_q, _ = model.sides(0, head)
        a = mean @ w_a.T + beta_q
        m = mean - mean.mean(0)
        added = biases(model, head) if model.kind == "mpnet" else np.zeros(len(lags))
        # What each column of W_K makes of the kernel: mean over pairs of (a_i W_K)_c m_jc.
        pulled = a @ w_b
        column = np.array([np.mean([pulled[i] * m[j] for i, j in some], 0) for some in pairs])
        kernel = column.sum(1) + added
        b = m @ w_b.T
        q, k = np.cov((content @ w_a.T).T, bias=True), np.cov((content @ w_b.T).T, bias=True)
        q += np.outer(*[(content @ w_a.T).mean(0)] * 2)
        k += np.outer(*[(content @ w_b.T).mean(0)] * 2)
        noise = np.sum(q * k) + np.mean([x @ q @ x for x in b]) + np.mean([x @ k @ x for x in a])
        spread = sum(w * np.mean([(a[i] @ b[j] + plus - g)**2 for i, j in some])
                     for w, some, g, plus in zip(weight, pairs, kernel, added))**0.5
        own = variance(weight, kernel)
        check_numbers(name, row, {"mean_share": own / (own + noise + spread**2), "mean_noise": noise**0.5, "spread": spread,
                                  "mean_min": kernel.min(), "mean_max": kernel.max(), "lag_min": lags[0],
                                  "lag_max": lags[-1]}, 1e-10)
        tap.ok(f"{name}: the largest lag", lags[kernel.argmax()] == int(row["mean_peak"]), row["mean_peak"])
        tap.ok(f"{name}: tokens of the vocabulary", row["mean_tokens"] == "vocabulary", row["mean_tokens"])
        tap.ok(f"{name}: no self kernel", not row["self_share"])
        # Signs of its own: p and the quantile in distribution, 999 draws of the program's.
        signs = random.choice([-1.0, 1.0], (model.width, 20000))
        drawn = column @ signs + added[:, None]
        drawn = weight @ (drawn - weight @ drawn)**2
        p, below = np.mean(drawn >= own), np.mean(drawn / (drawn + noise + spread**2) <= number(row, "mean_null"))
        tap.close(f"{name}: p", number(row, "mean_p"), p, 4 * (max(p * (1 - p), 1e-3) / 999)**0.5 + 0.002)
        tap.close(f"{name}: quantile of the draws", below, 0.95, 4 * (0.05 * 0.95 / 999)**0.5)
        middle = weight @ kernel + added - weight @ added
        half = 1.96 * np.sqrt(((column - weight @ column)**2).sum(1))
        rows = [x for x in found["kernel"] if (x["layer"], x["head"]) == ("0", row["head"])]
        for what, want in (("mean", kernel), ("mean_low", middle - half), ("mean_high", middle + half)):
            got = np.array([number(x, what) for x in rows])
            bound = 1e-10 if what == "mean" else 1e-5 * (1 + abs(want))  # the table may have six digits of a band
            tap.ok(f"{name}: {what} at every lag", len(got) == len(want) and bool(np.all(abs(got - want) < bound)))
    tap.ok(f"{label}: layer 0 has a row of its own", [x["kernel"] for x in found["layers"] if x["layer"] == "0"] == ["mean"])


check_absolute("BERT", Plain("bert", heads=4, size=5))
check_absolute("GPT-2", Plain("gpt2", heads=4, size=5))
check_absolute("MPNet", Plain("mpnet", heads=4, size=5))

check_level()

# ---- Lags ----


def last_lags(kind, **config):
    rows = analyse(Model(kind, length=64, **config), "--kernel", "0")
    return {row["lag_max"] for row in rows}, rows


for label, kind, want, config in (
        ("Qwen2's first 28 layers do not slide", "qwen2", "63", {"use_sliding_window": True, "sliding_window": 16}),
        ("those from max_window_layers on do", "qwen2", "15", {"use_sliding_window": True, "sliding_window": 16,
                                                               "max_window_layers": 0})):
    found, rows = last_lags(kind, **config)
    tap.ok(label, found == {want}, f"{found} {rows[0]['note']}")
endless = Model("llama")
endless.config["max_position_embeddings"] = 0
endless = analyse_all(endless)
tap.ok("a length that is not known is said", {row["lag_max"] for row in endless["heads"]} == {"2047"} and
       any("not known: kernels reach to lag 2047" in row["note"] for row in endless["notes"]) and
       not any("length" in row["note"] for row in analyse_all(Model("llama"))["notes"]), str(endless["notes"]))
fused = Model("phi3", length=64, original_max_position_embeddings=16, sliding_window=None,
              rope_scaling={"type": "longrope", "short_factor": [1.0] * 6, "long_factor": [4.0] * 6})
layer = "model.layers.0."
fused.tensors = lambda: {layer + "self_attn.qkv_proj.weight": np.concatenate([fused.q, fused.k, fused.k]),
                         layer + "input_layernorm.weight": fused.gain}
tap.ok("LongRoPE's short factors hold for the original length", {row["lag_max"] for row in analyse(fused)} == {"15"})
found, rows = last_lags("llama", use_bidirectional_attention=True)
tap.ok("attention to later keys that is not covered is said", found == {""} and
       all("use_bidirectional_attention is set" in row["note"] for row in rows), str(rows[0]))



def lags_of(family, *settings):
    """Least and largest lag by layer of a reference model, with settings changed."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "families", family)
    with scratch() as out:
        run = subprocess.run([head_models.PROGRAM, "checkpoint", folder, "-o", f"{out}/all/", "--kernel", "0", "-q",
                              *(word for setting in settings for word in ("--set", setting))],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            return {run.stderr}
        with open(f"{out}/all/heads.csv", encoding="utf-8") as file:
            return {(row["lag_min"], row["lag_max"]) for row in csv.DictReader(file)}


for label, family, settings, want in (
        ("a window that is set", "mistral", ("sliding_window=4",), {("0", "3")}),
        ("EmbeddingGemma's flag", "gemma3_text", ("use_bidirectional_attention=true", "sliding_window=8"),
         {("-4", "4"), ("-63", "63")}),
        ("Gemma 4, all tokens", "gemma4_text", ("use_bidirectional_attention=all", "sliding_window=8"),
         {("-4", "4"), ("-63", "63")}),
        ("Gemma 4, images alone: text sees earlier keys", "gemma4_text",
         ("use_bidirectional_attention=vision", "sliding_window=8"), {("0", "7"), ("0", "63")}),
        ("a word that is not known", "gemma4_text", ("use_bidirectional_attention=some",), {("", "")}),
        ("a class that is told to see earlier keys alone", "llama", ("use_bidirectional_attention=false",), {("0", "63")}),
        ("a decoder without embeddings", "bert", ("is_decoder=true",), {("", "")})):
    found = lags_of(family, *settings)
    tap.ok(label, found == want, str(found))
refused = lags_of("llama", "sliding_window=4")
tap.ok("a window in a model that has none is refused", "nothing reads this key" in str(refused), str(refused))

# ---- What has no numbers ----
rows = analyse(Model("llama"), "--raw")
tap.ok("--raw: rows without numbers say why", all(not row["self_share"] and "--raw" in row["note"] for row in rows))
model = Model("qwen3")
numbers = [[{name: cell for name, cell in row.items() if name != "source"} for row in analyse(model, "--threads", n)]
           for n in ("1", "2")]
tap.ok("numbers do not depend on threads", numbers[0] == numbers[1])
tap.finish()
