"""Queries and keys of models without the attention interface: hooks by the table of capture_families.py."""
import contextlib
import functools
import sys
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .capture_families import CaptureError, Family, family_of, unknown


class Taken(NamedTuple):
    """One call of one attention."""
    roles: Dict[str, Any]            # q, k, q_coupled, k_coupled, [batch, heads, N, d]; the last two alone if no content is known
    scale: float
    pairing: Optional[str] = None    # None: nothing rotates
    cap: Optional[float] = None      # C where logits x become C tanh(x / C)
    sinks: Any = None                # learned logits of a sink, one a head
    mask: Optional[str] = None       # which keys a query sees
    reason: str = ""                 # why there are no q and k before rotation


def refuse(module: Any) -> None:
    """Attentions whose logits are no product q . k of one sequence."""
    if getattr(module, "is_cross_attention", False):
        raise CaptureError(f"{type(module).__name__}: cross-attention is not supported")
    if str(getattr(module, "position_embedding_type", None)).startswith("relative"):
        raise CaptureError(f"{type(module).__name__}: position_embedding_type "
                           f"{module.position_embedding_type} adds terms that are no product q . k")


class Hooks:
    """What one attention module lets out while its forward runs."""

    def __init__(self, module: Any, family: Family) -> None:
        self.module, self.family = module, family
        self.seen: Dict[str, Any] = {}

    def install(self) -> List[Callable[[], None]]:
        """What removes them again."""
        parts = [(name, getattr(self.module, name, None)) for name in self.family.outputs + self.family.norms]
        return [part.register_forward_hook(functools.partial(self._let_out, name)).remove
                for name, part in parts if part is not None]

    def _let_out(self, name, _module, _inputs, output):
        self.seen[name] = output.detach()

    def rotated(self, before, after) -> None:
        """One call of a function that rotates."""
        if self.family.alone:
            before, after = ([x.transpose(1, 2)] for x in (before[0], after))
        if len(self.seen.get("before", ())) + len(before) > 2:
            raise CaptureError(f"{type(self.module).__name__} rotates twice: not supported")
        late = [name for name in self.family.norms
                if getattr(self.module, name, None) is not None and name not in self.seen]
        if late:
            raise unknown(self.module, f"rotates before {' and '.join(late)} ran")
        for role, tensors in (("before", before), ("after", after)):
            self.seen.setdefault(role, []).extend(x.detach() for x in tensors)

    def take(self) -> Taken:
        """Of the forward that just ran."""
        seen, self.seen = self.seen, {}
        if not self.family.rotates:
            q, k = self._whole(seen)
            return self._taken({"q_coupled": q, "k_coupled": k})
        if len(seen.get("before", ())) != 2:
            raise unknown(self.module, f"did not call {self.family.rotates}")
        before, after = (seen[role][::-1] if self.family.alone else seen[role] for role in ("before", "after"))
        if self.family.whole is not None:
            whole = self._whole(seen)
            before, after = whole, [self._joined(*one) for one in zip(whole, before, after)]
        return self._taken(dict(zip(("q", "k", "q_coupled", "k_coupled"), (*before, *after))))

    def _taken(self, roles: Dict[str, Any]) -> Taken:
        scale = float(getattr(self.module, "scaling", None) or roles["q_coupled"].shape[-1]**-0.5)
        return Taken(roles, scale, self.family.pairing if self.family.rotates else None)

    def _whole(self, seen):
        try:
            return self.family.whole(self.module, seen)
        except KeyError as missing:
            raise unknown(self.module, f"did not call {missing}") from None

    def _joined(self, whole, before, after):
        """The whole heads with what was rotated in its place."""
        place = slice(before.shape[-1])
        # What was rotated must be what the projections say, or this is another model.
        if not whole[..., place].equal(before.expand_as(whole[..., place])):
            raise unknown(self.module, "does not rotate the first dimensions of its heads")
        out = whole.clone()
        out[..., place] = after
        return out


class Rotations:
    """The functions that rotate, in the files of these modules: each call goes to the hooks whose forward runs."""

    def __init__(self, hooks: Sequence[Hooks]) -> None:
        self.functions = {(type(one.module).__module__, one.family.rotates) for one in hooks if one.family.rotates}
        self.running: Optional[Hooks] = None

    def install(self) -> List[Callable[[], None]]:
        """What removes them again."""
        return [self._wrap(sys.modules[file], name) for file, name in self.functions]

    def _wrap(self, module: Any, name: str) -> Callable[[], None]:
        original = getattr(module, name, None)
        if original is None:
            raise CaptureError(f"{module.__name__} has no {name}: this version of transformers is not known")

        @functools.wraps(original)
        def rotate(*args, **kwargs):
            after = original(*args, **kwargs)
            if self.running is not None:
                self.running.rotated(args[:2], after)
            return after

        setattr(module, name, rotate)
        return lambda: setattr(module, name, original)

    @contextlib.contextmanager
    def of(self, hooks: Hooks) -> Iterator[None]:
        """While the forward of this module runs."""
        hooks.seen.clear()  # of a pass that failed
        self.running = hooks
        try:
            yield
        finally:
            self.running = None


def hooks_of(module: Any) -> Optional[Hooks]:
    family = family_of(type(module))
    return Hooks(module, family) if family else None


# ---- Passes that go on from earlier tokens ----
# Versions of transformers hand caches on under different names: what counts is what an argument is.

def held(argument: Any, layer: int = 0) -> int:
    """Tokens that a cache holds: an object of transformers, or a layer's own (k, v), a pair of each in old versions."""
    if hasattr(argument, "get_seq_length"):
        return int(argument.get_seq_length(layer))
    if isinstance(argument, (list, tuple)) and argument and isinstance(argument[0], (list, tuple)):
        shapes = [getattr(tensor, "shape", ()) for pair in argument if pair is not None for tensor in pair]
        return max((shape[-2] for shape in shapes if len(shape) == 4), default=0)
    return 0


def keys_seen(arguments: Tuple, layer: int, tokens: int) -> int:
    """Keys of an attention that ran: those that its cache holds now, or the mask's columns where none is to be seen."""
    kept = max((held(one, layer) for one in arguments), default=0)
    masks = [one.shape for one in arguments if getattr(one, "ndim", 0) == 4 and one.shape[-2] == tokens]
    return kept or max((shape[-1] for shape in masks), default=0)
