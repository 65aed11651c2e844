"""Statistics of a softmax from queries and keys on their own device, streaming over blocks of keys.

Definitions are those of `szego logits --statistics` and of its share of the lag (docs/reference/tables.md). All is
computed in double precision; on a device that has none (mps), in single.
"""
import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

SINKS = 4  # tokens at the beginning of a sequence: what StreamingLLM keeps (Xiao et al. 2024)
_BLOCK = {"cpu": 1 << 19, "other": 1 << 24}  # logits at a time, of all heads together
_KEYS = 512


class Given(NamedTuple):
    """Queries and keys of one layer, and what the softmax sees of their products."""
    query: Any              # [sequences, heads, N, d], after rotation
    key: Any                # [sequences, key heads, M, d]
    scale: float
    mask: Any = None        # broadcast to [sequences, heads, N, M]: booleans (True: seen), or what is added
    keys: Any = None        # booleans [sequences, M]: tokens that are no padding
    causal: bool = False    # query i sees keys 0 .. i
    window: Optional[int] = None
    bias: Any = None        # added to the logits, as `mask` is broadcast
    cap: Optional[float] = None
    learned: Any = None     # logit of a sink that is no token, one a head


class Observed(NamedTuple):
    """Numbers by column, a list of one a head each; None: it does not apply."""
    columns: Dict[str, List[Optional[float]]]
    first_head: int = 0     # what the first one is called in the model


def _hides(torch, mask):
    """What an additive mask hides: -infinity, or next to the least number of its type."""
    return mask <= torch.finfo(mask.dtype).min / 2


class _Sequence:
    """One sequence: blocks of logits, and which of them the mask leaves."""

    def __init__(self, torch, given: Given, at: int):
        self.torch, self.given, self.at = torch, given, at
        self.q, self.k = given.query[at], given.key[at]
        self.heads, self.n, self.m = self.q.shape[0], self.q.shape[1], self.k.shape[1]
        self.group = self.heads // self.k.shape[0]
        self.work = torch.float32 if self.q.device.type == "mps" else torch.float64
        self.asks, self.shown = self._real()

    def _cut(self, tensor, rows: slice, columns: slice):
        """A part of what is broadcast to [sequences, heads, N, M]."""
        for _ in range(4 - tensor.dim()):
            tensor = tensor.unsqueeze(0)
        tensor = tensor[self.at if tensor.shape[0] > 1 else 0]
        tensor = tensor if tensor.shape[1] == 1 else tensor[:, rows]
        return tensor if tensor.shape[2] == 1 else tensor[:, :, columns]

    def keep(self, rows: slice, columns: slice):
        """[heads or 1, rows, columns]: whether the query sees the key; None: all of them do."""
        torch, given, device = self.torch, self.given, self.q.device
        kept = None
        if given.mask is not None:
            part = self._cut(given.mask, rows, columns)
            kept = part if part.dtype == torch.bool else ~_hides(torch, part)
        if given.keys is not None:
            real = given.keys[self.at, columns].view(1, 1, -1)
            kept = real if kept is None else kept & real
        if given.causal or given.window is not None:
            lag = (torch.arange(rows.start, rows.stop, device=device).view(-1, 1) -
                   torch.arange(columns.start, columns.stop, device=device))
            near = lag >= 0 if given.causal else torch.ones_like(lag, dtype=torch.bool)
            if given.window is not None:
                near = near & (lag.abs() < given.window)
            kept = near.unsqueeze(0) if kept is None else kept & near
        return None if kept is None else kept.expand(-1, rows.stop - rows.start, columns.stop - columns.start)

    def blocks(self):
        """(rows, columns) of the blocks, all columns of some rows after each other."""
        limit = _BLOCK["cpu" if self.q.device.type == "cpu" else "other"]
        wide = min(self.m, _KEYS)
        tall = max(1, min(self.n, limit // (self.heads * wide)))
        for row in range(0, self.n, tall):
            rows = slice(row, min(row + tall, self.n))
            last = min(rows.stop, self.m) if self.given.causal else self.m
            yield rows, [slice(column, min(column + wide, last)) for column in range(0, last, wide)]

    def _real(self):
        """Booleans of the queries and of the keys: padding is a key that no query sees, and in attention of a sequence to
        itself the query of the same place."""
        torch, device = self.torch, self.q.device
        asks = torch.ones(self.n, dtype=torch.bool, device=device)
        shown = torch.ones(self.m, dtype=torch.bool, device=device)
        if self.given.mask is None and self.given.keys is None:
            return asks, shown
        asks, shown = ~asks, ~shown
        for rows, parts in self.blocks():
            for columns in parts:
                kept = self.keep(rows, columns).any(0)
                asks[rows] |= kept.any(1)
                shown[columns] |= kept.any(0)
        return (asks & shown if self.n == self.m else asks), shown

    def logits(self, rows: slice, columns: slice):
        """[heads, rows, columns] in the working precision, before the soft cap."""
        q, k = self.q[:, rows].to(self.work), self.k[:, columns].to(self.work)
        shape = (self.k.shape[0], self.group, rows.stop - rows.start, -1)
        x = self.torch.matmul(q.reshape(*shape[:3], q.shape[-1]), k.transpose(1, 2).unsqueeze(1)) * self.given.scale
        x = x.reshape(self.heads, shape[2], -1)
        for added in (self.given.mask, self.given.bias):
            if added is not None and added.dtype != self.torch.bool:
                part = self._cut(added, rows, columns)
                x = x + part.to(self.work).masked_fill(_hides(self.torch, part), 0)
        return x


class _Softmax:
    """Sums of the queries of some rows over the keys so far, relative to their largest logit."""

    def __init__(self, sequence: _Sequence, rows: slice, first: int):
        torch = sequence.torch
        self.torch, self.first = torch, first
        shape, like = (sequence.heads, rows.stop - rows.start), {"dtype": sequence.work, "device": sequence.q.device}
        self.top = torch.full(shape, -math.inf, **like)
        self.weight, self.slope, self.head, self.sinks = (torch.zeros(shape, **like) for _ in range(4))
        self.count = torch.zeros(shape, dtype=torch.int64, device=sequence.q.device)

    def take(self, z, keep, columns: slice) -> None:
        """Logits after the cap, [heads, rows, columns]."""
        torch = self.torch
        shown = z if keep is None else z.masked_fill(~keep, -math.inf)
        top = torch.maximum(self.top, shown.amax(-1))
        base = top.masked_fill(top == -math.inf, 0)
        before = (self.top - base).masked_fill(self.top == -math.inf, 0)
        factor = torch.exp(before)
        self.slope = factor * (self.slope + before * self.weight)
        self.weight, self.head, self.sinks = self.weight * factor, self.head * factor, self.sinks * factor
        t = z - base.unsqueeze(-1)
        weight = torch.exp(t)
        if keep is not None:
            weight, t = weight.masked_fill(~keep, 0), t.masked_fill(~keep, 0)
        self.weight = self.weight + weight.sum(-1)
        self.slope = self.slope + (weight * t.clamp(min=-800)).sum(-1)  # where e^t is 0, so is the term
        self.count = self.count + (keep.expand_as(z).sum(-1) if keep is not None else z.shape[-1])
        self.top = top
        at = self.first - columns.start
        if 0 <= at < z.shape[-1]:
            self.head = self.head + weight[..., at]
        low, high = max(at, 0), min(at + SINKS, z.shape[-1])
        if low < high:
            self.sinks = self.sinks + weight[..., low:high].sum(-1)

    def finish(self, learned):
        """(entropy, weights of the first token, of the sinks, of the learned sink), [heads, rows] each."""
        share = None
        if learned is not None:
            base = self.torch.maximum(self.top, learned)
            before, mine = self.top - base, learned - base
            factor, weight = self.torch.exp(before), self.torch.exp(mine)
            self.slope = factor * (self.slope + before * self.weight) + weight * mine.clamp(min=-800)
            self.weight, self.head, self.sinks = self.weight * factor + weight, self.head * factor, self.sinks * factor
            self.count, share = self.count + 1, weight / self.weight
        # Rounding may leave some 1e-16 below 0, which no entropy is.
        entropy = (self.weight.log() - self.slope / self.weight).clamp(min=0)
        return entropy, self.head / self.weight, self.sinks / self.weight, share


class _Lags:
    """Sums of logits by the lag, over the sequences: the share of the variance that the lag explains."""

    def __init__(self, torch, heads: int, n: int, like: Dict[str, Any]):
        self.torch, self.n, self.pivot = torch, n, None
        self.sum = torch.zeros(heads, 2 * n - 1, **like)
        self.count = torch.zeros(heads, 2 * n - 1, **like)
        self.squares = torch.zeros(heads, **like)

    def _diagonals(self, x):
        """Sums along the diagonals of [heads, rows, columns], of lag rows - 1 first: a row of the padded array that
        begins one number earlier is shifted by one."""
        heads, rows, columns = x.shape
        x = self.torch.nn.functional.pad(x, (0, rows)).reshape(heads, -1)
        return x[:, :rows * (rows + columns - 1)].reshape(heads, rows, -1)

    def take(self, x, keep, rows: slice, columns: slice, first: int) -> None:
        torch = self.torch
        row = torch.arange(rows.start, rows.stop, device=x.device).view(-1, 1)
        column = torch.arange(columns.start, columns.stop, device=x.device)
        used = (row != column) & (row != first) & (column != first)
        used = used.expand_as(x) if keep is None else used & keep.expand_as(x)
        if self.pivot is None:  # without it squares of large means would cancel
            count = used.sum((1, 2)).clamp(min=1)
            self.pivot = (x.masked_fill(~used, 0).sum((1, 2)) / count).view(-1, 1, 1)
        x = (x - self.pivot).masked_fill(~used, 0)
        flipped = self._diagonals(x.flip(1)).sum(1)
        number = self._diagonals(used.flip(1).to(x.dtype)).sum(1)
        # Column c of the diagonals is the lag rows.stop - 1 - columns.start - c, kept at lag + n - 1.
        last = rows.stop - 1 - columns.start + self.n - 1
        place = slice(last - flipped.shape[1] + 1, last + 1)
        self.sum[:, place] += flipped.flip(1)
        self.count[:, place] += number.flip(1)
        self.squares += (x * x).sum((1, 2))

    def share(self):
        total, count = self.sum.sum(1), self.count.sum(1)
        mean = total / count
        between = (self.sum.square() / self.count.clamp(min=1)).sum(1) - count * mean * mean
        within = self.squares - count * mean * mean
        # Products q . k round by some 1e-14 of their size: a variance below that is none.
        size = self.squares / count.clamp(min=1) + (0 if self.pivot is None else self.pivot.flatten().square())
        return self.torch.where(within > 1e-24 * count * size, between / within, self.torch.full_like(mean, math.nan))


def _stable_rank(sequence: _Sequence):
    """|| Q K^T ||_F^2 / || Q K^T ||_2^2 by the d x d matrices Q^T Q and K^T K, a head each."""
    torch = sequence.torch
    q = sequence.q[:, sequence.asks].to(sequence.work)
    k = sequence.k[:, sequence.shown].to(sequence.work)
    size_q, size_k = (x.abs().amax((1, 2), keepdim=True).clamp(min=torch.finfo(sequence.work).tiny) for x in (q, k))
    gram_q = (q / size_q).transpose(1, 2) @ (q / size_q)
    gram_k = ((k / size_k).transpose(1, 2) @ (k / size_k)).repeat_interleave(sequence.group, 0)
    out = torch.full((sequence.heads,), math.nan, dtype=sequence.work, device=q.device)
    good = torch.isfinite(gram_q).all(-1).all(-1) & torch.isfinite(gram_k).all(-1).all(-1)
    if not bool(good.any()):
        return out
    a, b = gram_q[good], gram_k[good]
    values, vectors = torch.linalg.eigh(a)
    root = vectors * values.clamp(min=0).sqrt().unsqueeze(1)
    top = torch.linalg.eigvalsh(root.transpose(1, 2) @ b @ root)[:, -1]
    out[good] = torch.where(top > 0, (a * b).sum((1, 2)) / top, torch.full_like(top, math.nan))
    return out


class _Totals:
    """What the sequences leave, [heads] each."""

    def __init__(self, torch, given: Given, work):
        heads, like = given.query.shape[1], {"dtype": work, "device": given.query.device}
        self.torch, self.given = torch, given
        self.largest, self.smallest = torch.full((heads,), -math.inf, **like), torch.full((heads,), math.inf, **like)
        self.entropy_min = torch.full((heads,), math.inf, **like)
        self.sums = {name: torch.zeros(heads, **like) for name in ("entropy", "first", "sinks", "learned", "rank")}
        self.counts = {name: 0 for name in ("sequences", "tokens", "first", "sinks")}
        self.several = torch.zeros(heads, dtype=torch.bool, device=given.query.device)
        self.q_norm, self.k_norm = torch.zeros(heads, **like), torch.zeros(heads, **like)
        square = given.query.shape[2] == given.key.shape[2]
        self.lags = _Lags(torch, heads, given.query.shape[2], like) if square else None
        self.added = torch.zeros((), **like)

    def take(self, sequence: _Sequence) -> None:
        asks, shown = sequence.asks, sequence.shown
        if not bool(asks.any()):  # padding alone
            return
        self.counts["sequences"] += 1
        first = int(shown.to(self.torch.uint8).argmax())
        for rows, parts in sequence.blocks():
            self._rows(sequence, rows, parts, first)
        places = self.torch.arange(sequence.n, device=asks.device)
        self.counts["tokens"] += int(asks.sum())
        self.counts["first"] += int((asks & (places > first)).sum())
        self.counts["sinks"] += int((asks & (places > first + SINKS - 1)).sum())
        self.q_norm = self._longest(self.q_norm, sequence.q[:, asks], sequence.work)
        self.k_norm = self._longest(self.k_norm, sequence.k[:, shown].repeat_interleave(sequence.group, 0), sequence.work)
        self.sums["rank"] = self.sums["rank"] + _stable_rank(sequence)

    def _longest(self, known, x, work):
        """The larger of `known` and the norms; neither squares nor their sum overflow."""
        if not x.shape[1]:
            return known
        x = x.to(work)
        size = x.abs().amax((1, 2), keepdim=True)
        size = size.masked_fill(size == 0, 1)
        return self.torch.maximum(known, (x / size).square().sum(-1).sqrt().amax(1) * size.view(-1))

    def _rows(self, sequence: _Sequence, rows: slice, parts: Sequence[slice], first: int) -> None:
        torch, given, softmax = self.torch, self.given, _Softmax(sequence, rows, first)
        asks = sequence.asks[rows]
        for columns in parts:
            keep = sequence.keep(rows, columns)
            if not bool(asks.all()):
                real = asks.view(1, -1, 1)
                keep = real if keep is None else keep & real
                keep = keep.expand(-1, -1, columns.stop - columns.start)
            x = sequence.logits(rows, columns)
            self.largest = torch.maximum(self.largest, (x if keep is None else x.masked_fill(~keep, -math.inf)).amax((1, 2)))
            self.smallest = torch.minimum(self.smallest, (x if keep is None else x.masked_fill(~keep, math.inf)).amin((1, 2)))
            if self.lags is not None:
                self.lags.take(x, keep, rows, columns, first)
            softmax.take(given.cap * torch.tanh(x / given.cap) if given.cap else x, keep, columns)
        learned = None if given.learned is None else given.learned.to(sequence.work).view(-1, 1)
        entropy, *shares = softmax.finish(learned)
        places = torch.arange(rows.start, rows.stop, device=asks.device)
        queries = {"first": places > first, "sinks": places > first + SINKS - 1, "learned": places >= 0}
        some = asks & (softmax.count > 0)
        self.sums["entropy"] = self.sums["entropy"] + entropy.masked_fill(~some, 0).sum(1)
        for (name, which), share in zip(queries.items(), shares):
            if share is not None:
                self.sums[name] = self.sums[name] + share.masked_fill(~(some & which), 0).sum(1)
        two = some & (softmax.count > 1)
        self.several |= two.any(1)
        self.entropy_min = torch.minimum(self.entropy_min, entropy.masked_fill(~two, math.inf).amin(1))


def _largest_added(torch, given: Given) -> float:
    """The largest modulus of what is added to the products."""
    largest = 0.0
    for added in (given.mask, given.bias):
        if added is not None and added.dtype != torch.bool:
            shown = added.masked_fill(_hides(torch, added), 0)
            largest += float(shown.abs().max())
    return largest


def observe(torch, given: Given) -> Observed:
    """Statistics of each query head, over all sequences of `given`."""
    with torch.no_grad(), torch.autocast(given.query.device.type, enabled=False):
        sequences = [_Sequence(torch, given, at) for at in range(given.query.shape[0])]
        totals = _Totals(torch, given, sequences[0].work)
        for sequence in sequences:
            totals.take(sequence)
        return _answer(torch, given, totals, len(sequences), sequences[0].work)


def _answer(torch, given: Given, totals: _Totals, sequences: int, work) -> Observed:
    counts, sums = totals.counts, totals.sums
    terms, unit = given.query.shape[-1] + 3, torch.finfo(work).eps / 2
    gamma = terms * unit / (1 - terms * unit)
    # Norms, scale and what is added round too: terms has three more than the product.
    error = gamma * (abs(given.scale) * totals.q_norm * totals.k_norm + _largest_added(torch, given)) + terms * 5e-324
    found = {"largest_logit": totals.largest, "smallest_logit": totals.smallest, "error": error,
             "entropy_mean": sums["entropy"] / max(counts["tokens"], 1),
             "entropy_min": totals.entropy_min.masked_fill(~totals.several, math.nan),
             "first_share": sums["first"] / max(counts["first"], 1), "sink_share": sums["sinks"] / max(counts["sinks"], 1),
             "learned_share": sums["learned"] / max(counts["tokens"], 1), "q_norm_max": totals.q_norm,
             "k_norm_max": totals.k_norm, "stable_rank": sums["rank"] / max(counts["sequences"], 1)}
    if totals.lags is not None:
        found["lag_share"] = totals.lags.share()
    order = list(found)
    numbers = torch.stack([found[name].to(work) for name in order]).to("cpu").tolist()  # one transfer
    columns: Dict[str, List[Optional[float]]] = dict(zip(order, numbers))
    heads = given.query.shape[1]
    if not counts["tokens"]:
        return Observed({"tokens": [0] * heads, "sequences": [sequences] * heads})
    absent = [name for name, there in (("first_share", counts["first"]), ("sink_share", counts["sinks"]),
                                       ("learned_share", given.learned is not None and counts["tokens"])) if not there]
    for name in absent:
        columns[name] = [None] * heads
    finite = [math.isfinite(most - least) for most, least in zip(numbers[0], numbers[1])]
    for name in ("entropy_min", "lag_share", "stable_rank"):  # of finite logits NaN is the lack of an answer
        columns[name] = [None if x is None or good and math.isnan(x) else x
                         for x, good in zip(columns.get(name, [None] * heads), finite)]
    columns["tokens"] = [counts["tokens"]] * heads
    columns["sequences"] = [sequences] * heads
    return Observed(columns)


def part(given: Given, sequences: int, tokens: Optional[int]) -> Tuple[Given, str]:
    """The first sequences, and of each the first tokens; what that leaves out."""
    n, m = given.query.shape[2], given.key.shape[2]

    def cut(x):
        """Of what is broadcast to [sequences, heads, N, M]."""
        if x is None:
            return None
        if x.dim() == 4 and x.shape[0] > 1:
            x = x[:sequences]
        if tokens is not None:
            x = x[..., :tokens] if x.shape[-1] == m else x
            x = x[..., :tokens, :] if x.dim() > 1 and x.shape[-2] == n else x
        return x

    left = f"the first {tokens} of {n} tokens" if tokens is not None and tokens < n else ""
    return given._replace(query=given.query[:sequences, :, :tokens], key=given.key[:sequences, :, :tokens],
                          mask=cut(given.mask), bias=cut(given.bias),
                          keys=None if given.keys is None else given.keys[:sequences, :tokens]), left
