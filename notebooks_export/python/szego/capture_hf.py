"""Queries, keys and logits of Hugging Face models, in the layout that `szego logits` reads.

    from szego.capture_hf import Capture
    with Capture(model, layers=[0, 5]) as capture:
        model(**inputs)
    capture.write("dump.safetensors")                # q, k before and after rotation
    capture.write("logits.safetensors", logits=True) # content and coupled logits, N x N
    capture.logits()                                 # the coupled ones as an array
    capture.spectra().values                         # their spectra, (layers, heads, N)

Then `szego logits dump.safetensors -o report/`. Every model works whose attention looks its function up in transformers'
attention interface, and those of the table in capture_families.py. Models that add rows to the tokens (GPT-2, BERT, OPT)
give their content in a second pass: `with capture.zeroed(): model(**inputs)`. docs/how-to/python.md says more.
"""
import argparse
import collections
import contextlib
import functools
import inspect
import operator
import re
import sys
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .attention import logits
from .batch import Spectra
from .choices import Array, Part, Path, Question
from .capture_families import FAMILIES, CaptureError, family_of, query_heads
from .capture_hooks import Hooks, Rotations, Taken, held, hooks_of, keys_seen, refuse
from .capture_masks import described
from .capture_rotation import before
from .errors import SzegoError
from .interface import Attention, Place, compiled, places, unseen, uses_interface, watched
from .safetensors import Entry, write as write_safetensors


#: Rows of positions that zeroed() sets to zero: modules with a weight, or parameters.
_POSITIONS = ("wpe", "position_embeddings", "position_embedding", "embed_positions")
_POSITIONS_PATTERN = re.compile(rf"(^|\.)({'|'.join(_POSITIONS)})(\.weight)?$")
#: Arguments of attentions whose keys come from other tokens.
_CROSS = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
SUPPORTED = ", ".join(family.name for family in FAMILIES)


class _Pass(NamedTuple):
    """One call of the model: arrays by layer and role, [batch, heads, N, d], and real tokens."""
    lengths: List[int]
    layers: Dict[int, Dict[str, np.ndarray]]


def _array(x) -> np.ndarray:
    """A tensor of any floating type on the host; half precision becomes single, which is exact."""
    import torch  # pylint: disable=import-outside-toplevel
    x = x.detach()
    return x.to("cpu", torch.float64 if x.dtype == torch.float64 else torch.float32).numpy().copy()


def _refuse_longer(tokens: int, keys: int) -> None:
    if keys > tokens:
        raise CaptureError(f"a call of {tokens} {'query' if tokens == 1 else 'queries'} against {keys} keys continues a cache "
                           "(generation): capture one pass over the whole sequence, such as model(**inputs)")


def _lengths(mask, batch: int, n: int) -> List[int]:
    """Real tokens of each sequence."""
    if mask is None:
        return [n] * batch
    shape = tuple(getattr(mask, "shape", ()))
    if shape != (batch, n):
        raise CaptureError(f"attention_mask is a {type(mask).__name__} of shape {shape}; [{batch}, {n}] is expected: one "
                           "number for each token of one pass over the whole sequence")
    real = _array(mask.double()) != 0
    lengths = real.sum(1)
    for row, length in zip(real, lengths):
        if not row[:length].all() or not length:
            raise CaptureError("attention_mask: padding stands before or between tokens; pad on the "
                               "right (tokenizer.padding_side = 'right')")
    return [int(length) for length in lengths]


# ---- What can be captured ----

def _is_known(cls: type) -> bool:
    return uses_interface(cls) or family_of(cls) is not None


def _attentions(model: Any, stack: Optional[str]) -> Tuple[List[Place], bool]:
    """The attentions of one stack, and whether the model has others."""
    found = places(model, known=_is_known)
    if not found:
        others = sorted({type(module).__name__ for _, module in model.named_modules()
                         if "attention" in type(module).__name__.lower()})
        raise CaptureError(f"{type(model).__name__} is not supported (attention: {', '.join(others) or 'none'}): it does not "
                           f"use the attention interface of transformers. Without it, supported are {SUPPORTED}. For other "
                           "models save q and k yourself, as docs/how-to/logits.md shows")
    counts = collections.Counter(place.stack for place in found)
    if stack is None and len(counts) > 1 or stack is not None and stack not in counts:
        stacks = ", ".join(f"'{name}' ({count})" for name, count in counts.items())
        raise CaptureError(f"{type(model).__name__} has no attentions '{stack}': stack= is one of {stacks}" if stack else
                           f"{type(model).__name__} has attentions of {len(counts)} kinds: choose one with stack=, of {stacks}")
    return (found if len(counts) == 1 else places(model, stack, _is_known)), len(counts) > 1


def _refuse_compiled(model: Any) -> None:
    for name, module in model.named_modules():
        if compiled(module):
            raise CaptureError(f"{name or type(model).__name__} is compiled (torch.compile), which hides its attentions: "
                               "give Capture the model before compilation")


# ---- The capture ----

class Capture:
    """Keeps the queries and keys of every call of the model within the block.

    layers: which layers, by the number in the attention's name (`model.layers.5.self_attn` is 5); None: all.
    heads: which query heads; None: all.
    positions: how many tokens from the first, or a slice of consecutive ones; None: all.
    stack: if the model has several kinds of attention (a vision tower, an encoder and a decoder), the name of one
        with * for the number, such as `model.decoder.layers.*.self_attn`.

    Every sequence of every call is one probe, cut to its real tokens. The model's outputs do not change, and
    nothing is left in it after the block.
    """

    def __init__(self, model: Any, layers: Optional[Sequence[int]] = None,
                 heads: Optional[Sequence[int]] = None,
                 positions: Union[None, int, slice] = None, stack: Optional[str] = None) -> None:
        self.model = model
        attentions, self._several = _attentions(model, stack)
        self.places = {place.layer: place for place in attentions}
        self.stack = next(iter(self.places.values())).stack
        self.layers = _chosen("layers", layers, list(self.places))
        self.heads = heads
        for layer in self.layers if heads is not None else ():
            self.heads = _chosen("heads", heads, range(query_heads(self.places[layer].module)))
        self.positions = slice(positions) if isinstance(positions, int) else positions or slice(None)
        if self.positions.step not in (None, 1):
            raise CaptureError("positions must be consecutive: lags between tokens would change")
        self.scales: Dict[int, float] = {}
        #: By layer, what its calls say: C of models that turn logits x into C tanh(x / C), the learned logits of a sink by
        #: head, which keys a query sees, and why content is missing.
        self.caps: Dict[int, Optional[float]] = {}
        self.sinks: Dict[int, np.ndarray] = {}
        self.masks: Dict[int, Optional[str]] = {}
        self.reasons: Dict[int, str] = {}
        self.pairings: Dict[int, Optional[str]] = {}
        self.passes: List[_Pass] = []
        self.content: List[_Pass] = []
        self._target = self.passes
        self._current: Optional[_Pass] = None
        self._mask: Any = None
        self._forwards: Dict[int, Tuple] = {}   # of interface layers that run: the forward and its arguments
        self._keys: Dict[int, weakref.ref] = {}  # keys of this pass by address: later layers may use them too
        self._undo: List = []

    @property
    def rotary(self) -> bool:
        """Whether a layer that was captured rotates, or is one without rotation of a model that does."""
        return any("q" in kept for one in self.passes for kept in one.layers.values())

    # -- Installing --

    def __enter__(self) -> "Capture":
        _refuse_compiled(self.model)
        try:
            self._wrap(self.model, self._model_forward)
            hooks = {layer: hooks_of(self.places[layer].module) for layer in self.layers
                     if not uses_interface(type(self.places[layer].module))}
            rotations = Rotations([one for one in hooks.values() if one])
            self._undo += rotations.install()
            for layer, one in hooks.items():
                refuse(self.places[layer].module)
                assert one is not None
                self._undo += one.install()
                self._wrap(one.module, functools.partial(self._hooked_forward, layer, one, rotations))
            if len(hooks) < len(self.layers):
                self._watch()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        while self._undo:
            self._undo.pop()()

    def _watch(self) -> None:
        for layer in self.layers:
            refuse(self.places[layer].module)
            self._wrap(self.places[layer].module, functools.partial(self._kept_arguments, layer))
        block = watched(self.model, self._seen, stack=self.stack)
        block.__enter__()
        self._undo.append(lambda: block.__exit__(None, None, None))

    def _wrap(self, module, replacement) -> None:
        """Sets module.forward, as PyTorch's own hooks see no keyword arguments in old versions."""
        original, own = module.forward, "forward" in vars(module)

        @functools.wraps(original)
        def forward(*args, **kwargs):
            return replacement(original, *args, **kwargs)

        module.forward = forward
        self._undo.append((lambda: setattr(module, "forward", original)) if own
                          else (lambda: vars(module).pop("forward")))

    # -- Passes --

    def _model_forward(self, original, *args, **kwargs):
        signature = inspect.signature(original)
        bound = signature.bind(*args, **kwargs).arguments
        for name, parameter in signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                bound = {**bound.pop(name, {}), **bound}
        tokens = next((bound[name] for name in ("input_ids", "inputs_embeds") if bound.get(name) is not None), None)
        if tokens is not None:
            _refuse_longer(tokens.shape[1], tokens.shape[1] + max(map(held, bound.values())))
        decoder = "decoder" in self.stack.split(".") and "decoder_attention_mask" in signature.parameters
        self._mask = bound.get("decoder_attention_mask" if decoder else "attention_mask")
        self._current = _Pass([], {})
        self._keys.clear()
        try:
            out = original(*args, **kwargs)
            missing = [layer for layer in self.layers if layer not in self._current.layers]
            if missing:
                raise CaptureError(f"the pass left layers {missing} out (a compiled model, or one that skips layers)")
            self._target.append(self._current)
        finally:
            self._current = None
        return out

    def _begins(self, layer: int) -> "_Pass":
        if self._current is None:
            raise CaptureError("call the model that was given to Capture, not a part of it")
        if layer in self._current.layers:
            raise CaptureError(f"{self.places[layer].name} ran twice in one pass (a layer that the model repeats, or parts "
                               "of a sequence one by one)")
        return self._current

    def _hooked_forward(self, layer, hooks: Hooks, rotations: Rotations, original, *args, **kwargs):
        if unseen():
            return original(*args, **kwargs)
        self._begins(layer)
        with rotations.of(hooks):
            out = original(*args, **kwargs)
        taken = hooks.take()
        n = taken.roles["q_coupled"].shape[-2]
        self._keep(layer, taken, keys_seen((*args, *kwargs.values()), layer, n) or n)
        return out

    def _kept_arguments(self, layer, original, *args, **kwargs):
        if not unseen():
            self._begins(layer)
        self._forwards[layer] = original, args, kwargs
        try:
            return original(*args, **kwargs)
        finally:
            self._forwards.pop(layer, None)

    def _seen(self, call: Attention) -> None:
        """One call of a layer of the stack, chosen or not."""
        earlier = self._keys.get(id(call.key))
        shared = earlier is not None and earlier() is call.key
        self._keys[id(call.key)] = weakref.ref(call.key)
        if call.layer not in self.layers:
            return
        self._begins(call.layer)
        if call.bias is not None:
            raise CaptureError(f"{call.name} adds a bias by position to its logits: they are no product q . k")
        if call.packed:
            raise CaptureError(f"{call.name}: sequences are packed into one, and no mask separates them: capture each by itself")
        self._refuse_cross(call)
        n, keys = call.query.shape[-2], call.key.shape[-2]
        _refuse_longer(n, keys)
        forward, args, kwargs = self._forwards[call.layer]
        roles, pairing, reason = {}, None, ""
        try:
            found = before(call.module, forward, args, kwargs, call.query, call.key, shared)
            if found is not None:
                roles, pairing = {"q": found.q, "k": found.k}, found.pairing
        except CaptureError as error:
            reason = str(error)
        roles.update(q_coupled=call.query.detach(), k_coupled=call.key.detach())
        mask = self.masks.get(call.layer) or described(call, self._lengths(len(call.query), n)[0])
        self._keep(call.layer, Taken(roles, call.scaling, pairing, call.cap, call.sinks, mask, reason), keys)

    def _refuse_cross(self, call: Attention) -> None:
        forward, args, kwargs = self._forwards[call.layer]
        given = inspect.signature(forward).bind(*args, **kwargs).arguments
        if any(given.get(name) is not None for name in _CROSS):
            raise CaptureError(f"{call.name}: cross-attention is not supported")

    def _keep(self, layer: int, taken: Taken, keys: int) -> None:
        batch, _, n, size = taken.roles["q_coupled"].shape
        _refuse_longer(n, keys)
        if n == 1 and any(max(earlier.lengths) > 1 for earlier in self._target):
            raise CaptureError("a call of one token after longer ones continues them (generation), or has one logit: "
                               "capture one pass over the whole sequence, such as model(**inputs)")
        current = self._begins(layer)
        lengths = self._lengths(batch, n)
        if not current.layers:
            current.lengths.extend(lengths)
        elif current.lengths != lengths:
            raise CaptureError("the layers see different tokens: capture them apart (layers=[...])")
        for known, value in ((self.caps, taken.cap), (self.masks, taken.mask), (self.pairings, taken.pairing)):
            known.setdefault(layer, value)  # type: ignore[attr-defined]
        if taken.reason:
            self.reasons[layer] = taken.reason
        if taken.sinks is not None:
            self.sinks[layer] = _array(taken.sinks).reshape(-1)
        scale = self.scales.setdefault(layer, taken.scale)
        current.layers[layer] = self._kept(taken.roles, scale * size**0.5)

    def _lengths(self, batch: int, n: int) -> List[int]:
        """Real tokens of each sequence. The mask that a model of several stacks is given may be of another one."""
        shape = tuple(getattr(self._mask, "shape", ()))
        if shape != (batch, n) and self._several:
            return [n] * batch
        return _lengths(self._mask, batch, n)

    def _kept(self, tensors: Dict[str, Any], factor: float) -> Dict[str, np.ndarray]:
        """Chosen positions and heads. The layout's scale is 1/sqrt(d): a model's own goes into q."""
        kept = {}
        queries = tensors["q_coupled"].shape[1]
        for role, tensor in tensors.items():
            which: Any = slice(None)
            if self.heads is not None:
                group = queries // tensor.shape[1]
                which = [head // group for head in self.heads]
            kept[role] = _array(tensor[:, which, self.positions])
            if role[0] == "q" and abs(factor - 1) > 1e-9:
                kept[role] *= kept[role].dtype.type(factor)
        return kept

    @contextlib.contextmanager
    def zeroed(self) -> "Iterator[Capture]":
        """Calls within give the content of models that add rows to the tokens: the same inputs with
        these rows zeroed. They must be the calls made before, in their order."""
        import torch  # pylint: disable=import-outside-toplevel
        if not self.passes:
            raise CaptureError("zeroed() repeats the calls of before: call the model first")
        tables = [weight for name, weight in self.model.named_parameters()
                  if _POSITIONS_PATTERN.search(name)]
        if self.reasons:
            raise CaptureError(f"content: {next(iter(self.reasons.values()))}")
        if self.rotary:
            raise CaptureError("the model adds no rows of positions to the tokens: queries and keys "
                               "before rotation are captured with the others")
        if not tables:
            raise CaptureError(f"the model has no rows of positions that are known ({', '.join(_POSITIONS)})")
        saved = [table.detach().clone() for table in tables]
        self._target = self.content
        try:
            with torch.no_grad():
                for table in tables:
                    table.zero_()
            yield self
        finally:
            self._target = self.passes
            with torch.no_grad():
                for table, weight in zip(tables, saved):
                    table.copy_(weight)

    # -- Results --

    def logits(self, probe: int = 0, kind: Part = "coupled", capped: bool = False) -> Array:
        """Logits of one sequence, [layers, heads, N, N], in the order of `self.layers` and of the
        chosen heads.

        probe: which sequence, counted over the calls and their batches.
        kind: "coupled" (with the encoding) or "content" (without it).
        capped: with the cap of models that have one (Gemma 2). Without it they are the products.
        """
        layers, (q, k) = self._sides(probe, kind)
        found = []
        for layer, cut in layers.items():
            product = _product(cut[q], cut[k])
            cap = self.caps[layer] if capped else None
            found.append(product if cap is None else (cap * np.tanh(product / cap)).astype(product.dtype))
        return self._stacked(found)

    def spectra(self, probe: int = 0, kind: Part = "coupled", *, question: Question = "eigenvalues", causal: bool = False,
                threads: Optional[int] = None) -> Spectra:
        """Spectra of the logits of one sequence, [layers, heads]: szego.spectra(capture.logits()) without rounding the
        logits or making N x N arrays, so that zeros by structure are exact. question, causal, threads: of szego.logits.
        Logits of a model that caps them are those without the cap."""
        layers, (q, k) = self._sides(probe, kind)
        sides = [self._stacked([cut[side] for cut in layers.values()]) for side in (q, k)]
        return logits(*sides, "nope", question=question, causal=causal, threads=threads)  # type: ignore[return-value]

    def _sides(self, probe: int, kind: str) -> Tuple[Dict[int, Dict[str, np.ndarray]], Tuple[str, str]]:
        """One sequence's arrays by layer, and which two of them make the logits."""
        if kind not in _SIDES:
            raise CaptureError(f"kind {kind!r}: 'coupled' or 'content'")
        probes = list(self._probes())
        layers = probes[_chosen("probe", [probe], range(len(probes)))[0]]
        bare = [layer for layer, roles in layers.items() if _SIDES[kind][0] not in roles]
        if bare:
            raise CaptureError("content: " + self.reasons.get(bare[0], "the model adds rows of positions to the tokens, or "
                               "hides how it rotates; in the first case repeat the calls within capture.zeroed()"))
        return layers, _SIDES[kind]

    @staticmethod
    def _stacked(found: List[np.ndarray]) -> np.ndarray:
        if len({x.shape for x in found}) > 1:
            raise CaptureError("the layers have different numbers of heads: capture them apart "
                               "(layers=[...])")
        return np.stack(found)

    def write(self, path: Path, logits: bool = False) -> None:
        """FILE.safetensors: queries and keys of every layer and probe, before and after the encoding
        (q, k, q_coupled, k_coupled: [heads, N, d], keys with their own heads), or, with `logits`,
        the logits (content, coupled: [heads, N, N]). If heads were chosen, one tensor per head.

        The metadata say what the arrays do not: source (the class), model (model_type), axes ("head,token,dim" or
        "head,query,key", without head where each has its tensor), pairing ("half" or "interleaved"; absent where
        nothing rotates, layers differ or pairs are others), stack, mask (which keys a query sees), base (if plain RoPE
        with it is the whole rotation), content_kind and logit_cap. `szego logits` reads axes, pairing and base of these;
        give it the mask and the cap."""
        entries = [entry for probe, layers in enumerate(self._probes())
                   for layer, cut in layers.items()
                   for entry in self._entries(layer, probe, cut, logits)]
        cap = next(filter(None, self.caps.values()), None)
        content = "zeroed" if self.content else "same_qk" if self.rotary else None
        last = "query,key" if logits else "token,dim"
        said = {"source": type(self.model).__name__, "content_kind": content, "logit_cap": repr(cap) if cap else None,
                "axes": last if self.heads is not None else f"head,{last}", "pairing": self._pairing(),
                "base": self._base(), "model": getattr(getattr(self.model, "config", None), "model_type", None),
                "stack": self.stack, "mask": self._masks()}
        metadata = {key: value for key, value in said.items() if value}
        write_safetensors(path, entries, metadata)

    def _masks(self) -> Optional[str]:
        """Which keys a query sees: one word where the layers agree, "0: causal; 1: causal, window 4" where they do not."""
        kinds = [self.masks.get(layer) for layer in self.layers]
        if len(set(kinds)) == 1:
            return kinds[0]
        return "; ".join(f"{layer}: {kind}" for layer, kind in zip(self.layers, kinds))

    def _pairing(self) -> Optional[str]:
        """Which dimensions rotate together; None: nothing rotates, layers differ, or pairs are of another kind."""
        found = set(self.pairings.values()) - {None}
        return found.pop() if len(found) == 1 and found <= {"half", "interleaved"} else None

    def _base(self) -> Optional[str]:
        """The base of the configuration, if plain RoPE of whole heads with it makes q_coupled and k_coupled of q and k
        in every layer. None: it does not, or the configuration has none."""
        config = getattr(self.model, "config", None)
        parameters = getattr(config, "rope_parameters", None) or {}
        scaling = {**(getattr(config, "rope_scaling", None) or {}), **parameters}
        base = parameters.get("rope_theta") or getattr(config, "rope_theta", None)
        if not self._pairing() or not base or scaling.get("rope_type", scaling.get("type", "default")) != "default":
            return None
        pairing = self._pairing()
        plain = all("q" in kept and _is_plain(kept[side], kept[f"{side}_coupled"], float(base), pairing, self.positions.start or 0)
                    for one in self.passes for kept in one.layers.values() for side in "qk")
        return repr(base) if plain else None

    def _probes(self) -> Iterator[Dict[int, Dict[str, np.ndarray]]]:
        """Of each probe, by layer and role, [heads, n, d]."""
        if not self.passes:
            raise CaptureError("no pass was captured: call the model within the block")
        if self.content and [p.lengths for p in self.content] != [p.lengths for p in self.passes]:
            raise CaptureError("the calls within zeroed() are not those made before: other lengths")
        probes = [(index, row, length) for index, one in enumerate(self.passes)
                  for row, length in enumerate(one.lengths)]
        for probe, (index, row, length) in enumerate(probes):
            start, stop, _ = self.positions.indices(length)
            if stop <= start:
                raise CaptureError(f"probe {probe} has {length} tokens: none at the chosen positions")
            layers = {}
            for layer in self.layers:
                roles = dict(self.passes[index].layers[layer])
                if self.content:
                    zeroed = self.content[index].layers[layer]
                    roles.update(q=zeroed["q_coupled"], k=zeroed["k_coupled"])
                layers[layer] = {role: x[row, :, :stop - start] for role, x in roles.items()}
            yield layers

    def _entries(self, layer: int, probe: int, cut: Dict[str, np.ndarray],
                 logits: bool) -> List[Entry]:
        arrays = {role: (x.shape, functools.partial(np.asarray, x)) for role, x in cut.items()}
        if logits:
            arrays = {kind: ((*cut[q].shape[:2], cut[k].shape[1]), functools.partial(_product, cut[q], cut[k]))
                      for kind, (q, k) in _SIDES.items() if q in cut}
        if layer in self.sinks:
            sinks = self.sinks[layer] if self.heads is None else self.sinks[layer][self.heads]
            arrays["sink_logit"] = sinks.shape, functools.partial(np.asarray, sinks.astype(next(iter(cut.values())).dtype))
        dtype = next(iter(cut.values())).dtype
        if self.heads is None:
            return [Entry(f"layers.{layer}.probes.{probe}.{role}", dtype, shape, make)
                    for role, (shape, make) in arrays.items()]
        return [Entry(f"layers.{layer}.heads.{head}.probes.{probe}.{role}", dtype, shape[1:],
                      functools.partial(lambda make, at: make()[at], make, at))
                for role, (shape, make) in arrays.items() for at, head in enumerate(self.heads)]


#: The sides whose product each kind of logits is.
_SIDES: Dict[str, Tuple[str, str]] = {"content": ("q", "k"), "coupled": ("q_coupled", "k_coupled")}


def _product(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Logits of every head, [heads, N, N], in double precision and then rounded once."""
    groups = q.shape[0] // k.shape[0]
    keys = np.repeat(k.astype(np.float64), groups, axis=0)
    return (q.astype(np.float64) @ keys.transpose(0, 2, 1) / np.sqrt(q.shape[-1])).astype(q.dtype)


def _is_plain(before: np.ndarray, after: np.ndarray, base: float, pairing: str, first: int) -> bool:
    """Whether plain RoPE makes `after` of `before`, [batch, heads, N, d], up to half precision; positions count from
    `first`. The first sequence tells."""
    x, y = before[0].astype(np.float64), after[0].astype(np.float64)
    n, d = x.shape[-2:]
    pairs = [(z[..., :d // 2], z[..., d // 2:]) if pairing == "half" else (z[..., 0::2], z[..., 1::2]) for z in (x, y)]
    angles = np.outer(np.arange(first, first + n), base ** (-2 * np.arange(d // 2) / d))
    want, got = (np.exp(1j * angle) * (a + 1j * b) for angle, (a, b) in zip((angles, 0 * angles), pairs))
    return bool(d % 2 == 0 and np.linalg.norm(want - got) <= 0.02 * np.linalg.norm(want))


def _chosen(what: str, numbers: Optional[Sequence[int]], there: Sequence[int]) -> List[int]:
    whole = list(there) == list(range(len(there)))
    which = f"from 0 to {len(there) - 1}" if whole else f"of {', '.join(map(str, there))}"
    try:
        chosen = list(there) if numbers is None else [operator.index(one) for one in numbers]
    except TypeError:
        raise CaptureError(f"{what} {numbers!r}: a list of whole numbers {which}") from None
    if not set(chosen) <= set(there) or len(set(chosen)) != len(chosen) or not chosen:
        raise CaptureError(f"{what} {chosen}: each once, {which}")
    return chosen


# ---- Command line ----

def main(arguments: Optional[Sequence[str]] = None) -> int:
    """python3 -m szego.capture_hf MODEL --text TEXT -o dump.safetensors"""
    def numbers(text):
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(prog="szego-capture-hf", description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a folder, or a name that transformers knows")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--text", help="the sequence")
    given.add_argument("--file", help="a text file: the sequence")
    given.add_argument("--tokens", type=numbers, help="token numbers, such as 5,17,3: no tokenizer")
    parser.add_argument("--layers", type=numbers, help="such as 0,5 (default: all)")
    parser.add_argument("--heads", type=numbers, help="query heads (default: all)")
    parser.add_argument("--positions", type=int, help="how many of the first tokens (default: all)")
    parser.add_argument("--stack", help="of a model with several kinds of attention, such as 'layers.*.self_attn'")
    parser.add_argument("--logits", action="store_true", help="N x N logits in place of q and k")
    parser.add_argument("-o", "--output", required=True, help="FILE.safetensors")
    options = parser.parse_args(arguments)
    try:
        _capture(options)
    except (SzegoError, OSError, ImportError) as error:
        print(f"szego-capture-hf: {error}", file=sys.stderr)
        return 1
    return 0


def _capture(options) -> None:
    import torch  # pylint: disable=import-outside-toplevel
    import transformers  # pylint: disable=import-outside-toplevel
    model = transformers.AutoModel.from_pretrained(options.model).eval()
    if options.tokens:
        inputs = {"input_ids": torch.tensor([options.tokens])}
    else:
        text = options.text
        if text is None:
            with open(options.file, encoding="utf-8") as file:
                text = file.read()
        inputs = transformers.AutoTokenizer.from_pretrained(options.model)(text, return_tensors="pt")
    with Capture(model, options.layers, options.heads, options.positions, options.stack) as capture:
        with torch.no_grad():
            model(**inputs)
            if not capture.rotary:
                try:
                    with capture.zeroed():
                        model(**inputs)
                except CaptureError as error:
                    print(f"szego-capture-hf: coupled logits alone: {error}", file=sys.stderr)
    capture.write(options.output, options.logits)


if __name__ == "__main__":
    sys.exit(main())
