"""The rotary positions of a model, by its configuration."""
import inspect
import json
from typing import Any, Optional

from . import encodings, native
from .arguments import integer, text, unknown_keyword, words
from .encodings import Encoding
from .errors import ArgumentError, LibraryError
from .models import plain_value


def rope(*, like: Any = None, layer: Optional[int] = None, **keys: Any) -> Encoding:
    """Rotary positions: by their keys (szego.encodings.rope), or those of a Hugging Face model.

        szego.rope(like=model.config)                 # Encoding('rope:dim=64,base=500000,pairing=half,scaling=llama3,...')
        szego.rope(like=model.config, layer=5)        # where layers rotate differently, as in Gemma 3

    like: a configuration of transformers 4 or 5, or a dict such as json.load(open("config.json")). Dimension, rotated
    part, base, pairing and scaling are read as szego.checkpoint reads them. Latent attention (DeepSeek) has the
    encoding `mla`. The softmax's scale, caps and temperatures are not part of it.
    layer: whose rotation; None: that of every layer that rotates.
    LibraryError: nothing rotates, or no SPEC has the scaling (longrope). ArgumentError: a model_type that szego does
    not know (give the keys, `pairing` too), layers that rotate differently, a missing key.
    """
    known = list(inspect.signature(encodings.rope).parameters) + ["like", "layer"]
    for key in keys:
        if key not in known:
            raise unknown_keyword("rope", key, known)
    if like is None:
        if layer is not None:
            raise ArgumentError("layer= says nothing without like=: leave it out", "SZG_EINVAL")
        return encodings.rope(**keys)
    if keys:
        raise ArgumentError(f"like= beside {', '.join(keys)}: the configuration has every key", "SZG_EINVAL")
    described = like if isinstance(like, dict) else getattr(like, "to_dict", lambda: None)()
    if not isinstance(described, dict):
        raise ArgumentError(f"like={like!r}: a configuration of transformers or a dict is needed", "SZG_EINVAL")
    try:
        # What is no JSON (a torch.dtype) describes no rotation.
        document = words(json.dumps(described, default=plain_value), "like")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"like: no JSON: {error}", "SZG_EINVAL") from None
    at = -1 if layer is None else integer(layer, "layer", 0)

    def work(context):
        with native.handle(context, "szg_checkpoint_rotation_open", "szg_encoding_close", document, at) as opened:
            return text(native.library().szg_encoding_spec(opened))
    try:
        return Encoding(native.run(work))
    except LibraryError as error:
        if ": --set " in str(error):  # the program's way to give a key
            raise type(error)(f"{str(error).split(': --set ')[0]}: add them to the configuration",
                              error.status) from None
        if "model_type" not in str(error) or "not known" not in str(error):
            raise
        raise ArgumentError(f"{error}: give the keys, such as szego.rope(dim=64, base=10000, pairing=\"half\")",
                            error.status) from None
