#!/usr/bin/python3
"""What the library and the program warn of, and what the program says, reaches the caller of the Python package.
usage: test_warnings.py PROGRAM"""
import json
import os
import sys
import warnings

from peer import PACKAGE, Tap, scratch, skip, write_llama

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
os.environ["SZEGO"] = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def heard(call):
    """(its answer, texts of the SzegoWarnings); every one is of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = call()
    tap.ok("warnings are of the caller's line", all(one.filename == __file__ for one in caught),
           str([one.filename for one in caught]))
    return answer, [str(one.message) for one in caught if one.category is szego.SzegoWarning]


def softmax(logits):
    weights = np.exp(logits - logits.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def check_compare():
    """Masks and attention weights, as in dumps."""
    content, coupled = rng.standard_normal((2, 24, 24))
    future = np.triu(np.ones((24, 24)), 1) > 0
    found, said = heard(lambda: szego.compare(content, coupled))
    tap.ok("logits", said == [] and found.n == 24, str(said))
    for value in (-1e4, -1e9, np.finfo(np.float32).min, np.finfo(np.float64).min):
        for hidden in (future, np.arange(24) > np.full((24, 1), 20)):
            masked = np.where(hidden, value, coupled)
            tap.refused(f"{value}", lambda: szego.compare(content, masked), f"column {np.flatnonzero(hidden[0])[0]} is",
                        "before mask and softmax", kind=szego.ArgumentError)
    masked = [np.where(future, 0, one) for one in (content, coupled)]
    found, said = heard(lambda: szego.compare(*masked))
    width = [np.ptp(np.linalg.eigvalsh((one + one.T) / 2)) for one in masked]
    tap.close("zeros in place of the mask", found.width, width[1] / width[0], 1e-12)
    weights = softmax(3 * content)
    dropped = np.where(rng.random((24, 24)) < 0.2, 0, weights / 0.8)
    for name, one in (("weights", weights), ("after dropout", dropped)):
        _, said = heard(lambda: szego.compare(content, one))
        tap.ok(name, len(said) == 1 and said[0].startswith("coupled: ") and "attention weights" in said[0], str(said))
    with warnings.catch_warnings():
        warnings.simplefilter("error", szego.SzegoWarning)
        tap.refused("warnings as errors", lambda: szego.compare(content, weights), "attention weights",
                    kind=szego.SzegoWarning)
        tap.refused("beside an error, that of the work", lambda: szego.compare(weights, np.where(future, -1e9, coupled)), "coupled: row 0",
                    kind=szego.ArgumentError)
    _, said = heard(lambda: szego.compare(content, coupled))
    tap.ok("the next call hears nothing of it", said == [], str(said))


def check_checkpoint(place):
    folder = os.path.join(place, "model")
    write_llama(folder, (2, 2, 4, 8), [rng.standard_normal((2, 8, 8))])
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
        json.dump({"weight_map": {f"model.layers.0.self_attn.{one}_proj.weight": "model-1.safetensors" for one in "qk"}},
                  file)
    for call in (lambda: szego.checkpoint(folder, dry_run=True), lambda: szego.run("checkpoint", folder, "--dry-run")):
        _, said = heard(call)
        tap.ok("a stale index", len(said) == 1 and "stale index" in said[0], str(said))
    write_llama(os.path.join(place, "damaged"), (2, 2, 4, 8), [np.full((2, 8, 8), np.nan)])
    found, said = heard(lambda: szego.checkpoint(os.path.join(place, "damaged")))
    tap.ok("what was skipped is no warning beside", said == [] and len(found.problems) == 1, str(said))


def check_run(place):
    dump = os.path.join(place, "dump.npy")
    np.save(dump, rng.standard_normal((7, 5, 5)))
    found, said = heard(lambda: szego.run("logits", dump))
    tap.ok("how the axes were read", any("read as 7 heads, 5 tokens (axes head,query,key)" in one for one in found.messages),
           str(found.messages))
    tap.ok("and the warning", len(said) == 1 and "more heads than tokens" in said[0], str(said))
    found, said = heard(lambda: szego.run("logits", dump, "-o", os.path.join(place, "out/")))
    tap.ok("of a folder too", len(said) == 1 and len(found.messages) >= 2, str(found.messages))


check_compare()
with scratch() as place:
    check_checkpoint(place)
    check_run(place)
tap.finish()
