#!/usr/bin/python3
"""szego.train: the program's runs bit for bit, captured steps against dumps and NumPy, stops, Ctrl-C, refusals.
usage: test_native_training.py PROGRAM"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

from peer import EPS, Tap, compute_alike, scratch, skip

PACKAGE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "notebooks_export",
                                       "python"))
sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    from szego import native
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
compute_alike(szego)

# Nine steps of three epochs; milliseconds.
TINY = {"model": {"vocabulary": 20, "width": 8, "hidden": 8, "layers": 2, "heads": 2, "max_length": 16},
        "data": {"examples": 58, "between_max": 4, "side_max": 2, "longest": 10},
        "loop": {"batch": 16, "epochs": 3, "learning_rate": 0.01, "warmup": 0.25}}
CAPTURE = {"capture.every": 2, "capture.probes": 2, "capture.spectra": True}
KEPT = ("checkpoint.safetensors", "metrics.csv", "contraction.csv", "contraction_values.csv")


def refused(name, call, *words, kind=szego.ArgumentError):
    tap.refused(name, call, *words, kind=kind)


def content(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def same_run(name, folder, other):
    """Weights and logs, bit for bit. The folders have the same last part: it is in the tables."""
    differ = [one for one in KEPT if content(folder, one) != content(other, one)]
    tap.ok(f"{name}: the same bits", not differ, str(differ))


def safetensors(path):
    """Arrays by name."""
    data = content(path)
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "F64": np.float64}
    return {name: np.frombuffer(data, kinds[one["dtype"]], offset=8 + size + one["data_offsets"][0],
                                count=int(np.prod(one["shape"]))).reshape(one["shape"]) for name, one in header.items()}


def whole(folder, **options):
    return szego.train(TINY, overrides=CAPTURE, folder=os.path.join(folder, "run-5"), seed=5, **options)


# ---- Values -------------------------------------------------------------------------------------

def check_program(place):
    """What `szego train` writes for the same configuration and seed."""
    config = os.path.join(place, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(TINY, file)
    sets = [text for key, value in CAPTURE.items() for text in ("--set", f"{key}={json.dumps(value)}")]
    subprocess.run([PROGRAM, "train", config, *sets, "--seed", "5", "--quiet", "-o", os.path.join(place, "program/")],
                   check=True)
    theirs = os.path.join(place, "program", "run-5")
    for name, given in (("a dict", TINY), ("dotted keys", {f"{section}.{key}": value for section, keys in TINY.items()
                                                           for key, value in keys.items()}), ("a file", config)):
        ours = szego.train(given, overrides=CAPTURE, folder=os.path.join(place, name, "run-5"), seed=5)
        same_run(f"{name} as the program", ours.folder, theirs)
    loaded, written = szego.load(ours.folder), szego.load(theirs)
    tap.ok("the folder is a result", set(ours) == set(loaded) == set(written) and len(set(ours)) == 5, str(set(ours)))
    for table in ours:
        for column, array in ours[table].items():
            want = written[table][column]
            if table == "train_timing" and array.dtype == np.float64:
                continue
            tap.ok(f"{table}.{column}", array.dtype == want.dtype and np.array_equal(
                np.ma.getmaskarray(array), np.ma.getmaskarray(want)) and np.array_equal(
                    np.ma.getdata(array), np.ma.getdata(want), equal_nan=array.dtype == np.float64))
    metrics = ours["train_metrics"]
    last = {split: metrics["accuracy"][metrics["split"] == split][-1] for split in ("train", "test")}
    tap.ok("the numbers are the table's last ones", (ours.train_accuracy, ours.test_accuracy) == (
        last["train"], last["test"]) and ours.best_accuracy == metrics["accuracy"][metrics["split"] == "test"].max()
        and (ours.steps, ours.epochs, ours.stopped) == (9, 3, False) and ours.parameters > 0)
    tap.ok("the checkpoint", ours.checkpoint == os.path.join(ours.folder, "checkpoint.safetensors")
           and len(repr(ours)) < 200 and "9 steps" in repr(ours), repr(ours))
    tap.ok("a profile's name", szego.train("text", overrides={**{f"{section}.{key}": value for section, keys in
                                                                  TINY.items() for key, value in keys.items()}},
                                           seed=5).test_loss == ours.test_loss)


def check_captured(place):
    """Arrays against the dump, rows against NumPy."""
    for encoding, kind in (("rope", "same_qk"), ("absolute", "zeroed")):
        steps, threads = [], set()

        def look(step):
            steps.append(step)
            threads.add(threading.current_thread())
        found = szego.train({**TINY, "model.encoding": encoding}, overrides={**CAPTURE, "capture.dump": True}, seed=5,
                            folder=os.path.join(place, encoding), callback=look)
        tap.ok(f"{encoding}: steps", [step.step for step in steps] == [0, 2, 4, 6, 8]
               and {step.content_kind for step in steps} == {kind} and threads == {threading.main_thread()})
        joined = {name: np.concatenate([step.tables["capture_contraction"][name] for step in steps])
                  for name in steps[0].tables["capture_contraction"]}
        logged = found["train_contraction"]
        tap.ok(f"{encoding}: rows are the log's", all(np.array_equal(np.ma.getdata(joined[name]), np.ma.getdata(
            logged[name]), equal_nan=joined[name].dtype == np.float64) for name in joined))
        worst, row = 0, 0
        for step in steps:
            dump = safetensors(os.path.join(found.folder, "logits", f"step-{step.step}.safetensors"))
            good = len(step.lengths) == 2 and step.layers == step.heads == [0, 1]
            for probe, n in enumerate(step.lengths):
                sides = {side: step.logits(probe, side) for side in ("content", "coupled")}
                for side, arrays in sides.items():
                    good = good and arrays.shape == (2, 2, n, n) and arrays.dtype == np.float64
                    for layer, head in np.ndindex(2, 2):
                        good = good and np.array_equal(
                            arrays[layer, head], dump[f"layers.{layer}.heads.{head}.probes.{probe}.{side}"])
                        largest = np.linalg.svd(arrays[layer, head], compute_uv=False)[0]
                        known = logged[f"sigma_max_{side}"][row + 2 * layer + head]
                        worst = max(worst, abs(known - largest) / (20 * n * EPS * largest))
                if encoding == "rope":  # lag 0 does not rotate; single precision
                    diagonals = [np.diagonal(one, axis1=2, axis2=3) for one in sides.values()]
                    good = good and np.abs(diagonals[0] - diagonals[1]).max() <= 100 * 2.0**-24 * np.abs(diagonals).max()
                row += 4
            tap.ok(f"{encoding}, step {step.step}: the dump's arrays", good)
        tap.ok(f"{encoding}: the logged norms are NumPy's", worst <= 1, str(worst))
    step = steps[0]
    refused("a probe that is not there", lambda: step.logits(2), "probe=2")
    refused("another kind", lambda: step.logits(kind="both"), "content")
    tap.ok("a short repr of a step", repr(step) == "<szego.CapturedStep 0: 2 probes, 2 layers, 2 heads>", repr(step))
    seen = []
    other = threading.Thread(target=lambda: whole(os.path.join(place, "t"), callback=lambda step: seen.append(
        threading.current_thread())))
    other.start()
    other.join()
    tap.ok("in another thread: the callback too", seen == [other] * 5)


def check_data(place):
    """Arrays as a file's lines, and an array with padding as a list without."""
    lists = [rng.integers(1, 20, rng.integers(2, 9)).tolist() for _ in range(60)]
    labels = rng.integers(0, 4, 60)
    padded = np.zeros((60, 12), np.int64)
    for row, one in zip(padded, lists):
        row[:len(one)] = one
    file = os.path.join(place, "given.jsonl")
    with open(file, "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"tokens": one, "label": int(label)}) + "\n" for one, label in zip(lists, labels))
    runs = [szego.train(TINY, data=data, seed=3, folder=os.path.join(place, f"{i}", "run")) for i, data in enumerate((
        file, (lists, labels), (padded, labels.tolist()), {"train": (padded, labels)}))]
    want = runs[0]["train_metrics"]
    tap.ok("arrays, lists and a file train alike", all(
        np.array_equal(run["train_metrics"][name], want[name]) for run in runs for name in ("loss", "accuracy")))
    tap.ok("the run is one of files", set(want["task"]) == {"file"})
    both = szego.train(TINY, data={"train": (padded[:40], labels[:40]), "test": (padded[40:], labels[40:])},
                       folder=os.path.join(place, "both"))
    tap.ok("examples to test on", content(both.folder, "test.jsonl").count(b"\n") == 20 and both.steps == 9
           and set(both["train_metrics"]["split"]) == {"train", "test"})
    again = szego.train(TINY, data=(padded, labels), seed=3, folder=runs[1].folder, resume=True)
    tap.ok("the same arrays resume", again.steps == runs[1].steps)
    kept = content(runs[1].folder, "train.jsonl")
    refused("other arrays in its folder", lambda: szego.train(TINY, data=(padded[1:], labels[1:]),
                                                              folder=runs[1].folder, resume=True), "other examples")
    tap.ok("its examples stay", content(runs[1].folder, "train.jsonl") == kept)
    for name, data, *words in (
            ("labels that are too few", (lists, labels[1:]), "60 sequences and 59 labels"),
            ("no examples", ([], []), "0 sequences"),
            ("a zero inside", ([[3, 0, 4]], [1]), "sequence 0", "token 1 is 0"),
            ("a negative token", ([[1], [3, -2]], [1, 1]), "sequence 1", "-2"),
            ("padding alone", ([[0, 0]], [1]), "no token"),
            ("tokens that are reals", ([[1.5]], [1]), "float64"),
            ("a negative label", ([[1]], [-1]), "label 0", "-1"),
            ("no pair", 7, "JSONL"),
            ("another part", {"train": file, "valid": file}, "valid"),
            ("a file that is not there", os.path.join(place, "none.jsonl"), "none.jsonl"),
            ("a token beyond the vocabulary", ([[1], [25]] * 9, [0, 1] * 9), "vocabulary")):
        refused(f"data: {name}", lambda data=data: szego.train(TINY, data=data), *words, kind=szego.LibraryError)


# ---- Stops --------------------------------------------------------------------------------------

def check_stops(place):
    ours = whole(place)
    for at in (0, 4, 8):
        folder = os.path.join(place, f"stop-{at}")
        steps = []

        def stop(step):
            steps.append(step.step)
            return step.step != at
        found = whole(folder, callback=stop)
        tap.ok(f"False at step {at}: stopped", found.stopped and found.steps == at + 1
               and steps == list(range(0, at + 1, 2)) and np.isnan(found.test_loss), repr(found))
        refused(f"False at step {at}: a new run in its folder", lambda: whole(folder), "holds a run already",
                kind=szego.LibraryError)
        found = whole(folder, resume=True)
        tap.ok(f"False at step {at}: the rest", found.steps == 9 and not found.stopped)
        same_run(f"False at step {at}", found.folder, ours.folder)

        class Mine(Exception):
            pass

        def fail(step):
            steps.append(step.step)
            if step.step == at:
                raise Mine("words of my own")
        steps.clear()
        folder = os.path.join(place, f"fail-{at}")
        try:
            whole(folder, callback=fail)
            tap.ok(f"an exception at step {at} is raised", False)
        except Mine as error:
            trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            tap.ok(f"an exception at step {at} is raised", "in fail" in trace and "words of my own" in trace
                   and steps == list(range(0, at + 1, 2)), trace)
        same_run(f"an exception at step {at}", whole(folder, resume=True).folder, ours.folder)
    found = whole(os.path.join(place, "numpy"), callback=lambda step: np.float64(step.step) < 4)
    tap.ok("NumPy's False stops too", found.stopped and found.steps == 5, repr(found))
    # The limit lies within an epoch: after step 4 an evaluation is left.
    short = {**TINY, "loop.limit_steps": 5, "capture.every": 4}
    tap.ok("an exception at the last step is raised", isinstance(raised(lambda: szego.train(
        short, callback=lambda step: 1 / (4 - step.step))), ZeroDivisionError))
    found = szego.train(short, callback=lambda step: step.step < 4)
    tap.ok("False at the last step", found.stopped and found.steps == 5 and np.isnan(found.test_loss))
    tap.ok("no cancelled context waits for a call", not any(
        context.cancelled for waiting in native._idle.values() for context in waiting))


def raised(call):
    try:
        call()
        return None
    except Exception as error:  # pylint: disable=broad-except
        return error


# The signal comes while the callback runs, or a moment later, while the library does. The library's last step takes
# longer than calls of other functions are waited for.
INTERRUPTED = """
import json, os, signal, sys, threading, time
import szego
from szego import native
keys, folder, where = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
call, ended = native.Context.call, []

def slow(context, name, *arguments):
    try:
        call(context, name, *arguments)
    finally:
        if name == "szg_train_run":
            time.sleep(4 * native._GRACE)
            ended.append(name)

native.Context.call = slow

def look(step):
    if step.step != 20:
        return
    if where == "callback":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)  # the signal ends it
    threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGINT)).start()

try:
    szego.train(keys, folder=folder, seed=5, callback=look)
    print("not interrupted")
except KeyboardInterrupt as error:
    print(error)
print(*ended)
print(szego.spectrum([2, -1], 3).n)
"""


def check_interrupt(place):
    keys = {**TINY, "loop.epochs": 400, "capture.every": 20}  # 1200 steps, which take longer than the moment
    ours = szego.train(keys, folder=os.path.join(place, "whole", "run-5"), seed=5)
    for where in ("callback", "library"):
        folder = os.path.join(place, where, "run-5")
        done = subprocess.run([sys.executable, "-c", INTERRUPTED, json.dumps(keys), folder, where], text=True,
                              capture_output=True, check=False, timeout=240, env={**os.environ, "PYTHONPATH": PACKAGE})
        tap.ok(f"Ctrl-C in the {where}: saved and raised", done.stdout.splitlines() == [
            f"training stopped; saved in {folder}: resume=True goes on", "szg_train_run", "3"], done.stdout + done.stderr)
        rest = szego.train(keys, folder=folder, seed=5, resume=True)
        tap.ok(f"Ctrl-C in the {where}: the rest", rest.steps == ours.steps == 1200)
        for one in KEPT[:3]:
            tap.ok(f"Ctrl-C in the {where}: {one} has the same bits", content(folder, one) == content(ours.folder, one))


# ---- Refusals -----------------------------------------------------------------------------------

def check_refusals(place):
    def train(keys, **options):
        return lambda: szego.train({**TINY, **keys}, **options)
    refused("an unknown key", train({"model.widht": 8}), "model.widht", "model.width")
    refused("an unknown section", train({"modell": {"width": 8}}), "modell")
    refused("a value out of range", train({"loop.batch": 0}), "loop.batch")
    refused("a value of no type", train({"loop.batch": object()}), "loop.batch", "object")
    refused("a key that is no text", train({7: 8}), "7", "configuration.md")
    refused("a key with a value inside", train({"loop.batch=3": 8}), "loop.batch=3")
    refused("heads that do not divide the width", train({"model.heads": 3}), "heads")
    refused("a list of texts", train({"capture.layers": ["a"]}), "capture.layers", "'a'")
    refused("overrides that are no dict", train({}, overrides=["a=b"]), "overrides")
    refused("a file that is not there", lambda: szego.train(os.path.join(place, "none.json")), "none.json",
            kind=szego.LibraryError)
    refused("a configuration of another type", lambda: szego.train(7), "config=7")
    refused("a callback without a captured step", train({}, callback=print), "capture.every")
    refused("no function", train({"capture.every": 2}, callback=7), "callback=7")
    refused("a layer that the model lacks", train({"capture.every": 2, "capture.layers": [5]}), "capture.layers")
    refused("resume without a folder", train({}, resume=True), "folder")
    refused("a negative seed", train({}, seed=-1), "seed=-1")
    refused("a seed that is none", train({}, seed=1.5), "seed=1.5")
    refused("resume that is no flag", train({}, resume="no", folder=os.path.join(place, "no")), "resume='no'")
    refused("a folder without a name", train({}, folder=""), "folder", "empty")
    refused("threads", train({}, threads=0), "1024")
    file = os.path.join(place, "file")
    with open(file, "wb"):
        pass
    refused("a folder that is a file", train({}, folder=file), file, kind=szego.LibraryError)
    refused("a folder below a file, with arrays", train({}, folder=os.path.join(file, "x"), data=([[1]], [1])), file,
            kind=szego.LibraryError)
    refused("a folder with a NUL", train({}, folder="a\0b"), "NUL")
    ours = szego.train(TINY, folder=os.path.join(place, "run"))
    refused("another configuration in its folder", train({"loop.epochs": 2, "model.hidden": 4}, folder=ours.folder,
                                                         resume=True), ours.folder, kind=szego.LibraryError)
    tempfile.tempdir = place
    szego.train(TINY)
    raised(train({"loop.batch": 0}))
    raised(train({"capture.every": 2}, callback=lambda step: 1 / 0))
    tap.ok("temporary folders are removed", not glob.glob(os.path.join(place, "szego-train-*")))
    tempfile.tempdir = None


signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in a background job
for check in (check_program, check_captured, check_data, check_stops, check_interrupt, check_refusals):
    with scratch() as folder_of_check:
        check(folder_of_check)
tap.finish()
