"""What the softmax makes of logits, in this process: the largest of them, entropy, sinks, norms."""
import ctypes
import math
import numbers
from ctypes import byref as _ref
from dataclasses import dataclass
from typing import Optional, Sequence, Union

import numpy as np

from . import layout, native
from .arguments import enum, flag, integer, keywords
from .attention import Queries
from .choices import ArrayLike, Integer, Part, Precision, chosen
from .compute import run
from .display import Shown
from .errors import ArgumentError
from .stack import Stack
from .tabled import Framed


@dataclass(frozen=True, eq=False, repr=False)
class LogitsStatistics(Framed, Shown):
    """The softmax of one head's n x n logits: queries are rows, keys columns, tokens count from 0.

    largest, smallest: of the logits that the mask leaves, before the soft cap; with their queries and keys.
    precision: "single" or "double", of the products of queries and keys; error: each logit is within it of the exact
        one. largest and smallest are products in double precision in either case.
    weight_error: each entropy and share x is within weight_error x + (n + 8) 2**-51 of the exact one.
    entropy_mean: of the attention weights of a query, in nats; entropy_normalised: divided by the logarithm of
        their number; entropy_min, entropy_max: over the queries with two weights or more.
    first_share: mean weight of token 0 over the queries after it; sink_share: of the declared sinks together,
        over the queries after the last; learned_share: of the learned sink, over all queries.
    q_norm_max, q_norm_rms, k_norm_max, k_norm_rms: norms of the queries (without the scale) and keys.
    What does not apply is NaN, and its query None.
    """
    source: str
    n: int
    largest: float
    largest_query: int
    largest_key: int
    smallest: float
    smallest_query: int
    smallest_key: int
    error: float
    entropy_mean: float
    entropy_normalised: float
    entropy_min: float
    entropy_min_query: Optional[int]
    entropy_max: float
    entropy_max_query: Optional[int]
    first_share: float
    sink_share: float
    learned_share: float
    q_norm_max: float
    q_norm_rms: float
    k_norm_max: float
    k_norm_rms: float
    precision: str
    weight_error: float
    input_dtype: Optional[str] = None

    def __repr__(self) -> str:
        return (f"<szego.LogitsStatistics of {self.source}, n={self.n}: largest {self.largest:.6g}, "
                f"entropy {self.entropy_mean:.6g}, first token {self.first_share:.6g}>")


@keywords
def logits_statistics(q: ArrayLike, k: ArrayLike, spec: str, *, part: Part = "coupled", head: Optional[Integer] = None,
                      causal: bool = False, unscaled: bool = False, soft_cap: Optional[float] = None, sinks: Sequence[int] = (),
                      sink_logit: Optional[float] = None, precision: Precision = "auto", exact: bool = False,
                      threads: Optional[int] = None) -> "Union[LogitsStatistics, Stack[LogitsStatistics]]":
    """Largest logit, entropy and sinks of the softmax of the logits that queries and keys make with an encoding.

        szego.logits_statistics(q, k, "rope:dim=64,pairing=half", head=3, causal=True).entropy_mean

    q, k, spec, part, head, unscaled and exact are those of `logits`: a rotary SPEC names its pairing, and of several
    heads all come back, or `head` alone. causal: query i sees keys 0 .. i. soft_cap: the
    softmax is of cap tanh(x / cap). sinks: tokens whose share is wanted. sink_logit: the learned logit of a sink
    that is no token. precision: "auto" multiplies queries and keys in single precision from 1,024 tokens on, where the
    proved error of a logit is at most 0.001; "double" never does. Keys come in blocks (szg_statistics_compute), so that
    no n x n array is made.
    """
    which, unscaled = enum(layout.PARTS, "part", part), flag(unscaled, "unscaled")
    double = chosen(precision, "precision", Precision) == "double"
    cap, learned = _real(soft_cap, "soft_cap"), _real(sink_logit, "sink_logit")
    if cap is not None and not cap > 0:
        raise ArgumentError(f"soft_cap={soft_cap!r}: it must be positive, or None", "SZG_EINVAL")
    tokens, learned_at = _tokens(sinks), ctypes.c_double(learned or 0)

    given = Queries(q, k, spec, head, causal, unscaled, exact)
    source = f"{part} logits of {spec}"

    def work(context):
        with given.opened(context) as (opened, _):
            each = []
            for one in opened:
                view, found = native.library().szg_logits_matrix(one, which), layout.Statistics()
                options = layout.StatisticsOptions(
                    soft_cap=cap or 0, scale=0 if unscaled else 1 / math.sqrt(view.of.factored.d), sinks=len(tokens),
                    sink=ctypes.addressof(tokens) if tokens else None,
                    sink_logit=ctypes.addressof(learned_at) if learned is not None else None, exact=double)
                context.call("szg_statistics_compute", _ref(view), _ref(options), _ref(found))
                each.append(_copied(source, found, given.dtype))
            return given.answer(each)
    return run(work, threads, given.arrays)


def _real(value, name: str) -> Optional[float]:
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.floating)):
        raise ArgumentError(f"{name}={value!r}: a number is needed", "SZG_EINVAL")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ArgumentError(f"{name}={value!r}: it must be finite", "SZG_EINVAL")
    return number


def _tokens(sinks):
    """An array for the library. Nothing but a sequence of integers will do: a text has elements too."""
    array = isinstance(sinks, np.ndarray) and sinks.ndim == 1
    if not array and (isinstance(sinks, (str, bytes)) or not isinstance(sinks, Sequence)):
        raise ArgumentError(f"sinks={sinks!r}: a list of tokens is needed", "SZG_EINVAL")
    return (ctypes.c_int64 * len(sinks))(*(integer(token, "sinks", 0) for token in sinks))


def _copied(source: str, found, dtype: str) -> LogitsStatistics:
    fields = {name: getattr(found, name) for name, _ in layout.Statistics._fields_}
    for name in ("entropy_min_query", "entropy_max_query"):
        fields[name] = None if fields[name] < 0 else fields[name]
    fields["precision"] = "single" if fields.pop("single") else "double"
    return LogitsStatistics(source, **fields, input_dtype=dtype)
