#!/usr/bin/python3
"""Results as frames and Arrow, in folders and on pages, and the heads of a checkpoint. usage: test_results.py PROGRAM"""
import json
import os
import re
import sys
import types

from peer import PACKAGE, package_test, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import pandas
    import szego
    from szego import safetensors
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-pandas are needed")

tap, refused, rng = package_test(szego.ArgumentError)


def llama(folder):
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "llama", "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
                   "hidden_size": 16, "head_dim": 4, "rope_theta": 10000.0, "max_position_embeddings": 64}, file)
    tensors = {f"model.layers.{layer}.self_attn.{word}_proj.weight": rng.standard_normal((count * 4, 16)).astype(np.float32)
               for layer in range(3) for word, count in (("q", 4), ("k", 2))}
    safetensors.write(os.path.join(folder, "model.safetensors"), [safetensors.Entry(
        name, value.dtype, value.shape, lambda value=value: value) for name, value in tensors.items()], {})
    return folder, tensors


# ---- Frames --------------------------------------------------------------------------------------


def check_frame():
    found = szego.frame(["rope:dim=8", "alibi:heads=2", szego.encodings.rope_absolute(dim=8), "relative:seed=3"], 24)
    tap.ok("a row for each head and matrix", found["source"].tolist() == [
        "rope:dim=8", *["alibi:heads=2"] * 2, *["rope+absolute:dim=8"] * 2, "relative:seed=3"]
           and found["head"].tolist() == [0, 0, 1, 0, 0, 0] and found["matrix"].tolist() == [0, 0, 0, 0, 1, 0]
           and set(found["n"]) == {24}, str(found))
    want = [np.linalg.eigvalsh(szego.Encoding(row.source).matrix(24, head=row.head, matrix=row.matrix)) if i < 5 else None
            for i, row in enumerate(found.itertuples())]
    tap.ok("their ends are NumPy's", all(np.allclose([row.lambda_min, row.lambda_max], one[[0, -1]], atol=1e-9)
                                         for row, one in zip(found.itertuples(), want) if one is not None))
    tap.ok("what is empty", np.isnan(found["lambda_min"][5]) and found["symbol_max_hi"].notna().all()
           and (found["symbol_min_lo"][:5] <= found["lambda_min"][:5]).all())
    tap.ok("one SPEC", len(szego.frame("rope:dim=8", 9)) == 1)
    refused("no SPEC", lambda: szego.frame(["rope:dim=8", "ropey"], 9), "ropey")
    for bad in (None, 5, b"nope"):
        refused(f"{bad!r} for SPECs", lambda bad=bad: szego.frame(bad, 9), f"specs={bad!r}", "SPEC")
    for bad in (None, 5, "a\0b", ""):
        for name, call in {"save": szego.spectrum([2.0, 1.0]).save, "load": szego.load, "report": szego.report,
                           "export": szego.export}.items():
            refused(f"{name} {bad!r}", lambda call=call, bad=bad: call(bad), "folder")
        refused(f"ablate {bad!r}", lambda bad=bad: szego.ablate(bad), "path")


def results(folder):
    """One of every class."""
    q = rng.standard_normal((2, 6, 4))
    model, _ = llama(os.path.join(folder, "model"))
    yield szego.spectrum("rope:dim=8", 24), ["value", "multiplicity"], None
    yield szego.spectrum(q[0][:4]), ["value", "multiplicity"], 4
    yield szego.symbol("kms:rho=0.5", 9, samples=16), ["theta", "value"], 16
    yield szego.spectrum("kms:rho=0.5", 9).range, ["min_lo", "max_hi", "bounds"], 1
    yield szego.spectra(q[:, :4]), ["matrix", "index", "value"], 8
    yield szego.logits(q[None], q[None], "nope"), ["axis_0", "axis_1", "index", "value"], 12
    yield szego.contraction(q[0], q[1], "nope"), ["width", "norm", "majorised"], 1
    yield szego.contraction(q[0], q[1], "nope").content, ["lambda_min", "nuclear"], 1
    yield szego.contraction(q, q, "nope"), ["axis_0", "width", "majorised"], 2
    yield szego.logits_statistics(q, q, "nope"), ["axis_0", "entropy_mean", "largest_query"], 2
    yield szego.logits_statistics(q[0], q[0], "nope"), ["entropy_mean", "largest_query"], 1
    found = szego.checkpoint(model)
    yield found, ["layer", "head", "stable_rank"], 12
    yield found[1, 2], ["layer", "head", "stable_rank", "mean_share"], 1
    yield szego.verify("L1", trials=2), ["id", "verdict"], 1


def same(got, want):
    """Columns bit for bit; NaN equals NaN, and an empty cell an empty cell alone."""
    data = [np.ma.getdata(one) for one in (got, want)]
    if data[0].dtype != data[1].dtype or len(got) != len(want):
        return False
    empty = [np.ma.getmaskarray(one) for one in (got, want)]
    return np.array_equal(*empty) and all(
        a == b or a != a and b != b for a, b, none in zip(*(one.tolist() for one in data), empty[0]) if not none)


def check_results(folder):
    for number, (found, columns, rows) in enumerate(results(folder)):
        name = f"{number}: {type(found).__name__}"
        frame = found.frame()
        tap.ok(f"{name}: a frame", isinstance(frame, pandas.DataFrame) and set(columns) <= set(frame)
               and rows in (None, len(frame)), f"{list(frame)} {len(frame)}")
        check_arrow(name, found, frame)
        place = os.path.join(folder, f"saved{number}")
        found.save(place)
        want, again = found._results() if hasattr(found, "_results") else found.tables, szego.load(place)
        wrong = [f"{table}.{column}" for table in want for column in want[table]
                 if not same(again[table][column], want[table][column])]
        tap.ok(f"{name}: read back", set(again) == set(want) and not wrong
               and all(set(again[table]) == set(want[table]) for table in want), str(wrong or again))
        found.save(place)
        tap.ok(f"{name}: replaced by the same", set(szego.load(place)) == set(want))


def check_arrow(name, found, frame):
    try:
        import pyarrow
    except ImportError:
        refused(f"{name}: Arrow without pyarrow", found.__arrow_c_stream__, "pyarrow", kind=szego.SzegoError)
        return
    table = pyarrow.table(found)
    real = [column for column in frame if frame[column].dtype.kind != "c"]
    wrong = [column for column in real for a, b in zip(table[column].to_pylist(), frame[column].tolist())
             if not (a == b or (a is None or a != a) and (b is None or b is pandas.NA or b != b))]
    tap.ok(f"{name}: Arrow", set(real) <= set(table.column_names) and not wrong and len(table) == len(frame), str(wrong))


def check_arrow_columns():
    """What pyarrow is given, by one that writes it down."""
    said = {}
    arrow = types.ModuleType("pyarrow")
    arrow.array = lambda cells, mask=None: (cells, mask)
    arrow.table = lambda columns: types.SimpleNamespace(__arrow_c_stream__=lambda schema: said.update(columns) or "stream")
    kept, sys.modules["pyarrow"] = sys.modules.get("pyarrow"), arrow
    made = szego.Table(a=np.ma.MaskedArray([1, 2], [False, True]), b=np.array([1 + 2j, 3]), c=np.array([1.0, 2]))
    stream = made.__arrow_c_stream__()
    del sys.modules["pyarrow"]
    if kept:
        sys.modules["pyarrow"] = kept
    tap.ok("Arrow's columns", stream == "stream" and list(said) == ["a", "b_re", "b_im", "c"]
           and said["a"][1].tolist() == [False, True] and said["b_im"][0].tolist() == [2, 0] and said["c"][1] is None, str(said))


# ---- Folders -------------------------------------------------------------------------------------


def check_folders(folder):
    szego.spectrum("kms:rho=0.5", 64).save(os.path.join(folder, "all/a"))
    szego.symbol("kms:rho=0.5", 64).save(os.path.join(folder, "all/b"))
    szego.spectra(np.eye(4)[None]).save(os.path.join(folder, "all/c"))
    both = szego.load(os.path.join(folder, "all"))
    tap.ok("several below one folder", set(both) == {"spectrum_eigenvalues", "spectrum_summary", "symbol_samples",
                                                     "symbol_range", "spectra_values"}
           and set(both.provenance) == {"a", "b", "c"}, str(both))
    tap.ok("what the columns mean", both.docs["spectrum_eigenvalues"]["re"] != "")
    both.save(os.path.join(folder, "joined"))
    again = szego.load(os.path.join(folder, "joined"))
    tap.ok("several in one", all(same(again[name][column], both[name][column]) for name in both for column in both[name]))
    refused("over another command's", lambda: szego.symbol("nope", 4).save(os.path.join(folder, "all/a")), "manifest.json",
            "another folder")
    refused("frames", lambda: szego.load(os.path.join(folder, "all"), frames=True).save(os.path.join(folder, "x")),
            "frames=True", kind=szego.SzegoError)
    path = szego.export(os.path.join(folder, "all"))
    with np.load(path) as archive:
        tap.ok("an export", path == os.path.join(folder, "all", "export.npz") and "spectrum_eigenvalues" in archive)
    refused("an export of no form", lambda: szego.export(folder, to="xlsx"), "xlsx")
    try:
        path = szego.report(os.path.join(folder, "all"))
    except szego.SzegoError as error:
        print(f"# {error}")
        return
    with open(path, encoding="utf-8") as file:
        page = file.read()
    tap.ok("a page", path == os.path.join(folder, "all", "report.html") and page.count("<svg") >= 2, str(page.count("<svg")))
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.rcParams.update({"font.size": 31, "lines.linewidth": 9, "xtick.major.size": 20})
    with open(szego.report(os.path.join(folder, "all")), encoding="utf-8") as file:
        tap.ok("a page is the same whatever is set for Matplotlib", file.read() == page and matplotlib.rcParams["font.size"] == 31)
    matplotlib.rcdefaults()
    tap.ok("judge is a function", callable(szego.judge))
    refused("a folder without runs", lambda: szego.judge(os.path.join(folder, "all")), folder, kind=szego.SzegoError)
    refused("runs that are not there", lambda: szego.ablate(os.path.join(folder, "none")), "none", kind=szego.ProgramError)
    refused("an option that ablate lacks", lambda: szego.ablate("x", methd="output"), "did you mean method?")


# ---- Heads ---------------------------------------------------------------------------------------


def check_heads(folder):
    model, tensors = llama(os.path.join(folder, "heads"))
    found = szego.checkpoint(model)
    q, k = (tensors[f"model.layers.2.self_attn.{word}_proj.weight"].astype(float) for word in "qk")
    # Head 3 reads key head 1; the scale is 1/sqrt(4).
    want = np.linalg.svd(q[12:16].T @ k[4:8] / 2, compute_uv=False)[:4]
    head = found[-1, 3]
    tap.ok("a head from the end", (head.layer, head.head) == (2, 3) and np.allclose(head.singular_values, want)
           and np.array_equal(head.singular_values, found.singular_values(2, -1))
           and np.array_equal(head.eigenvalues, found.eigenvalues(2, 3)), repr(head))
    tap.ok("its columns", np.isclose(head["stable_rank"], (want**2).sum() / want[0]**2) and head["key_head"] == 1
           and (head["mean_share"] is None) == bool(np.isnan(found.per_head("mean_share")[2, 3])) and head["layer"] == 2)
    refused("a column of texts", lambda: found.per_head("self_shape"), "self_shape of checkpoint_heads holds texts")
    refused("a prefix that is none", lambda: szego.checkpoint(model, prefix="zzz"), 'prefix="zzz": no tensor',
            'use prefix="model.", or leave prefix out')
    refused("an empty path", lambda: szego.checkpoint(model, settings={"": 1}), "settings: a path is empty")
    refused("a deep path", lambda: szego.checkpoint(model, settings={"a." * 40 + "a": 1}), "settings: a path of")
    tap.ok("completion", "stable_rank" in head._ipython_key_completions_()
           and "checkpoint_heads" in found._ipython_key_completions_())
    refused("a column that is not there", lambda: head["stable_rnk"], "stable_rank", kind=KeyError)
    refused("a layer that is not there", lambda: found[3, 0], "layer=3", "0 to 2")
    refused("a head before the first", lambda: found[0, -5], "head=-5", "-4")
    refused("no number", lambda: found[0.0, 1], "layer=0.0")
    refused("one index", lambda: found[0], "[layer, head]", kind=TypeError)
    part = szego.checkpoint(model, layers=1, heads=np.int64(2))
    values = part.singular_values()
    tap.ok("one layer, one head", np.isfinite(values[1, 2]).all() and np.isnan(values).sum() == 11 * 4)
    refused("a head that was left out", lambda: part[0, 0], "layers=", kind=szego.LibraryError)
    for name, layers, heads in (("numbers", -1, -2), ("lists", [-1], [-2]), ("a range", range(-1, 0), (2,)),
                                ("texts", "-1", "-2"), ("both ends", [2, -1], "2+-2")):
        last = szego.checkpoint(model, layers=layers, heads=heads).singular_values()
        tap.ok(f"the last layer, the head before the last, as {name}", np.array_equal(last[-1, -2], found[2, 2].singular_values)
               and np.isnan(last).sum() == 11 * 4, repr(last))
    refused("a layer before the first", lambda: szego.checkpoint(model, layers=-4), "layer -4 is none of", "0 to 2")
    refused("no layer", lambda: szego.checkpoint(model, layers=[0.5]), "layers=0.5")
    tap.ok("another table", len(found.frame("checkpoint_heads")) == 12)
    kernels = szego.kernel("alibi:heads=3", 8)
    tap.ok("the kernels as a frame", kernels.frame().equals(kernels.frame("kernel_kernel")) and len(kernels.frame()) == 3 * 8)
    refused("a frame of many tables", lambda: found.tables.frame(), "of which table?", "checkpoint_heads", kind=szego.SzegoError)
    refused("a table that is not there", lambda: found.frame("checkpoint_head"), "checkpoint_heads", kind=szego.SzegoError)


def check_words():
    """What is refused names the argument: nobody who calls a function has given an option."""
    found, odd = szego.spectrum([2.0, -1.0], 8), os.path.join("odd", "")
    found.save(odd)
    with open("file", "w", encoding="utf-8"):
        pass
    calls = {"save into a file": lambda: found.save("file"), "load a file": lambda: szego.load("file"),
             "an export's ending": lambda: szego.export(odd, "npz", "x.zip"), "csv": lambda: szego.export(odd, "csv", "x.csv"),
             "export into a file": lambda: szego.export(odd, "csv", "file/"), "a page's ending": lambda: szego.report(odd, "x.zip"),
             "a page in a file": lambda: szego.report(odd, "file/"), "a page of nothing": lambda: szego.report("empty"),
             "no experiment": lambda: szego.judge(odd), "a file of the program": lambda: szego.run_spectrum(
                 "rope:dim=8", 8, output="x.csv")}
    os.mkdir("empty")
    for name, call in calls.items():
        try:
            call()
            tap.ok(f"{name} is refused", False)
        except szego.SzegoError as error:
            tap.ok(f"{name}: no option in the words", not re.search(r"(?<!\S)[(`]?--?[a-z]", str(error)), str(error))
    refused("a file is no folder", lambda: szego.load("file"), "file: is not a folder", kind=szego.DataError)


with scratch() as root:
    check_frame()
    check_results(root)
    check_arrow_columns()
    check_folders(root)
    check_heads(root)
    os.chdir(root)
    check_words()
tap.finish()
