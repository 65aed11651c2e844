#!/usr/bin/python3
"""Calls of the Python package with arguments drawn at random from what callers get wrong: each answers, or raises an
exception of the package that has words. In an AddressSanitizer build every leak of the library counts too.
usage: test_bad_input.py
"""
import ctypes
import os
import sys
import threading

from peer import Tap, scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(os.path.join(HERE, "..", "..", "notebooks_export", "python")))
try:
    import numpy as np
    import szego
    from szego import native
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(os.environ.get("SZG_TEST_SEED", "20261123"), 0)
rng = np.random.default_rng(SEED)
DRAWS = max(1, int(200 * float(os.environ.get("SZG_TEST_MULTIPLIER", "1"))))
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")

# ---- What callers get wrong ----------------------------------------------------------------------


def with_at(shape, value, where, kind=float):
    array = rng.standard_normal(shape).astype(kind)
    array.flat[where % array.size] = value
    return array


def symmetric(n):
    a = rng.standard_normal((n, n))
    return a + a.T


ARRAYS = [
    lambda: rng.standard_normal((4, 4)), lambda: symmetric(5), lambda: rng.standard_normal(6),
    lambda: rng.standard_normal((3, 4)), lambda: rng.standard_normal((2, 4, 4)), lambda: np.zeros((4, 4)),
    lambda: np.zeros(0), lambda: np.zeros((0, 0)), lambda: np.zeros((4, 0)), lambda: np.float64(1),
    lambda: with_at((4, 4), np.nan, 5), lambda: with_at(4, np.inf, 3), lambda: with_at((4, 4), -np.inf, 1, complex),
    lambda: with_at((4, 4), 1e308, 6), lambda: with_at((4, 4), 5e-324, 6), lambda: np.full((4, 4), 1e308),
    lambda: rng.standard_normal((8, 8))[::2, ::2], lambda: np.asfortranarray(rng.standard_normal((4, 4))),
    lambda: rng.standard_normal((4, 4)).astype(np.float32), lambda: rng.standard_normal((4, 4)).astype(np.float16),
    lambda: rng.standard_normal((4, 4)).astype(">f8"), lambda: rng.standard_normal((4, 4)).astype(np.longdouble),
    lambda: np.ones((4, 4), bool), lambda: np.eye(4, dtype=np.int8), lambda: np.full(3, 2**60),
    lambda: np.array([["a", "b"], ["c", "d"]]), lambda: np.array([[None, 1], [2, 3]], object),
    lambda: np.ma.masked_less(rng.standard_normal((4, 4)), 0), lambda: np.broadcast_to(np.float64(1), (4, 4)),
    lambda: [[1, 2], [2, 1]], lambda: [[1, 2], [3]], lambda: [], lambda: None, lambda: {}, lambda: "rope:dim=4",
    lambda: with_at((4, 4), 1j, 2, complex), lambda: np.frombuffer(bytes(129), np.uint8)[1:].view(float).reshape(4, 4),
]
SPECS = ["rope:dim=8", "rope:dim=7", "rope:dim=", "rope:dim=9999999999999999999", "alibi:heads=3", "t5:heads=2,seed=1",
         "kms:rho=2", "kms:rho=nan", "nope", "", ":", "ropey", "rope\0x", "rope\udcff", "kernel:" + "x" * 5000, b"nope",
         "absolute:file=/dev/null", "kernel:/dev/null", "learned:file=.", "mla:", 7, None, ["nope"], "rope:dim=8,dim=8"]
NUMBERS = [0, 1, -1, 2, 3, 7, 2**40, 2**62, 2**63, -2**63, 2**200, 1.0, 1.5, np.nan, "3", None, True, np.int64(3),
           np.float64(2), [3], 1j]
FLAGS = [True, False, None, 0, "yes", [], np.bool_(True)]
WORDS = ["eigenvalues", "singular", "hermitian_part", "all", "range", "half", "full", "truncated", "fejer",
         "closed_form", "content", "coupled", "", "Eigenvalues", None, 3, b"all", "all\0", ("all",)]
KINDS = {"array": lambda: ARRAYS[rng.integers(len(ARRAYS))](), "spec": lambda: SPECS[rng.integers(len(SPECS))],
         "number": lambda: NUMBERS[rng.integers(len(NUMBERS))], "flag": lambda: FLAGS[rng.integers(len(FLAGS))],
         "word": lambda: WORDS[rng.integers(len(WORDS))]}

#: No such files are needed here: tests/peer/test_native_tables.py reads whole ones.
CERTIFICATES, MODEL = "certificates.csv", "model"

# ---- The calls: good arguments, and what kind each is ---------------------------------------------

_Q = rng.standard_normal((2, 6, 4))
_COMMON = {"head": (0, "number"), "threads": (1, "number")}
_PAIR = {"q": (_Q, "array"), "k": (_Q[::-1].copy(), "array"), "spec": ("rope:dim=4,pairing=half", "spec"),
         "causal": (False, "flag"), "unscaled": (False, "flag"), **_COMMON}
_MATRIX = {"n": (4, "number"), "matrix": (0, "number"), "lags": ("half", "word"), **_COMMON}
_ASKED = {"question": ("eigenvalues", "word"), "want": ("all", "word")}
CALLS = {
    "spectrum of an array": (szego.spectrum, {"source": (symmetric(4), "array"), "hermitian": (None, "flag"),
                                              "certify": (True, "flag"), **_ASKED, **_MATRIX}),
    "spectrum of a SPEC": (szego.spectrum, {"source": ("rope:dim=4", "spec"), "dense": (False, "flag"), **_ASKED,
                                            **_MATRIX}),
    "symbol": (szego.symbol, {"source": ("kms:rho=0.5", "spec"), "samples": (16, "number"),
                              "convention": ("truncated", "word"), **_MATRIX}),
    "symbol of an array": (szego.symbol, {"source": (rng.standard_normal(4), "array"), **_MATRIX}),
    "logits": (szego.logits, {"part": ("coupled", "word"), **_ASKED, **_PAIR}),
    "contraction": (szego.contraction, _PAIR),
    "logits of a batch": (szego.logits, {**_PAIR, "q": (_Q[None], "array"), "k": (_Q[None, :1], "array"), "head": (None, "number"),
                                         "exact": (False, "flag")}),
    "factored": (szego.factored, {"a": (_Q, "array"), "b": (_Q[::-1], "array"), "exact": (False, "flag"),
                                  "threads": (1, "number"), **_ASKED}),
    "spectra": (szego.spectra, {"stack": (_Q[:, :4], "array"), "question": ("singular", "word"), "hermitian": (None, "flag"),
                                "exact": (False, "flag"), "threads": (1, "number")}),
    "logits_statistics": (szego.logits_statistics, {"part": ("coupled", "word"), "soft_cap": (30.0, "number"),
                                                    "sinks": ([0], "array"), "sink_logit": (0.5, "number"),
                                                    "precision": ("double", "word"), **_PAIR}),
    "verify": (lambda claim, **given: szego.verify(claim, **given),
               {"claim": ("B1", "spec"), "terms": (3, "number"), "trials": (2, "number"), "seed": (0, "number"),
                "threads": (1, "number")}),
    "recheck": (lambda path: szego.recheck(path) if path is not CERTIFICATES else None,
                {"path": (CERTIFICATES, "spec")}),
    "checkpoint": (lambda path, **given: szego.checkpoint(path, **given) if path is not MODEL else None,
                   {"path": (MODEL, "spec"), "config": (None, "spec"), "positions": (None, "number"),
                    "samples": (None, "number"), "threads": (1, "number")}),
    "an encoding": (szego.encodings.rope, {"dim": (8, "number"), "base": (10.0, "number"), "rotate": (None, "array"),
                                           "pairing": (None, "word")}),
    "a SPEC": (szego.Encoding, {"spec": ("rope:dim=4", "spec")}),
    "compare": (szego.compare, {"content": (symmetric(4), "array"), "coupled": (symmetric(4), "array")}),
}


def drawn(arguments):
    """The good arguments with one or two of another kind or value."""
    chosen = {name: good for name, (good, _) in arguments.items()}
    for name in rng.choice(list(arguments), min(len(arguments), int(rng.integers(1, 3))), replace=False):
        kind = arguments[name][1] if rng.random() < 0.8 else list(KINDS)[rng.integers(len(KINDS))]
        chosen[name] = KINDS[kind]()
    return chosen


def outcome(call, arguments):
    """"answered", "refused" (in words), or else what the call did."""
    try:
        call(**arguments)
    except szego.SzegoError as error:
        says = str(error).strip() and "INTERNAL" not in (getattr(error, "status", "") or "")
        return "refused" if says else f"{error!r} says nothing"
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {error}"
    return "answered"


def is_numbers(value):
    return isinstance(value, np.ndarray) and value.dtype != object


def shown(arguments):
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:600]


def check_draws():
    for name, (call, arguments) in CALLS.items():
        good = outcome(call, {key: value for key, (value, _) in arguments.items()})
        tap.ok(f"{name}: good arguments", good == "answered", good)
        wrong, refusals = [], 0
        for _ in range(DRAWS):
            chosen = drawn(arguments)
            before = {key: value.tobytes() for key, value in chosen.items() if is_numbers(value)}
            said = outcome(call, chosen)
            refusals += said == "refused"
            if said not in ("answered", "refused"):
                wrong.append(f"{said} of {shown(chosen)}")
            changed = [key for key, value in before.items() if value != chosen[key].tobytes()]
            if changed:
                wrong.append(f"{changed} changed: {shown(chosen)}")
        tap.ok(f"{name}: {DRAWS} draws", not wrong, wrong[0] if wrong else "")
        # Draws that nothing refuses would try nothing.
        tap.ok(f"{name}: many draws are refused", refusals >= DRAWS // 4, f"{refusals} of {DRAWS}")


# ---- Contexts, threads, memory -------------------------------------------------------------------


def check_contexts():
    context = native.Context(1)
    context.close()
    context.close()
    tap.refused("a closed context", lambda: context.call("szg_encoding_parse", b"nope", None), "closed",
                kind=szego.LibraryError)
    tap.refused("a spectrum without its program", lambda: szego.spectrum([2.0, 1.0], 4).tables, "program",
                kind=szego.LibraryError)
    both = native.Context(1)
    entered, leave, said = threading.Event(), threading.Event(), []

    class Slow:
        """A library whose call waits."""
        def __getattr__(self, name):
            return lambda *arguments: (entered.set(), leave.wait(60), 0)[2]

    real, both._library = both._library, Slow()
    worker = threading.Thread(target=lambda: both.call("szg_slow"))
    worker.start()
    entered.wait(60)
    for call in (lambda: both.call("szg_other"), both.close):
        try:
            call()
            said.append("")
        except szego.LibraryError as error:
            said.append(str(error))
    leave.set()
    worker.join()
    both._library = real
    both.close()
    tap.ok("a context in use by another thread", all("another thread" in word for word in said), str(said))


def check_threads():
    """Calls of many threads at once, with the arrays of all shared: each answer is that of one thread."""
    matrix, found = symmetric(40), []
    want = szego.spectrum(matrix).values

    def work():
        for _ in range(5):
            found.append(np.array_equal(szego.spectrum(matrix, threads=1).values, alone))
    alone = szego.spectrum(matrix, threads=1).values
    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    tap.ok("four threads at once", len(found) == 20 and all(found) and np.allclose(want, alone))


def check_leaks(folder):
    """AddressSanitizer's look, where its library is loaded: of what is lost, stacks with a function of the library. The
    interpreter loses some memory of its own."""
    try:
        look, path = (getattr(ctypes.CDLL(None), name) for name in
                      ("__lsan_do_recoverable_leak_check", "__sanitizer_set_report_path"))
    except AttributeError:
        return
    native._forget()
    path(os.path.join(folder, "leaks").encode())
    look()
    path(b"stderr")
    lost = []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            lost += [block for block in file.read().split("\n\n") if "szg" in block]
    tap.ok("AddressSanitizer: the library loses nothing", not lost, "".join(lost)[:2000])


check_draws()
check_contexts()
check_threads()
with scratch() as place:
    check_leaks(place)
tap.finish()
