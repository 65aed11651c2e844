"""Logits of attention families from their weights and the rows that enter, in double precision, with a
bound of what a forward of unit roundoff u makes of them (Higham 2002, chapter 3, to first order).

It shares no code and no formula with szego.capture_hf: rotation is a product of complex numbers here.
"""
from typing import Dict, NamedTuple, Optional

import numpy as np


class Near(NamedTuple):
    """Values, and by how much a computed one may differ."""
    value: np.ndarray
    error: np.ndarray

    def part(self, *index) -> "Near":
        return Near(self.value[index], self.error[index])

    def heads(self, size: int) -> "Near":
        """[N, heads * size] as [heads, N, size]."""
        return Near(*(x.reshape(len(x), -1, size).swapaxes(0, 1) for x in self))


class Rule(NamedTuple):
    """One family, by what its papers say."""
    size: int                      # of a head: without the rotated part where that is apart
    scale: float
    layout: str = "separate"       # or fused, latent, rows
    norm: str = ""                 # of q and k: per head, or over the width
    gain: float = 0.0              # norms multiply by gain + weight
    pairs: str = "half"            # or interleaved
    turned: int = 0                # how many last dimensions rotate; 0: all
    bases: tuple = (1e4, 1e4)      # by layer
    window: tuple = (None, None)   # by layer, how many tokens are seen
    causal: bool = True


def exact(x) -> Near:
    return Near(np.asarray(x, float), np.zeros(np.shape(x)))


def project(x: Near, weight, bias, u: float) -> Near:
    bias = 0 if bias is None else bias
    size = np.abs(x.value) @ np.abs(weight).T + np.abs(bias)
    return Near(x.value @ weight.T + bias, x.error @ np.abs(weight).T + (x.value.shape[-1] + 1) * u * size)


def rms_norm(x: Near, gain, eps: float, u: float, bias=0) -> Near:
    d = x.value.shape[-1]
    root = np.sqrt((x.value**2).mean(-1, keepdims=True) + eps)
    value = x.value / root * gain
    # The root moves by at most the norm of the error, and eps makes that less; its sum has d terms.
    relative = np.linalg.norm(x.error, axis=-1, keepdims=True) / (root * np.sqrt(d)) + (d / 2 + 7) * u
    return Near(value + bias, x.error / root * np.abs(gain) + np.abs(value) * relative + u * np.abs(bias))


def layer_norm(x: Near, gain, bias, eps: float, u: float) -> Near:
    d = x.value.shape[-1]
    value = x.value - x.value.mean(-1, keepdims=True)
    error = (x.error + x.error.mean(-1, keepdims=True) + u * np.abs(value)
             + (d + 1) * u * np.abs(x.value).mean(-1, keepdims=True))
    return rms_norm(Near(value, error), gain, eps, u, bias)


def rotate(x: Near, base: float, pairs: str, u: float) -> Near:
    """Complex products. A power base^-t is off by (2 + t ln base) u of its size, so the angle of a
    token by its angle times (4 + ln base) u; sines and cosines by u."""
    d = x.value.shape[-1]
    sides = (slice(d // 2), slice(d // 2, d)) if pairs == "half" else (slice(0, d, 2), slice(1, d, 2))
    angle = np.arange(x.value.shape[-2])[:, None] * base ** (-np.arange(0, d, 2) / d)
    z = (x.value[..., sides[0]] + 1j * x.value[..., sides[1]]) * np.exp(1j * angle)
    error = (x.error[..., sides[0]] + x.error[..., sides[1]]
             + np.abs(z) * ((4 + np.log(base)) * angle + 5) * u)
    return Near(np.concatenate([z.real, z.imag], -1), np.concatenate([error, error], -1))


def product(q: Near, k: Near, scale: float, u: float) -> Near:
    """Every query head with its key head. Two roundings more go into the scale, one into the result."""
    q, k = (Near(*(np.repeat(x, len(q.value) // len(side.value), axis=0) for x in side)) for side in (q, k))
    turn = (0, 2, 1)
    error = (q.error @ np.abs(k.value).transpose(turn) + np.abs(q.value) @ k.error.transpose(turn)
             + q.error @ k.error.transpose(turn)
             + (q.value.shape[-1] + 4) * u * (np.abs(q.value) @ np.abs(k.value).transpose(turn)))
    return Near(scale * (q.value @ k.value.transpose(turn)), scale * error)


def sides(rule: Rule, weights: Dict[str, np.ndarray], x: Near, heads: int, key_heads: int, u: float):
    """q and k before rotation, [heads, N, d]."""
    if rule.layout == "latent":
        return latent(rule, weights, x, u)
    if rule.layout == "rows":
        return [project(x, weights[f"{name}.weight"], weights[f"{name}.bias"], u).heads(rule.size)
                for name in ("query", "key")]
    found = []
    for side, start, count in (("q", 0, heads), ("k", heads, key_heads)):
        if rule.layout == "fused":
            weight = weights["qkv_proj.weight"][start * rule.size:(start + count) * rule.size]
        else:
            weight = weights[f"{side}_proj.weight"]
        y = project(x, weight, weights.get(f"{side}_proj.bias"), u)
        gain = rule.gain + weights[f"{side}_norm.weight"] if rule.norm else None
        if rule.norm == "width":
            y = rms_norm(y, gain, EPS, u)
        y = y.heads(rule.size)
        found.append(rms_norm(y, gain, EPS, u) if rule.norm == "head" else y)
    return found


#: Of every norm, in the models that the tests make.
EPS = 1e-6


def latent(rule: Rule, weights, x: Near, u: float):
    """Queries and keys from latents; the keys' rotated part comes from the rows and all heads share it."""
    if "q_proj.weight" in weights:
        q = project(x, weights["q_proj.weight"], None, u)
    else:
        small = rms_norm(project(x, weights["q_a_proj.weight"], None, u), weights["q_a_layernorm.weight"], EPS, u)
        q = project(small, weights["q_b_proj.weight"], None, u)
    q = q.heads(rule.size + rule.turned)
    both = project(x, weights["kv_a_proj_with_mqa.weight"], None, u)
    small = rms_norm(both.part(..., slice(-rule.turned)), weights["kv_a_layernorm.weight"], EPS, u)
    rows = project(small, weights["kv_b_proj.weight"], None, u)
    own = rows.heads(rows.value.shape[-1] // len(q.value)).part(..., slice(rule.size))
    shared = both.part(..., slice(-rule.turned, None))
    return q, Near(*(np.concatenate([a, np.broadcast_to(b, (len(a), *b.shape))], -1)
                     for a, b in zip(own, shared)))


def logits(rule: Rule, weights, x: Near, layer: int, heads: int, key_heads: int, u: float,
           coupled: Optional[bool]) -> Near:
    """[heads, N, N], with the rotation or without it."""
    found = sides(rule, weights, x, heads, key_heads, u)
    if coupled and rule.layout != "rows":
        found = [turned_part(rule, side, rule.bases[layer], u) for side in found]
    return product(*found, rule.scale, u)


def turned_part(rule: Rule, x: Near, base: float, u: float) -> Near:
    start = x.value.shape[-1] - (rule.turned or x.value.shape[-1])
    turned = rotate(x.part(..., slice(start, None)), base, rule.pairs, u)
    return Near(*(np.concatenate([still[..., :start], part], -1) for still, part in zip(x, turned)))


def seen(rule: Rule, layer: int, n: int) -> np.ndarray:
    """Which tokens a token attends to."""
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    far = n if rule.window[layer] is None else rule.window[layer]
    return (np.abs(lag) < far) & ((lag >= 0) | (not rule.causal))
