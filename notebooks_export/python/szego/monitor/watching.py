"""Attentions of a model of transformers, as what `observation` reads."""
import contextlib
import sys
from typing import Any, Callable, ContextManager, Iterator, List, Optional, Sequence

from .. import interface
from ..errors import SzegoError
from .observation import Given


def given(call: Any) -> Given:
    """Queries and keys of an attention as it is called. SzegoError: its mask cannot be read."""
    torch = sys.modules["torch"]
    q, k = call.query.detach(), call.key.detach()
    if q.dim() != 4 or k.dim() != 4 or q.shape[1] % k.shape[1]:
        raise SzegoError(f"queries of shape {tuple(q.shape)} and keys of shape {tuple(k.shape)} are not [batch, heads, N, d]")
    made = Given(q, k, call.scaling, cap=call.cap, bias=None if call.bias is None else call.bias.detach(),
                 learned=None if call.sinks is None else call.sinks.detach().flatten())
    mask = call.mask
    if isinstance(mask, torch.Tensor) and mask.dim() == 4:  # then it says everything
        return made._replace(mask=mask.detach()[..., :k.shape[2]])
    if isinstance(mask, torch.Tensor) and mask.dim() == 2:  # what flash attention takes: which tokens are real
        made = made._replace(keys=mask.detach()[:, :k.shape[2]] != 0)
    elif mask is not None:
        raise SzegoError(f"a mask of type {type(mask).__name__} cannot be read: use attn_implementation=\"sdpa\" or \"eager\"")
    if call.packed:
        raise SzegoError("sequences are packed into one, and no mask separates them: use attn_implementation=\"sdpa\" or \"eager\"")
    if call.causal is None:
        raise SzegoError("nothing says whether the attention is causal: it has no mask, and no is_causal")
    if q.shape[2] != k.shape[2] and (call.causal or call.window):
        raise SzegoError(f"{q.shape[2]} queries against {k.shape[2]} keys continue a cache: only whole sequences are observed")
    return made._replace(causal=bool(call.causal), window=call.window)


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """A block whose operations no mode of the training sees. Checkpointing that keeps what a policy chooses would take them
    for operations of the model, and hand their results back in their place."""
    torch, dispatch = sys.modules.get("torch"), sys.modules.get("torch.utils._python_dispatch")
    with contextlib.ExitStack() as stack:
        if torch is not None:
            stack.enter_context(torch._C.DisableTorchFunction())  # pylint: disable=protected-access
        stack.enter_context(getattr(dispatch, "_disable_current_modes", contextlib.nullcontext)())
        yield


@contextlib.contextmanager
def watched(model: Any, seen: Callable[[Any], None], layers: Optional[Sequence[int]],
            guard: Callable[[int], ContextManager]) -> Iterator[List[Any]]:
    """interface.watched, for training: an attention in evaluation mode is not handed on."""
    def trains(call: Any) -> None:
        if call.module.training:
            seen(call)
    with interface.watched(model, trains, layers, guard=guard) as places:
        yield places


def compiled(model: Any) -> bool:
    """Whether torch.compile was given the model or a part of it: its attention cannot be watched."""
    return any(map(interface.compiled, model.modules()))
