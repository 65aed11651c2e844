"""Attention classes of transformers that do not use its attention interface: one row per architecture.

`szego.capture_hooks` reads this table. A row says which class it is, what rotates, what is normed before that, and how
the whole heads are put together where the rotation sees a part of them.
"""
import re
from typing import Callable, Dict, NamedTuple, Optional, Tuple

from .errors import SzegoError


class CaptureError(SzegoError):
    """A model, or a pass through it, that cannot be captured."""


def attention_class(cls: type) -> str:
    """The attention class, whichever kernel it runs on."""
    return re.sub(r"Sdpa|Flash(?=Attention2)|(?<=Attention)2$", "", cls.__name__)


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


# ---- The table ----

class Family(NamedTuple):
    """One architecture. Their scale is 1/sqrt(d), unless the module has `scaling`."""
    name: str                     # in messages
    attention: Tuple[str, ...]    # its attention classes, as attention_class() gives them
    #: Function beside the class that turns (q, k). Empty: rows of positions are added to the tokens.
    rotates: str = "apply_rotary_pos_emb"
    alone: bool = False           # it turns one tensor a call, [batch, N, heads, d], the keys first
    norms: Tuple[str, ...] = ()   # modules that norm q and k, which must have run before the rotation
    outputs: Tuple[str, ...] = () # modules whose outputs `whole` reads, where the model has them
    #: Puts the heads together; None where the rotation sees the whole heads. The first dimensions are rotated.
    whole: Optional[Callable] = None
    #: Of families that rotate: "half", t with t + rotary/2, or "interleaved", 2t with 2t + 1.
    pairing: str = "half"


_PROJECTIONS = ("q_proj", "k_proj")
_BERT = dict(rotates="", outputs=("query", "key"), whole=_separate("query", "key"))

FAMILIES = (
    Family("Qwen2 MoE", ("Qwen2MoeAttention",)),
    Family("Nemotron", ("NemotronAttention",)),
    Family("StableLM", ("StableLmAttention",), norms=("q_layernorm", "k_layernorm"),
           outputs=_PROJECTIONS + ("q_layernorm", "k_layernorm"), whole=_normed_or_not),
    Family("GPT-J", ("GPTJAttention",), alone=True, outputs=_PROJECTIONS, whole=_separate(*_PROJECTIONS),
           pairing="interleaved"),
    Family("ModernBERT", ("ModernBertAttention",)),
    Family("BERT", ("BertSelfAttention",), **_BERT),
    Family("RoBERTa", ("RobertaSelfAttention", "XLMRobertaSelfAttention", "CamembertSelfAttention"), **_BERT),
    # The class of SDPA is named after the model.
    Family("DistilBERT", ("MultiHeadSelfAttention", "DistilBertAttention"), rotates="", outputs=("q_lin", "k_lin"),
           whole=_separate("q_lin", "k_lin")),
)

_BY_CLASS: Dict[str, Family] = {name: family for family in FAMILIES for name in family.attention}


def family_of(cls: type) -> Optional[Family]:
    """The row of an attention class; None: it is not known, or is no attention."""
    return _BY_CLASS.get(attention_class(cls))
