"""Logits of queries and keys in this process: their spectra, and how an encoding contracts them.

q and k have the axes [..., heads, n, d], as attention of PyTorch and transformers has them: [batch, heads, tokens, size].
Leading axes and heads come back as the leading axes of the result; of one head, (n, d), they are none. Nothing tells this
order from [batch, tokens, heads, size]: if the third axis from the end is longer than the second, a SzegoWarning says how
it was read. k may have fewer heads, of which each serves as many consecutive query heads (grouped queries).
"""
import contextlib
import warnings
from ctypes import byref as _ref
from typing import List, Optional, Sequence, Tuple, Union

import numpy as np

from . import layout, native
from .arguments import array as _array, enum, flag, integer, keywords, spec as as_spec, text
from .batch import Spectra, gathered, solved
from .choices import ArrayLike, Integer, Part, Question, Want
from .compute import computed, contracted, fields_of, run, spectra_options
from .errors import ArgumentError, SzegoWarning
from .native import handle
from .results import Contraction, Spectrum
from .stack import Stack


class Queries:
    """The queries and keys that a caller gave, and how their logits are made; checked as far as Python can. It is made
    in the caller's thread, so that a warning names the caller's line.

    q: (count, n, d); k: (key heads, n, d); shape: of the leading axes that the answer has, () of one head alone."""

    def __init__(self, q, k, spec, head, causal, unscaled, exact):
        self.spec, self.head = as_spec(spec), None if head is None else integer(head, "head", 0)
        self.options = layout.LogitsOptions(causal=flag(causal, "causal"), unscaled=flag(unscaled, "unscaled"))
        exact = flag(exact, "exact")
        (q, self.dtype), (k, _) = _array(q, "q", 2, None, exact), _array(k, "k", 2, None, exact)
        self.group = _sharing(q.shape, k.shape)
        for name, array in (("q", q), ("k", k)):
            if array.dtype != np.float64:
                raise ArgumentError(f"{name}: {array.dtype}; queries and keys are real", "SZG_EINVAL")
        self.arrays = {"q": q, "k": k}  # for messages
        self.stacked, self.given, self.heads = q.ndim > 2, q.shape, 1
        if self.stacked:
            _tell_reading(q.shape)
            if self.head is not None:
                if self.head >= q.shape[-3]:
                    raise ArgumentError(f"q: shape {q.shape} has no head {self.head}", "SZG_EINVAL")
                q, k, self.group = q[..., self.head, :, :], k[..., self.head // self.group, :, :], 1
            else:
                self.heads = q.shape[-3]
        self.shape = q.shape[:-2]
        self.q, self.k = (np.ascontiguousarray(one.reshape(-1, *one.shape[-2:])) for one in (q, k))

    def _of_encoding(self, encoding) -> Sequence[int]:
        """Which head of the encoding each head of q has."""
        library = native.library()
        heads, name = library.szg_encoding_heads(encoding), text(library.szg_encoding_spec(encoding))
        if self.head is not None:
            return [0 if heads == 1 and self.stacked else self.head]
        if not self.stacked and heads > 1:
            raise ArgumentError(f"{name} has {heads} heads, and q of shape {self.given} is one: head=H says which",
                                "SZG_EINVAL")
        if heads not in (1, self.heads):
            raise ArgumentError(f"{name} has {heads} heads, and q of shape {self.given} {self.heads}, on the third axis "
                                "from the end: heads stand before tokens", "SZG_EINVAL")
        return range(self.heads) if heads > 1 else [0] * self.heads

    @contextlib.contextmanager
    def opened(self, context):
        """(szg_logits of each head, what their content is) for a block."""
        with contextlib.ExitStack() as stack:
            def opened(opener, closer, *arguments):
                return stack.enter_context(handle(context, opener, closer, *arguments))
            encoding, made = opened("szg_encoding_parse", "szg_encoding_close", self.spec), []
            heads, (n, d) = self._of_encoding(encoding), self.q.shape[1:]
            for i, q in enumerate(self.q):
                content = opened("szg_content_open_qk", "szg_content_close", n, d, q.ctypes.data, d,
                                 self.k[i // self.group].ctypes.data, d)
                made.append(opened("szg_logits_open", "szg_logits_close", encoding, heads[i % self.heads], content, n,
                                   _ref(self.options)))
            yield made, text(native.library().szg_contraction_content_kind(encoding))

    def answer(self, each: list):
        """The results of all heads with their leading axes."""
        return Stack.of(each, self.shape) if self.shape else each[0]


def _sharing(q: Tuple[int, ...], k: Tuple[int, ...]) -> int:
    """How many query heads share a key head, by the shapes."""
    alike = len(q) == len(k) and q[-2:] == k[-2:] and q[:-3] == k[:-3]
    if not alike or len(q) > 2 and q[-3] % k[-3]:
        raise ArgumentError(f"q has shape {q}, k {k}: both need one shape [..., heads, tokens, size]; k alone may have "
                            "fewer heads, which divide those of q", "SZG_EINVAL")
    return q[-3] // k[-3] if len(q) > 2 else 1


def _tell_reading(shape: Tuple[int, ...]) -> None:
    heads, n, _ = shape[-3:]
    if heads > n:
        warnings.warn(f"q has shape {shape}, which is read as {heads} heads of {n} tokens: more heads than tokens. If "
                      f"it has {heads} tokens of {n} heads, pass q.swapaxes(-3, -2), and k likewise", SzegoWarning,
                      stacklevel=5)


@keywords
def logits(q: ArrayLike, k: ArrayLike, spec: str, *, part: Part = "coupled", question: Question = "eigenvalues",
           want: Want = "all", head: Optional[Integer] = None, causal: bool = False, unscaled: bool = False,
           exact: bool = False, threads: Optional[int] = None) -> Union[Spectrum, Spectra]:
    """The spectrum of the logits that queries and keys make with an encoding, before softmax.

        szego.logits(q, k, "rope:dim=64,pairing=half")        # q, k of a Hugging Face model, before the rotation
        szego.logits(q, k, "nope").values                     # (batch, heads, n, d) -> (batch, heads, n)

    q, k: real, shape (n, d), or [..., heads, n, d]: every head, or `head` of them; k may have fewer heads. The module's
    words say how axes are read. A head is the encoding's head too (slopes, tables), unless the encoding treats all heads
    alike. exact: refuse arrays that need a copy.
    spec: a rotary one names its pairing, which q and k do not tell: "half" of Llama-style models of Hugging Face,
    "interleaved" of the original RoPE, GPT-J and Cohere. szego.rope(like=model.config) has the model's own.
    part: "coupled" (everything) or "content" (without position, rotation and bias). causal: zeros above the diagonal.
    unscaled: without the factor 1/sqrt(d). The sum is <szego/coupling.h>'s (claims B1c, E12c); positions of additive encodings enter
    unprojected. The logits stay factored: no n x n array is made where the structure affords it.
    """
    chosen = enum(layout.QUESTIONS, "question", question), spectra_options(want)
    which = enum(layout.PARTS, "part", part)
    given, source = Queries(q, k, spec, head, causal, unscaled, exact), f"{part} logits of {spec}"

    def work(context):
        with given.opened(context) as (opened, _):
            views = [native.library().szg_logits_matrix(one, which) for one in opened]
            return _spectra(context, source, views, chosen, given.shape, given.dtype)
    return run(work, threads, given.arrays)


def _spectra(context, source: str, views: list, chosen, shape: Tuple[int, ...], dtype: str) -> Union[Spectrum, Spectra]:
    """The Spectrum of one szg_matrix, or the Spectra of several."""
    asked, options = chosen
    if not shape:
        return Spectrum(**computed(context, source, views[0], chosen), input_dtype=dtype)
    with solved(context, (layout.Matrix * len(views))(*views), asked, options) as made:
        each = [Spectrum(**fields_of(f"{source}, {', '.join(map(str, at))}", one), input_dtype=dtype)
                for at, one in zip(np.ndindex(*shape), made)]
    return gathered(each, shape, options.want == layout.WANTS["range"][1], source)


@keywords
def contraction(q: ArrayLike, k: ArrayLike, spec: str, *, head: Optional[Integer] = None, causal: bool = False,
                unscaled: bool = False, exact: bool = False,
                threads: Optional[int] = None) -> "Union[Contraction, Stack[Contraction]]":
    """Coupled against content logits of queries and keys: how the encoding changes width, norm and nuclear norm,
    and whether it contracts (szg_contraction_compute, claim B3c). Arguments are those of `logits`: a rotary SPEC
    names its pairing, and of several heads `head` names one.

        szego.contraction(q, k, "rope:dim=64,pairing=half", head=3).width
        szego.contraction(q, k, "rope:dim=64,pairing=half").width     # (batch, heads, n, d) -> (batch, heads)
    """
    given = Queries(q, k, spec, head, causal, unscaled, exact)

    def work(context):
        with given.opened(context) as (opened, kind):
            each: List[Contraction] = []
            for one in opened:
                sides = (native.library().szg_logits_matrix(one, layout.PARTS[part][1]) for part in ("content", "coupled"))
                each.append(contracted(context, spec, *sides, kind, given.dtype))
            return given.answer(each)
    return run(work, threads, given.arrays)


@keywords
def factored(a: ArrayLike, b: ArrayLike, *, question: Question = "eigenvalues", want: Want = "all", exact: bool = False,
             threads: Optional[int] = None) -> Union[Spectrum, Spectra]:
    """The spectrum of A B^T by its factors: no n x n array is made, and n - d zeros are known by structure.

        szego.factored(w_q, w_k, question="singular")         # W_Q^T W_K of (model size, head size)

    a, b: real, of one shape (n, d), or (..., n, d), whose leading axes come back. question, want: as of szego.spectrum.
    exact: refuse arrays that need a copy. Solvers: factored matrices of szg_spectrum_compute in <szego/spectrum.h>.
    """
    chosen = enum(layout.QUESTIONS, "question", question), spectra_options(want)
    exact = flag(exact, "exact")
    (a, dtype), (b, _) = _array(a, "a", 2, None, exact), _array(b, "b", 2, None, exact)
    if a.shape != b.shape or (a.dtype, b.dtype) != (np.float64, np.float64):
        raise ArgumentError(f"a has shape {a.shape} and type {a.dtype}, b {b.shape} and {b.dtype}: both are real and of "
                            "one shape", "SZG_EINVAL")
    (n, d), arrays = a.shape[-2:], [one.reshape(-1, *one.shape[-2:]) for one in (a, b)]

    def work(context):
        views = [native.library().szg_matrix_factored(_ref(layout.Factored(
            n=n, d=d, a=one.ctypes.data, lda=d, b=other.ctypes.data, ldb=d))) for one, other in zip(*arrays)]
        return _spectra(context, "A B^T", views, chosen, a.shape[:-2], dtype)
    return run(work, threads, {"a": a, "b": b})
