"""How attention classes of transformers let queries and keys out: one row per architecture.

`szego.capture_hf` reads this table. A row says which class it is, what rotates, what is normed before
that, how the whole heads are put together where the rotation sees a part of them, and the scale.
"""
import re
from typing import Callable, Dict, NamedTuple, Optional, Tuple

from .errors import SzegoError


class CaptureError(SzegoError):
    """A model, or a pass through it, that cannot be captured."""


def attention_class(module) -> str:
    """The attention class, whichever kernel it runs on."""
    return re.sub(r"Sdpa|Flash(?=Attention2)|(?<=Attention)2$", "", type(module).__name__)


def attribute(module, *names: str):
    """The first of these that the module, or its configuration, has."""
    for owner in (module, getattr(module, "config", None)):
        for name in names:
            if getattr(owner, name, None) is not None:
                return getattr(owner, name)
    raise unknown(module, f"has none of {', '.join(names)}")


def unknown(module, what: str) -> CaptureError:
    return CaptureError(f"{type(module).__name__} {what}: this version of transformers is not known")


def query_heads(module) -> int:
    return attribute(module, "num_heads", "num_attention_heads", "n_heads")


# ---- The whole heads, from what modules of the attention gave ----
# Each takes the module and the outputs by name, and gives q and k, [batch, heads, N, d].

def _heads(x, size: int):
    """[batch, N, heads * size] as [batch, heads, N, size]; a tensor that is split already stays."""
    return x if x.dim() == 4 else x.view(*x.shape[:2], -1, size).transpose(1, 2)


def _separate(query: str, key: str) -> Callable:
    def whole(module, outputs):
        q, k = outputs[query], outputs[key]
        size = q.shape[-1] // query_heads(module)
        return _heads(q, size), _heads(k, size)
    return whole


def _normed_or_not(module, outputs):
    """Projections, or their norms per head where the model has these."""
    size = outputs["q_proj"].shape[-1] // query_heads(module)
    return [_heads(outputs.get(f"{side}_layernorm", outputs[f"{side}_proj"]), size) for side in "qk"]


def _fused_thirds(module, outputs):
    q, k, _ = outputs["c_attn"].chunk(3, dim=-1)
    size = q.shape[-1] // query_heads(module)
    return _heads(q, size), _heads(k, size)


def _fused_heads(module, outputs):
    """Each head's q, k and v side by side."""
    size = outputs["query_key_value"].shape[-1] // (3 * query_heads(module))
    return _heads(outputs["query_key_value"], 3 * size).split(size, dim=-1)[:2]


def _latent(module, outputs):
    """Latent attention: a head's key is its own part, then the rotated part that all heads share."""
    nope, rope = module.qk_nope_head_dim, module.qk_rope_head_dim
    q = outputs["q_proj"] if "q_proj" in outputs else outputs["q_b_proj"]
    batch, n = q.shape[:2]
    # Newer versions expand a latent with an axis of one head.
    own = _heads(outputs["kv_b_proj"].reshape(batch, n, -1), nope + module.v_head_dim)[..., :nope]
    shared = outputs["kv_a_proj_with_mqa"][..., -rope:].unsqueeze(1)
    k = own.new_empty(*own.shape[:3], nope + rope)
    k[..., :nope], k[..., nope:] = own, shared
    return _heads(q, nope + rope), k


# ---- What the model multiplies q . k by ----

def _usual_scale(module, size: int) -> float:
    return float(getattr(module, "scaling", None) or size**-0.5)


def _own_scale(module, _size: int) -> float:
    """Of models whose scale is no function of the head's size."""
    return float(attribute(module, "scaling", "softmax_scale"))


def _gpt2_scale(module, size: int) -> float:
    scale = size**-0.5 if module.scale_attn_weights else 1.0
    return scale / (module.layer_idx + 1) if module.scale_attn_by_inverse_layer_idx else scale


# ---- Which dimensions of the part that rotates are a pair ----

def _half(_module) -> str:
    return "half"


def _interleaved(_module) -> str:
    return "interleaved"


def _by_configuration(module) -> str:
    """DeepSeek V3 has a key for it, which is true in configurations without it."""
    return "interleaved" if getattr(module.config, "rope_interleave", True) else "half"


# ---- The table ----

class Family(NamedTuple):
    """One architecture."""
    name: str                     # in messages
    attention: Tuple[str, ...]    # its attention classes, as attention_class() gives them
    #: Functions beside the class that turn (q, k). Empty: rows of positions are added to the tokens.
    rotates: Tuple[str, ...] = ("apply_rotary_pos_emb",)
    alone: bool = False           # they turn one tensor a call, [batch, N, heads, d], the keys first
    norms: Tuple[str, ...] = ()   # modules that norm q and k, which must have run before the rotation
    outputs: Tuple[str, ...] = () # modules whose outputs `whole` reads, where the model has them
    #: Puts the heads together; None where the rotation sees the whole heads.
    whole: Optional[Callable] = None
    turned: str = "first"         # which dimensions of the whole head are rotated: the first or the last
    #: Of families that rotate: "half", t with t + rotary/2, or "interleaved", 2t with 2t + 1.
    pairing: Callable = _half
    still: str = ""               # attribute that is false in layers without rotation
    scale: Callable = _usual_scale
    cap: str = ""                 # attribute: C where logits x become C tanh(x / C) after the product


_HEAD_NORMS = ("q_norm", "k_norm")
_PROJECTIONS = ("q_proj", "k_proj")
_PARTIAL = dict(outputs=_PROJECTIONS + ("q_layernorm", "k_layernorm"), whole=_normed_or_not)
_BERT = dict(rotates=(), outputs=("query", "key"), whole=_separate("query", "key"))
_MLA = dict(outputs=("q_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"), whole=_latent,
            norms=("q_a_layernorm",), turned="last", scale=_own_scale)

FAMILIES = (
    Family("Llama", ("LlamaAttention",)),
    Family("Mistral", ("MistralAttention", "MixtralAttention")),
    Family("Qwen2", ("Qwen2Attention", "Qwen2MoeAttention")),
    # A norm per head.
    Family("Qwen3", ("Qwen3Attention", "Qwen3MoeAttention"), norms=_HEAD_NORMS),
    Family("Gemma", ("GemmaAttention",)),
    Family("Gemma 2", ("Gemma2Attention",), scale=_own_scale, cap="attn_logit_softcapping"),
    Family("Gemma 3", ("Gemma3Attention",), norms=_HEAD_NORMS, scale=_own_scale),
    # q, k and v come out of one projection, and the rotation sees the heads of each.
    Family("Phi-3", ("Phi3Attention",)),
    Family("Phi", ("PhiAttention",), norms=("q_layernorm", "k_layernorm"), **_PARTIAL),
    Family("StableLM", ("StableLmAttention",), norms=("q_layernorm", "k_layernorm"), **_PARTIAL),
    Family("OLMo", ("OlmoAttention",)),
    # A norm over the heads together.
    Family("OLMo 2", ("Olmo2Attention",), norms=_HEAD_NORMS),
    Family("SmolLM3", ("SmolLM3Attention",), outputs=_PROJECTIONS, whole=_separate(*_PROJECTIONS),
           still="use_rope"),
    Family("StarCoder2", ("Starcoder2Attention",)),
    Family("Granite", ("GraniteAttention",), scale=_own_scale),
    Family("Nemotron", ("NemotronAttention",)),
    Family("Cohere", ("CohereAttention",), norms=_HEAD_NORMS, pairing=_interleaved),
    Family("GLM", ("GlmAttention",), pairing=_interleaved),
    Family("GPT-NeoX", ("GPTNeoXAttention",), outputs=("query_key_value",), whole=_fused_heads),
    Family("GPT-J", ("GPTJAttention",), alone=True, outputs=_PROJECTIONS, whole=_separate(*_PROJECTIONS),
           pairing=_interleaved),
    Family("DeepSeek V2", ("DeepseekV2Attention",),
           rotates=("apply_rotary_emb", "apply_rotary_pos_emb"), pairing=_interleaved, **_MLA),
    Family("DeepSeek V3", ("DeepseekV3Attention",),
           rotates=("apply_rotary_pos_emb", "apply_rotary_pos_emb_interleave"), pairing=_by_configuration, **_MLA),
    Family("GPT-2", ("GPT2Attention",), rotates=(), outputs=("c_attn",), whole=_fused_thirds,
           scale=_gpt2_scale),
    Family("BERT", ("BertSelfAttention",), **_BERT),
    Family("RoBERTa", ("RobertaSelfAttention", "XLMRobertaSelfAttention", "CamembertSelfAttention"),
           **_BERT),
    # Newer versions name the class after the model.
    Family("DistilBERT", ("MultiHeadSelfAttention", "DistilBertSelfAttention", "DistilBertAttention"),
           rotates=(), outputs=("q_lin", "k_lin"), whole=_separate("q_lin", "k_lin")),
)

_BY_CLASS: Dict[str, Family] = {name: family for family in FAMILIES for name in family.attention}


def family_of(module) -> Optional[Family]:
    """The row of an attention module; None where it is not known, or is no attention."""
    return _BY_CLASS.get(attention_class(module))
