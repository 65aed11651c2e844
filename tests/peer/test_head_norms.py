#!/usr/bin/python3
"""Heads behind norms of queries and keys: szego checkpoint against NumPy, which norms each token and sums over every
lag. Layer 0's vocabulary is compared exactly; of isotropic tokens the program has few, so nine of its seeds are averaged.
usage: test_head_norms.py PROGRAM [SEED]"""
import sys

from head_models import analyse, check_numbers
from peer import Tap, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 31
TOKENS = 200000
tap = Tap()
print(f"# seed {SEED}")
random = np.random.default_rng(SEED)
draw = random.standard_normal
LAYER = "model.layers.0."


def rms(x, axis=-1):
    return np.sqrt((x**2).mean(axis, keepdims=True))


class Heads:
    """One layer of HEADS query heads and GROUPS key heads; `norm` takes projections [tokens, heads, size]."""

    def __init__(self, kind, norm, names=("q_norm", "k_norm"), heads=4, groups=2, size=8, width=24, turning=None, offset=0,
                 centred=False, biased=False, interleaved=False, unnormed=False, gained=True, **config):
        self.norm, self.names, self.heads, self.groups, self.size, self.width = norm, names, heads, groups, size, width
        self.turning, self.offset, self.interleaved = turning or size, offset, interleaved
        self.centred, self.unnormed, self.length, self.gained = centred, unnormed, 40, gained
        self.lags = np.arange(self.length)
        self.scale = size**-0.5
        self.rows = [draw((n * size, width)) * (1 + draw((n * size, 1))**2) for n in (heads, groups)]
        self.bias = [biased * draw(n * size) for n in (heads, groups)]
        self.biased = biased
        self.gain = np.ones(width) if unnormed else 1 + 0.3 * draw(width)
        self.shift = biased * 0.3 * draw(width)
        self.gains = [1 + 0.3 * draw((n, size)) for n in (heads, groups)]
        self.after = [np.zeros((n, size)) for n in (heads, groups)]
        self.embeddings = draw((150, width)) + draw(width)
        self.config = {"model_type": kind, "hidden_size": width, "num_attention_heads": heads, "head_dim": size,
                       "num_key_value_heads": groups, "num_hidden_layers": 1, "rope_theta": 50.0,
                       "max_position_embeddings": self.length} | config

    def tensors(self):
        found = {"model.embed_tokens.weight": self.embeddings}
        if not self.unnormed:
            found[LAYER + "input_layernorm.weight"] = self.gain
        if self.biased:
            found[LAYER + "input_layernorm.bias"] = self.shift
        for side, name in enumerate("qk"):
            found[f"{LAYER}self_attn.{name}_proj.weight"] = self.rows[side]
            if self.biased:
                found[f"{LAYER}self_attn.{name}_proj.bias"] = self.bias[side]
            if self.gained:
                found |= self.norm_tensors(f"{LAYER}self_attn.{self.names[side]}", side)
        return found

    def norm_tensors(self, name, side):
        return {f"{name}.weight": self.gains[side].reshape(-1)}

    def tokens(self, isotropic):
        x = draw((TOKENS, self.width)) if isotropic else self.embeddings
        if self.centred:
            x = x - x.mean(1, keepdims=True)
        return x / rms(x)

    def sides(self, x):
        """Queries [tokens, heads, size] with the scale, and keys."""
        x = x * self.gain + self.shift
        q, k = (self.norm(self, side, (x @ self.rows[side].T + self.bias[side]).reshape(len(x), -1, self.size))
                for side in (0, 1))
        return q * self.scale, k

    def rotations(self):
        lags, half, at = self.lags, self.turning // 2, np.arange(self.turning // 2)
        angle = np.outer(lags, 50.0 ** (-2 * at / self.turning))
        first, second = (2 * at, 2 * at + 1) if self.interleaved else (at, at + half)
        first, second = first + self.offset, second + self.offset
        r = np.tile(np.eye(self.size), (len(lags), 1, 1))
        r[:, first, first] = r[:, second, second] = np.cos(angle)
        r[:, first, second], r[:, second, first] = np.sin(angle), -np.sin(angle)
        weight = 1 / (1 + abs(lags))
        return weight / weight.sum(), r


def full(model, side, x):
    return x / np.sqrt((x**2).mean((1, 2), keepdims=True)) * model.gains[side]


def layer(model, side, x):
    x = x - x.mean(2, keepdims=True)
    return x / rms(x) * model.gains[side] + model.after[side]


def bare(_, __, x):
    return x / rms(x)


class StableLM(Heads):
    def norm_tensors(self, name, side):
        return {f"{name}.norms.{head}.weight": gain for head, gain in enumerate(self.gains[side])}


class Phi(Heads):
    """One gain and one shift for all heads."""

    def __init__(self, **config):
        super().__init__("phi", layer, ("q_layernorm", "k_layernorm"), groups=4, centred=True, biased=True, turning=4,
                         partial_rotary_factor=0.5, qk_layernorm=True, **config)
        self.gains = [np.tile(x[:1], (4, 1)) for x in self.gains]
        self.after = [np.tile(0.5 * draw((1, self.size)), (4, 1)) for _ in "qk"]

    def norm_tensors(self, name, side):
        return {f"{name}.weight": self.gains[side][0], f"{name}.bias": self.after[side][0]}


def head(model, side, x):
    return x / rms(x) * model.gains[side]


class Gemma(Heads):
    """Gemma 3, or 4, where queries see later keys; files have w of gains 1 + w in the former."""

    def __init__(self, kind, flag, reach, **config):
        super().__init__(kind, head, query_pre_attn_scalar=9, rope_local_base_freq=50.0, use_bidirectional_attention=flag,
                         **config)
        self.lags, self.scale = np.arange(-reach, reach + 1), 1 / 3
        self.gains = [np.tile(x[:1], (len(x), 1)) for x in self.gains]

    def norm_tensors(self, name, side):
        return {f"{name}.weight": self.gains[side][0]}

    def tensors(self):
        return {name: value - (value.ndim == 1) for name, value in super().tensors().items()}


class Latent(Heads):
    """DeepSeek's: queries and the part of keys that does not turn come from normed latents."""

    def __init__(self, query_rank, **config):
        super().__init__("deepseek_v2", None, heads=4, groups=4, size=10, turning=4, offset=6, interleaved=True,
                         q_lora_rank=query_rank, kv_lora_rank=5, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=3,
                         **config)
        del self.config["head_dim"]
        self.query_rank = query_rank
        self.down = draw((query_rank or 1, self.width)) * (1 + draw((query_rank or 1, 1))**2)
        self.down_gain = 1 + 0.3 * draw(query_rank or 1)
        self.up = draw((4 * 10, query_rank or self.width))
        self.key_down, self.key_gain = draw((5 + 4, self.width)), 1 + 0.3 * draw(5)
        self.key_up = draw((4 * (6 + 3), 5))

    def tensors(self):
        attention = LAYER + "self_attn."
        found = {"model.embed_tokens.weight": self.embeddings, LAYER + "input_layernorm.weight": self.gain,
                 attention + "kv_a_proj_with_mqa.weight": self.key_down, attention + "kv_a_layernorm.weight": self.key_gain,
                 attention + "kv_b_proj.weight": self.key_up}
        if self.query_rank is None:
            return found | {attention + "q_proj.weight": self.up}
        return found | {attention + "q_a_proj.weight": self.down, attention + "q_a_layernorm.weight": self.down_gain,
                        attention + "q_b_proj.weight": self.up}

    def sides(self, x):
        x = x * self.gain
        latent = x
        if self.query_rank:
            latent = x @ self.down.T
            latent = latent / rms(latent) * self.down_gain
        q = (latent @ self.up.T).reshape(len(x), 4, 10)
        key = x @ self.key_down.T
        still = key[:, :5] / rms(key[:, :5]) * self.key_gain
        still = (still @ self.key_up.T).reshape(len(x), 4, 9)[:, :, :6]
        return q * self.scale, np.concatenate([still, np.repeat(key[:, None, 5:], 4, 1)], 2)


def law(model, q, k):
    """Means, the noise, and the kernels of independent tokens and of a token and its copy."""
    weight, r = model.rotations()
    mean_q, mean_k = q.mean(0), k.mean(0)
    cov_q, cov_k = (np.cov(x.T, bias=True) for x in (q, k))
    turned = mean_k.copy()
    turned[:model.offset] = turned[model.offset + model.turning:] = 0
    noise = weight @ [np.sum(cov_q * (m @ (cov_k + np.outer(turned, turned)) @ m.T)) + mean_q @ m @ cov_k @ m.T @ mean_q
                      for m in r]
    return weight, noise, np.array([mean_q @ m @ mean_k for m in r]), np.einsum("lij,ij->l", r, q.T @ k / len(q))


def numbers(kernel, name, weight, noise):
    own = float(weight @ (kernel - weight @ kernel)**2)
    return {f"{name}_share": own / (own + noise), f"{name}_noise": noise**0.5, f"{name}_min": kernel.min(),
            f"{name}_max": kernel.max()}


def check(label, model, bound=0.04):
    rows, *others = (analyse(model, "--kernel", "0", "--seed", str(seed)) for seed in range(9))
    tap.ok(f"{label}: all heads", len(rows) == model.heads and not any(row["note"] for row in rows), rows[0]["note"])
    known, tried = (model.sides(model.tokens(isotropic)) for isotropic in (False, True))
    for row, *drawn in zip(rows, *others):
        number, key = int(row["head"]), int(row["key_head"])
        name = f"{label}, head {number}"
        weight, noise, mean, _ = law(model, known[0][:, number], known[1][:, key])
        check_numbers(tap, name, row, {"lag_min": model.lags[0], "lag_max": model.lags[-1]}, 0)
        check_numbers(tap, f"{name}, the vocabulary", row, numbers(mean, "mean", weight, noise), 1e-10)
        weight, noise, _, own = law(model, tried[0][:, number], tried[1][:, key])
        want = numbers(own, "self", weight, noise)
        row = {column: str(np.mean([float(one[column]) for one in (row, *drawn)])) for column in want}
        check_numbers(tap, f"{name}, isotropic tokens", row, {"self_share": want.pop("self_share")}, bound / 2)
        check_numbers(tap, f"{name}, isotropic tokens", row, want, bound)


check("OLMo 2: a norm over all heads", Heads("olmo2", full, unnormed=True))
check("OLMoE: the same behind a norm of the input", Heads("olmoe", full))
check("Cohere: LayerNorm, gains by head", Heads("cohere", layer, centred=True, interleaved=True, use_qk_norm=True))
check("StableLM: LayerNorm of each head", StableLM("stablelm", layer, ("q_layernorm", "k_layernorm"), centred=True,
                                                   biased=True, turning=4, partial_rotary_factor=0.5, use_qkv_bias=True,
                                                   qk_layernorm=True))
check("Phi: LayerNorm with a shift", Phi())
check("Llama 4: no gains", Heads("llama4_text", bare, interleaved=True, gained=False, use_qk_norm=True, no_rope_layers=[1],
                                 attn_temperature_tuning=False))
check("Gemma 3 that sees later keys: half of the window on each side",
      Gemma("gemma3_text", True, 7, sliding_window=14, sliding_window_pattern=2))
check("its full layers", Gemma("gemma3_text", True, 39, sliding_window=14, sliding_window_pattern=1))
check("DeepSeek: both sides from latents", Latent(6))
check("DeepSeek lite: keys from latents", Latent(None))
tap.finish()
