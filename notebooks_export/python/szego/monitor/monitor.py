"""szego.Monitor: what attention does while a model trains, a row for each observed step, layer and head.

    monitor = szego.Monitor(model, every=100)
    with monitor:
        for batch in batches:
            loss(model(batch)).backward(); optimizer.step(); monitor.step()
    monitor.frame()

Nothing of the training changes: queries and keys are read, without a random number and without a gradient. What goes
wrong in the monitor is a SzegoWarning and a text in the column `seen`, never an exception in the training.
"""
import contextlib
import math
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union

import numpy as np

from .. import interface, native
from ..arguments import folder_name, integer, keywords, members
from ..choices import Path
from ..columns import own_tables
from ..display import Shown, plain
from ..errors import ArgumentError, SzegoError
from ..tabled import Framed, column
from ..tables import Results, Table
from . import headroom, observation, watching
from .journal import Journal

if TYPE_CHECKING:
    from transformers import TrainerCallback

FLOAT16 = 65504.0
COLUMNS = tuple(one["name"] for one in own_tables("monitor")["monitor"]["columns"])
_KINDS = {one["name"]: one["type"] for one in own_tables("monitor")["monitor"]["columns"]}
_TOKENS = 512  # of all sequences that an observation looks at, unless one alone is longer
#: By what a scalar of a layer is over its heads: the last observed step in a few numbers.
SCALARS = {"largest_logit": max, "smallest_logit": min, "bound": max, "headroom": min, "headroom_seen": min, "entropy_min": min,
           "first_share": max, "q_norm_max": max, "k_norm_max": max}

BLIND = ("no attention of the model called the monitor: it was compiled (torch.compile), ran in evaluation mode, or does not use "
         "the attention functions of transformers: call observe()")

Row = Dict[str, Union[int, float, str, None]]


class Monitor(Framed, Shown):
    """Observes attention logits while a model trains, and proves a bound that no input exceeds.

        monitor = szego.Monitor(model, every=100, threshold=65504.0)
        with monitor:                                      # a loop of yours
            ...; optimizer.step(); monitor.step()
        Trainer(..., callbacks=[monitor.callback()])       # transformers
        monitor.observe(q, k, scale, "causal", layer=0)    # an attention of yours

    model: a model of transformers, or a module with its names and `config`. None: there is no bound, and you pass
        queries and keys to `observe`.
    every: the monitor observes the first pass in training mode after 0, every, 2 every, ... updates.
    threshold: the modulus that no logit should exceed: the largest float16 (65504), or the tau of a QK-clip.
    layers, heads: the numbers of those to observe (None: all). tokens: how many of each sequence, from the first
        (None: all). An observation takes sequences, from the first, up to 512 tokens in all, and at least one.
    folder: where the monitor writes its rows after each observed step, for szego.load and `szego report`. After an
        interruption the same folder is continued; a folder with other settings is refused.
    rank: the number of this process (None: that of torch.distributed, or 0). If there are several processes, each
        writes to its own folder/rank-R.

    table: the rows, a szego Table (docs/reference/tables.md). frame(): the same as a DataFrame. scalars(): the last
    observed step as a flat dict. An exception within an observation never reaches the training: it becomes one
    SzegoWarning and a text in the column `seen`.
    """

    @keywords
    def __init__(self, model: Any = None, every: int = 100, threshold: float = FLOAT16, layers: Optional[Sequence[int]] = None,
                 heads: Optional[Sequence[int]] = None, tokens: Optional[int] = None, folder: Optional[Path] = None,
                 rank: Optional[int] = None) -> None:
        self.model = _model(model)
        self.every = integer(every, "every", 1)
        self.threshold = _positive(threshold, "threshold")
        self.layers, self.heads = _numbers(layers, "layers"), _numbers(heads, "heads")
        self.tokens = None if tokens is None else integer(tokens, "tokens", 1)
        self.rank = _rank() if rank is None else integer(rank, "rank", 0)
        self._several = rank is not None or _is_distributed()  # whether other processes may have other layers and heads
        self.steps = 0  # updates of the weights so far
        self._rows: List[Row] = []
        self._last: List[Row] = []      # of the last observed step
        self._unwritten = 0             # rows at the end of _rows that the folder lacks
        self._seen: Dict[int, observation.Observed] = {}
        self._notes: Dict[Optional[int], List[str]] = {}  # of the step at work, by layer; None: of all
        self._left_out: Set[int] = set()  # layers that `observe` was called for in this step, and `layers` lacks
        self._stepped = False           # whether step() was called since `with` began
        self._repeats = False           # whether a layer ran again since then within one step
        self._absent = False            # whether the model has none of `layers`
        self._bounds: Optional[headroom.Bounds] = None  # of the step at work
        self._blind = False             # whether an observed step went by and no attention called the monitor
        self._given = False             # whether `observe` was called in an observed step
        self._compiled = False          # whether the Trainer compiles the model
        self._warned: Set[str] = set()
        self._open = False              # within a block
        self._trains = False            # within a training of Trainer
        self._watch: Optional[contextlib.ExitStack] = None
        self._places: List[Any] = []
        self._hooks: List[Any] = []
        if model is not None:
            unknown = self._unknown_layers()
            if unknown and not self._several:
                raise ArgumentError(unknown, "SZG_EINVAL")
        self._journal = None if folder is None else self._resumed(folder_name(folder, "folder"))

    def _unknown_layers(self) -> Optional[str]:
        """What to say of `layers` that the model lacks; None: nothing, or its attentions are not known."""
        known = {place.layer for place in interface.places(self.model)}
        missing = [layer for layer in self.layers or () if layer not in known]
        self._absent = bool(known and missing) and len(missing) == len(self.layers or ())
        return _lacks("layers", missing, known, "the model") if known and missing else None

    def _resumed(self, folder: str) -> Journal:
        """The folder of this process, and the rows that it has."""
        folder = os.path.abspath(folder)  # the training may change its current folder
        place = os.path.join(folder, f"rank-{self.rank}") if self._several else folder
        settings = {"model": None if self.model is None else type(self.model).__name__, "every": self.every,
                    "threshold": self.threshold, "layers": self.layers and list(self.layers),
                    "heads": self.heads and list(self.heads), "tokens": self.tokens, "rank": self.rank}
        journal = Journal(place, settings)
        if journal.rows:
            self._rows, self.steps = list(journal.rows), int(journal.rows[-1]["step"])
            self._warn(f"{place}: continues after step {self.steps}; if the training resumes at another step, call "
                       "monitor.step(NUMBER) first")
        return journal

    # ---- Steps ----

    @property
    def observing(self) -> bool:
        """Whether what runs now belongs to an observed step."""
        return self.steps % self.every == 0

    def step(self, number: Optional[int] = None) -> None:
        """Call it after the optimizer has updated the weights. number: the updates so far, for example after a restart
        from a checkpoint (None: one more). Rows of that step or later ones are then replaced."""
        number = self.steps + 1 if number is None else integer(number, "number", 0)
        self._finish(number > self.steps)
        self.steps, self._stepped = number, True
        self._prepare()

    def __enter__(self) -> "Monitor":
        if self._open:
            raise ArgumentError("the monitor is at work already: one block at a time", "SZG_EINVAL")
        self._open, self._stepped, self._repeats = True, False, False
        self._prepare()
        return self

    def __exit__(self, kind: object = None, *_exception: object) -> None:
        if self._repeats and not self._stepped and kind is None:
            self._warn(f"only the first pass after {self.steps} updates was observed, of several: call monitor.step() after each "
                       "update of the weights")
        self.close()

    def close(self) -> None:
        """Ends what `with` began. All rows are then in the table."""
        self._finish(False)
        self._unhook()
        self._unwatch()
        self._open = self._trains = False

    def callback(self) -> "TrainerCallback":
        """A callback for Trainer(callbacks=[...]) of transformers. It counts the steps as the Trainer does, and observes
        the first micro-batch of a step, in training mode only."""
        from .trainer import callback  # pylint: disable=import-outside-toplevel
        return callback(self)

    def begin(self, model: Any, number: int, is_compiled: bool = False) -> None:
        """A Trainer begins with `model`, behind `number` updates; it may compile it."""
        with self._guarded():
            self.model, self._compiled, self._trains = self.model if model is None else model, is_compiled, True
            unknown = self._unknown_layers()
            if unknown and (self._absent or not self._several):
                self._warn(unknown)
            self.resume(number)

    def resume(self, number: int) -> None:
        """The step that follows comes behind `number` updates."""
        with self._guarded():
            if number != self.steps:
                self._finish(False)
                self.steps = number

    # ---- Watching a model ----

    def _prepare(self) -> None:
        """Watches the model within a block, at observed steps alone."""
        self._unwatch()
        if self._open and self.observing and self.model is not None:
            with self._guarded():
                if self._can_watch():
                    self._enter()

    def _can_watch(self) -> bool:
        """Whether the attention of the model may call the monitor. If it did not before, or if it is compiled, the bounds
        are read now, before the weights change. A compiled model is left alone: it would be compiled again."""
        compiled = self._compiled or watching.compiled(self.model)
        if compiled:
            self._places = interface.places(self.model)
        if compiled or self._blind:
            self._read_bounds(None)
        return not compiled

    def _enter(self) -> None:
        with contextlib.ExitStack() as stack:
            self._places = stack.enter_context(watching.watched(self.model, self._attention, self.layers, self._guarded))
            self._watch = stack.pop_all()

    def _unwatch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def watch_next(self) -> None:
        """Watches the next forward of the model in training mode, and leaves nothing of it behind."""
        if self.observing and self.model is not None:
            with self._guarded():
                if self._can_watch():
                    self._hook()

    def _hook(self) -> None:
        undo: List[Any] = []

        def before(module: Any, _inputs: Any) -> None:
            if module.training and self._watch is None:
                with self._guarded():
                    self._enter()

        def after(module: Any, _inputs: Any, _output: Any) -> None:
            if module.training:
                self._unwatch()
                while undo:
                    undo.pop().remove()

        self._unhook()
        undo += [self.model.register_forward_pre_hook(before), self.model.register_forward_hook(after, always_call=True)]
        self._hooks = undo

    def _unhook(self) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def _attention(self, call: Any) -> None:
        """An attention of the model, before it computes. What it raises the guard of `watched` takes."""
        if call.layer in self._seen:
            self._repeat()
        elif self.observing:
            self._read_bounds(call.query)
            self._take(call.layer, watching.given(call), 0)

    def _repeat(self) -> None:
        """A layer runs again within a step. If a backward pass recomputes it, that is no other pass."""
        self._repeats = self._repeats or not interface.repeats()

    def _read_bounds(self, query: Any) -> None:
        """The bounds of this step, once, before the weights change. query: None where no attention can be seen."""
        if self._bounds is not None:
            return
        self._bounds = headroom.Bounds({}, "no bound: it could not be computed")
        if self.model is None:
            self._bounds = headroom.NO_MODEL
        elif len({place.stack for place in interface.places(self.model)}) > 1:
            self._bounds = headroom.Bounds({}, "no bound: the model has several stacks of attention")
        else:
            self._bounds = headroom.bounds(self.model, query)

    # ---- Observing ----

    def observe(self, q: Any, k: Any, scale: Optional[float] = None, mask: Any = None, layer: int = 0, *,
                cap: Optional[float] = None, sinks: Any = None, window: Optional[int] = None, first_head: int = 0) -> None:
        """Takes the queries and keys of a layer as your attention multiplies them, after the rotation.

        q: [batch, heads, N, d]. k: [batch, key heads, N, d]; the number of key heads divides that of the heads.
        scale: the factor of q . k (None: 1 / sqrt(d)).
        mask: None (each query sees each key), "causal", or a tensor that broadcasts to [batch, heads, N, N]: booleans,
            True where the query sees the key, or numbers to add (-inf hides a key).
        cap: C, if the model replaces a logit x by C tanh(x / C). sinks: the learned logit of a sink for each head.
        window: a query sees keys nearer than this. first_head: the number in the model of the first head of q, if
            several processes share the heads.

        Between observed steps the call returns at once. Within a step only the first call for a layer counts;
        later micro-batches and repeated passes do not.
        """
        if not self.observing:
            return
        if layer in self._seen:
            self._repeat()
            return
        self._given = True
        with self._guarded(layer):
            if getattr(q, "ndim", 0) == 4 and q.shape[1] == 0:  # a process without heads
                return
            self._take(layer, _given(q, k, scale, mask, cap, sinks, window), first_head)

    def _take(self, layer: int, given: observation.Given, first_head: int) -> None:
        if self.layers is not None and layer not in self.layers:
            self._left_out.add(layer)
            return
        torch = sys.modules["torch"]
        if given.query.is_cuda and torch.cuda.is_current_stream_capturing():
            raise SzegoError("a CUDA graph is being captured, and nothing can be read meanwhile")
        self._read_bounds(given.query)
        n = given.query.shape[2]
        sequences = max(1, min(given.query.shape[0], _TOKENS // max(1, min(n, self.tokens or n))))
        cut, left = observation.part(given, sequences, self.tokens)
        if left:
            self._note(left, layer)
        found = observation.observe(torch, cut)
        self._seen[layer] = found._replace(first_head=first_head)

    @contextlib.contextmanager
    def _guarded(self, layer: Optional[int] = None) -> Iterator[None]:
        """An exception of the monitor is said once, and the training goes on."""
        try:
            with watching.aside():
                yield
        except Exception as error:  # pylint: disable=broad-except
            said = plain(f"not observed: {type(error).__name__}: {error}", 400)
            self._note(said, layer)
            self._warn(f"layer {layer}: {said}" if layer is not None else said, f"{type(error).__name__}{error}")

    def _warn(self, message: str, key: Optional[str] = None) -> None:
        """Once, whatever the filters of warnings make of it: one that raises is no business of the training."""
        if (key or message) in self._warned:
            return
        self._warned.add(key or message)
        with contextlib.suppress(Exception):
            native.warn([f"szego.Monitor: {message}"])

    def _note(self, text: str, layer: Optional[int] = None) -> None:
        notes = self._notes.setdefault(layer, [])
        if text not in notes:
            notes.append(text)

    # ---- Rows ----

    def _finish(self, ran: bool) -> None:
        """The rows of the step at work. ran: a forward must have been among it."""
        called = self._seen or self._left_out or self._absent or any(layer is not None for layer in self._notes)
        self._say_filters()
        if ran and (self._open or self._trains) and self.observing and self.model is not None and not called:
            self._blind = True
            self._note(BLIND)
            self._warn(f"step {self.steps}: {BLIND}", BLIND)
        elif ran and self.observing and self.model is not None and not self._open and not self._trains and not self._given:
            self._warn("nothing was observed: put the loop into `with monitor:`, or call observe()")
        try:
            with self._guarded():
                if self._seen or self._notes:
                    self._add([row for layer in self._layers() for row in self._of_layer(layer)])
        finally:
            self._seen, self._notes, self._bounds, self._left_out = {}, {}, None, set()

    def _say_filters(self) -> None:
        """Once: which of `layers` and `heads` the step at work lacked. Other processes may have them, if some are here."""
        heads = {head for one in self._seen.values() for head in range(one.first_head, one.first_head + len(one.columns["tokens"]))}
        heads |= {head for _, head in self._bounds.heads} if self._bounds else set()
        layers = {*self._seen, *self._left_out} if self._given and not self._places else set()
        for name, asked, known in (("layers", self.layers or (), layers), ("heads", self.heads or (), heads)):
            missing = [one for one in asked if one not in known]
            shared = self._several or any(one.first_head for one in self._seen.values())
            if known and missing and (len(missing) == len(asked) or not shared):
                self._warn(_lacks(name, missing, known, "this process" if shared else "the model"), name)

    def _layers(self) -> List[int]:
        """Those that rows are written of."""
        known = {*self._seen, *(one for one in self._notes if one is not None), *(place.layer for place in self._places)}
        known |= {layer for layer, _ in self._bounds.heads} if self._bounds and not self._seen else set()
        return sorted(layer for layer in known if self.layers is None or layer in self.layers) or [(self.layers or [0])[0]]

    def _of_layer(self, layer: int) -> Iterator[Row]:
        found, bounds = self._seen.get(layer), self._bounds or headroom.Bounds({}, "no bound: the weights were not read")
        columns, first = (found.columns, found.first_head) if found else ({}, 0)
        heads = [*range(first, first + len(columns["tokens"]))] if found else sorted(
            head for place, head in bounds.heads if place == layer)
        notes = self._notes.get(None, []) + self._notes.get(layer, [])
        if not found and not notes:
            notes = ["its attention did not run in training mode in this step"]
        for head in heads or [None]:
            if self.heads is not None and head is not None and head not in self.heads:
                continue
            row: Row = {name: None for name in COLUMNS}
            row.update({name: cells[head - first] for name, cells in columns.items()} if found and head is not None else {})
            bound = _contradicted(row, bounds.find(layer, head))
            row.update(step=self.steps, rank=self.rank, layer=layer, head=head, bound=bound.value, bound_of=bound.said,
                       seen="; ".join(notes + _not_finite(row)) or None)
            yield self._judged(row)

    def _add(self, rows: List[Row]) -> None:
        """Rows of a step, in the place of those that an earlier pass through it left."""
        kept = [row for row in self._rows if row["step"] < self.steps]  # type: ignore[operator]
        back = len(kept) < len(self._rows)
        self._rows, self._last, self._unwritten = kept + rows, rows, self._unwritten + len(rows)
        if self._journal is None:
            return
        try:
            if back or self._journal.lost:
                self._journal.rewrite(table(self._rows))
            else:
                self._journal.append(table(self._rows[-self._unwritten:]))
            self._unwritten = 0
        except (SzegoError, OSError) as error:
            for row in rows:
                row["seen"] = "; ".join(filter(None, [row["seen"], f"written late: {error}"]))  # type: ignore[list-item]
            self._warn(f"rows of step {self.steps} are kept in memory, and written later if that is possible: {error}", "journal")

    def _judged(self, row: Row) -> Row:
        """With the threshold, and what it is to the logits."""
        row["threshold"] = self.threshold
        most, least, bound = row["largest_logit"], row["smallest_logit"], row["bound"]
        if isinstance(most, float) and isinstance(least, float):
            size = math.nan if math.isnan(most + least) else max(abs(most), abs(least))
            row["headroom_seen"] = self.threshold / size if size else math.inf
        if isinstance(bound, float):  # rounded down: it is a proof
            row["headroom"] = math.nextafter(self.threshold / bound, 0) if bound else math.inf
        return row

    @property
    def table(self) -> Table:
        """The rows so far: one for each observed step, layer and head."""
        return table(self._rows)

    def _table(self) -> Table:
        return self.table

    def _results(self) -> Results[Table]:
        made, described, found = Results(), own_tables("monitor")["monitor"]["columns"], self.table
        result = np.empty(len(found["step"]), object)
        result[:] = "."
        made["monitor_monitor"] = Table({"result": result, **found})
        made.docs["monitor_monitor"] = {one["name"]: one["doc"] for one in described}
        made.ends["monitor_monitor"] = {one["name"]: one["end"] for one in described if "end" in one}
        made.provenance["."] = {"command": "monitor"}
        return made

    def scalars(self) -> Dict[str, float]:
        """The last observed step, for wandb.log, TensorBoard or MLflow: {"szego/layer3/largest_logit": 12.5, ...}.

        Keys are szego/NAME, over all heads, and szego/layerL/NAME, over those of a layer, for these NAMEs: the largest
        largest_logit, bound, first_share, q_norm_max and k_norm_max, the least smallest_logit, headroom, headroom_seen
        and entropy_min. So there are 9 keys at most, and 9 for each layer. What is not known has no key; NaN and
        infinity stay.
        """
        made: Dict[str, float] = {}
        layers = dict.fromkeys(row["layer"] for row in self._last)
        for place, rows in [("szego", self._last), *((f"szego/layer{layer}", [row for row in self._last if row["layer"] == layer])
                                                     for layer in layers)]:
            for name, choose in SCALARS.items():
                values = [float(row[name]) for row in rows if isinstance(row[name], (int, float))]
                if values:
                    made[f"{place}/{name}"] = math.nan if any(map(math.isnan, values)) else choose(values)
        return made

    def __repr__(self) -> str:
        steps = len({row["step"] for row in self._rows})
        return (f"<szego.Monitor of {type(self.model).__name__ if self.model is not None else 'queries and keys'}: {steps} observed "
                f"of {self.steps} steps, every {self.every}>")


def _contradicted(row: Row, bound: headroom.Bound) -> headroom.Bound:
    """The bound, unless a logit of the row exceeds it."""
    most, least, error = row["largest_logit"], row["smallest_logit"], row["error"]
    if bound.value is None or most is None:
        return bound
    seen = max(float(most), -float(least))  # type: ignore[arg-type]
    if not seen - (float(error) if math.isfinite(error) else 0) > bound.value:  # type: ignore[arg-type]
        return bound
    return headroom.Bound(None, f"no bound: a logit of modulus {seen:.6g} was seen, above the {bound.value:.6g} that the weights and the "
                          f"configuration give ({bound.said}): the model does not compute what its configuration says")


def _not_finite(row: Row) -> List[str]:
    ends = [row["largest_logit"], row["smallest_logit"]]
    return [] if all(end is None or math.isfinite(end) for end in ends) else ["logits are not finite"]  # type: ignore[arg-type]


def table(rows: Sequence[Row]) -> Table:
    """Rows as columns of the types that tables.json says."""
    made = Table()
    for name in COLUMNS:
        cells = [row[name] for row in rows]
        if not any(cell is not None for cell in cells):  # `column` cannot tell its type
            blank = {"integer": 0, "real": math.nan, "text": ""}[_KINDS[name]]
            made[name] = column([None, blank] + cells)[2:] if cells else column([blank])[:0]
            continue
        made[name] = column([float(cell) if cell is not None and _KINDS[name] == "real" else cell for cell in cells])
    return made


# ---- Arguments ----


def _positive(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, (bool, str)) or not 0 < number < math.inf:
        raise ArgumentError(f"{name}={value!r}: a number above 0 is needed", "SZG_EINVAL")
    return number


def _model(value: Any) -> Any:
    """A module or None. PyTorch is there if there is a module."""
    module = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", ())
    if value is not None and not isinstance(value, module):
        raise ArgumentError(f"model={value!r:.80}: a torch.nn.Module is needed: a model of transformers, or a module with its names and "
                            "config; leave it out to pass queries and keys to observe()", "SZG_EINVAL")
    return value


def _lacks(name: str, missing: Sequence[int], known: Set[int], whose: str) -> str:
    """"layers: there is no 7: the model has layers 0 to 1"."""
    least, most = min(known), max(known)
    has = f"{name} {least} to {most}" if len(known) == most - least + 1 > 1 else f"{name} {', '.join(map(str, sorted(known)))}"
    return f"{name}: there is no {', '.join(map(str, missing))}: {whose} has {has}"


def _numbers(value: Any, name: str) -> Optional[Tuple[int, ...]]:
    if value is None:
        return None
    try:
        made = tuple(integer(one, name, 0) for one in members(value))
    except TypeError:
        raise ArgumentError(f"{name}={value!r}: a list of numbers from 0 is needed", "SZG_EINVAL") from None
    if not made:
        raise ArgumentError(f"{name}: no number is given; leave it out for all", "SZG_EINVAL")
    return made


def _is_distributed() -> bool:
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def _rank() -> int:
    return int(sys.modules["torch"].distributed.get_rank()) if _is_distributed() else 0


def _given(q: Any, k: Any, scale: Optional[float], mask: Any, cap: Optional[float], sinks: Any,
           window: Optional[int]) -> observation.Given:
    """Arguments of `observe`, checked."""
    import torch  # pylint: disable=import-outside-toplevel
    for name, x in (("q", q), ("k", k)):
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            raise ArgumentError(f"{name}: a tensor of PyTorch with floating-point numbers is needed, not {type(x).__name__}",
                                "SZG_EINVAL")
        if x.dim() != 4 or 0 in x.shape:
            raise ArgumentError(f"{name}: shape {tuple(x.shape)}; [batch, heads, N, d] is needed", "SZG_EINVAL")
    if q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3] or q.shape[1] % k.shape[1]:
        raise ArgumentError(f"q: shape {tuple(q.shape)}, k: {tuple(k.shape)}; batch and d must agree, and the number of key heads "
                            "divides that of the heads", "SZG_EINVAL")
    causal = isinstance(mask, str) and mask == "causal"
    if isinstance(mask, str) and not causal:
        raise ArgumentError(f"mask={mask!r}: None, \"causal\" or a tensor is needed", "SZG_EINVAL")
    if (causal or window is not None) and q.shape[2] != k.shape[2]:
        raise ArgumentError(f"{q.shape[2]} queries and {k.shape[2]} keys: which key is a query's own? Pass the mask as a tensor",
                            "SZG_EINVAL")
    whole = (*q.shape[:3], k.shape[2])
    return observation.Given(q.detach(), k.detach(), q.shape[3] ** -0.5 if scale is None else float(scale),
                             mask=None if causal else _tensor(torch, mask, "mask", whole, q.device), causal=causal,
                             window=None if window is None else integer(window, "window", 1),
                             cap=None if cap is None else _positive(cap, "cap"), learned=_learned(torch, sinks, q))


def _tensor(torch: Any, value: Any, name: str, shape: Tuple[int, ...], device: Any) -> Any:
    """A mask: booleans or floating-point numbers, broadcast to `shape`."""
    if value is None:
        return None
    made = torch.as_tensor(value, device=device).detach()
    if made.dtype != torch.bool and not made.is_floating_point():
        raise ArgumentError(f"{name}: {made.dtype}; booleans (True: seen) or numbers that are added are needed", "SZG_EINVAL")
    try:
        fits = made.dim() >= 2 and torch.broadcast_shapes(tuple(made.shape), shape) == torch.Size(shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ArgumentError(f"{name}: shape {tuple(made.shape)}; {list(shape)} is needed, or what is broadcast to it", "SZG_EINVAL")
    return made


def _learned(torch: Any, sinks: Any, q: Any) -> Any:
    if sinks is None:
        return None
    made = torch.as_tensor(sinks, device=q.device).detach().flatten()
    if made.numel() not in (1, q.shape[1]):
        raise ArgumentError(f"sinks: {made.numel()} logits; one for each of the {q.shape[1]} heads is needed", "SZG_EINVAL")
    return made.expand(q.shape[1])
