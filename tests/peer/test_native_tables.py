#!/usr/bin/python3
"""The Python package's calls that answer tables: the tables themselves against the folders that the library writes.
usage: test_native_tables.py PROGRAM"""
import ctypes
import inspect
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys

from peer import EPS, INTERRUPT, PACKAGE, Counted, Tap, compute_alike, eigenvalue_bound, python, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    from szego import encodings, layout, native, native_tables, safetensors
    from szego.encodings import rope
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
FAMILIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "families")
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
compute_alike(szego)


def equal(got, want):
    """The same values to the bit (a NaN is a NaN), type and mask."""
    if got.dtype != want.dtype or got.shape != want.shape or isinstance(got, np.ma.MaskedArray) != isinstance(
            want, np.ma.MaskedArray) or (np.ma.getmaskarray(got) != np.ma.getmaskarray(want)).any():
        return False
    below = [np.ma.getdata(one) for one in (got, want)]
    if got.dtype == np.float64:
        here = np.isnan(below[0])
        return bool((here == np.isnan(below[1])).all()
                    and (below[0][~here].view(np.int64) == below[1][~here].view(np.int64)).all())
    return below[0].tolist() == below[1].tolist()


def same_results(name, got, want):
    """Tables, columns in their order, cells, and what each column means."""
    tap.ok(f"{name}: tables", list(got) == list(want), f"{list(got)} {list(want)}")
    for table in want:
        tap.ok(f"{name}: columns of {table}", list(got[table]) == list(want[table]),
               f"{list(got[table])} {list(want[table])}")
        wrong = [column for column in want[table] if not equal(got[table][column], want[table][column])]
        tap.ok(f"{name}: cells of {table}", not wrong, str(wrong))
        tap.ok(f"{name}: words of {table}", got.docs[table] == want.docs[table])


# ---- Tables -------------------------------------------------------------------------------------

CELLS = {"text": [None, "", "a", "a", ", \" and\nlines", "β €", "x" * 300],
         "integer": [None, 0, -1, 2**63 - 1, -2**63, 7],
         "real": [None, 0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 0.1, 1.7976931348623157e308]}


def szg_table(context, name, columns, rows):
    """A table of the library with random cells. columns: types by name."""
    library, made = native.library(), ctypes.c_void_p()
    described = (layout.TableColumn * len(columns))(*(
        layout.TableColumn(name=column.encode(), type=layout.COLUMN_TYPES[kind][1], doc=f"of {column}".encode())
        for column, kind in columns.items()))
    context.call("szg_table_open", name.encode(), described, ctypes.c_int64(len(columns)), ctypes.byref(made))
    setters = {"text": ("szg_table_set_text", lambda value: value.encode()),
               "integer": ("szg_table_set_integer", ctypes.c_int64), "real": ("szg_table_set_real", ctypes.c_double)}
    library.szg_table_add_row.restype = ctypes.c_int
    for _ in range(rows):
        context.call("szg_table_add_row", made)
        for column, kind in columns.items():
            value = CELLS[kind][rng.integers(len(CELLS[kind]))]
            if value is not None:
                setter, convert = setters[kind]
                context.call(setter, made, column.encode(), convert(value))
    return made


def check_tables():
    columns = {"result": "text", "n": "integer", "x": "real", "name": "text", "note": "text"}
    context, library = native.Context(1), native.library()
    held = {name: szg_table(context, name, columns, rows) for name, rows in (("few", 3), ("many", 400), ("none", 0))}
    made = native_tables.results("my-command", {name: table.value for name, table in held.items()} | {"void": None})
    with scratch() as folder:
        result = ctypes.c_void_p()
        context.call("szg_result_open", b"my-command", ctypes.byref(result))
        for table in held.values():
            context.call("szg_result_add", result, ctypes.byref(table))
        context.call("szg_result_write", result, os.fsencode(folder + "/"), None)
        library.szg_result_close(ctypes.byref(result))
        context.close()
        same_results("a table", made, szego.load(folder))
    tap.ok("the tables are closed, the arrays stay", made["my_command_many"]["name"].tolist().count("a") > 0)
    tap.ok("who made it", made.provenance["."]["command"] == "my-command" and made.provenance["."]["version"]
           == szego.__version__)


def check_calls():
    """A column is one call of the library, however many rows it has."""
    context, library, counts = native.Context(1), native.library(), []
    for rows in (1, 3000):
        table = szg_table(context, "t", {"x": "real", "name": "text"}, rows)
        native._library = calls = Counted(library)
        made = native_tables.results("t", {"t": table.value})
        native._library = library
        tap.ok(f"{rows} rows", len(made["t_t"]["x"]) == rows)
        counts.append(calls.calls)
        library.szg_table_close(ctypes.byref(table))
    tap.ok("rows cost no calls", counts[0] == counts[1], str(counts))
    context.close()


# ---- Encodings ----------------------------------------------------------------------------------


#: Rotations of tests/data/families, by their configurations of transformers 4 and 5; None: the library's words.
LIKE = {"llama": "rope:dim=8,rotary=8,base=500000,pairing=half,scaling=llama3,factor=8,original=32,low=1,high=4",
        "qwen2": "rope:dim=4,rotary=4,base=1000000,pairing=half,scaling=yarn,factor=4,original=16,beta_fast=32,"
                 "beta_slow=1",
        "nemotron": "rope:dim=4,rotary=2,base=10000,pairing=half",
        "glm4": "rope:dim=8,rotary=4,base=10000,pairing=interleaved",
        "deepseek_v2": "mla:content=6,rope=4,base=10000,pairing=interleaved"}
UNLIKE = {"bert": "nothing rotates", "gemma3": "name the layer", "phi3-longrope": "longrope", "gpt_oss": "truncate false",
          "gemma4_text": "two sizes"}


def check_like():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "families")

    def configurations(name):
        for file in ("config.json", "config-4.json"):
            if os.path.exists(os.path.join(folder, name, file)):
                with open(os.path.join(folder, name, file), encoding="utf-8") as opened:
                    yield json.load(opened)

    for name, want in LIKE.items():
        got = [szego.rope(like=config) for config in configurations(name)]
        tap.ok(f"rope(like={name})", got == [want] * len(got) and got, str(got))
    for name, word in UNLIKE.items():
        for config in configurations(name):
            tap.refused(f"rope(like={name})", lambda config=config: szego.rope(like=config), word,
                        kind=szego.LibraryError)
    config = next(configurations("gemma3"))
    both = {szego.rope(like=config, layer=layer).keys["base"] for layer in range(2)}
    tap.ok("rope(like=) by layer", both == {"10000", "1000000"}, str(both))
    plain = {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
    numbers = {"rope_theta": np.float32(1e4), "hidden_size": np.int64(32)}
    tap.ok("rope(like=) with numbers of NumPy", szego.rope(like={**plain, **numbers}) == szego.rope(
        like={**plain, "rope_theta": 1e4}))
    for words, call in {"not known": lambda: szego.rope(like={**plain, "model_type": "new"}),
                        "pairing=": lambda: szego.rope(like={**plain, "model_type": "new"}),
                        "no model_type": lambda: szego.rope(like={}),
                        "layer 2 of 2": lambda: szego.rope(like={**plain, "rope_theta": 1e4}, layer=2),
                        "like= beside dim": lambda: szego.rope(like=plain, dim=8),
                        "layer= says nothing": lambda: szego.rope(layer=0),
                        "a dict is needed": lambda: szego.rope(like="llama")}.items():
        tap.refused(f"rope(like=): {words}", call, words, kind=szego.ArgumentError)
    tap.ok("rope(like=) by default of the class", szego.rope(like=plain) == "rope:dim=8,rotary=8,base=10000,pairing=half",
           str(szego.rope(like=plain)))
    tap.ok("szego.rope by its keys", szego.rope(dim=8, pairing="half") == "rope:dim=8,pairing=half")


def check_encodings():
    """Every encoding and key of the program's own list (`szego help specs`) is a function and a keyword."""
    said = subprocess.run([PROGRAM, "help", "specs"], capture_output=True, text=True, check=True).stdout
    part, listed = said.split("\nEncodings:\n")[1].split("\n\n")[0], {}
    for line in part.splitlines():
        if line[:2] == "  " and line[2:3].strip():
            listed[line.split()[0]] = keys = []
        elif line[:4] == "    " and line[4:5].strip():
            keys.append(line.split()[0].split("=")[0])
    names = {re.sub("[+-]", "_", name): name for name in listed}
    tap.ok("functions are the program's encodings", len(names) > 10
           and dir(encodings) == sorted(["Encoding", *names]), f"{dir(encodings)} {sorted(names)}")
    for name, spec in names.items():
        function = getattr(encodings, name)
        keys = list(inspect.signature(function).parameters)
        tap.ok(f"{name}: keywords", keys == listed[spec] and function.__name__ == name
               and all(f"\n{key}: " in function.__doc__ for key in keys), f"{keys} {listed[spec]}")
    check_like()
    one = rope(base=500000, dim=64)
    tap.ok("a SPEC", one == "rope:dim=64,base=500000" == str(one) == encodings.Encoding("rope:base=500000,dim=64")
           and isinstance(one, szego.Encoding) and hash(one) == hash(str(one))
           and repr(one) == "Encoding('rope:dim=64,base=500000')" and f"{one}" == str(one), repr(one))
    tap.ok("its parts", one.name == "rope" and one.keys == {"dim": "64", "base": "500000"} and one.heads == 1
           and encodings.nope().keys == {} and encodings.alibi(heads=8).heads == 8
           and encodings.rope_absolute(dim=8).name == "rope+absolute"
           and encodings.rope_bias(scale=2.5, dim=8) == "rope-bias:dim=8,scale=2.5"
           and rope(heads=2, bands="heads", band_shift=1) == "rope:heads=2,bands=heads,band_shift=1")
    tap.ok("a sentence", "cosines" in one.about() and one.about() != encodings.kms(rho=0.5).about())
    tap.ok("lists, numbers, paths, None", rope(heads=np.int64(4), rotate=[0, 3], base=None) == "rope:heads=4,rotate=0+3"
           and rope(heads=4, rotate=range(2)) == "rope:heads=4,rotate=0+1" != rope(heads=4, rotate="0+3")
           and encodings.kms(rho=0.1).keys == {"rho": "0.1"} and encodings.kms(rho=np.float64(0.25)) == "kms:rho=0.25")
    with scratch() as folder:
        path = os.path.join(folder, "a.npy")
        np.save(path, [2.0, -1.0])
        tap.ok("a file", encodings.file(path=pathlib.Path(path)) == f"file:path={path}")
    q = rng.standard_normal((16, 8))
    same = [szego.spectrum(spec, 16).values for spec in (rope(dim=8), "rope:dim=8")]
    tap.ok("wherever a SPEC is", np.array_equal(*same)
           and szego.logits(q, q, rope(dim=8, pairing="half"), question="singular").complete
           and szego.symbol(encodings.kms(rho=0.5), 9).source == "kms:rho=0.5"
           and szego.run("symbol", "--pe", rope(dim=8), "-n", 16)["symbol_range"]["source"].tolist() == ["rope:dim=8"]
           and pickle.loads(pickle.dumps(one)) == one and isinstance(pickle.loads(pickle.dumps(one)), szego.Encoding))
    for name, call, *words in (
            ("an unknown key", lambda: rope(bse=1), "did you mean base"),
            ("a value outside its range", lambda: rope(dim=1), "dim", "1048576"),
            ("a dimension that is odd", lambda: rope(dim=63), "odd"),
            ("a number where a word belongs", lambda: rope(pairing=3), "interleaved"),
            ("a fraction", lambda: rope(dim=8.5), "whole"), ("NaN", lambda: encodings.kms(rho=np.nan), "rho"),
            ("a missing key", lambda: encodings.file(), "path"), ("a truth value", lambda: rope(dim=True), "true"),
            ("a comma", lambda: encodings.file(path="a,lags=full"), "commas"),
            ("a key that is a text", lambda: rope(**{"dim=8,base": 9}), "dim=8,base"),
            ("an array", lambda: rope(dim=np.ones(2)), "number"),
            ("a list of texts", lambda: rope(rotate=["0"]), "rotate"),
            ("no SPEC", lambda: encodings.Encoding(3), "SPEC"),
            ("another encoding", lambda: encodings.Encoding("ropey"), "did you mean rope"),
            ("a head", lambda: one.about(head=3), "3")):
        tap.refused(name, call, *words, kind=szego.ArgumentError)
    tap.refused("another function", lambda: encodings.ropey, "rope_absolute", kind=AttributeError)


# ---- Claims -------------------------------------------------------------------------------------


def check_claims(folder):
    ids, said = ("L1", "L3", "B1"), os.path.join(folder, "claims")
    found = szego.verify(*ids, terms=8, trials=16, seed=5, threads=1)
    subprocess.run([PROGRAM, "verify", *ids, "-n", "8", "--trials", "16", "--seed", "5", "--threads", "1", "--quiet",
                    "-o", said + "/"], check=True)
    same_results("claims", found.tables, szego.load(said))
    tap.ok("verdicts are the ledger's", found.verdicts == {"B1": "fails", "L1": "holds", "L3": "fails"}
           and found.differing == 0, str(found.verdicts))
    tap.ok("tables are items", set(found) == set(found.keys()) == {*dict(found.items())} and "verify_lemma" in found
           and found["verify_claims"] is found.tables["verify_claims"]
           and found.provenance["."]["command"] == "verify")
    tap.ok("a seed of 64 bits", szego.verify("L1", terms=4, trials=2, seed=2**64 - 1).differing == 0)
    tap.ok("tables without rows are left out", "verify_lemma" not in szego.verify("B1"))
    tap.ok("a short repr", len(repr(found)) < 200 and "2 fails" in repr(found), repr(found))
    tap.ok("in a notebook", "2 fails" in found._repr_html_() and len(found._repr_html_()) < 4000)
    every = szego.verify()
    tap.ok("every claim", len(every.verdicts) > 20 and every.differing == 0)
    certificates = os.path.join(said, "certificates.csv")
    checked = szego.recheck(certificates)
    rows = len(found["verify_certificates"]["id"])
    tap.ok("certificates are confirmed", checked.refused == 0 and rows > 0
           and checked["verify_checks"]["verdict"].tolist() == ["confirmed"] * rows and str(rows) in repr(checked))
    with open(certificates, encoding="utf-8") as file:
        text = file.read()
    # The relation of the first certificate the other way round: it cannot be confirmed.
    first, relation = text.splitlines()[1], found["verify_certificates"]["relation"][0]
    forged = first.replace(f",{relation},", f",{'<' if '>' in relation else '>'},", 1)
    with open(os.path.join(folder, "forged.csv"), "w", encoding="utf-8") as file:
        file.write(text.replace(first, forged, 1))
    checked = szego.recheck(os.path.join(folder, "forged.csv"))
    tap.ok("a forged certificate is refused", forged != first and checked.refused == 1
           and checked["verify_checks"]["verdict"].tolist().count("refused") == 1)
    for name, call, *words in (
            ("an unknown claim", lambda: szego.verify("L99"), "L99", "A3.2"),
            ("a list of claims", lambda: szego.verify(["L1"]), "several arguments"),
            ("a NUL in a claim", lambda: szego.verify("L1\0"), "claim"),
            ("terms", lambda: szego.verify(terms=1), "at least 2"),
            ("more terms than possible", lambda: szego.verify("L1", terms=5000), "4096"),
            ("trials", lambda: szego.verify(trials=0), "at least 1"),
            ("more trials than possible", lambda: szego.verify("L1", trials=10**6 + 1), "1000000"),
            ("trials that are no integer", lambda: szego.verify(trials=2.0), "2.0"),
            ("a negative seed", lambda: szego.verify(seed=-1), "at least 0"),
            ("a seed that is true", lambda: szego.verify("B1", seed=True), "integer"),
            ("a seed beyond 64 bits", lambda: szego.verify(seed=2**64), "2^64"),
            ("an empty path", lambda: szego.recheck(""), "path", "empty"),
            ("an empty path of a configuration", lambda: szego.checkpoint("model", ""), "config", "empty"),
            ("a path that is none", lambda: szego.recheck(3.5), "path"),
            ("a NUL in a path", lambda: szego.recheck("a\0b"), "NUL"),
            ("a file without certificates", lambda: szego.recheck(os.path.join(said, "manifest.json")), "certificate")):
        tap.refused(name, call, *words, kind=szego.ArgumentError)
    tap.ok("the largest seed of NumPy", szego.verify("L3", trials=2, seed=np.uint64(2**64 - 1)).verdicts == szego.verify(
        "L3", trials=2, seed=2**64 - 1).verdicts)
    tap.refused("a file that is not there", lambda: szego.recheck("/nowhere.csv"), "/nowhere.csv",
                kind=szego.LibraryError)
    tap.refused("a table by number", lambda: found[0], "verdicts", kind=TypeError)


# ---- Checkpoints --------------------------------------------------------------------------------


def write_model(folder, config, tensors):
    """A model folder; tensors: arrays by name."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    safetensors.write(os.path.join(folder, "model.safetensors"),
                      [safetensors.Entry(name, value.dtype, value.shape, lambda value=value: value)
                       for name, value in tensors.items()], {})
    return folder


def llama(folder, layers=2, heads=4, key_heads=2, size=8, width=24, context=64, norms=False):
    config = {"model_type": "llama", "num_hidden_layers": layers, "num_attention_heads": heads,
              "num_key_value_heads": key_heads, "hidden_size": width, "head_dim": size, "rope_theta": 10000.0,
              "max_position_embeddings": context}
    tensors = {f"model.layers.{layer}.self_attn.{word}_proj.weight":
               rng.standard_normal((count * size, width)).astype(np.float32)
               for layer in range(layers) for word, count in (("q", heads), ("k", key_heads))}
    tensors |= {f"model.layers.{layer}.input_layernorm.weight": np.ones(width, np.float32)
                for layer in range(layers if norms else 0)}
    return write_model(folder, config, tensors), tensors


def gpt2(folder, layers, heads, width, rows):
    config = {"model_type": "gpt2", "n_layer": layers, "n_head": heads, "n_embd": width, "n_positions": rows}
    tensors = {f"h.{layer}.attn.c_attn.weight": rng.standard_normal((width, 3 * width)) for layer in range(layers)}
    tensors["wpe.weight"] = rng.standard_normal((rows, width))
    return write_model(folder, config, tensors), tensors


def check_checkpoint(folder):
    model, tensors = llama(os.path.join(folder, "llama"), norms=True)
    found = szego.checkpoint(model, threads=1)
    tap.ok("facts", (found.source, found.model_type, found.layers, found.heads, found.key_heads, found.head_size,
                     found.model_size, found.positions, found.rotary, found.bad, found.unconverged, found.unknown)
           == (model, "llama", 2, 4, 2, 8, 24, "none", True, 0, 0, None) and found.problems == ()
           and found.matrices == ("qk",), str(found))
    subprocess.run([PROGRAM, "checkpoint", model, "--threads", "1", "--quiet", "-o", folder + "/said/"], check=True)
    same_results("checkpoint", found.tables, szego.load(folder + "/said"))
    values, eigenvalues = found.singular_values(), found.eigenvalues()
    tap.ok("shapes", values.shape == eigenvalues.shape == (2, 4, 8) and values.dtype == np.float64
           and eigenvalues.dtype == np.complex128)
    for layer in range(2):
        q, k = (tensors[f"model.layers.{layer}.self_attn.{word}_proj.weight"].astype(float) for word in "qk")
        for head in range(4):
            dense = q[8 * head:8 * head + 8].T @ k[8 * (head // 2):8 * (head // 2) + 8] / np.sqrt(8)
            want = np.linalg.svd(dense, compute_uv=False)
            name, bound = f"layer {layer}, head {head}", eigenvalue_bound(24, want[0])
            tap.close(f"{name}: singular values", float(np.abs(values[layer, head] - want[:8]).max()), 0, bound)
            # They are those of an 8 x 8 matrix M + E near B^T A: the trace moves by 8 ||E||, that of its square by
            # 16 ||M|| ||E||.
            factors = [np.linalg.norm(one[8 * at:8 * at + 8], 2) for one, at in ((q, head), (k, head // 2))]
            norm = factors[0] * factors[1] / np.sqrt(8)
            found_here, slack = eigenvalues[layer, head], eigenvalue_bound(24, norm)
            tap.close(f"{name}: eigenvalues sum to the trace", complex(found_here.sum()), np.trace(dense), 8 * slack)
            tap.close(f"{name}: their squares too", complex((found_here**2).sum()), np.trace(dense @ dense),
                      16 * norm * slack)
            tap.ok(f"{name}: one head", np.array_equal(found.singular_values(layer, head), values[layer, head])
                   and np.array_equal(found.eigenvalues(layer, head), eigenvalues[layer, head])
                   and np.array_equal(found.singular_values(layer)[head], values[layer, head]))
    tap.ok("some are complex", bool((eigenvalues.imag != 0).any()))
    tap.ok("a column by head", np.array_equal(found.per_head("sigma_max"), values[:, :, 0])
           and (found.per_head("rank") == 8).all() and (found.per_head("sigma_e") == values[:, :, 7]).all()
           and np.array_equal(found.per_head("key_head"), np.tile(np.arange(4) // 2, (2, 1))))
    theta = found.per_pair("theta")
    # Powers of 10000^(1/4) = 10, within a few roundings.
    tap.ok("rotary pairs", theta.shape == (2, 4, 4) and np.allclose(theta, 10.0 ** -np.arange(4), rtol=8 * EPS, atol=0))
    parts = 2 * (np.abs(found.per_pair("rotation")) ** 2 + np.abs(found.per_pair("reflection")) ** 2)
    # Sums of a few products on either side.
    tap.ok("their parts have the energy", np.allclose(parts, found.per_pair("energy"), rtol=64 * EPS, atol=0))
    lags, kernel = found.kernel("self")
    some = szego.checkpoint(model, kernel=32).kernel("self")
    steps = np.diff(some.lags)
    tap.ok("lags one by one below 32, then 16 a doubling, and the last", np.array_equal(some.lags[:32], np.arange(32))
           and some.lags[-1] == 63 and (steps <= np.maximum(1, (2 ** (1 / 16) - 1) * some.lags[:-1])).all()
           and len(some.lags) < 64 and np.array_equal(some.values, found.kernel("self").values[..., some.lags]))
    tap.ok("all lags", np.array_equal(lags, np.arange(64)))
    angles = np.multiply.outer(theta, lags)
    sums = 2 * (found.per_pair("rotation")[..., None] * np.exp(1j * angles)).real.sum(axis=2)
    # Angles up to 63 are rounded to 2^-47, and four pairs are of the size of the norms at most.
    tap.ok("self kernels", kernel.shape == (2, 4, 64) and np.allclose(kernel, sums, rtol=0, atol=1e-12 * np.abs(
        found.per_pair("rotation")).sum()))
    tap.ok("no mean token, no mean kernel", np.isnan(found.kernel().values).all() and found.kernel().values.shape == (2, 4, 64))
    part = szego.checkpoint(model, layers=[1], heads=[2]).kernel("self").values
    tap.ok("kernels of a part", np.array_equal(part[1, 2], kernel[1, 2]) and np.isnan(part).sum() == 7 * 64)
    tap.ok("shares by head", np.array_equal(found.per_head("self_share").ravel(), found["checkpoint_heads"]["self_share"])
           and np.isnan(found.per_head("mean_share")).all())
    tap.refused("no lags", lambda: szego.checkpoint(model, kernel=0).kernel(), "kernel=0", kind=szego.LibraryError)
    tap.refused("a kernel that is not there", lambda: found.kernel("median"), "median", "self", kind=szego.ArgumentError)
    tap.refused("why there are no kernels", lambda: szego.checkpoint(model, raw=True).kernel(), "(raw=True)",
                kind=szego.LibraryError)
    values[:] = 0
    tap.ok("arrays are the caller's", found.singular_values(0, 0)[0] > 0)
    tap.ok("in a notebook", "llama" in found._repr_html_() and len(found._repr_html_()) < 6000)
    tap.ok("a frame", len(found.tables.frame("checkpoint_summary")) == 8)
    tap.ok("a short repr", len(repr(found)) < 200 + len(model) and "2 layers of 4 heads" in repr(found))
    for name, call, *words in (
            ("a layer that is not there", lambda: found.singular_values(2), "layer=2", "0 to 1"),
            ("a head before the first", lambda: found.eigenvalues(0, -5), "head=-5", "0 to 3", "-1 to -4"),
            ("a head without its layer", lambda: found.singular_values(head=1), "layer"),
            ("another matrix", lambda: found.singular_values(matrix="position"), "position", "qk"),
            ("a column that is not there", lambda: found.per_head("sigma"), "sigma_max"),
            ("a column of texts", lambda: found.per_head("solver"), "texts"),
            ("a column that needs positions", lambda: found.per_head("toeplitzness"), "toeplitzness", "sigma_e"),
            ("a column of pairs that is not there", lambda: found.per_pair("phi"), "theta"),
            ("positions", lambda: szego.checkpoint(model, positions=0), "at least 1"),
            ("samples", lambda: szego.checkpoint(model, samples=-1), "at least 0"),
            ("lags", lambda: szego.checkpoint(model, kernel=-1), "at least 0"),
            ("too many lags", lambda: szego.checkpoint(model, kernel=2**20 + 1), "1048576"),
            ("a path that is none", lambda: szego.checkpoint(None), "path"),
            ("a NUL", lambda: szego.checkpoint("a\0b"), "NUL"),
            ("a configuration that is not there", lambda: szego.checkpoint(model, "/nowhere.json"), "/nowhere.json"),
            ("threads", lambda: szego.checkpoint(model, threads=0), "1024")):
        tap.refused(name, call, *words, kind=szego.LibraryError)
    tap.refused("a folder that is not there", lambda: szego.checkpoint("/nowhere"), "/nowhere", kind=szego.LibraryError)
    tap.refused("positions that nothing adds", lambda: szego.checkpoint(model, positions=3), "positions",
                kind=szego.LibraryError)


def check_top(folder):
    """The largest values of whole weights, against NumPy's, and what is refused."""
    weights = {"tall.weight": rng.standard_normal((700, 290)).astype(np.float32),
               "wide.weight": rng.standard_normal((12, 400)).astype(np.float32)}
    model = write_model(os.path.join(folder, "whole"), {}, weights)
    found = szego.checkpoint(model, "none", top=5, seed=3, threads=1)
    subprocess.run([PROGRAM, "checkpoint", model, "--config", "none", "--top", "5", "--seed", "3", "--threads", "1",
                    "--quiet", "-o", folder + "/top/"], check=True)
    same_results("top", found.tables, szego.load(folder + "/top"))
    tap.ok("no table of all values", "checkpoint_spectra" not in found.tables)
    errors = found.tables["checkpoint_top"]["error"]
    for place, (name, weight) in enumerate(weights.items()):
        values, want = found.singular_values(matrix=name), np.linalg.svd(weight.astype(float), compute_uv=False)
        # NumPy's are those of a matrix within some n eps of the norm: 20 covers its constants.
        off = np.abs(values - want[:5]) - errors[5 * place:5 * place + 5]
        tap.ok(f"{name}: stated errors", len(values) == 5 and bool((off <= 20 * 700 * EPS * want[0]).all()), str(off))
    tap.ok("matrices", found.matrices == tuple(weights), str(found.matrices))
    tap.ok("resolved", bool((found.tables["checkpoint_top"]["resolved"] == 1).all()))
    tap.refused("no value", lambda: szego.checkpoint(model, top=0), "top", "at least 1", kind=szego.LibraryError)
    tap.refused("a known architecture", lambda: szego.checkpoint(llama(os.path.join(folder, "known"))[0], top=2),
                ": top is for whole weights", "config=\"none\"", kind=szego.LibraryError)
    tap.refused("no trained length",
                lambda: szego.checkpoint(llama(os.path.join(folder, "short"), context=None)[0], context="trained"),
                ": use context=N", kind=szego.LibraryError)


def turned(rows, lag):
    """Rows of queries as they rotate at that position, by complex numbers."""
    half = len(rows) // 2
    pairs = (rows[:half] + 1j * rows[half:]) * np.exp(1j * lag * 10000.0 ** (-np.arange(half) / half))[:, None]
    return np.concatenate([pairs.real, pairs.imag])


def ranks(values):
    """sigma_max, stable rank and effective rank of descending singular values."""
    share = values / values.sum()
    share = share[share > 0]
    return values[0], (values**2).sum() / values[0]**2, np.exp(-(share * np.log(share)).sum())


def check_circuits(folder):
    """QK at lags, OV, and the random baseline, against whole matrices."""
    heads, key_heads, size, width, draws, trials = 4, 2, 8, 24, 1000, 3000
    model, tensors = llama(os.path.join(folder, "circuits"), layers=1)
    before = "model.layers.0."
    for word, shape in (("v", (key_heads * size, width)), ("o", (width, heads * size))):
        tensors[f"{before}self_attn.{word}_proj.weight"] = rng.standard_normal(shape).astype(np.float32)
    gains = np.exp(rng.standard_normal(width)).astype(np.float32)
    tensors[before + "input_layernorm.weight"] = gains
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        write_model(model, json.load(file), tensors)
    found = szego.checkpoint(model, lags=[0, 3], draws=draws, seed=5, threads=2)
    table = found["checkpoint_circuits"]
    q, k, v, o = (tensors[f"{before}self_attn.{word}_proj.weight"].astype(float) for word in "qkvo")
    tap.ok("circuits: matrices", found.matrices == ("qk", "qk@3", "ov") and found.bad == 0, str(found.matrices))
    tap.ok("circuits: rows", len(table["head"]) == heads * 3 and found.problems == ())

    def row(head, circuit, lag):
        is_lag = np.ma.getmaskarray(table["lag"]) if lag is None else np.ma.filled(table["lag"], -1) == lag
        at, = np.flatnonzero((table["head"] == head) & (table["circuit"] == circuit) & is_lag)
        return {name: table[name][at] for name in table}

    for head in range(heads):
        group = slice(size * (head // 2), size * (head // 2) + size)
        own = slice(size * head, size * head + size)
        for circuit, lag, matrix, a, b in (
                ("qk", 0, "qk", q[own] / np.sqrt(size) * gains, k[group] * gains),
                ("qk", 3, "qk@3", turned(q[own], 3) / np.sqrt(size) * gains, k[group] * gains),
                ("ov", None, "ov", o[:, own].T, v[group] * gains)):
            dense, name = a.T @ b, f"circuits: head {head}, {matrix}"
            want = np.linalg.svd(dense, compute_uv=False)
            bound = eigenvalue_bound(width, np.linalg.norm(a, 2) * np.linalg.norm(b, 2))
            got = found.singular_values(0, head, matrix=matrix)
            tap.close(name + ": singular values", float(np.abs(got - want[:size]).max()), 0, bound)
            values = found.eigenvalues(0, head, matrix=matrix)
            tap.close(name + ": eigenvalues sum to the trace", complex(values.sum()), np.trace(dense), size * bound)
            # Ranks move by no more than a few parts in 1e9 where values move by as much as `bound`.
            cells, here = row(head, circuit, lag), ranks(want[:size])
            tap.ok(name + ": ranks", all(abs(cells[column] - number) <= 1e-9 * number for column, number in zip(
                ("sigma_max", "stable_rank", "effective_rank"), here)), str(here))
    # The baseline: whole Gaussian matrices of the norms of head 1's factors, with the gains. A quantile of n draws
    # is a number of the law whose place has the deviation sqrt(p (1 - p) / n); `trials` draws tell the law within
    # sqrt(log(2 / 1e-9) / 2 trials) (Massart 1990).
    own, group = slice(size, 2 * size), slice(0, size)
    for circuit, lag, a, b, gain in (("qk", 3, q[own] / np.sqrt(size), k[group], gains),
                                     ("ov", None, o[:, own].T, v[group], 1)):
        deviations = [np.linalg.norm(one) / np.sqrt(one.size) for one in (a, b)]
        law = np.sort([ranks(np.linalg.svd(
            (deviations[0] * rng.standard_normal(a.shape) * gain).T
            @ (deviations[1] * rng.standard_normal(b.shape) * gains), compute_uv=False)[:size])
            for _ in range(trials)], axis=0)
        cells = row(1, circuit, lag)
        for at, column in enumerate(("sigma_max", "stable_rank", "effective_rank")):
            for p, word in ((0.025, "q025"), (0.5, "median"), (0.975, "q975")):
                place = np.searchsorted(law[:, at], cells[f"{column}_{word}"], "right") / trials
                tap.close(f"circuits: {circuit}: {column}_{word}", float(place), p,
                          7 * np.sqrt(p * (1 - p) / draws) + 1 / draws + np.sqrt(np.log(2e9) / (2 * trials)))
    for name, call, *words in (
            ("no lags", lambda: szego.checkpoint(model, lags=[]), "lags"),
            ("a lag that is no integer", lambda: szego.checkpoint(model, lags=[0.5]), "lags"),
            ("lags that are no list", lambda: szego.checkpoint(model, lags=3), "lags"),
            ("a lag twice", lambda: szego.checkpoint(model, lags=[1, 1]), "twice"),
            ("draws", lambda: szego.checkpoint(model, draws=-1), "at least 0")):
        tap.refused("circuits: " + name, call, *words, kind=szego.LibraryError)
    os.remove(os.path.join(model, "model.safetensors"))
    del tensors[before + "self_attn.v_proj.weight"]
    write_model(model, {**json.loads(open(os.path.join(model, "config.json"), encoding="utf-8").read())}, tensors)
    found = szego.checkpoint(model, circuits=True, draws=0)
    tap.ok("circuits: without values", found.bad == len(found.problems) == 1 and found.problems[0].matrix == "ov"
           and "v_proj.weight is missing" in found.problems[0].why, str(found.problems))


def check_parts(folder):
    """Parts of a model, and what changes its configuration."""
    model, _ = llama(os.path.join(folder, "llama"))
    whole = szego.checkpoint(model)
    values = whole.singular_values()
    for layers, heads in (([1], None), (None, range(1, 3)), ("0-1", "3"), (np.array([0]), [0, 3])):
        part = szego.checkpoint(model, layers=layers, heads=heads).singular_values()
        rows = [0, 1] if layers is None or isinstance(layers, str) else list(layers)
        columns = list(range(4)) if heads is None else [3] if isinstance(heads, str) else list(heads)
        inside = np.zeros((2, 4), bool)
        inside[np.ix_(rows, columns)] = True
        tap.ok(f"layers {layers}, heads {heads}", part.shape == values.shape
               and np.array_equal(part[inside], values[inside]) and np.isnan(part[~inside]).all())
    dry = szego.checkpoint(model, dry_run=True, settings={"rope_theta": 250000.0})
    rows = dry["checkpoint_architecture"]
    tap.ok("a dry run: the architecture and what would be read", sorted(dry.tables) == [
        "checkpoint_architecture", "checkpoint_tensors"] and "250000" in " ".join(rows["value"]))
    tap.ok("a number of NumPy as a setting", szego.checkpoint(model, settings={"head_dim": np.int64(8)}).head_size == 8)
    theta = szego.checkpoint(model, settings={"rope_theta": 250000.0}).per_pair("theta")[0, 0]
    # Powers of 250000^(-1/4), a few roundings each.
    tap.ok("a value of the configuration", np.allclose(theta, 250000.0 ** (-np.arange(4) / 4), rtol=16 * EPS, atol=0))
    both = szego.checkpoint(os.path.join(FAMILIES, "t5"))
    tap.ok("stacks", both.stacks == ("encoder", "decoder", "cross") and both.stack == "encoder" and whole.stacks == ("",)
           and [szego.checkpoint(os.path.join(FAMILIES, "t5"), stack=name).stack for name in both.stacks]
           == list(both.stacks))
    for name, call, *said in (
            ("a dry run has no spectra", dry.singular_values, "dry_run"),
            ("a dry run has no problems to tell", lambda: dry.problems, "dry_run"),
            ("a layer that the model lacks", lambda: szego.checkpoint(model, layers=[2]), "2"),
            ("layers that are no numbers", lambda: szego.checkpoint(model, layers=[0.5]), "0.5"),
            ("no layer", lambda: szego.checkpoint(model, layers=[]), "layers"),
            ("layers that are bytes, not their codes", lambda: szego.checkpoint(model, layers=b"\x00"), "layers=b'"),
            ("lags that are bytes", lambda: szego.checkpoint(model, lags=b"1"), "lags=b'1'"),
            ("heads that are no list", lambda: szego.checkpoint(model, heads=3.0), "heads=3.0"),
            ("a list of letters", lambda: szego.checkpoint(model, heads="a-b"), "a-b"),
            ("a stack that is not there", lambda: szego.checkpoint(model, stack="encoder"), "encoder"),
            ("settings that are no dict", lambda: szego.checkpoint(model, settings="a=1"), "settings"),
            ("a setting that JSON lacks", lambda: szego.checkpoint(model, settings={"a": np.nan}), "settings"),
            ("a setting of another type", lambda: szego.checkpoint(model, settings={"a": object()}), "'a'", "object"),
            ("a setting with its value in the path", lambda: szego.checkpoint(model, settings={"head_dim=4": 1}), "head_dim=4"),
            ("a setting of no path", lambda: szego.checkpoint(model, settings={3: 1}), "settings"),
            ("a setting that nothing reads", lambda: szego.checkpoint(model, settings={"rope_thata": 1}),
             'settings "rope_thata": nothing reads', "did you mean rope_theta?"),
            ("a value that is missing", lambda: szego.checkpoint(model, settings={"num_hidden_layers": None}),
             'settings={"num_hidden_layers": VALUE} gives it'),
            ("a flag that is none", lambda: szego.checkpoint(model, dry_run=1), "dry_run")):
        tap.refused(name, call, *said, kind=szego.LibraryError)


def check_positions(folder):
    model, tensors = gpt2(folder, 2, 2, 12, 30)
    found = szego.checkpoint(model, positions=20, samples=16)
    tap.ok("positions", found.positions == "learned" and found.position_rows == 30 and not found.rotary
           and found.matrices == ("qk", "position") and len(found["checkpoint_samples"]["re"]) == 2 * 2 * 16)
    p = tensors["wpe.weight"][:20]
    for layer, head in ((0, 1), (1, 0)):
        w = tensors[f"h.{layer}.attn.c_attn.weight"]
        q, k = (w[:, part * 12 + 6 * head:part * 12 + 6 * head + 6] for part in (0, 1))
        dense = p @ q @ k.T @ p.T / np.sqrt(6)
        want = np.linalg.svd(dense, compute_uv=False)[:6]
        got = found.singular_values(layer, head, matrix="position")
        tap.close(f"layer {layer}, head {head}: position-position term", float(np.abs(got - want).max()), 0,
                  eigenvalue_bound(20, want[0]))
        means = np.array([np.diagonal(dense, -lag).mean() for lag in range(-19, 20)])
        share = ((20 - np.abs(np.arange(-19, 20))) * means**2).sum() / (dense**2).sum()
        # Both sides are sums of 400 squares of entries that are sums of some 100 products.
        tap.close("toeplitzness", found.per_head("toeplitzness", matrix="position")[layer, head], share, 1000 * EPS)
    tap.ok("no samples", "checkpoint_samples" not in szego.checkpoint(model, samples=0))
    tap.refused("no rotary pairs", lambda: found.per_pair("theta"), "rotary", kind=szego.LibraryError)
    tap.refused("more positions than rows", lambda: szego.checkpoint(model, positions=31), "31",
                kind=szego.LibraryError)


def check_damaged(folder):
    """A NaN costs its layer, a configuration that is not known the heads."""
    model, tensors = llama(os.path.join(folder, "damaged"))
    broken = tensors["model.layers.1.self_attn.q_proj.weight"]
    broken[3, 5] = np.nan
    write_model(model, json.loads(open(os.path.join(model, "config.json"), encoding="utf-8").read()), tensors)
    found = szego.checkpoint(model)
    values = found.singular_values()
    tap.ok("what is bad is skipped", found.bad == len(found.problems) == 1 and not np.isnan(values[0]).any()
           and np.isnan(values[1]).all() and np.isnan(found.per_head("sigma_max")[1]).all()
           and not np.isnan(found.per_head("sigma_max")[0]).any() and "1 skipped" in repr(found))
    problem = found.problems[0]
    tap.ok("and named", problem.layer == 1 and problem.head is None and "q_proj" in problem.why, str(problem))
    tap.refused("a head that was skipped", lambda: found.singular_values(1, 2), "layer 1, head 2", "q_proj",
                kind=szego.LibraryError)
    whole = szego.checkpoint(os.path.join(model, "model.safetensors"), "none")
    names = [name for name in tensors if tensors[name] is not broken]
    problem_tensor = "model.layers.1.self_attn.q_proj.weight"
    tap.ok("no architecture", whole.unknown and whole.layers == whole.heads == 0 and set(whole.matrices) == set(names)
           and whole.bad == 1 and whole.problems[0].matrix == problem_tensor
           and whole.problems[0].layer is None)
    for name in names:
        want = np.linalg.svd(tensors[name].astype(float), compute_uv=False)
        tap.close(f"{name}: singular values", float(np.abs(whole.singular_values(matrix=name) - want).max()), 0,
                  eigenvalue_bound(32, want[0]))
    for name, call in {"qk": lambda: whole.singular_values(), "a head": lambda: whole.singular_values(0, 0),
                       "eigenvalues": lambda: whole.eigenvalues(matrix=names[0]),
                       "a column": lambda: whole.per_head("sigma_max")}.items():
        tap.refused(f"{name} without an architecture", call, "no heads are known", kind=szego.LibraryError)
    tap.refused("a tensor that was skipped", lambda: whole.singular_values(matrix=problem_tensor), "q_proj", "NaN",
                kind=szego.LibraryError)
    check_all_damaged(folder, tensors)
    with open(os.path.join(folder, "cut.safetensors"), "wb") as file:
        file.write(b"\x08\0\0\0\0\0\0\0{}")
    tap.refused("a damaged file", lambda: szego.checkpoint(os.path.join(folder, "cut.safetensors")), "cut.safetensors",
                kind=szego.ArgumentError)


def check_all_damaged(folder, tensors):
    """No head is left: arrays have none, and a head says why. Names in messages are one line."""
    tensors["model.layers.0.self_attn.k_proj.weight"][0, 0] = np.inf
    model = os.path.join(folder, "all\nlayers")
    config = os.path.join(folder, "damaged", "config.json")
    write_model(model, json.loads(open(config, encoding="utf-8").read()), tensors)
    found = szego.checkpoint(model)
    tap.ok("every layer is damaged", found.bad == 2 and found.singular_values().shape == found.eigenvalues(
        ).shape == (2, 4, 0) and np.isnan(found.per_head("sigma_max")).all() and "\n" not in repr(found), repr(found))
    tap.refused("a head of the first layer", lambda: found.singular_values(0, 3), "k_proj", kind=szego.LibraryError)
    for name, matrix in (("a matrix that is no text", ["qk"]), ("a matrix that is not there", "q k")):
        tap.refused(name, lambda matrix=matrix: found.singular_values(matrix=matrix), "matrix=", "nothing",
                    kind=szego.ArgumentError)
    other = szego.checkpoint(write_model(os.path.join(folder, "names"), {}, {"a\x1b[31m": np.eye(3, dtype=np.float32)}))
    tap.refused("names of others", lambda: other.singular_values(matrix="b"), "a\N{REPLACEMENT CHARACTER}",
                kind=szego.ArgumentError)


# ---- Leaks, Ctrl-C ------------------------------------------------------------------------------


def check_leaks(folder):
    """Calls that answer and calls that are refused close what they opened."""
    library, open_files = native.library(), len(os.listdir("/proc/self/fd"))
    native._forget()
    native._library = counted = Counted(library)
    for check in (check_claims, check_checkpoint, check_top, check_circuits, check_parts, check_positions,
                  check_damaged):
        place = os.path.join(folder, check.__name__)
        os.mkdir(place)
        check(place)
    idle = sum(map(len, native._idle.values()))
    tap.ok("nothing stays open but contexts that wait", counted.open == idle > 0, f"{counted.open} {idle}")
    native._forget()
    native._library = library
    tap.ok("no file stays open", len(os.listdir("/proc/self/fd")) == open_files)


INTERRUPTED = INTERRUPT + """
interrupt_in(sys.argv[1])
try:
    if sys.argv[1] == "szg_claims_verify":
        szego.verify("L1", terms=256, trials=20000, threads=1)
    else:
        szego.checkpoint(sys.argv[2], threads=1)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
ended.wait()
print(*said)
print(len(szego.verify("B1").verdicts), flush=True)
os._exit(0)
"""


def check_interrupt(folder):
    """Each would run for minutes: the signal comes once the library runs, and the call says that it stopped."""
    model, _ = gpt2(folder, 6, 8, 64, 4096)
    for name in ("szg_claims_verify", "szg_checkpoint_analyse"):
        done = python(INTERRUPTED, name, model, SZEGO_LIBRARY=os.environ["SZEGO_LIBRARY"])
        tap.ok(f"Ctrl-C cancels {name}, and the next call works",
               done.stdout.split("\n") == ["interrupted", "SZG_ECANCEL", "1", ""], done.stdout + done.stderr)


for check in (check_tables, check_calls, check_encodings):
    check()
for check in (check_leaks, check_interrupt):
    with scratch() as place:
        check(place)
tap.finish()
