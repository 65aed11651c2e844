"""Queries, keys and logits of Hugging Face models, in the layout that `szego logits` reads.

    from szego.capture_hf import Capture
    with Capture(model, layers=[0, 5]) as capture:
        model(**inputs)
    capture.write("dump.safetensors")                # q, k before and after rotation
    capture.write("logits.safetensors", logits=True) # content and coupled logits, N x N
    capture.logits()                                 # the coupled ones as an array
    capture.spectra().values                         # their spectra, (layers, heads, N)

Then `szego logits dump.safetensors -o report/`. The table in capture_families.py has the models that
are supported. Models that add rows to the tokens (GPT-2, BERT, RoBERTa, DistilBERT) give their content
in a second pass: `with capture.zeroed(): model(**inputs)`. docs/how-to/python.md says more.
"""
import argparse
import contextlib
import functools
import inspect
import operator
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .attention import logits
from .batch import Spectra
from .choices import Array, Part, Path, Question
from .capture_families import (FAMILIES, CaptureError, Family, attribute, family_of, query_heads,
                               unknown)
from .errors import SzegoError
from .safetensors import Entry, write as write_safetensors


#: Embeddings of positions that zeroed() sets to zero.
_POSITIONS = ("wpe", "position_embeddings")
SUPPORTED = ", ".join(family.name for family in FAMILIES)


def _refuse(module, family: Family) -> None:
    if getattr(module, "is_cross_attention", False):
        raise CaptureError(f"{type(module).__name__}: cross-attention is not supported")
    if getattr(module, "position_embedding_type", "absolute") not in ("absolute", None):
        raise CaptureError(f"{type(module).__name__}: position_embedding_type "
                           f"{module.position_embedding_type} adds terms that are no product q . k")
    if not family.cap and getattr(getattr(module, "config", None), "attn_logit_softcapping", None):
        raise CaptureError(f"{type(module).__name__} caps its logits: they are no product q . k")


# ---- Hooks ----

class _Pass(NamedTuple):
    """One call of the model: arrays by layer and role, [batch, heads, N, d], and real tokens."""
    lengths: Sequence[int]
    layers: Dict[int, Dict[str, np.ndarray]]


class _Hooks:
    """What one attention module lets out while its forward runs."""

    def __init__(self, module):
        self.module = module
        self.family = family_of(module)
        self.seen: Dict[str, object] = {}
        self.undo: List = []

    def install(self) -> None:
        _refuse(self.module, self.family)
        for name in self.family.outputs + self.family.norms:
            part = getattr(self.module, name, None)
            if part is not None:
                hook = functools.partial(self._let_out, name)
                self.undo.append(part.register_forward_hook(hook).remove)

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

    def take(self) -> Dict[str, object]:
        """Tensors by role, of the forward that just ran."""
        seen, self.seen = self.seen, {}
        if not self.family.rotates:
            q, k = self._whole(seen)
            return {"q_coupled": q, "k_coupled": k}
        if self.family.still and not attribute(self.module, self.family.still):
            before = after = self._whole(seen)
        elif len(seen.get("before", ())) != 2:
            raise unknown(self.module, f"did not call {' or '.join(self.family.rotates)}")
        else:
            before, after = (seen[role][::-1] if self.family.alone else seen[role]
                             for role in ("before", "after"))
            if self.family.whole is not None:
                whole = self._whole(seen)
                before, after = whole, [self._joined(*one) for one in zip(whole, before, after)]
        (q, k), (q_coupled, k_coupled) = before, after
        return {"q": q, "k": k, "q_coupled": q_coupled, "k_coupled": k_coupled}

    def _whole(self, seen):
        try:
            return self.family.whole(self.module, seen)
        except KeyError as missing:
            raise unknown(self.module, f"did not call {missing}") from None

    def _joined(self, whole, before, after):
        """The whole heads with what was rotated in its place."""
        size, turned = whole.shape[-1], before.shape[-1]
        place = slice(turned) if self.family.turned == "first" else slice(size - turned, size)
        # What was rotated must be what the projections say, or this is another model.
        if not whole[..., place].equal(before.expand_as(whole[..., place])):
            raise unknown(self.module, f"does not rotate the {self.family.turned} dimensions of its heads")
        out = whole.clone()
        out[..., place] = after
        return out


def _array(x) -> np.ndarray:
    """A tensor of any floating type on the host; half precision becomes single, which is exact."""
    import torch  # pylint: disable=import-outside-toplevel
    x = x.detach()
    return x.to("cpu", torch.float64 if x.dtype == torch.float64 else torch.float32).numpy().copy()


# ---- Passes that go on from earlier tokens ----
# Versions of transformers hand caches on under different names: what counts is what an argument is.

def _held(argument, layer: int = 0) -> int:
    """Tokens that a cache holds: an object of transformers, or a layer's own (k, v), a pair of each in old versions."""
    if hasattr(argument, "get_seq_length"):
        return int(argument.get_seq_length(layer))
    if isinstance(argument, (list, tuple)) and argument and isinstance(argument[0], (list, tuple)):
        shapes = [getattr(tensor, "shape", ()) for pair in argument if pair is not None for tensor in pair]
        return max((shape[-2] for shape in shapes if len(shape) == 4), default=0)
    return 0


def _refuse_longer(tokens: int, keys: int) -> None:
    if keys > tokens:
        raise CaptureError(f"a call of {tokens} {'query' if tokens == 1 else 'queries'} against {keys} keys continues a cache "
                           "(generation): capture one pass over the whole sequence, such as model(**inputs)")


def _keys_seen(arguments, layer: int, tokens: int) -> int:
    """Keys of an attention that ran: those that its cache holds now, or the mask's columns where none is to be seen."""
    held = max((_held(one, layer) for one in arguments), default=0)
    masks = [one.shape for one in arguments if getattr(one, "ndim", 0) == 4 and one.shape[-2] == tokens]
    return held or max((shape[-1] for shape in masks), default=0)


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


# ---- The capture ----

class Capture:
    """Keeps queries and keys of every call of the model within the block.

    layers: which, counted from 0 in the order of the model; None: all.
    heads: which query heads; None: all.
    positions: how many of the first tokens, or a slice of them; None: all.

    Every sequence of a batch, of call after call, is one probe, cut to its real tokens. Nothing of the
    model changes, and it is as before once the block is left.
    """

    def __init__(self, model: Any, layers: Optional[Sequence[int]] = None,
                 heads: Optional[Sequence[int]] = None,
                 positions: Union[None, int, slice] = None) -> None:
        self.model = model
        attention = [module for module in model.modules() if family_of(module)]
        if not attention:
            others = sorted({type(module).__name__ for module in model.modules()
                             if "attention" in type(module).__name__.lower()})
            raise CaptureError(f"{type(model).__name__} is not supported (attention: "
                               f"{', '.join(others) or 'none'}); supported are {SUPPORTED}. Of other "
                               "models write q and k yourself: docs/how-to/logits.md shows how")
        self.layers = _chosen("layers", layers, len(attention))
        self.hooks = {layer: _Hooks(attention[layer]) for layer in self.layers}
        self.rotary = bool(family_of(attention[0]).rotates)
        self.heads = heads
        for layer in self.layers if heads is not None else ():
            self.heads = _chosen("heads", heads, query_heads(attention[layer]))
        self.positions = slice(positions) if isinstance(positions, int) else positions or slice(None)
        if self.positions.step not in (None, 1):
            raise CaptureError("positions must be consecutive: lags between tokens would change")
        self.scales: Dict[int, float] = {}
        #: By layer, C of models that turn logits x into C tanh(x / C); None where they do not.
        self.caps: Dict[int, Optional[float]] = {
            layer: getattr(attention[layer].config, hooks.family.cap) if hooks.family.cap else None
            for layer, hooks in self.hooks.items()}
        self.passes: List[_Pass] = []
        self.content: List[_Pass] = []
        self._target = self.passes
        self._current: Optional[_Pass] = None
        self._running: Optional[_Hooks] = None
        self._undo: List = []

    # -- Installing --

    def __enter__(self) -> "Capture":
        try:
            self._wrap(self.model, self._model_forward)
            for layer, hooks in self.hooks.items():
                hooks.install()
                self._undo += hooks.undo
                self._wrap(hooks.module, functools.partial(self._layer_forward, layer))
            if self.rotary:
                for name, functions in {(type(hooks.module).__module__, hooks.family.rotates)
                                        for hooks in self.hooks.values()}:
                    self._wrap_rotations(sys.modules[name], functions)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        while self._undo:
            self._undo.pop()()

    def _wrap(self, module, replacement) -> None:
        """Sets module.forward, as PyTorch's own hooks see no keyword arguments in old versions."""
        original, own = module.forward, "forward" in vars(module)

        @functools.wraps(original)
        def forward(*args, **kwargs):
            return replacement(original, *args, **kwargs)

        module.forward = forward
        self._undo.append((lambda: setattr(module, "forward", original)) if own
                          else (lambda: vars(module).pop("forward")))

    def _wrap_rotations(self, module, names: Sequence[str]) -> None:
        there = [name for name in names if hasattr(module, name)]
        if not there:
            raise CaptureError(f"{module.__name__} has no {' or '.join(names)}: this version of "
                               "transformers is not known")
        for name in there:
            self._wrap_rotation(module, name)

    def _wrap_rotation(self, module, name: str) -> None:
        original = getattr(module, name)

        @functools.wraps(original)
        def rotate(*args, **kwargs):
            after = original(*args, **kwargs)
            if self._running is not None:
                self._running.rotated(args[:2], after)
            return after

        setattr(module, name, rotate)
        self._undo.append(lambda: setattr(module, name, original))

    # -- Passes --

    def _model_forward(self, original, *args, **kwargs):
        signature = inspect.signature(original)
        bound = signature.bind(*args, **kwargs).arguments
        for name, parameter in signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                bound = {**bound.pop(name, {}), **bound}
        tokens = bound.get("input_ids")
        tokens = bound.get("inputs_embeds") if tokens is None else tokens
        if tokens is None:
            raise CaptureError("the model was called without input_ids or inputs_embeds")
        batch, n = tokens.shape[:2]
        _refuse_longer(n, n + max(map(_held, bound.values())))
        if n == 1 and any(max(earlier.lengths) > 1 for earlier in self._target):
            raise CaptureError("a call of one token after longer ones continues them (generation), or has one logit: "
                               "capture one pass over the whole sequence, such as model(**inputs)")
        self._current = _Pass(_lengths(bound.get("attention_mask"), batch, n), {})
        try:
            out = original(*args, **kwargs)
            if set(self._current.layers) != set(self.layers):
                raise CaptureError("the pass left layers out")
            self._target.append(self._current)
        finally:
            self._current = None
        return out

    def _layer_forward(self, layer, original, *args, **kwargs):
        if self._current is None:
            raise CaptureError("call the model that was given to Capture, not a part of it")
        if layer in self._current.layers:
            raise CaptureError("a layer ran twice in one pass (gradient checkpointing?)")
        hooks = self._running = self.hooks[layer]
        hooks.seen.clear()  # of a pass that failed
        try:
            out = original(*args, **kwargs)
        finally:
            self._running = None
        tensors = hooks.take()
        n = tensors["q_coupled"].shape[-2]
        _refuse_longer(n, _keys_seen((*args, *kwargs.values()), layer, n))
        self._current.layers[layer] = self._kept(layer, tensors)
        return out

    def _kept(self, layer: int, tensors) -> Dict[str, np.ndarray]:
        """Chosen positions and heads. The layout's scale is 1/sqrt(d): a model's own goes into q."""
        size = next(iter(tensors.values())).shape[-1]
        hooks = self.hooks[layer]
        scale = self.scales.setdefault(layer, hooks.family.scale(hooks.module, size))
        factor = scale * size**0.5
        kept = {}
        queries = next(x for role, x in tensors.items() if role[0] == "q").shape[1]
        for role, tensor in tensors.items():
            which = slice(None)
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
        tables = [module for name, module in self.model.named_modules()
                  if name.rsplit(".", 1)[-1] in _POSITIONS]
        if self.rotary or not tables:
            raise CaptureError("the model adds no rows of positions to the tokens: queries and keys "
                               "before rotation are captured with the others")
        saved = [table.weight.detach().clone() for table in tables]
        self._target = self.content
        try:
            with torch.no_grad():
                for table in tables:
                    table.weight.zero_()
            yield self
        finally:
            self._target = self.passes
            with torch.no_grad():
                for table, weight in zip(tables, saved):
                    table.weight.copy_(weight)

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
        layers = probes[_chosen("probe", [probe], len(probes))[0]]
        if _SIDES[kind][0] not in layers[self.layers[0]]:
            raise CaptureError("content: the model adds rows of positions to the tokens; repeat the "
                               "calls within capture.zeroed()")
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
        nothing rotates), base (where plain RoPE with it is the whole rotation), content_kind and logit_cap."""
        entries = [entry for probe, layers in enumerate(self._probes())
                   for layer, cut in layers.items()
                   for entry in self._entries(layer, probe, cut, logits)]
        cap = next(filter(None, self.caps.values()), None)
        content = "zeroed" if self.content else "same_qk" if self.rotary else None
        last = "query,key" if logits else "token,dim"
        said = {"source": type(self.model).__name__, "content_kind": content, "logit_cap": repr(cap) if cap else None,
                "axes": last if self.heads is not None else f"head,{last}", "pairing": self._pairing(),
                "base": self._base(), "model": getattr(getattr(self.model, "config", None), "model_type", None)}
        metadata = {key: value for key, value in said.items() if value}
        write_safetensors(path, entries, metadata)

    def _pairing(self) -> Optional[str]:
        """Which dimensions rotate together; None: nothing rotates."""
        if not self.rotary:
            return None
        hooks = next(iter(self.hooks.values()))
        return hooks.family.pairing(hooks.module)

    def _base(self) -> Optional[str]:
        """The base of the configuration, if plain RoPE of whole heads with it makes q_coupled and k_coupled of q and k
        in every layer. None: it does not, or the configuration has none."""
        config = getattr(self.model, "config", None)
        parameters = getattr(config, "rope_parameters", None) or {}
        scaling = {**(getattr(config, "rope_scaling", None) or {}), **parameters}
        base = parameters.get("rope_theta") or getattr(config, "rope_theta", None)
        if not self.rotary or not base or scaling.get("rope_type", scaling.get("type", "default")) != "default":
            return None
        pairing = self._pairing()
        plain = all(_is_plain(kept[side], kept[f"{side}_coupled"], float(base), pairing, self.positions.start or 0)
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


def _chosen(what: str, numbers: Optional[Sequence[int]], count: int) -> List[int]:
    try:
        chosen = list(range(count)) if numbers is None else [operator.index(one) for one in numbers]
    except TypeError:
        raise CaptureError(f"{what} {numbers!r}: a list of whole numbers from 0 to {count - 1}") from None
    bad = [number for number in chosen if not 0 <= number < count]
    if bad or len(set(chosen)) != len(chosen) or not chosen:
        raise CaptureError(f"{what} {chosen}: each once, from 0 to {count - 1}")
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
    with Capture(model, options.layers, options.heads, options.positions) as capture:
        with torch.no_grad():
            model(**inputs)
            if not capture.rotary:
                with capture.zeroed():
                    model(**inputs)
    capture.write(options.output, options.logits)


if __name__ == "__main__":
    sys.exit(main())
