#!/usr/bin/python3
"""The Python package szego: folders read back against the program's own JSON and NumPy arrays, hostile
folders, and captured queries and keys against what attention computed. usage: test_python.py PROGRAM"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings

from peer import Tap, scratch, skip, szego as program_json

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "notebooks_export", "python"))
try:
    import numpy as np
    import szego
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
try:
    import pandas
except ImportError:
    pandas = None

PROGRAM = os.path.abspath(sys.argv[1])
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = random.Random(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def refused(name, call, *words, kind=szego.SzegoError):
    """The call fails with a message that has the words."""
    try:
        call()
        tap.ok(f"refused: {name}", False)
    except kind as caught:
        missing = [word for word in words if word not in str(caught)]
        tap.ok(f"refused: {name}", not missing, f"{missing} not in: {caught}" if missing else "")


def same(a, b):
    """Equal arrays: types, masks, and doubles by their bits, NaN with NaN."""
    if a.dtype != b.dtype or not np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)):
        return False
    a, b = (x[~np.ma.getmaskarray(x)].tolist() for x in (a, b))
    return all(x == y and math.copysign(1, x) == math.copysign(1, y) or (x != x and y != y)
               if isinstance(x, float) else x == y for x, y in zip(a, b))


def save(folder, command, tables, /, **changes):
    """A result: {table: ([(name, type)], [row of CSV text])}. `changes` spoil its manifest."""
    os.makedirs(folder, exist_ok=True)
    entries = []
    for name, (columns, rows) in tables.items():
        entries.append({"name": name, "file": name + ".csv", "rows": len(rows),
                        "columns": [{"name": c, "type": t, "doc": f"about {c}"} for c, t in columns]})
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join([",".join(c for c, _ in columns), *rows]) + "\n")
    entries[0].update(changes.pop("entry", {}))
    manifest = {"format": "szego-results-1", "command": command, "provenance": {"version": "0"},
                "tables": entries, **changes}
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file)


# ---- What the program wrote ----

def check_written(folder):
    """-o DIR/ through load() against --format json, cell by cell."""
    arguments = ["spectrum", "--all", "-n", "40", "--pe", "alibi:heads=4", "--pe", "rope:dim=16",
                 "--pe", "nope"]
    subprocess.run([PROGRAM, *arguments, "--quiet", "-o", folder + "/"], check=True)
    results = szego.load(folder)
    wanted = program_json(PROGRAM, *arguments)
    del wanted["provenance"]
    tap.ok("tables", set(results) >= {f"spectrum_{name}" for name in wanted} and len(wanted) == 2)
    bad = cells = 0
    for name, rows in wanted.items():
        table = results[f"spectrum_{name}"]
        bad += [*table] != ["result", *(key for key in rows[0] if key != "not_finite")] or len(table["result"]) != len(rows)
        for column in [*table][1:]:
            for row, value in zip(rows, table[column].tolist()):
                cells += 1
                # JSON has no infinity: `not_finite` says which columns hold one.
                if value == math.inf and row.get("not_finite", {}).get(column) == "inf":
                    row[column] = math.inf
                if value != row[column] or type(value) is not type(row[column]):
                    bad += 1
                    print("#", name, column, repr(value)[:80], repr(row[column])[:80])
    tap.ok("every cell is JSON's", cells > 1500 and bad == 0, f"{bad} of {cells}")
    tap.ok("columns are explained", results.docs["spectrum_eigenvalues"]["n"] != "")
    tap.ok("provenance", results.provenance["."]["command"] == "spectrum")
    again = szego.spectrum(["alibi:heads=4", "rope:dim=16", "nope"][0], 40, all=True)
    first = np.asarray(results["spectrum_eigenvalues"]["source"]) == "alibi:heads=4"
    tap.ok("szego.spectrum computes the same",
           first.sum() == 160 and all(same(results["spectrum_eigenvalues"][column][first],
                                           again["spectrum_eigenvalues"][column])
                                      for column in ("source", "head", "index", "re", "im")))
    if pandas:
        frame = szego.load(folder, frames=True)["spectrum_summary"]
        tap.ok("frames", str(frame["layer"].dtype) == "Int64" and frame["layer"].isna().all()
               and frame["lambda_max"].tolist() == results["spectrum_summary"]["lambda_max"].tolist())


def check_program():
    refused("an unknown encoding", lambda: szego.spectrum("ropey", 4), "exit code 2", "ropey",
            kind=szego.ProgramError)
    try:
        szego.run("spectrum", "--pe", "ropey", "-n", "4")
    except szego.ProgramError as caught:
        tap.ok("the exit code and the message are kept", caught.code == 2 and "ropey" in caught.stderr)
    os.environ["SZEGO"] = "/nowhere/szego"
    refused("a program that is not there", lambda: szego.run("info"), "/nowhere/szego")
    os.environ["SZEGO"] = PROGRAM
    from szego.program import _results
    root = {"provenance": {"command": "x"},
            "t": [{"a": None, "b": None, "i": 3, "note": "odd", "not_finite": {"a": "-inf"}},
                  {"a": None, "b": 1.5, "i": 4, "note": None, "not_finite": {"a": "nan"}},
                  {"a": 2.0, "b": None, "i": None, "note": "b is nan"}]}
    table = _results(root, False)["x_t"]
    tap.ok("NaN and infinities come back, whatever the notes say",
           table["a"][0] == -np.inf and np.isnan(table["a"][1]) and table["a"].dtype == np.float64
           and np.ma.getmaskarray(table["a"]).sum() == 0 and table["note"].tolist() == ["odd", None, "b is nan"]
           and [*table] == ["result", "a", "b", "i", "note"])
    root = {"provenance": {"command": "x"}, "t": [{"a": 1.5, "not_finite": {"a": "nan"}}]}
    refused("a number that is said not to be one", lambda: _results(root, False), "not_finite: a: 'nan'")
    tap.ok("what is null otherwise is empty", table["b"].tolist() == [None, 1.5, None]
           and table["i"].tolist() == [3, 4, None] and table["i"].dtype == np.int64)


# ---- Texts, numbers, joins ----

def check_cells(folder):
    reals = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, math.inf, -math.inf, math.nan]
    reals += [math.ldexp(rng.random() - 0.5, rng.randint(-1000, 1000)) for _ in range(500)]
    texts = ["", "a,b", 'say "x"', "<script>alert(1)</script>", "two\nlines", "\r\n", "\u202eabc",
             '"', ",", " ", "nan"]
    texts += [f"text {i}" for i in range(500)] + ["x" * 1000000]
    quote = lambda text: '"' + text.replace('"', '""') + '"'
    rows = [f"{value!r},,{quote(texts[i % len(texts)])}," for i, value in enumerate(reals)]
    rows.append("," + str(-2**63) + ",," + str(2**63 - 1))
    save(folder, "test", {"t": ([("r", "real"), ("i", "integer"), ("s", "text"), ("j", "integer")], rows)})
    table = szego.load(folder)["test_t"]
    tap.ok("reals are exact", same(table["r"][:-1], np.ma.MaskedArray(reals)) and table["r"].mask[-1]
           and not table["r"].mask[:-1].any())
    tap.ok("texts are exact, and an empty text is no empty cell",
           table["s"].tolist()[:-1] == [texts[i % len(texts)] for i in range(len(reals))]
           and table["s"].mask.tolist() == [False] * len(reals) + [True])
    tap.ok("integers are exact", table["i"][-1] == -2**63 and table["j"][-1] == 2**63 - 1
           and table["j"].mask.sum() == len(reals))
    if pandas:
        frame = szego.load(folder, frames=True)["test_t"]
        tap.ok("frames are exact", frame["j"].iloc[-1] == 2**63 - 1 and frame["i"].iloc[-1] == -2**63
               and frame["s"].iloc[-1] is None and frame["s"].iloc[0] == "")


def check_join(folder):
    save(folder, "c", {"t": ([("a", "integer"), ("note", "text")], ["1,", "2,x"])})
    save(folder + "/b", "c", {"t": ([("z", "text"), ("a", "real"), ("result", "text")], ["u,0.5,own"])})
    save(folder + "/a-", "c", {"t": ([("a", "integer")], ["7"])})
    save(folder + "/a/x", "c", {"t": ([("a", "integer")], ["8"])})
    save(folder + "/other", "d", {"t": ([("a", "integer")], [])})
    save(folder + "/foreign", "c", {"t": ([("a", "integer")], ["9"])}, format="another")
    os.symlink(folder, folder + "/loop")
    table = szego.load(folder)["c_t"]
    tap.ok("paths in order", table["result"].tolist() == [".", ".", "a/x", "a-", "b"])
    tap.ok("columns in order", [*table] == ["result", "a", "z", "result_", "note"])
    tap.ok("the wider type", table["a"].tolist() == [1.0, 2.0, 8.0, 7.0, 0.5]
           and table["a"].dtype == np.float64)
    tap.ok("columns that are not there are empty", table["z"].tolist() == [None] * 4 + ["u"])
    tap.ok("a table without rows", len(szego.load(folder)["d_t"]["a"]) == 0)
    save(folder + "/big", "c", {"t": ([("a", "integer")], [str(2**53 + 1)])})
    tap.ok("an integer that is no double beside reals", szego.load(folder)["c_t"]["a"].tolist() ==
           ["1", "2", "8", "7", "0.5", str(2**53 + 1)])


def check_export(folder):
    """What `szego export --to csv` wrote is the folder that it read, and is not read twice."""
    save(folder, "c", {"t": ([("a", "integer"), ("note", "text")], ["1,", "2,x"])})
    save(folder + "/b", "c-d", {"t": ([("result", "text"), ("r", "real")], ['own,0.1', "own,"])})
    before = szego.load(folder)
    subprocess.run([PROGRAM, "export", folder, "--to", "csv", "--quiet"], check=True)
    after, export = szego.load(folder), szego.load(folder + "/export")
    tap.ok("an export below is passed over", set(after) == set(before) == {"c_t", "c_d_t"}
           and set(after.provenance) == {".", "b"})
    tap.ok("an export has the tables it was made of", set(export) == set(before) and all(
        [*export[name]] == [*table] and all(same(export[name][column], cells)
                                            for column, cells in table.items())
        for name, table in before.items()) and export.docs == before.docs)
    tap.ok("an export's provenance", [*export.provenance] == ["."]
           and [one["path"] for one in export.provenance["."]["results"]] == [".", "b"])


# ---- Hostile folders ----

GOOD = {"t": ([("a", "integer"), ("b", "real")], ["1,0.5"])}
SPOILT = {
    "a file above the folder": ({"entry": {"file": "../t.csv"}}, "../t.csv"),
    "an absolute file": ({"entry": {"file": "/etc/passwd"}}, "/etc/passwd"),
    "a table that leaves the folder": ({"entry": {"name": "../t", "file": "../t.csv"}}, "table name"),
    "too many rows": ({"entry": {"rows": 2}}, "1 rows", "says 2"),
    "negative rows": ({"entry": {"rows": -1}}, "rows"),
    "rows that are true": ({"entry": {"rows": True}}, "rows"),
    "huge rows": ({"entry": {"rows": 10**30}}, "rows"),
    "no columns": ({"entry": {"columns": []}}, "0 columns"),
    "another type": ({"entry": {"columns": [{"name": "a", "type": "blob", "doc": ""}]}}, "blob"),
    "other columns": ({"entry": {"columns": [{"name": "a", "type": "real", "doc": ""}]}}, "columns"),
    "a command with a path": ({"command": "../x"}, "command"),
    "no provenance": ({"provenance": None}, "provenance"),
    "tables that are none": ({"tables": [3]}, "tables[0]"),
}
CELLS = {"an integer that is none": "x,0.5", "an integer beyond 64 bits": f"{2**63},0.5",
         "an underscore": "1_0,0.5", "a blank": " 1,0.5", "a real that is none": "1,0x1p3",
         "a row too long": "1,0.5,3", "a row too short": "1", "an open quote": '"1,0.5',
         "text behind a quote": '"1"2,0.5', "other digits": "\u0661,0.5"}


def check_hostile(folder):
    for name, (changes, *words) in SPOILT.items():
        save(folder, "c", GOOD, **changes)
        refused(name, lambda: szego.load(folder), folder, *words, kind=szego.DataError)
    for name, row in CELLS.items():
        save(folder, "c", {"t": (GOOD["t"][0], [row])})
        refused(name, lambda: szego.load(folder), os.path.join(folder, "t.csv"), kind=szego.DataError)
    for name, text in {"no JSON": b"{", "deep JSON": b"[" * 100000, "NaN": b'{"a": NaN}',
                       "a key twice": b'{"format": "a", "format": "b"}', "no UTF-8": b"\xff"}.items():
        with open(os.path.join(folder, "manifest.json"), "wb") as file:
            file.write(text)
        refused(name, lambda: szego.load(folder), "manifest.json", kind=szego.DataError)
    save(folder, "c", GOOD)
    os.unlink(os.path.join(folder, "t.csv"))
    refused("a table that is missing", lambda: szego.load(folder), "t.csv", kind=szego.DataError)
    os.mkfifo(os.path.join(folder, "t.csv"))
    refused("a pipe", lambda: szego.load(folder), "no regular file", kind=szego.DataError)
    save(folder + "/good", "c", GOOD)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = szego.load(folder, strict=False)
    tap.ok("strict=False leaves out, with a warning", results["c_t"]["a"].tolist() == [1]
           and len(caught) == len(results.skipped) == 1 and "t.csv" in str(caught[0].message))
    check_limits(folder + "/limits")
    refused("a folder without results", lambda: szego.load(tempfile.mkdtemp(dir=folder)), "manifest.json")
    refused("no folder", lambda: szego.load(folder + "/none"), "no such folder")


def check_limits(folder):
    """The longest and most that are read, which the program reads too, and one more, which both refuse."""
    column = ([("a", "integer")], ["1"])

    def both(name, wanted, command, tables, *words):
        shutil.rmtree(folder, ignore_errors=True)
        save(folder, command, tables)
        done = subprocess.run([PROGRAM, "export", folder, "--to", "npz", "--quiet"], check=False,
                              capture_output=True, text=True)
        tap.ok(f"{name}: the program", done.returncode == (0 if wanted else 3), done.stderr[:200])
        if wanted:
            tap.ok(name, len(szego.load(folder)) == len(tables))
        else:
            refused(name, lambda: szego.load(folder), *words, kind=szego.DataError)

    both("a command of 64", True, "c" * 64, {"t": column})
    both("a command of 65", False, "c" * 65, {"t": column}, "manifest.json", "64 characters")
    both("a joined name of 200", True, "c", {"t" * 198: column})
    both("a joined name of 201", False, "c", {"t" * 199: column}, "joined name", "200 characters")
    both("a table's name of 201", False, "c", {"t" * 201: column}, "tables[0]", "200 characters")
    both("1024 tables", True, "c", {f"t{index}": column for index in range(1024)})
    both("1025 tables", False, "c", {f"t{index}": column for index in range(1025)}, "at most 1024")
    both("1024 kinds of tables", True, "c", {f"t{index}": column for index in range(1024)})
    save(folder + "/b", "c", {"other": column})
    refused("1025 kinds of tables", lambda: szego.load(folder), "other", "1024 kinds", kind=szego.DataError)


# ---- Captured models ----

def capture_models(transformers):
    common = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=32, max_position_embeddings=64)
    t = transformers
    return {"Llama, grouped": t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, **common)),
            "Mistral": t.MistralModel(t.MistralConfig(num_key_value_heads=1, **common)),
            "Qwen2": t.Qwen2Model(t.Qwen2Config(num_key_value_heads=4, **common)),
            "GPT-NeoX, partial": t.GPTNeoXModel(t.GPTNeoXConfig(rotary_pct=0.25, **common)),
            "GPT-2": t.GPT2Model(t.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4,
                                              n_positions=64, scale_attn_by_inverse_layer_idx=True)),
            "BERT": t.BertModel(t.BertConfig(**common))}


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    return {name: np.frombuffer(data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]],
                                {"F32": "<f4", "F64": "<f8"}[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def attention(logits, causal):
    """Softmax of logits, [heads, N, N], in double precision."""
    n = logits.shape[-1]
    allowed = np.tril(np.ones((n, n), bool)) if causal else np.ones((n, n), bool)
    e = np.where(allowed, np.exp(logits - logits.max(-1, keepdims=True)), 0)
    return e / e.sum(-1, keepdims=True)


def check_model(torch, name, model, folder):
    """Single precision: a logit is off by at most (d + 2) u sum |q_i k_i| / sqrt(d) (Higham 2002, 3.5), a
    weight by twice that and what sums and exponentials of n terms lose."""
    from szego.capture_hf import Capture
    model = model.eval()
    for weight in model.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.3)
    tokens, mask = torch.randint(1, 50, (2, 17)), torch.ones(2, 17, dtype=torch.long)
    mask[1, 11:] = 0
    inputs = {"input_ids": tokens, "attention_mask": mask}
    with torch.no_grad():
        plain = model(**inputs)[0]
        with Capture(model) as capture:
            out = model(**inputs, output_attentions=True)
            if not capture.rotary:
                with capture.zeroed():
                    model(**inputs)
        after = model(**inputs)[0]
    tap.ok(f"{name}: nothing changes", torch.equal(plain, out[0]) and torch.equal(plain, after))
    files = [os.path.join(folder, f"{kind}.safetensors") for kind in ("qk", "logits")]
    capture.write(files[0])
    capture.write(files[1], logits=True)
    sides, logits = map(read_safetensors, files)
    worst, u = 0, 2.0**-24
    for layer in range(2):
        for probe, n in enumerate((17, 11)):
            prefix = f"layers.{layer}.probes.{probe}."
            want = out.attentions[layer][probe, :, :n, :n].numpy()
            q, k = sides[prefix + "q_coupled"], sides[prefix + "k_coupled"]
            q, k = q.astype(float), np.repeat(k.astype(float), len(q) // len(k), axis=0)
            d = q.shape[-1]
            bound = 2 * (d + 2) * u * (np.abs(q) @ np.abs(k).transpose(0, 2, 1)).max() / np.sqrt(d)
            for product in (q @ k.transpose(0, 2, 1) / np.sqrt(d), logits[prefix + "coupled"].astype(float)):
                got = attention(product, name != "BERT")
                worst = max(worst, np.abs(got - want).max() / (bound + 2 * (n + 8) * u))
    # A causal row of the padded sequence sees real tokens alone; BERT's are masked.
    tap.ok(f"{name}: softmax of what was captured is the model's attention", 0 < worst <= 1 and bound < 1e-4,
           f"{worst:.2g} of the bound, {bound:.1g}")
    rows = [szego.run("logits", file)["logits_contraction"] for file in files]
    tap.ok(f"{name}: szego logits reads both files", all(len(one["head"]) == 16 for one in rows)
           and set(rows[0]["content_kind"]) == {"same_qk" if capture.rotary else "zeroed"}
           and np.allclose(rows[0]["norm_ratio"], rows[1]["norm_ratio"], rtol=1e-6, atol=0)
           and np.isfinite(rows[0]["width_ratio"]).all())
    with torch.no_grad(), Capture(model, layers=[1], heads=[3, 1], positions=9) as part:
        model(**inputs)
    part.write(files[0])
    wanted = {f"layers.1.heads.{head}.probes.{probe}.{role}": sides[f"layers.1.probes.{probe}.{role}"]
              for head in (3, 1) for probe in (0, 1)
              for role in (("q", "k") if capture.rotary else ()) + ("q_coupled", "k_coupled")}
    got = read_safetensors(files[0])
    tap.ok(f"{name}: chosen layers, heads and positions", got.keys() == wanted.keys() and all(
        np.array_equal(got[key], whole[int(key.split(".")[3]) // (4 // len(whole))][:9])
        for key, whole in wanted.items()))


def check_end_to_end(torch, model, folder):
    from szego.capture_hf import Capture, CaptureError, main
    model = model.float()
    tokens = torch.randint(1, 50, (1, 12))
    with Capture(model.bfloat16()) as capture, torch.no_grad():
        model(tokens)
    path = os.path.join(folder, "half.safetensors")
    capture.write(path)
    halves = read_safetensors(path)["layers.0.probes.0.q"]
    tap.ok("bfloat16 becomes single precision, exactly", halves.dtype == np.float32 and
           not (halves.view(np.uint32) & 0xffff).any() and halves.any())
    model.float().save_pretrained(os.path.join(folder, "model"))
    path = os.path.join(folder, "dump.safetensors")
    tap.ok("the command line", main([os.path.join(folder, "model"), "--tokens", "1,2,3,4,5", "-o", path])
           == 0 and szego.run("logits", path)["logits_contraction"]["n"].tolist() == [5] * 8)
    out = os.path.join(folder, "report")
    subprocess.run([PROGRAM, "logits", path, "-o", out + "/", "--quiet"], check=True)
    page = os.path.join(folder, "report.html")
    done = subprocess.run([PROGRAM, "report", out, "-o", page, "--quiet"], check=False,
                          capture_output=True, text=True)
    tap.ok("dump, logits, report", done.returncode == 0 and os.path.getsize(page) > 1000, done.stderr)
    with Capture(model) as capture, torch.no_grad():
        first = model(tokens, use_cache=True)
        refused("a pass that continues a cache", lambda: model(tokens, past_key_values=first.past_key_values,
                attention_mask=torch.ones(1, 24)), "cache", kind=CaptureError)
        left = torch.ones(1, 12, dtype=torch.long)
        left[0, :3] = 0
        refused("padding on the left", lambda: model(tokens, attention_mask=left), "right",
                kind=CaptureError)
        refused("a part of the model", lambda: model.model.layers[0].self_attn(
            torch.zeros(1, 3, 32), position_ids=torch.arange(3)[None]), "part", kind=CaptureError)
        refused("zeroed rows of a rotary model", lambda: capture.zeroed().__enter__(), "no rows",
                kind=CaptureError)
    tap.ok("the model is as before", "forward" not in vars(model)
           and model.model.layers[0].self_attn.forward.__qualname__.startswith("Llama"))
    refused("a layer that is not there", lambda: Capture(model, layers=[2]), "0 to 1")


class LlamaAttention:
    """What a capture reads of an attention module when it is made."""
    num_heads = 4


class OneLayer:
    """A model of that one module."""

    @staticmethod
    def modules():
        return [LlamaAttention()]


def check_heads():
    """Heads are checked before any pass, without PyTorch."""
    from szego.capture_hf import Capture, CaptureError
    for heads in ([4], [0, -1], [2, 2], []):
        refused(f"heads {heads} of 4", lambda heads=heads: Capture(OneLayer(), heads=heads),
                "heads", "from 0 to 3", kind=CaptureError)
    tap.ok("heads that are there", Capture(OneLayer(), heads=[3, 0]).heads == [3, 0])


def check_capture(folder):
    try:
        import torch
        import transformers
    except ImportError as error:
        # TAP's own words for a case that cannot run here.
        tap.ok(f"captured models # SKIP {error}: pip install torch transformers", True)
        return
    from szego.capture_hf import Capture, CaptureError
    torch.manual_seed(SEED)
    for name, model in capture_models(transformers).items():
        check_model(torch, name, model, folder)
    check_end_to_end(torch, capture_models(transformers)["Llama, grouped"], folder)
    t5 = transformers.T5EncoderModel(transformers.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=32,
                                                           num_layers=1, num_heads=4))
    refused("a model that is not known", lambda: Capture(t5), "T5", "supported are Llama",
            kind=CaptureError)
    bert = transformers.BertModel(transformers.BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=32, position_embedding_type="relative_key"))
    refused("BERT with relative keys", lambda: Capture(bert).__enter__(), "relative_key")
    tap.ok("a refusal leaves the model as it was", "forward" not in vars(bert))


CHECKS = (check_written, check_cells, check_join, check_export, check_hostile, check_capture)
for check in CHECKS:
    with scratch() as place:
        check(os.path.join(place, "results") if check is not check_capture else place)
check_heads()
check_program()
tap.finish()
