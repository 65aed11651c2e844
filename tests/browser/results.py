"""Folders of results for the tests of reports: small ones of every command, hostile ones, large ones;
and their tables as a report must hold them, read without any code of szego's."""
import json
import math
import os
import random
import struct
import subprocess

HOSTILE = "<script>alert(1)</script>"

PRESET = {
    "name": "toy", "about": "for a test", "seeds": [1],
    "config": {"model": {"vocabulary": 20, "width": 8, "hidden": 8, "layers": 1, "heads": 2,
                         "max_length": 16},
               "data": {"examples": 40, "between_max": 4, "side_max": 2, "longest": 10},
               "loop": {"epochs": 2}},
    "tasks": {"distance": {}, "count": {"data": {"words": 6, "count_max": 4, "triggers": 4}}},
    "experiments": [
        {"name": "text", "profile": "text", "encodings": ["rope", "nope"], "rotated_heads": [1],
         "ablation": True},
        {"name": "longer", "profile": "text", "encodings": ["rope"], "tasks": ["distance"],
         "length": {"words": [10, 20], "scaling": ["yarn"], "examples": 20}},
        {"name": "released", "profile": "released", "encodings": ["rope"], "tasks": ["distance"]},
        {"name": "no-sinusoid", "like": "released", "encodings": ["rope"], "tasks": ["distance"],
         "config": {"model": {"added_sinusoid": "none"}}}],
    "hypotheses": [
        {"name": "first", "text": "The one learns more than the other.", "task": "count", "measure": "accuracy",
         "arm": {"experiment": "text", "encoding": "rope"}, "primary": True,
         "minus": [{"experiment": "text", "encoding": "nope"}]},
        {"name": "second", "text": "Its heads share.", "task": "count", "measure": "index", "layer": 0,
         "arm": {"experiment": "text", "encoding": "rope"}, "primary": True}],
    "relations": [
        {"name": "both", "text": "Do they go together?", "task": "count", "x": {"measure": "total_drop", "layer": 0},
         "y": {"measure": "accuracy"}, "arms": [{"experiment": "text", "encoding": "rope"},
                                                {"experiment": "text", "encoding": "nope"}]}]}

TRAINING = {"model": {"vocabulary": 20, "width": 8, "hidden": 8, "layers": 2, "heads": 2, "max_length": 16},
            "data": {"examples": 58, "between_max": 4, "side_max": 2, "longest": 10},
            "loop": {"batch": 16, "epochs": 3, "learning_rate": 0.01}}

LLAMA = {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
         "num_key_value_heads": 2, "max_position_embeddings": 32, "rope_theta": 10000.0,
         "intermediate_size": 16, "vocab_size": 20}


def save_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


GPT2 = {"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": 16, "n_positions": 12}


def _save_tensors(path, shapes, zeros=()):
    """A safetensors file of normal numbers in single precision; of the tensors `zeros`, of 0."""
    rng, header, data = random.Random(1), {}, b""
    for name, shape in shapes.items():
        count = math.prod(shape)
        values = struct.pack(f"<{count}f", *(0 if name in zeros else rng.gauss(0, 1) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    return path


def _model(folder):
    """A checkpoint with Llama's names, and a tensor whose name is a script."""
    names = {f"model.layers.{layer}.self_attn.{side}_proj.weight": (16, 16)
             for layer in range(2) for side in "qkvo"}
    names.update({f"model.layers.{layer}.input_layernorm.weight": (16,) for layer in range(2)})
    save_json(os.path.join(folder, "config.json"), LLAMA)
    _save_tensors(os.path.join(folder, "model.safetensors"),
                  {**names, "model.embed_tokens.weight": (20, 16), HOSTILE: (4, 4)})
    return folder


def _learned(folder):
    """A checkpoint with GPT-2's names, which adds positions; the matrices of its last layer are 0."""
    names = {f"h.{layer}.attn.c_attn.weight": (16, 48) for layer in range(2)}
    save_json(os.path.join(folder, "config.json"), GPT2)
    _save_tensors(os.path.join(folder, "model.safetensors"), {**names, "wpe.weight": (12, 16)},
                  zeros=list(names)[1:])
    return folder


def make(program, folder):
    """Results of every command below `folder`, in seconds."""
    def run(*arguments):
        subprocess.run([program, *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)

    inputs = folder + "-inputs/"
    run("spectrum", "--all", "-n", "64", "--pe", "alibi:heads=2", "--pe", "kms:rho=0.9", "--pe",
        "relative:seed=3", "--pe", "rope:dim=8", "-o", f"{folder}/spectrum/")
    run("spectrum", "--k", "3", "-n", "64", "--pe", "relative:seed=3", "-o", f"{folder}/ends/")
    run("spectrum", "--density", "-n", "64", "--pe", "relative:seed=3", "-o", f"{folder}/density/")
    run("symbol", "--pe", "alibi:heads=2", "--pe", "kms:rho=0.9", "-o", f"{folder}/symbol/")
    run("verify", "-o", f"{folder}/verify/")
    run("checkpoint", _model(inputs + "model"), "-o", f"{folder}/checkpoint/")
    run("checkpoint", _learned(inputs + "learned"), "-o", f"{folder}/learned/")
    run("train", save_json(inputs + "train.json", TRAINING), "--capture", "every=3", "-o",
        f"{folder}/train/")
    run("ablate", f"{folder}/train/run-0", "-o", f"{folder}/ablate/")
    dump = _save_tensors(inputs + "dump.safetensors",
                         {f"layers.{layer}.{side}": (2, 12, 8) for layer in range(2) for side in "qk"})
    run("logits", dump, "rope:dim=8,pairing=half", "--mask", "causal", "--statistics", "--sinks", "0,1", "-o",
        f"{folder}/softmax/")
    # In a piece, which is long enough: without one the program times a model of the full preset.
    run("reproduce", "--preset", save_json(inputs + "toy.json", PRESET), "--minutes", "1e6", "-o",
        f"{folder}/reproduce/")


def report(program, folder, page):
    subprocess.run([program, "report", folder, "-o", page, "--quiet"], check=True)
    return page


# ---- Tables, as the report joins them ----

def cells(text):
    """Rows of CSV: None is an empty cell, "" a quoted empty text."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while text[end] != '"' or text[end + 1:end + 2] == '"':
                end += 2 if text[end] == '"' else 1
            row.append(text[at + 1:end].replace('""', '"'))
            end += 1
        else:
            end = min(place for place in (text.find(",", at), text.find("\n", at)) if place >= 0)
            row.append(text[at:end] or None)
        if text[end] == "\n":
            rows.append(row)
            row = []
        elif text[end + 1] == "\n":
            # A comma ends the line: the last cell is empty.
            rows.append(row + [None])
            row = []
            end += 1
        at = end + 1
    return rows


def manifests(folder):
    """(path below the folder, manifest) in the order of the folders."""
    found = []
    for place, below, files in os.walk(folder):
        below.sort()
        if "manifest.json" in files:
            with open(os.path.join(place, "manifest.json"), encoding="utf-8") as file:
                manifest = json.load(file)
            if manifest.get("format") == "szego-results-1":
                found.append((os.path.relpath(place, folder), manifest))
    return found


def joined(folder):
    """{COMMAND_TABLE: (columns as (name, type), rows of cells)} of every result below the folder."""
    parts = {}
    for path, manifest in manifests(folder):
        for table in manifest["tables"]:
            with open(os.path.join(folder, path, table["file"]), encoding="utf-8", newline="") as file:
                rows = cells(file.read())
            parts.setdefault(f"{manifest['command']}_{table['name']}", []).append((path, table, rows))
    tables = {}
    for name, found in parts.items():
        types = {}
        for _, table, _ in found:
            for column in table["columns"]:
                types.setdefault(column["name"], column["type"])
        order = sorted(types, key="note".__eq__)
        rows = [[path] + [dict(zip(header, row)).get(column) for column in order]
                for path, _, (header, *body) in found for row in body]
        tables[name] = ([("result", "text")] + [(column, types[column]) for column in order], rows)
    return tables


def spoil(folder):
    """Appends markup to every text of every table, what is said of its columns, and the provenance: all of it comes from
    anywhere."""
    tail = '<img src=x onerror=alert(1)>"\'&amp;</script></svg></td>\u202e'
    for path, manifest in manifests(folder):
        for table in manifest["tables"]:
            place = os.path.join(folder, path, table["file"])
            types = {column["name"]: column["type"] for column in table["columns"]}
            with open(place, encoding="utf-8", newline="") as file:
                header, *rows = cells(file.read())
            with open(place, "w", encoding="utf-8", newline="") as file:
                file.write(",".join(header) + "\n")
                for row in rows:
                    file.write(",".join(_spoilt(types[name], cell, tail)
                                        for name, cell in zip(header, row)) + "\n")
            for column in table["columns"]:
                column["doc"] += tail
        provenance = manifest["provenance"]
        provenance.update({key: value + tail for key, value in provenance.items() if isinstance(value, str)})
        save_json(os.path.join(folder, path, "manifest.json"), manifest)


def _spoilt(kind, cell, tail):
    if cell is None or kind != "text":
        return cell or ""
    return '"' + (cell + tail).replace('"', '""') + '"'


def randomise(path):
    """Puts random numbers, ascending, into the column `re` of a table without quotes."""
    with open(path, encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    at, rng = header.split(",").index("re"), random.Random(2)
    values = sorted(rng.gauss(0, 1) for _ in lines)
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + "\n")
        for line, value in zip(lines, values):
            row = line.split(",")
            row[at] = repr(value)
            file.write(",".join(row) + "\n")
