"""Trained checkpoints in this process: spectra of every head, as tables and as arrays by layer and head."""
import ctypes
import json
import os
import re
from ctypes import byref as _ref
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Literal, Mapping, NamedTuple, Optional, Tuple, Union, overload

import numpy as np

from . import layout, models, native
from .arguments import array, flag, integer, keywords, members, path as as_path, text, words
from .choices import Array, ArrayLike, Integer, KernelKind, Positions, StackName, chosen
from .display import Shown, plain
from .errors import ArgumentError, LibraryError
from .head import Cell, Head, row
from .native_tables import results
from .tabled import Tabled
from .tables import Results, Table

_TABLES = tuple(name for name, _ in layout.CheckpointTables._fields_ if name not in ("bad", "unconverged"))
_POSITIONS = {value: word for word, (_, value) in layout.POSITIONS.items()}
_PLACES = {value: word for word, (_, value) in layout.PLACES.items()}
_SAMPLES, _LAGS = 256, 256  # of the command

Numbers = Union[None, int, str, Iterable[Integer]]  # layers or heads


class Kernel(NamedTuple):
    """Kernels of all heads. lags: int64, (count,); values: float64, (layers, heads, count)."""
    lags: Array
    values: Array


class Problem(NamedTuple):
    """What was skipped. layer, head: None where it concerns all of them; matrix: "qk", "position", or a tensor."""
    layer: Optional[int]
    head: Optional[int]
    matrix: str
    why: str


@dataclass(frozen=True, eq=False, repr=False)
class Checkpoint(Tabled, Shown):
    """Spectra of a trained checkpoint: W_Q^T W_K of every head, and what positions add.

    unknown: None, or why the architecture is not known; then there are no layers and heads, and every 2-D weight
        has its singular values.
    layers, heads, key_heads, head_size, model_size: of the model; model_type: as in its configuration (None:
        there is none). stack, stacks: which stack of an encoder-decoder this is, and which there are ("" and
        ("",) where there is one). positions: "none", "learned" or "sinusoidal", with position_rows rows; rotary: queries
        and keys of a layer at least rotate. note: what W_Q^T W_K leaves out (biases, normalised queries).
    bad, unconverged: tensors and heads that were skipped: damaged, or without a spectrum that converged;
        `problems` says each. The rest is complete.
    tables: those of `szego checkpoint`: checkpoint_summary, checkpoint_notes, checkpoint_spectra,
        checkpoint_frequencies, checkpoint_kernel, checkpoint_range, checkpoint_samples, checkpoint_tensors,
        checkpoint_bounds, checkpoint_architecture, checkpoint_top, checkpoint_heads (is a head positional, at which
        lags, and is it more than chance), checkpoint_layers, checkpoint_circuits;
        found["checkpoint_summary"] is tables["checkpoint_summary"]. Those with nothing to say are left out.
    found[layer, head] is one Head; numbers below 0 count from the end, there and in the calls below. frame() is the table
        checkpoint_summary, frame(NAME) another one.

    matrix: "qk" is s W_Q^T W_K with the gains of norms folded in, unless `raw` was asked for (model_size x
    model_size, rank at most head_size, s the logits' scale), "position"
    is s P W_Q^T W_K P^T (n x n, P the table of positions); of an unknown architecture a tensor's name
    (`matrices` lists them). With circuits "ov" is W_O W_V, and "qk@16" is "qk" with the rotation at lag 16.
    Source: docs/reference/checkpoints.md.
    """
    source: str
    unknown: Optional[str]
    model_type: Optional[str]
    stack: str
    stacks: Tuple[str, ...]
    layers: int
    heads: int
    key_heads: int
    head_size: int
    model_size: int
    positions: Positions
    position_rows: int
    rotary: bool
    note: str
    bad: int
    unconverged: int
    tables: Results[Table]
    _made: Dict[tuple, np.ndarray] = field(default_factory=dict)
    _numbers = "`singular_values()`, `eigenvalues()`, `per_head()` and [layer, head]"
    _main = "checkpoint_summary"

    @overload
    def __getitem__(self, key: str) -> Table: ...
    @overload
    def __getitem__(self, key: Tuple[Integer, Integer]) -> Head: ...

    def __getitem__(self, key):
        """A table by its name, or the Head at [layer, head]. LibraryError: that head was skipped."""
        return self._head(*key) if isinstance(key, tuple) and len(key) == 2 else super().__getitem__(key)

    def _head(self, layer: int, head: int) -> Head:
        self._need_heads("a head")
        layer, head = _within(layer, "layer", self.layers), _within(head, "head", self.heads)
        columns: Dict[str, Cell] = {}
        for name in ("checkpoint_summary", "checkpoint_heads"):
            table = self.tables.get(name, {})
            if not len(table.get("layer", ())):
                continue
            here = (np.ma.getdata(table["layer"]) == layer) & (np.ma.getdata(table["head"]) == head)
            if "matrix" in table:
                here &= (np.ma.getdata(table["matrix"]) == "qk") & ~np.ma.getmaskarray(table["head"])
            for at in np.flatnonzero(here)[:1]:
                columns.update({**row(table, int(at)), **columns})
        return Head(self.source, layer, head, self.singular_values(layer, head), self.eigenvalues(layer, head), columns)

    # ---- Arrays -------------------------------------------------------------------------------------

    def singular_values(self, layer: Optional[Integer] = None, head: Optional[Integer] = None, *,
                        matrix: str = "qk") -> Array:
        """Singular values, descending: shape (layers, heads, count), or (heads, count) of one layer, or (count,)
        of one head or tensor (with `top` the largest ones). count: head_size, or less where the matrix is smaller (0: every head was skipped);
        the other singular values of the matrix are exactly 0. NaN where a head was skipped or lists fewer.
        LibraryError: that head or tensor was skipped (`problems`)."""
        return self._values("singular", layer, head, matrix)

    def eigenvalues(self, layer: Optional[Integer] = None, head: Optional[Integer] = None, *,
                    matrix: str = "qk") -> Array:
        """Eigenvalues, complex128, ascending by real, then imaginary part; shapes as of `singular_values`. The
        other eigenvalues of the matrix are exactly 0. An unknown architecture has none."""
        return self._values("eigenvalue", layer, head, matrix)

    def per_head(self, column: str, *, matrix: str = "qk") -> Array:
        """A column of the table checkpoint_summary ("stable_rank", "sigma_max", "key_head", "toeplitzness"), or of
        checkpoint_heads ("mean_share", "self_p", "mean_peak"), which does not depend on the matrix, as float64
        of shape (layers, heads); NaN where the cell is empty or the head was skipped."""
        self._need_heads("per_head")
        table, heads = self._computed("checkpoint_summary"), self.tables.get("checkpoint_heads", {})
        rows = self._rows(table, matrix) & ~np.ma.getmaskarray(table["head"])
        if column not in table and column in heads:
            table, rows = heads, np.ones(len(heads["head"]), bool)
        cells = self._reals(table, column, "checkpoint_heads" if table is heads else "checkpoint_summary")
        made = np.full((self.layers, self.heads), np.nan)
        made[_data(table, "layer", rows), _data(table, "head", rows)] = cells[rows]
        return made

    def per_pair(self, column: str) -> Array:
        """A column of the table checkpoint_frequencies ("theta", "energy", "rotation_re") as float64 of shape
        (layers, heads, pairs); "rotation" and "reflection" are complex128. Rotary pair t of a head turns by
        theta[t] a position. NaN: the layer does not rotate, has fewer pairs, or the head was skipped.
        LibraryError: nothing rotates."""
        if "checkpoint_frequencies" not in self.tables:
            raise LibraryError(f"{self!r} has no rotary pairs: no layer of a known architecture rotates")
        table = self.tables["checkpoint_frequencies"]
        if column in ("rotation", "reflection"):
            cells = np.ma.getdata(table[column + "_re"]) + 1j * np.ma.getdata(table[column + "_im"])
        else:
            cells = self._reals(table, column, "checkpoint_frequencies")
        every = np.ones(len(cells), bool)
        return self._placed(table, every, "pair", cells)

    def kernel(self, kind: KernelKind = "mean") -> Kernel:
        """How the expected logit of each head depends on the lag, query position less the key's.

        kind: "mean", of two independent tokens; "self", of a token and its own copy.
        lags: int64, ascending, shape (count,): those of the table checkpoint_kernel, which are dense up to `kernel` of
            szego.checkpoint and sparse beyond; negative ones where queries see later keys. values: float64,
            shape (layers, heads, count). NaN: the kernel is not known (checkpoint_heads says why), or the layer's
            window does not reach that lag.
        LibraryError: no kernel of any head is known, or no lag was asked for.
        Source: docs/explanation/theory.md, "Positional heads".
        """
        chosen(kind, "kind", KernelKind)
        table = self.tables.get("checkpoint_kernel", {})
        if not len(table.get("lag", ())):
            raise LibraryError(f"{self!r} has no kernels: {self._no_kernels()}")
        lags, place = np.unique(np.ma.getdata(table["lag"]), return_inverse=True)
        values = np.full((self.layers, self.heads, len(lags)), np.nan)
        values[np.ma.getdata(table["layer"]), np.ma.getdata(table["head"]), place] = self._reals(
            table, kind, "checkpoint_kernel")
        return Kernel(lags, values)

    def _no_kernels(self) -> str:
        heads = self.tables.get("checkpoint_heads", {})
        if any(np.ma.count(heads[share]) for share in ("mean_share", "self_share") if share in heads):
            return "kernel=0 asks for none"
        reasons = dict.fromkeys(str(one) for one in np.ma.compressed(heads["note"])) if "note" in heads else ()
        return "; ".join(map(_in_python, reasons)) or "no head is known"

    @property
    def matrices(self) -> Tuple[str, ...]:
        """Matrices with a spectrum: "qk", "position", or names of tensors."""
        return tuple(dict.fromkeys(np.ma.getdata(self._listed()["matrix"]).tolist()))

    @property
    def problems(self) -> Tuple[Problem, ...]:
        """What was skipped, and why; bad + unconverged of them."""
        table, notes = self._computed("checkpoint_summary"), self._computed("checkpoint_notes")
        said = {_place(notes, row): str(notes["note"][row]) for row in range(len(notes["note"]))}
        skipped = (_place(table, row) for row in np.flatnonzero(np.ma.getmaskarray(table["sigma_max"])))
        found = [Problem(*place, said[place]) for place in skipped]
        if "checkpoint_circuits" in self.tables:
            table = dict(self.tables["checkpoint_circuits"], matrix=self.tables["checkpoint_circuits"]["circuit"])
            found += [Problem(*_place(table, row), str(table["note"][row]))
                      for row in np.flatnonzero(np.ma.getmaskarray(table["frobenius"]))]
        return tuple(found)

    def __repr__(self) -> str:
        what = "unknown architecture" if self.unknown else (
            f"{self.model_type}, {self.layers} layers of {self.heads} heads of size {self.head_size}")
        skipped = self.bad + self.unconverged
        return f"<szego.Checkpoint of {plain(self.source)}: {what}{f', {skipped} skipped' if skipped else ''}>"

    # ---- From tables --------------------------------------------------------------------------------

    def _need_heads(self, what: str) -> None:
        if self.unknown:
            raise LibraryError(f"{self.source}: {self.unknown}: no heads are known, so that {what} has no answer; "
                               "singular_values(matrix=NAME) has those of a tensor")

    def _listed(self):
        """The table of values: the largest ones alone with `top`."""
        return self._computed("checkpoint_top" if "checkpoint_top" in self.tables else "checkpoint_spectra")

    def _computed(self, name: str):
        if name not in self.tables:
            raise LibraryError(f"{self!r} has no table {name}: no spectrum was computed (dry_run=True, or every head was "
                               "skipped)")
        return self.tables[name]

    def _reals(self, table, column: str, name: str) -> np.ndarray:
        """Numbers as float64, NaN where a cell is empty."""
        if not isinstance(column, str) or column not in table:
            raise ArgumentError(f"{column!r} is no column of {name}: {', '.join(table)}", "SZG_EINVAL")
        cells = table[column]
        if cells.dtype == object:
            raise ArgumentError(f"the column {column} of {name} holds texts", "SZG_EINVAL")
        return np.where(np.ma.getmaskarray(cells), np.nan, np.ma.getdata(cells).astype(float))

    def _rows(self, table, matrix: str) -> np.ndarray:
        if matrix not in {*self.matrices, *(one.matrix for one in self.problems)}:
            raise ArgumentError(f"matrix={matrix!r}: spectra are there of {_some(self.matrices)}", "SZG_EINVAL")
        return np.ma.getdata(table["matrix"]) == matrix

    def _placed(self, table, rows: np.ndarray, last: str, cells: np.ndarray) -> np.ndarray:
        """[layers, heads, 1 + largest `last`] of cells of rows; NaN elsewhere."""
        place = [_data(table, name, rows) for name in ("layer", "head", last)]
        made = np.full((self.layers, self.heads, 1 + max(place[2], default=-1)), np.nan, cells.dtype)
        made[tuple(place)] = cells[rows]
        return made

    def _every(self, kind: str, matrix: str) -> np.ndarray:
        """Values of all heads, or of one tensor."""
        if (kind, matrix) not in self._made:
            table = self._listed()
            rows = self._rows(table, matrix)
            if "kind" in table:
                rows &= np.ma.getdata(table["kind"]) == kind
            cells = np.ma.getdata(table["re" if "re" in table else "sigma"])
            if kind == "eigenvalue":
                cells = cells + 1j * np.ma.getdata(table["im"])
            self._made[kind, matrix] = cells[rows] if self.unknown else self._placed(table, rows, "index", cells)
        return self._made[kind, matrix]

    def _values(self, kind: str, layer, head, matrix: str) -> np.ndarray:
        if not isinstance(matrix, str):
            raise ArgumentError(f"matrix={matrix!r}: a name is needed: {_some(self.matrices)}", "SZG_EINVAL")
        if self.unknown:
            if matrix == "qk" or layer is not None or head is not None or kind != "singular":
                self._need_heads("layer, head, qk and eigenvalues")
            found = self._every(kind, matrix).copy()
            if not len(found):
                raise LibraryError(f"{self.source}: {plain(matrix)} has no spectrum: " + "; ".join(
                    one.why for one in self.problems if one.matrix == matrix))
            return found
        if layer is None and head is not None:
            raise ArgumentError(f"head={head} of which layer? Every layer has it: [:, {head}] of the whole array",
                                "SZG_EINVAL")
        at: List[int] = [_within(value, name, count) for value, name, count in (
            (layer, "layer", self.layers), (head, "head", self.heads)) if value is not None]
        found = self._every(kind, matrix)[tuple(at)].copy()
        if len(at) < 2:
            return found
        found = found[~np.isnan(found)]
        if not len(found):
            raise LibraryError(f"{self.source}: layer {layer}, head {head} has no spectrum: {self._why(*at)}")
        return found

    def _why(self, layer: int, head: int) -> str:
        return "; ".join(one.why for one in self.problems
                         if one.layer in (None, layer) and one.head in (None, head)) or (
                             "no value is listed (layers= and heads= leave the others out)")


def _place(table, row: int) -> Tuple[Optional[int], Optional[int], str]:
    """Layer, head and matrix of a row; None: it has no layer or head of its own."""
    layer, head = (None if name not in table or np.ma.getmaskarray(table[name])[row] else int(table[name][row])
                   for name in ("layer", "head"))
    return layer, head, str(np.ma.getdata(table["matrix"])[row])


def _data(table, column: str, rows: np.ndarray) -> np.ndarray:
    return np.ma.getdata(table[column])[rows]


def _some(names) -> str:
    return ", ".join(map(plain, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "nothing"


def _within(value, name: str, count: int) -> int:
    value = integer(value, name)
    if not -count <= value < count:
        raise ArgumentError(f"{name}={value}: 0 to {count - 1} are possible, or from the end -1 to -{count}", "SZG_EINVAL")
    return value % count


@keywords
def checkpoint(source: Any, config: Any = None, *, layers: Numbers = None, heads: Numbers = None,
               stack: Optional[StackName] = None,
               prefix: Optional[str] = None, settings: Optional[Mapping[str, object]] = None, dry_run: bool = False,
               positions: Optional[int] = None, samples: Optional[int] = None, kernel: Optional[int] = None,
               raw: bool = False, circuits: bool = False, lags: Optional[Iterable[Integer]] = None, draws: int = 200,
               top: Optional[int] = None, seed: int = 0, context: Union[int, Literal["trained"], None] = None,
               threads: Optional[int] = None, revision: Optional[str] = None,
               token_counts: Optional[ArrayLike] = None, adapter: Any = None) -> Checkpoint:
    """Spectra of every attention head of a model, on disk, of the hub, or in memory.

        found = szego.checkpoint("path/to/model/")
        found = szego.checkpoint(model)               # of transformers or peft, or a torch.nn.Module with a config
        found = szego.checkpoint(state_dict, config=model.config)
        found.singular_values().shape                 # (layers, heads, head_size)
        found.per_head("stable_rank")                 # (layers, heads)
        found["checkpoint_heads"]["stands_out"]       # heads that are positional, beyond chance
        lags, values = found.kernel("self")           # (count,), (layers, heads, count)

    source: the path of a safetensors file, of an index of shards, of a GGUF file, or of a model folder. Or the name of
        a model of the Hugging Face hub, "ORG/NAME", or of a file of one, "ORG/NAME:FILE". A path that is there comes
        first. What no cache on this machine has of the model, szego.hub fetches: only the tensors that are needed. Or a
        model in memory, with the answer that its folder would have: names are those under which save_pretrained writes. A
        state_dict (tensors of PyTorch, arrays of NumPy) has the names of files already. Nothing is copied but what is
        worked on. The active adapters of peft are merged as peft does, a module at a time, and the model stays as it
        is; `Checkpoint.source` names them. Refused by name: queries or keys on the device "meta", quantised, or a
        shard (FSDP, DTensor, DeepSpeed), and adapters that peft cannot merge. Do not change weights meanwhile.
    config: the model's configuration: a path (None: config.json beside the weights, if there is one; "none": assume no
        architecture). Of a model in memory also an object of transformers, a dict or a dataclass (None: the module's).
    revision: of a name of the hub, a branch, a tag or a whole commit (None: main).
    adapter: a folder of peft (LoRA, rsLoRA or DoRA) over the model of that path, or a name of the hub in its cache: the
        weights are those that it makes, one head at a time (None: the model's own).
    layers, heads: those alone, as numbers (3, [0, -1], range(8); -1 is the last) or as a text ("0-7+12"); arrays keep
        their shapes, with NaN for the rest. Tables of parts that make the whole have the rows of the whole.
    stack: of an encoder-decoder, "encoder", "decoder" or "cross" (None: the first; `stacks` lists them). prefix: what
        stands before the names of the stack to read ("vision_tower."). settings: values that change the
        configuration, by the paths that messages print: {"rope_theta": 1e6}. One that nothing reads is refused.
    dry_run: the tables checkpoint_architecture and checkpoint_tensors alone: no weight is read.
    positions: leading positions to use (None: all). samples: of each Toeplitz part's symbol in the table
        checkpoint_samples (None: 256; 0: none). kernel: lags of each head's kernels in the table
        checkpoint_kernel: those below it in size, then 16 in each doubling (None: 256; 0: none).
    raw: fold no gain of a norm into "qk", and bound no logit (no checkpoint_bounds).
    token_counts: how often each token id occurs in your text, 1-D, as numpy.bincount makes it. The mean kernels of
        layer 0 are then those of such tokens (None: each token of the vocabulary is as likely).
    circuits: QK and OV of every head in the table checkpoint_circuits, and their values. lags: QK with the rotation
        at these, place of the query minus place of the key (None: [0], without rotation); implies circuits. draws:
        random circuits behind the baseline beside each (0: none).
    top: of whole weights (config="none", or an unknown architecture) so many of the largest singular values alone:
        the table checkpoint_top has each with its error, and singular_values(matrix=NAME) has them too. seed: of
        the random vectors behind it, of `draws`, and of the signs that chance is drawn by.
    context: N: bound the logits of rotary heads at the lags 0 to N - 1, one factorisation a lag (None: at any lag);
        "trained": the length in the configuration.

    A tensor that is damaged is skipped: look at `bad`, `unconverged` and `problems`. ArgumentError: no such
    checkpoint or configuration that can be used; LibraryError: a file or tensor that cannot be read, positions that
    the model lacks; HubError: the hub did not send what was asked for. Ctrl-C ends the call. Source:
    szg_checkpoint_analyse in <szego/checkpoint.h>.
    """
    at = _lags(lags)
    counts = None if token_counts is None else array(token_counts, "token_counts", 1, 1).array
    if counts is not None and counts.dtype.kind == "c":
        raise ArgumentError("token_counts: complex numbers; real ones are needed", "SZG_EINVAL")
    options = layout.CheckpointOptions(
        token_counts=None if counts is None else counts.ctypes.data, token_count=0 if counts is None else len(counts),
        positions=0 if positions is None else integer(positions, "positions", 1),
        samples=_SAMPLES if samples is None else integer(samples, "samples", 0), dry_run=flag(dry_run, "dry_run"),
        layers=numbers(layers, "layers"), heads=numbers(heads, "heads"),
        raw=flag(raw, "raw"), kernel=_LAGS if kernel is None else integer(kernel, "kernel", 0),
        top=0 if top is None else integer(top, "top", 1),
        circuits=flag(circuits, "circuits") or len(at) > 0, lags=ctypes.addressof(at),
        lag_count=len(at), draws=integer(draws, "draws", 0), seed=integer(seed, "seed", 0),
        context=0 if context is None else layout.CONTEXTS["trained"][1] if isinstance(context, str) and
        context == "trained" else integer(context, "context", 1))

    return analysed(source, Choice(config, prefix, stack, settings, revision, adapter), options, _checkpoint, threads)


class Choice(NamedTuple):
    """Which stack of which configuration of a model: keywords of `checkpoint`."""
    config: object = None
    prefix: Optional[str] = None
    stack: Optional[str] = None
    settings: Optional[Mapping[str, object]] = None
    revision: Optional[str] = None
    adapter: object = None


def locate(path: bytes, revision: Optional[bytes]) -> str:
    """What a path is: "path"; or a name of the hub: "hub", in its cache, "fetched", in szego's, or "nowhere"."""
    place = ctypes.c_int()
    native.run(lambda context: context.call("szg_checkpoint_locate", path, revision, _ref(place)), quick=True,
               reword=lambda message: None)
    return _PLACES[place.value]


def _opener(source, config, choices: layout.CheckpointChoices):
    """The library's function that opens it, with its first argument and the model in memory, if it is one."""
    if models.is_model(source):
        if choices.revision is not None:
            raise ArgumentError("revision belongs to a name of the hub, and source is a model in memory", "SZG_EINVAL")
        if choices.adapter is not None:
            raise ArgumentError("adapter is added to a model on disk, and source is a model in memory: "
                                "PeftModel.from_pretrained(model, adapter) adds it there", "SZG_EINVAL")
        model = models.Model(source, config)
        return "szg_checkpoint_open_tensors", _ref(model.struct), model
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise ArgumentError("source: a path, a name of the hub, a torch.nn.Module or a state_dict is needed, not "
                            f"{type(source).__name__}", "SZG_EINVAL")
    none = isinstance(config, str) and config == "none"
    choices.config = None if config is None else b"" if none else as_path(config, "config")
    return "szg_checkpoint_open_chosen", as_path(source, "source"), None


def analysed(source, choice: Choice, options: layout.CheckpointOptions, answer: Callable, threads: Optional[int]):
    """answer(facts, tables) of the analysis of a checkpoint."""
    changes = _settings(choice.settings)
    choices = layout.CheckpointChoices(
        prefix=None if choice.prefix is None else words(choice.prefix, "prefix"),
        stack=None if choice.stack is None else words(choice.stack, "stack"), set=ctypes.addressof(changes),
        sets=len(changes), revision=None if choice.revision is None else words(choice.revision, "revision"),
        adapter=None if choice.adapter is None else as_path(choice.adapter, "adapter"))
    opener, given, model = _opener(source, choice.config, choices)

    def work(context):
        with native.handle(context, opener, "szg_checkpoint_close", given, _ref(choices)) as opened:
            facts = native.library().szg_checkpoint_describe(opened)
            with native.filled(context, "szg_checkpoint_analyse", "szg_checkpoint_tables_close",
                               layout.CheckpointTables(), opened, _ref(options)) as found:
                return answer(facts, found)
    try:
        if model is None and locate(given, choices.revision) in ("fetched", "nowhere"):
            from . import hub  # pylint: disable=import-outside-toplevel
            hub.provide(given, choices, options, threads)
        return native.run(work, threads, reword=_warning)
    except LibraryError as error:
        if model and model.errors:
            raise model.errors[0]  # pylint: disable=raise-missing-from
        raise type(error)(_in_python(str(error)), error.status) from None


#: What remedies are called on the command line, and here.
_OPTIONS = [(re.compile(pattern), here) for pattern, here in (
    (r"(?<!\S)--set:", "settings:"),
    (r"(?<!\S)--set ([^\s=:]+)=([^\s:,;]+)", r'settings={"\1": \2}'), (r"(?<!\S)--set ([^\s=:]+)", r'settings "\1"'),
    (r"(?<!\S)--config none\b", 'config="none"'), (r"(?<!\S)--config FILE\b", "config=FILE"),
    (r"(?<!\S)--config\b", "config"), (r'(?<!\S)--prefix ""', 'prefix=""'),
    (r"(?<!\S)--prefix out\b", "prefix out"),
    (r"(?<!\S)--prefix ([^\s:,]+)", r'prefix="\1"'), (r"(?<![^\s(])--raw\b", "raw=True"),
    (r"(?<!\S)--adapter\b", "adapter"), (r"(?<!\S)--context N\b", "context=N"), (r"(?<!\S)--top\b", "top"))]


def _warning(message):
    """None: what was skipped is in `problems`."""
    return None if message.startswith("skipped: ") else _in_python(message)


def _in_python(message):
    for pattern, here in _OPTIONS:
        message = pattern.sub(here, message)
    return message


def _plain_number(value):
    """A number of NumPy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _settings(values) -> ctypes.Array:
    """Texts PATH=VALUE, as an array of C."""
    if values is not None and not isinstance(values, Mapping):
        raise ArgumentError(f"settings={values!r}: a dict of values by path is needed", "SZG_EINVAL")
    texts = []
    for name, value in (values or {}).items():
        try:
            said = json.dumps(value, allow_nan=False, default=_plain_number)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"settings: {name!r}: {error}", "SZG_EINVAL") from None
        if name == "":
            raise ArgumentError("settings: a path is empty: name a key, such as \"rope_theta\"", "SZG_EINVAL")
        if "=" in (name if isinstance(name, str) else ""):
            raise ArgumentError(f"settings: {name!r}: a path has no \"=\"; the value stands beside it", "SZG_EINVAL")
        texts.append(words(name, "settings") + b"=" + words(said, "settings"))
    return (ctypes.c_char_p * len(texts))(*texts)


def numbers(value, name: str) -> Optional[bytes]:
    """Numbers of layers or heads as the library takes them."""
    if value is None:
        return None
    if isinstance(value, str):
        return words(value, name)
    try:
        places = [integer(one, name) for one in ([value] if isinstance(value, (int, np.integer)) else members(value))]
    except TypeError:
        raise ArgumentError(f"{name}={value!r}: numbers, or a text such as \"0-7+12\", are needed",
                            "SZG_EINVAL") from None
    if not places:
        raise ArgumentError(f"{name}: no number is given; leave it out for all", "SZG_EINVAL")
    return "+".join(map(str, places)).encode()


def _lags(value) -> ctypes.Array:
    """Lags as an array of C."""
    try:
        numbers = [] if value is None else [integer(one, "lags") for one in members(value)]
    except TypeError:
        raise ArgumentError(f"lags={value!r}: a list of integers is needed", "SZG_EINVAL") from None
    if value is not None and not numbers:
        raise ArgumentError("lags: no number is given; leave it out for lag 0", "SZG_EINVAL")
    return (ctypes.c_int64 * len(numbers))(*numbers)


def _checkpoint(facts, found) -> Checkpoint:
    known = {name: getattr(facts, name) for name in (
        "layers", "heads", "key_heads", "head_size", "model_size", "position_rows", "rotary")}
    return Checkpoint(source=text(facts.source), unknown=text(facts.unknown), model_type=text(facts.model_type),
                      stack=text(facts.stack) or "", stacks=tuple((text(facts.stacks) or "").split("+")),
                      positions=_POSITIONS[facts.positions], note=text(facts.note) or "", bad=found.bad,
                      unconverged=found.unconverged, **known,
                      tables=results("checkpoint", {name: getattr(found, name) for name in _TABLES}))
