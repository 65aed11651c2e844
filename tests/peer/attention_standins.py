"""Attention modules of PyTorch alone, with the attention interface, classes, parts and functions of transformers under
their names, so that szego.capture_hf is tried where transformers is missing. test_capture_hf.py tries both."""
from types import SimpleNamespace

import torch
from torch import nn


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def turn_halves(x, cos, sin):
    return x * torch.cat((cos, cos), -1) + rotate_half(x) * torch.cat((sin, sin), -1)


def apply_rotary_pos_emb(q, k, cos, sin):
    return turn_halves(q, cos, sin), turn_halves(k, cos, sin)


def apply_rotary_pos_emb_interleave(q, k, cos, sin):
    """Pairs side by side come out as halves."""
    return [turn_halves(torch.cat((x[..., ::2], x[..., 1::2]), -1), cos, sin) for x in (q, k)]


def apply_rotary_emb(q, k, freqs_cis):
    turned = [torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * freqs_cis for x in (q, k)]
    return [torch.view_as_real(x).flatten(-2) for x in turned]


class Norm(nn.Module):
    def __init__(self, size, gain=0.0):
        super().__init__()
        self.weight, self.gain = nn.Parameter(torch.ones(size)), gain

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (self.gain + self.weight)


class Attention(nn.Module):
    """What they share: the config, angles, and attention over heads."""
    norm, gain, cap = "", 0.0, None

    @property
    def rotated(self):
        """Dimensions of a head that rotate."""
        return self.size

    def __init__(self, config, layer):
        super().__init__()
        self.config, self.layer = config, layer
        self.size, self.scaling = config.head_dim, config.scale
        self.build(config.hidden_size, config.num_attention_heads, config.num_key_value_heads)

    def build(self, width, heads, key_heads):
        for name, count in (("q_proj", heads), ("k_proj", key_heads), ("v_proj", key_heads)):
            setattr(self, name, nn.Linear(width, count * self.size, bias=False))
        for name, count in (("q_norm", heads), ("k_norm", key_heads)) if self.norm else ():
            setattr(self, name, Norm(self.size * (count if self.norm == "width" else 1), self.gain))
        self.o_proj = nn.Linear(heads * self.size, width, bias=False)

    def angles(self, x, size, first=0):
        frequencies = self.config.bases[self.layer] ** (-torch.arange(0, size, 2, dtype=x.dtype) / size)
        return torch.arange(first, first + x.shape[1], dtype=x.dtype)[:, None] * frequencies

    def turned_by(self, angles):
        """What the model hands on for the rotation."""
        return angles.cos(), angles.sin()

    def split(self, x, size=None):
        return x.view(*x.shape[:2], -1, size or self.size).transpose(1, 2)

    def sides(self, x):
        q, k = self.q_proj(x), self.k_proj(x)
        if self.norm == "width":
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = self.split(q), self.split(k)
        if self.norm == "head":
            q, k = self.q_norm(q), self.k_norm(k)
        return q, k, self.split(self.v_proj(x))

    def turn(self, q, k, position_embeddings):
        return apply_rotary_pos_emb(q, k, *position_embeddings)

    def forward(self, hidden_states, seen=None, *, position_embeddings=None, inside=None, attention_mask=None, **cached):
        q, k, v = self.sides(hidden_states)
        q, k = self.turn(q, k, position_embeddings)
        for cache in (*cached.values(), inside):
            if cache is not None:
                k, v = cache.update(k, v, self.layer)
        return self.attend(q, k, v, seen)

    def joined(self, rows, weights):
        return self.o_proj(rows.flatten(2)), weights


# ---- The attention interface ----

def eager_attention_forward(module, query, key, value, attention_mask, scaling=None, softcap=None, **kwargs):
    groups = query.shape[1] // key.shape[1]
    scores = query @ key.repeat_interleave(groups, 1).transpose(2, 3) * scaling
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    weights = (scores + attention_mask).softmax(-1)
    return (weights @ value.repeat_interleave(groups, 1)).transpose(1, 2), weights


class AttentionInterface(dict):
    def get_interface(self, name, default):
        return self.get(name, default)


ALL_ATTENTION_FUNCTIONS = AttentionInterface(sdpa=eager_attention_forward)


class Interface(Attention):
    """implementation: how versions look the function up."""
    implementation = "eager, 4"

    def attend(self, q, k, v, seen):
        name, version = self.implementation.split(", ")
        function = eager_attention_forward
        if version == "5":
            function = ALL_ATTENTION_FUNCTIONS.get_interface(name, eager_attention_forward)
        elif name != "eager":
            function = ALL_ATTENTION_FUNCTIONS[name]
        mask = torch.zeros(seen.shape, dtype=q.dtype).masked_fill(~seen, -torch.inf)[:, None]
        return self.joined(*function(self, q, k, v, mask, scaling=self.scaling, softcap=self.cap))


class Direct(Attention):
    """A model without the interface."""

    def attend(self, q, k, v, seen):
        groups = q.shape[1] // k.shape[1]
        scores = q @ k.repeat_interleave(groups, 1).transpose(2, 3) * self.scaling
        weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(-1)
        return self.joined((weights @ v.repeat_interleave(groups, 1)).transpose(1, 2), weights)


class LlamaAttention(Interface):
    pass


class Qwen3Attention(Interface):
    norm = "head"


class GemmaAttention(Interface):
    pass


class Gemma2Attention(Interface):
    @property
    def cap(self):
        return self.config.attn_logit_softcapping


class Gemma3Attention(Interface):
    norm, gain = "head", 1.0


class Olmo2Attention(Interface):
    norm = "width"


class Phi3Attention(Interface):
    def build(self, width, heads, key_heads):
        self.counts = [count * self.size for count in (heads, key_heads, key_heads)]
        self.qkv_proj = nn.Linear(width, sum(self.counts), bias=False)
        self.o_proj = nn.Linear(heads * self.size, width, bias=False)

    def sides(self, x):
        return [self.split(part) for part in self.qkv_proj(x).split(self.counts, -1)]


class DeepseekV3Attention(Interface):
    @property
    def rotated(self):
        return self.config.rope

    def build(self, width, heads, key_heads):
        c = self.config
        self.qk_nope_head_dim, self.qk_rope_head_dim, self.v_head_dim = c.nope, c.rope, c.v_head_dim
        self.q_a_proj = nn.Linear(width, c.q_lora_rank, bias=False)
        self.q_a_layernorm = Norm(c.q_lora_rank)
        self.q_b_proj = nn.Linear(c.q_lora_rank, heads * (c.nope + c.rope), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(width, c.kv_lora_rank + c.rope, bias=False)
        self.kv_a_layernorm = Norm(c.kv_lora_rank)
        self.kv_b_proj = nn.Linear(c.kv_lora_rank, heads * (c.nope + c.v_head_dim), bias=False)
        self.o_proj = nn.Linear(heads * c.v_head_dim, width, bias=False)

    def turn(self, q, k, position_embeddings):
        return apply_rotary_pos_emb_interleave(q, k, *position_embeddings)

    def forward(self, hidden_states, seen=None, *, position_embeddings=None):
        c = self.config
        q = self.split(self.q_b_proj(self.q_a_layernorm(self.q_a_proj(hidden_states))), c.nope + c.rope)
        latent, shared = self.kv_a_proj_with_mqa(hidden_states).split([c.kv_lora_rank, c.rope], -1)
        own = self.split(self.kv_b_proj(self.kv_a_layernorm(latent)), c.nope + c.v_head_dim)
        k, v = own.split([c.nope, c.v_head_dim], -1)
        q_turned, k_turned = self.turn(q[..., c.nope:], shared[:, None], position_embeddings)
        k = torch.cat((k, k_turned.expand(*k.shape[:3], -1)), -1)
        return self.attend(torch.cat((q[..., :c.nope], q_turned), -1), k, v, seen)


class DeepseekV2Attention(DeepseekV3Attention):
    def turned_by(self, angles):
        return torch.polar(torch.ones_like(angles), angles)

    def turn(self, q, k, position_embeddings):
        return apply_rotary_emb(q, k, position_embeddings)


class Qwen2MoeAttention(Direct):
    """A model of the table that rotates whole heads."""


class StableLmAttention(Direct):
    """One whose heads are normed and rotated in part."""
    rotated = DeepseekV3Attention.rotated

    def build(self, width, heads, key_heads):
        super().build(width, heads, key_heads)
        self.q_layernorm, self.k_layernorm = Norm(self.size), Norm(self.size)

    def sides(self, x):
        q, k, v = super().sides(x)
        return self.q_layernorm(q), self.k_layernorm(k), v

    def turn(self, q, k, position_embeddings):
        rope = self.config.rope
        parts = apply_rotary_pos_emb(q[..., :rope], k[..., :rope], *position_embeddings)
        return [torch.cat((part, x[..., rope:]), -1) for part, x in zip(parts, (q, k))]


class RobertaSelfAttention(Direct):
    def build(self, width, heads, key_heads):
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.o_proj = nn.Linear(width, width, bias=False)

    def forward(self, hidden_states, seen=None, *, position_embeddings=None):
        sides = (self.query, self.key, self.value)
        return self.attend(*(self.split(side(hidden_states)) for side in sides), seen)


class Embeddings(nn.Module):
    """Words, and with `rows` positions and a type; positions are counted from padding_idx + 1."""

    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(50, config.hidden_size)
        self.padding_idx = 1
        if config.rows:
            self.position_embeddings = nn.Embedding(64, config.hidden_size, padding_idx=self.padding_idx)
            self.token_type_embeddings = nn.Embedding(1, config.hidden_size)
            self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=1e-6)

    def forward(self, tokens):
        rows = self.word_embeddings(tokens)
        if not hasattr(self, "LayerNorm"):
            return rows
        real = (tokens != self.padding_idx).long()
        places = real.cumsum(1) * real + self.padding_idx
        return self.LayerNorm(rows + self.position_embeddings(places) + self.token_type_embeddings.weight[0])


class Cache:
    """Keys and values by layer, as transformers' caches have them."""

    def __init__(self):
        self.held = {}

    def update(self, k, v, layer):
        self.held[layer] = [torch.cat(pair, 2) for pair in zip(self.held[layer], (k, v))] if layer in self.held else [k, v]
        return self.held[layer]

    def length(self, layer=0):
        return self.held[layer][0].shape[2] if layer in self.held else 0


class NamedCache(Cache):
    get_seq_length = Cache.length


#: How versions hand a cache on: the model's keyword, its attention's, and the cache's class.
CONVENTIONS = {
    "4.57, 5.0": ("past_key_values", "past_key_values", NamedCache),
    "5.24": ("cache", "cache", NamedCache),
    "GPT-NeoX": ("cache", "layer_past", NamedCache),
    # Its length shows in the mask alone.
    "a cache of another kind": ("memory", "memory", Cache),
    # The model is given pairs of tensors, as before transformers had a class for them.
    "pairs": ("past_key_values", "inside", Cache),
    "keys that the model keeps": ("", "inside", Cache),
}


class StandIn(nn.Module):
    """A model of attention layers alone. convention: how it hands caches on."""
    convention = "5.24"

    def __init__(self, attention, config, seen):
        super().__init__()
        self.config, self.seen, self.own = config, seen, None
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList([attention(config, layer) for layer in range(2)])

    def hand_on(self, cached):
        """How many tokens the cache holds, and what the attentions are given."""
        outer, inner, _ = CONVENTIONS[self.convention]
        cache = self.own if inner == "inside" else cached.get(outer)
        return (cache.length(), {inner: cache}) if cache else (0, {})

    def forward(self, input_ids, attention_mask=None, output_attentions=False, **cached):
        x, attentions = self.embeddings(input_ids), []
        first, given = self.hand_on(cached)
        n = first + x.shape[1]
        if self.convention == "a cache of another kind":
            given["attention_mask"] = torch.zeros(len(x), 1, x.shape[1], n)
        for layer, attention in enumerate(self.layers):
            mask = torch.ones(len(x), n) if attention_mask is None else attention_mask
            seen = torch.tensor(self.seen(layer, n))[first:] & mask[:, None].bool()
            # A token of the padding sees itself, as its row would else be 0 / 0.
            seen = seen | torch.eye(n, dtype=torch.bool)[first:]
            angles = attention.angles(x, attention.rotated, first)
            out, weights = attention(x, seen=seen, position_embeddings=attention.turned_by(angles), **given)
            x = x + out
            attentions.append(weights)
        return _Output(x, attentions)

    def generate(self, tokens, steps, at_once=1):
        """A first pass over the tokens, then `steps` passes of `at_once` tokens after them."""
        outer, _, kind = CONVENTIONS[self.convention]
        cache = self.own = kind()
        for _ in range(steps + 1):
            pairs = tuple(map(tuple, cache.held.values())) or None
            self(tokens, **({outer: pairs if self.convention == "pairs" else cache} if outer else {}))
            tokens = tokens[:, -at_once:]
        self.own = None


class _Output(SimpleNamespace):
    def __init__(self, rows, attentions):
        super().__init__(rows=rows, attentions=attentions)

    def __getitem__(self, index):
        return (self.rows,)[index]
