"""Queries and keys before rotation, as the model itself has them.

Within a pass, the forward of an attention runs again with cos = 1 and sin = 0 up to its attention function: what it hands
on is q and k at angle zero, after its norms. With cos = 0 and sin = 1 it shows which dimensions are a pair. What was
found must then make the queries and keys of the pass from those before rotation: one complex factor for each token and
pair, the same for all heads, and one of the model's own cos + i sin.
"""
import copy
from collections.abc import MutableMapping
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .capture_families import CaptureError
from .interface import reached


class Before(NamedTuple):
    """Queries and keys before rotation, [batch, heads, N, d], and the pairs that rotate: None where nothing does."""
    q: Any
    k: Any
    #: "half": t and t + rotary/2, "interleaved": 2t and 2t + 1, "other". Dimensions of q and k here.
    pairing: Optional[str]


class _Turn(NamedTuple):
    """The cos and sin that an attention is given."""
    factor: Any                            # cos + i sin, [..., N, columns]
    at: Callable[[float, float], Any]      # the same container with one cos and sin everywhere


def _turn(value: Any) -> Optional[_Turn]:
    """cos and sin, in either order, or cos + i sin as complex numbers. Only a token at angle zero tells sin from cos: two
    tensors without one are not taken."""
    import torch  # pylint: disable=import-outside-toplevel
    if isinstance(value, torch.Tensor) and value.is_complex():
        return _Turn(value, lambda cos, sin: torch.full_like(value, complex(cos, sin)))
    if not isinstance(value, (tuple, list)) or len(value) != 2 or not all(
            isinstance(x, torch.Tensor) and x.is_floating_point() and x.dim() >= 2 for x in value) \
            or value[0].shape != value[1].shape:
        return None
    squares = value[0].double()**2 + value[1].double()**2
    still = [bool((x == 0).all(-1).any()) for x in value]
    if still[0] == still[1] or (squares - squares.flatten()[0]).abs().max() > 0.05 * squares.flatten()[0].abs():
        return None
    sin_at = still.index(True)
    cos, sin = value[1 - sin_at], value[sin_at]

    def at(one: float, other: float) -> Any:
        pair = [torch.full_like(cos, one), torch.full_like(sin, other)]
        return type(value)(pair[::-1] if sin_at == 0 else pair)

    return _Turn(torch.complex(cos.double(), sin.double()), at)


class _Probe:
    """One attention's forward, run again at other angles."""

    def __init__(self, module: Any, forward: Callable, args: Tuple, kwargs: Dict[str, Any]) -> None:
        self.module, self.forward = module, forward
        self.args, self.kwargs = args, kwargs
        self.turns: List[_Turn] = []
        self.outputs: List[Any] = []

    def run(self, cos: float, sin: float) -> Tuple[Any, Any]:
        """Queries and keys with this cos and sin. A cache would keep what is computed here: none is given."""
        import torch  # pylint: disable=import-outside-toplevel
        self.turns, self.outputs = [], []

        def other(value: Any) -> Any:
            found = _turn(value)
            if found is not None:
                self.turns.append(found)
                return found.at(cos, sin)
            if isinstance(value, (MutableMapping, list)):
                # Layers hand keys on to later ones in such a container: those of angle zero must not get there.
                return copy.copy(value)
            return None if hasattr(value, "get_seq_length") or hasattr(value, "update") else value

        def output(_module: Any, _inputs: Any, out: Any) -> Any:
            if isinstance(out, torch.Tensor) and out.dim() >= 3:
                self.outputs.append(out)
            found = _turn(out)
            return other(out) if found is not None else None

        hooks = [part.register_forward_hook(output) for part in self.module.modules() if part is not self.module]
        try:
            with torch.no_grad(), torch.random.fork_rng():
                return reached(self.forward, *map(other, self.args), **{name: other(x) for name, x in self.kwargs.items()})
        finally:
            for hook in hooks:
                hook.remove()


def before(module: Any, forward: Callable, args: Tuple, kwargs: Dict[str, Any], query: Any, key: Any,
           shared: bool) -> Optional[Before]:
    """Queries and keys before rotation of those that were handed on. None: the attention is given no cos and sin. Raises
    CaptureError where what it does with them is no rotation of pairs. shared: the keys are those of an earlier layer."""
    import torch  # pylint: disable=import-outside-toplevel
    probe = _Probe(module, forward, args, kwargs)
    try:
        q, k = probe.run(1, 0)
        turns, outputs = probe.turns, probe.outputs
        if not turns:
            return None
        kept = torch.equal(k, key)
        if torch.equal(q, query) and kept:
            return Before(query.detach(), key.detach(), None)
        quarter = probe.run(0, 1)[0]
    except CaptureError:
        raise
    except Exception as error:  # pylint: disable=broad-except # of the model: any
        raise CaptureError(f"{type(module).__name__} cannot be run at angle zero: {error}") from error
    first, second = _pairs(module, q, quarter)
    factor = _factor(module, [(q, query)] if kept else [(q, query), (k, key)], first, second)
    _compare(module, factor, turns, query.dtype)
    if kept:
        if not shared:
            raise CaptureError(f"{type(module).__name__} rotates its queries and not its keys")
        k = _undone(key, factor, first, second)
    pairing = _pairing(first, second)
    if pairing == "half" and _interleaved_source(q, outputs, first, second):
        q, k = (_in_source_order(x, first, second) for x in (q, k))
        pairing = "interleaved"
    return Before(q.detach(), k.detach(), pairing)


def _unit(dtype: Any) -> float:
    import torch  # pylint: disable=import-outside-toplevel
    return torch.finfo(dtype).eps / 2


def _pairs(module: Any, q: Any, quarter: Any) -> Tuple[Any, Any]:
    """Dimensions of each pair: a quarter turn makes (-b, a) of (a, b)."""
    import torch  # pylint: disable=import-outside-toplevel
    d = q.shape[-1]
    rows, turned = (x.double().reshape(-1, d)[-16:] for x in (q, quarter))
    size = rows.abs().amax()
    tolerance = 32 * _unit(q.dtype) * size
    still = (turned - rows).abs().amax(0) <= tolerance
    # Column by column, how far each dimension after the turn is from plus and minus each one before.
    plus, minus = ((turned[:, :, None] - sign * rows[:, None, :]).abs().amax(0) for sign in (1, -1))
    first = [a for a in range(d) if not still[a] and minus[a].min() <= tolerance]
    second = [int(minus[a].argmin()) for a in first]
    whole = sorted(first + second) == [a for a in range(d) if not still[a]]
    if not first or not whole or any(int(plus[b].argmin()) != a or plus[b, a] > tolerance for a, b in zip(first, second)):
        raise CaptureError(f"{type(module).__name__} does not rotate pairs of dimensions by its cos and sin")
    return torch.tensor(first), torch.tensor(second)


def _complex(x: Any, first: Any, second: Any) -> Any:
    import torch  # pylint: disable=import-outside-toplevel
    return torch.complex(x[..., first].double(), x[..., second].double())


def _factor(module: Any, sides: List[Tuple[Any, Any]], first: Any, second: Any) -> Any:
    """The complex number by which each token's pairs are multiplied, [batch, N, pairs]: the same for all heads."""
    import torch  # pylint: disable=import-outside-toplevel
    z, turned = (torch.cat([_complex(side[i].detach(), first, second) for side in sides], 1) for i in range(2))
    squares = (z.abs()**2).sum(1)
    factor = (z.conj() * turned).sum(1) / squares.clamp_min(torch.finfo(torch.float64).tiny)
    # Two products and a sum round by 3 u at most, a norm after them and the factor itself as much again: 16 u.
    allowed = 16 * _unit(sides[0][0].dtype) * (z.abs() * factor.abs()[:, None]) + torch.finfo(sides[0][0].dtype).tiny
    if not bool(((turned - factor[:, None] * z).abs() <= allowed).all()):
        raise CaptureError(f"{type(module).__name__}: no rotation makes its queries and keys of those at angle zero "
                           "(a norm or a scale by dimension after the rotation)")
    return factor


def _compare(module: Any, factor: Any, turns: List[_Turn], dtype: Any) -> None:
    """Refuses factors that are none of the model's own cos + i sin: one of its columns for each pair."""
    n = factor.shape[1]
    tokens = range(0, n, max(1, n // 64))
    for turn in turns:
        own = turn.factor.to(factor.device).to(factor.dtype)
        own = own.reshape(-1, *own.shape[-2:])
        if own.shape[1] == n:
            # Of each batch entry, and of each section of M-RoPE, which the attention picks from.
            columns = own[:, tokens].permute(0, 2, 1).reshape(-1, len(tokens))
            far = (factor[0, tokens].T[:, None] - columns[None]).abs().amax(-1).amin(1)
            if bool((far <= 32 * _unit(dtype) * columns.abs().max()).all()):
                return
    raise CaptureError(f"{type(module).__name__} rotates by other angles than its cos and sin")


def _undone(x: Any, factor: Any, first: Any, second: Any) -> Any:
    back = _complex(x.detach(), first, second) / factor[:, None]
    out = x.detach().clone()
    out[..., first], out[..., second] = back.real.to(x.dtype), back.imag.to(x.dtype)
    return out


def _pairing(first: Any, second: Any) -> str:
    low, high = (a.tolist() for a in (first.minimum(second), first.maximum(second)))
    start, count = min(low), len(low)
    if low == list(range(start, start + count)) and high == [a + count for a in low]:
        return "half"
    if low == list(range(start, start + 2 * count, 2)) and high == [a + 1 for a in low]:
        return "interleaved"
    return "other"


# ---- Models that rotate pairs that are side by side, and hand halves on ----

def _in_source_order(x: Any, first: Any, second: Any) -> Any:
    """The dimensions of pairs side by side, where their halves follow each other."""
    start, count = int(first.minimum(second).min()), len(first)
    out = x.clone()
    out[..., start:start + 2 * count:2] = x[..., start:start + count]
    out[..., start + 1:start + 2 * count:2] = x[..., start + count:start + 2 * count]
    return out


def _interleaved_source(q: Any, outputs: List[Any], first: Any, second: Any) -> bool:
    """Whether the outputs of the attention's own modules have the rotated dimensions side by side."""
    start, size = int(first.minimum(second).min()), 2 * len(first)
    row = q[0, 0, -1]
    there = [any(_contains(out[0], q.shape[2], x[start:start + size]) for out in outputs)
             for x in (row, _in_source_order(row, first, second))]
    return there == [False, True]


def _contains(out: Any, n: int, part: Any) -> bool:
    """Whether a row of the last of n tokens has these numbers in this order."""
    for axis in range(out.dim() - 1):
        rows = out.select(axis, n - 1) if out.shape[axis] == n else out[:0]
        if rows.shape[-1] >= len(part) and bool((rows.unfold(-1, len(part), 1) == part).all(-1).any()):
            return True
    return False
