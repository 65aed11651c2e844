"""Training in this process: a decoder of a configuration, and a function of yours at each captured step."""
import contextlib
import ctypes
import json
import math
import os
import queue
import shutil
import tempfile
import threading
from ctypes import byref as _ref
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import layout, native
from .arguments import asarray, flag, integer, keywords, path as as_path, text
from .choices import Array, Part, Path, chosen
from .display import Shown
from .errors import ArgumentError, LibraryError
from .native_tables import results
from .tabled import Tabled
from .tables import Results, Table

_PROFILES = ("text", "released")
_SECTIONS = ("model", "data", "loop", "capture", "intervention", "curvature")
Config = Union[None, Path, Mapping[str, Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Trained(Tabled, Shown):
    """What a run has come to.

    folder, checkpoint: the run's folder, and the file of its weights in it; None where folder=None was asked for,
        which is removed.
    stopped: the callback returned False; the run is saved after `steps` steps, and resume=True goes on. The numbers
        of an evaluation are NaN then, epochs and parameters 0.
    steps, epochs: done in all. parameters: numbers that are trained.
    train_loss, train_accuracy: of the last epoch; test_loss, test_accuracy: of the last evaluation; best_accuracy:
        the best one of the test split (NaN without test examples).
    seconds, tokens_per_second: of this call, evaluation and capture left out; capture_seconds: of the captures, the
        callback included.
    tables: train_metrics, train_timing, of captured steps train_contraction, train_contraction_values and
        train_contraction_symbols, of measured ones train_curvature, as szego.load(folder) gives them;
        trained["train_metrics"] is tables["train_metrics"]. Columns: docs/reference/tables.md.
    """
    folder: Optional[str]
    checkpoint: Optional[str]
    stopped: bool
    steps: int
    epochs: int
    parameters: int
    train_loss: float
    train_accuracy: float
    test_loss: float
    test_accuracy: float
    best_accuracy: float
    seconds: float
    tokens_per_second: float
    capture_seconds: float
    tables: Results[Table]
    _main = "train_metrics"

    def __repr__(self) -> str:
        how = "stopped, " if self.stopped else f"test accuracy {self.test_accuracy:.4f}, "
        return f"<szego.Trained: {self.steps} steps, {how}{'in ' + self.folder if self.folder else 'no folder'}>"


class CapturedStep:
    """A step of a training that was captured, with the parameters before its update. The arrays are copies.

    step: its number, from 0. layers, heads: which were captured. lengths: N of each probe, its real tokens.
    content_kind: "same_qk" or "zeroed", what content is (docs/reference/capture.md).
    tables: the step's rows, capture_contraction and, with capture.spectra, capture_contraction_values and
        capture_contraction_symbols. Row i of the first is that of pair i by probe, layer, head.
    """

    def __init__(self, given: layout.CapturedStep) -> None:
        pairs = given.logits[:given.count]
        self.step: int = given.step
        self.content_kind: Optional[str] = text(given.content_kind)
        self.layers: List[int] = sorted({pair.layer for pair in pairs})
        self.heads: List[int] = sorted({pair.head for pair in pairs})
        self.lengths: List[int] = [pair.n for pair in pairs[::len(self.layers) * len(self.heads)]]
        self._logits = {kind: self._copied(pairs, kind) for kind in ("content", "coupled")}
        self.tables: Results[Table] = results("capture", {"contraction": given.contraction, "contraction_values": given.values,
                                          "contraction_symbols": given.symbols})

    def _copied(self, pairs, kind: str) -> List[np.ndarray]:
        arrays = [np.empty((len(self.layers) * len(self.heads), n, n)) for n in self.lengths]
        for i, pair in enumerate(pairs):
            probe, at = divmod(i, len(self.layers) * len(self.heads))
            ctypes.memmove(arrays[probe][at].ctypes.data, getattr(pair, kind), 8 * pair.n**2)
        return [array.reshape(len(self.layers), len(self.heads), *array.shape[1:]) for array in arrays]

    def logits(self, probe: int = 0, kind: Part = "coupled") -> Array:
        """Logits of one probe, float64 of shape (layers, heads, N, N), in the order of `layers` and `heads`, before
        mask and softmax. kind: "coupled" (with the encoding) or "content" (without it)."""
        chosen(kind, "kind", Part)
        if not 0 <= integer(probe, "probe") < len(self.lengths):
            raise ArgumentError(f"probe={probe}: there are {len(self.lengths)}, from 0 (capture.probes)", "SZG_EINVAL")
        return self._logits[kind][probe]

    def __repr__(self) -> str:
        return (f"<szego.CapturedStep {self.step}: {len(self.lengths)} probes, {len(self.layers)} layers, "
                f"{len(self.heads)} heads>")


@keywords
def train(config: Config = None, *, data: Any = None, folder: Optional[Path] = None, seed: int = 0,
          callback: Optional[Callable[[CapturedStep], object]] = None, resume: bool = False,
          overrides: Optional[Mapping[str, Any]] = None, threads: Optional[int] = None) -> Trained:
    """Trains one run and returns its numbers and tables.

        szego.train({"model": {"layers": 2}, "capture.every": 100}, folder="run", callback=look).test_accuracy

    config: the configuration (docs/reference/configuration.md): a dict, nested or with dotted keys; the path of a
        JSON file; "text" or "released", a profile alone; None: all of the profile `text`. overrides: a
        second dict, whose keys take precedence. Lists ([0, 3], "0-3+5", "all") are written as there.
    data: None: the configuration's task or files. Else examples to train on, of which the configuration splits a
        part off to test on; or {"train": examples, "test": examples}. Examples are the path of a JSONL file, or
        (tokens, labels): tokens of shape (count, n), integers from 1 with zeros as padding at the right, or a list
        of sequences; labels of shape (count,), from 0. Arrays are written into the folder as train.jsonl, test.jsonl.
    folder: receives what `szego train` writes into a run's folder: configuration, checkpoint, logs, and at the end
        the manifest, for szego.load and `szego report`. None: a temporary folder, which is removed.
    seed: of initial values, order and dropout.
    callback: called with a CapturedStep at each captured step (capture.every), in the caller's thread, which waits
        for the run. False as its answer stops the run after that step, saved. An exception does so too, and is
        raised. A resumed run calls it again for the steps since its latest checkpoint.
    resume: go on from the folder's checkpoint to the same bits as of a run that was not stopped.
    threads: worker threads; None: one for each processor.

    Ctrl-C finishes the step, saves, and raises KeyboardInterrupt; a second one does not wait. ArgumentError (a key,
    a value, data or a folder that do not fit), LibraryError (a loss that is not finite, a full disk), with the
    library's message. Source: szg_train_run in <szego/train.h>.
    """
    seed, resume = integer(seed, "seed", 0), flag(resume, "resume")
    if callback is not None and not callable(callback):
        raise ArgumentError(f"callback={callback!r} is not a function", "SZG_EINVAL")
    if resume and folder is None:
        raise ArgumentError("resume=True: the folder of the run is missing (folder=...)", "SZG_EINVAL")
    path, keys = _configuration(config, overrides)
    with _place(folder) as place:
        run = _Run(place, seed, callback, resume)
        keys += run.store(data)
        try:
            result = native.run(lambda context: run.work(context, path, keys), threads, wait=run.serve, grace=math.inf)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(run.interrupted(folder is not None)) from run.failure
        kept = None if folder is None else place
        return native.run(lambda context: run.trained(context, result, kept))


# ---- Arguments ----------------------------------------------------------------------------------


@contextlib.contextmanager
def _place(folder) -> Iterator[str]:
    """The run's folder; a temporary one for None. The run's name in the tables is the folder's."""
    if folder is not None:
        yield os.path.abspath(os.fsdecode(as_path(folder, "folder")))
        return
    parent = tempfile.mkdtemp(prefix="szego-train-")
    try:
        yield os.path.join(parent, "run")
    finally:
        shutil.rmtree(parent, ignore_errors=True)  # a run that was left alone may write there still


def _configuration(config: Config, overrides: Optional[Mapping]) -> Tuple[Optional[bytes], List[bytes]]:
    """(path or None, KEY=VALUE texts)."""
    if overrides is not None and not isinstance(overrides, Mapping):
        raise ArgumentError(f"overrides={overrides!r}: a dict of keys and values is needed", "SZG_EINVAL")
    more = _keys(overrides or {}, "overrides")
    if config is None:
        return None, more
    if isinstance(config, Mapping):
        return None, _keys(config, "config") + more
    if config in _PROFILES:
        return None, [f"profile={config}".encode()] + more
    return as_path(config, "config"), more


def _keys(config: Mapping, name: str, section: str = "") -> List[bytes]:
    """KEY=VALUE of each key; sections may be dicts."""
    found = []
    for key, value in config.items():
        if not isinstance(key, str) or "=" in key or "\0" in key:
            raise ArgumentError(f"{name}: the key {key!r} is none of docs/reference/configuration.md", "SZG_EINVAL")
        if isinstance(value, Mapping) and not section and key in _SECTIONS:
            found += _keys(value, name, f"{key}.")
        else:
            found.append(f"{section}{key}={_value(value, f'{name}: {section}{key}')}".encode("utf-8", "surrogateescape"))
    return found


def _value(value, name: str) -> str:
    """As `szego train --set` has it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, range)):
        return "+".join(str(integer(one, name)) for one in value) or "none"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return value and os.fsdecode(as_path(value, name))
    try:
        return str(integer(value, name))
    except ArgumentError:
        raise ArgumentError(f"{name}={value!r}: a number, a text, a bool or a list of indices is needed",
                            "SZG_EINVAL") from None


def _jsonl(examples, name: str) -> bytes:
    """(tokens, labels) as szg_examples_read reads them."""
    try:
        tokens, labels = examples
        counts = len(tokens), len(labels)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: the path of a JSONL file, or (tokens, labels), is needed", "SZG_EINVAL") from None
    if counts[0] != counts[1] or not counts[0]:
        raise ArgumentError(f"{name}: {counts[0]} sequences and {counts[1]} labels; as many of either are needed, "
                            "1 at least", "SZG_EINVAL")
    return "".join(json.dumps({"tokens": _tokens(sequence, f"{name}: sequence {i}"),
                               "label": integer(label, f"{name}: label {i}", 0)}) + "\n"
                   for i, (sequence, label) in enumerate(zip(tokens, labels))).encode()


def _tokens(sequence, name: str) -> List[int]:
    """Without the padding at its end."""
    array = asarray(sequence, name)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentError(f"{name}: {array.dtype}, shape {array.shape}; integers in one row are needed", "SZG_EINVAL")
    ids = array.tolist()
    while ids and ids[-1] == 0:
        ids.pop()
    if not ids or min(ids) < 1:
        where = f"token {ids.index(min(ids))} is {min(ids)}" if ids else "no token"
        raise ArgumentError(f"{name}: {where}; tokens are 1 or more, and 0 is padding at the right", "SZG_EINVAL")
    return ids


# ---- A run --------------------------------------------------------------------------------------


class _Run:
    """The run of one call. The library's thread hands a captured step over, and the caller's thread answers."""

    def __init__(self, folder: str, seed: int, callback, resume: bool):
        self.folder, self.seed, self.resume = folder, seed, resume
        self.callback, self.caller = callback, threading.current_thread()
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.error: Optional[BaseException] = None  # of the callback
        self.failure: Optional[BaseException] = None  # of a run that was interrupted: it was not saved
        self.stopped, self.left, self.steps = False, False, 0

    # ---- Data ---------------------------------------------------------------------------------------

    def store(self, data) -> List[bytes]:
        """Writes arrays into the folder; keys of the configuration that name the files."""
        if data is None:
            return []
        given = data if isinstance(data, Mapping) else {"train": data}
        if "train" not in given or set(given) - {"train", "test"}:
            raise ArgumentError(f"data: the keys {', '.join(map(str, given)) or 'of nothing'}; \"train\" is needed, "
                                "\"test\" is possible", "SZG_EINVAL")
        return [f"data.{name}_file=".encode() + os.fsencode(self._file(examples, name))
                for name, examples in given.items()]

    def _file(self, examples, name: str) -> str:
        if isinstance(examples, (str, bytes, os.PathLike)):
            return os.path.abspath(os.fsdecode(as_path(examples, f"data: {name}")))
        made, path = _jsonl(examples, f"data: {name}"), os.path.join(self.folder, f"{name}.jsonl")
        try:
            os.makedirs(self.folder, exist_ok=True)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    if file.read() == made:
                        return path
                raise ArgumentError(f"{path}: holds other examples: train in another folder", "SZG_EINVAL")
            with open(path + ".part", "wb") as file:
                file.write(made)
            os.replace(path + ".part", path)
        except OSError as error:
            raise LibraryError(f"{path}: {error}", "SZG_EIO") from None
        return path

    # ---- Captured steps -----------------------------------------------------------------------------

    def captured(self, context: native.Context, given) -> None:
        """Called by the library: nothing may be raised."""
        try:
            step = CapturedStep(given.contents)
            self.steps = step.step + 1
            answer = self._answer(step)
            if isinstance(answer, (bool, np.bool_)) and not answer:
                self.stopped = True
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
        if self.stopped or self.error:
            context.cancel()

    def _answer(self, step: CapturedStep):
        """What the callback says in the caller's thread."""
        if threading.current_thread() is self.caller:
            return self.callback(step)
        answer: queue.SimpleQueue = queue.SimpleQueue()
        self.requests.put((step, answer))
        while not self.left:
            with contextlib.suppress(queue.Empty):
                said, error = answer.get(timeout=0.1)
                if error:
                    raise error
                return said
        return None  # the caller was interrupted, and waits for nothing but the end

    def serve(self, seconds: float) -> None:
        """What the caller does while it waits: it answers a step."""
        try:
            with contextlib.suppress(queue.Empty):
                request = self.requests.get(timeout=seconds)
                if request is None:  # the run has ended
                    return
                step, answer = request
                try:
                    answer.put((self.callback(step), None))
                except BaseException as error:  # pylint: disable=broad-except
                    answer.put((None, error))
        except BaseException:
            self.left = True
            raise

    def interrupted(self, kept: bool) -> str:
        """What is left after Ctrl-C."""
        if self.failure:
            return f"training stopped, and was not saved: {self.failure}"
        if not kept:
            return "training stopped; it had no folder, and nothing is kept"
        if not os.path.exists(os.path.join(self.folder, "checkpoint.state.safetensors")):
            return "training stopped before its first step"
        return f"training stopped; saved in {self.folder}: resume=True goes on"

    # ---- The library --------------------------------------------------------------------------------

    def work(self, context: native.Context, path: Optional[bytes], keys: List[bytes]) -> Optional[layout.TrainResult]:
        """The whole run. None: the callback stopped it."""
        try:
            return self._train(context, path, keys)
        except LibraryError as error:
            if error.status != "SZG_ECANCEL":
                self.failure = error
                if self.error:
                    raise self.error from error
                raise
            if self.error:
                raise self.error from None
            if self.stopped:
                return None
            raise
        finally:
            self.requests.put(None)

    def _train(self, context, path, keys) -> layout.TrainResult:
        config, result = layout.TrainConfig(), layout.TrainResult()
        context.call("szg_train_config_read", path, (ctypes.c_char_p * len(keys))(*keys), len(keys), _ref(config))
        if self.callback and not config.capture.every:
            raise ArgumentError("callback: the configuration captures no step; set capture.every to the steps between "
                                "two calls", "SZG_EINVAL")
        function = layout.CAPTURED(lambda _context, step, _user: self.captured(context, step))
        with native.filled(context, "szg_dataset_open", "szg_dataset_close", layout.Dataset(), _ref(config)) as data:
            options = layout.TrainOptions(
                config=ctypes.addressof(config), data=ctypes.addressof(data), seed=self.seed,
                folder=os.fsencode(self.folder), resume=self.resume,
                captured=ctypes.cast(function, ctypes.c_void_p) if self.callback else None)
            context.call("szg_train_run", _ref(options), _ref(result))
        if self.error:  # of a step after which nothing was left to stop
            raise self.error
        return result

    def trained(self, context: native.Context, result: Optional[layout.TrainResult], kept: Optional[str]) -> Trained:
        """The tables; a run that has ended gets its manifest."""
        folder = os.fsencode(self.folder)
        with native.filled(context, "szg_train_tables_read", "szg_train_tables_close", layout.TrainTables(),
                           folder) as logs:
            names = {"metrics": logs.metrics, "timing": logs.timing, "contraction": logs.contraction,
                     "contraction_values": logs.values, "contraction_symbols": logs.symbols,
                     "curvature": logs.curvature}
            tables = results("train", names)
            if kept and result:
                _write_manifest(context, logs, folder)
        numbers = _numbers(result) if result else {**dict.fromkeys(_REALS, math.nan), "steps": self.steps, "epochs": 0,
                                                   "parameters": 0}
        return Trained(kept, kept and os.path.join(kept, "checkpoint.safetensors"), result is None, **numbers,
                       tables=tables)


_REALS = [name for name, kind in layout.TrainResult._fields_ if kind is ctypes.c_double]


def _numbers(result: layout.TrainResult) -> Dict[str, Union[int, float]]:
    return {name: getattr(result, name) for name, _ in layout.TrainResult._fields_}


def _write_manifest(context: native.Context, logs: layout.TrainTables, folder: bytes) -> None:
    with native.handle(context, "szg_result_open", "szg_result_close", b"train") as result:
        for name, _ in layout.TrainTables._fields_:
            table = ctypes.c_void_p(getattr(logs, name))
            if table:
                setattr(logs, name, None)  # the result owns it, also where it refuses it
                context.call("szg_result_add", result, _ref(table))
        context.call("szg_result_write", result, folder + b"/", None)
