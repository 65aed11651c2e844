#!/usr/bin/python3
"""Models of the Hugging Face hub, of which szego.hub fetches what an analysis reads: from a hub on this machine, which
also refuses, cuts, stalls and lies. usage: test_hub.py PROGRAM FAMILIES. Prints TAP."""
import contextlib
import fcntl
import http.server
import importlib.util
import io
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PROGRAM, FAMILIES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, os.environ["PYTHONPATH"])  # tests/peer
from peer import PACKAGE, Tap, compute_alike, scratch, skip  # pylint: disable=wrong-import-position

try:
    import numpy as np
except ImportError:
    skip("NumPy is missing")
sys.path.insert(0, PACKAGE)
import szego  # pylint: disable=wrong-import-position
from szego import files, hub  # pylint: disable=wrong-import-position

tap = Tap()
compute_alike(szego)
COMMIT, TOKEN = "0123456789abcdef" * 2 + "01234567", "hf_secret"
WRONG = {}  # what the hub does wrong, by a part of the path: a function of the handler, data, status and headers
CLOSED = threading.Event()
ASKED = []  # (method, path, range, token)


class Hub(http.server.BaseHTTPRequestHandler):
    """/api/models/ORG/NAME/revision/REVISION and /ORG/NAME/resolve/COMMIT/FILE, of folders."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folders = {}

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def give(self, status, headers, data):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)

    def do_GET(self):  # pylint: disable=invalid-name
        path = urllib.parse.unquote(self.path)
        ASKED.append((path, self.headers.get("Range"), self.headers.get("Authorization")))
        found = re.fullmatch(r"/api/models/(\w+/[\w.-]+)/revision/(.+)|/(?:cdn/)?(\w+/[\w.-]+)/resolve/([0-9a-f]{40})/(.+)", path)
        folder = self.folders.get((found[1] or found[3]) if found else None)
        status, headers, data = 404, {}, b""
        if folder and found[1]:
            status, data = 200, json.dumps({"sha": COMMIT, "siblings": [
                {"rfilename": str(one.relative_to(folder))} for one in folder.rglob("*") if one.is_file()]}).encode()
        elif folder and found[4] == COMMIT and (folder / found[5]).is_file():
            status, data = 200, (folder / found[5]).read_bytes()
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if asked:
                first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
                status, headers["Content-Range"] = 206, f"bytes {first}-{last}/{len(data)}"
                data = data[first:last + 1]
        headers["Content-Length"] = str(len(data))
        for part, wrong in WRONG.items():
            if part in path:
                answer = wrong(self, status, headers, data)
                if answer is None:
                    return
                status, headers, data = answer
        self.give(status, headers, data)


def serve(host="127.0.0.1"):
    made = http.server.ThreadingHTTPServer((host, 0), Hub)
    made.daemon_threads = True
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return made


@contextlib.contextmanager
def wrong(part, answer):
    WRONG[part] = answer
    try:
        yield
    finally:
        del WRONG[part]


def status(code, **headers):
    return lambda handler, *_: (code, {"Content-Length": "0", **{k.replace("_", "-"): v for k, v in headers.items()}}, b"")


@contextlib.contextmanager
def cache():
    """An empty one, and nothing else of the user's."""
    with tempfile.TemporaryDirectory(dir=BASE) as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        yield pathlib.Path(folder) / "szego/hub"


def parts(folder):
    return sorted(path.name for path in folder.rglob("*") if "safetensors" in path.name)


def tables(found):
    """Every cell but names of files."""
    return {name: {column: np.ma.filled(cells.astype(object), "").tolist() for column, cells in table.items()
                   if column not in ("source", "file")}
            for name, table in found.tables.items() if name != "checkpoint_tensors"}


def differ(one, other):
    """Names of tables and columns; NaN is NaN."""
    a, b = tables(one), tables(other)
    return [(name, column) for name in {**a, **b} for column in {**a.get(name, {}), **b.get(name, {})}
            if repr(a.get(name, {}).get(column)) != repr(b.get(name, {}).get(column))]


def refused(name, call, *words, kind=None):
    tap.refused(name, call, *words, kind=kind or szego.HubError)


def write(path, entries, metadata=None, data=b""):
    text = json.dumps({**({"__metadata__": metadata} if metadata else {}), **entries}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + length]), data[8 + length:]


def add_model(name, shards=1):
    """A Llama of two layers in so many files, with a tensor that nothing reads."""
    random, folder = np.random.default_rng(7), BASE / "models" / name
    shapes = {"model.embed_tokens.weight": (40, 16), "lm_head.weight": (3000, 16), "model.norm.weight": (16,)}
    for layer in "01":
        for which, shape in (("self_attn.q_proj", (16, 16)), ("self_attn.k_proj", (8, 16)), ("self_attn.v_proj", (8, 16)),
                             ("self_attn.o_proj", (16, 16)), ("mlp.up_proj", (500, 16)), ("input_layernorm", (16,))):
            shapes[f"model.layers.{layer}.{which}.weight"] = shape
    names, mapped = sorted(shapes), {}
    for shard in range(shards):
        entries, data = {}, b""
        for one in names[shard::shards]:
            bits = random.standard_normal(shapes[one]).astype("<f4").tobytes()
            entries[one] = {"dtype": "F32", "shape": shapes[one], "data_offsets": [len(data), len(data) + len(bits)]}
            data += bits
            mapped[one] = f"model-{shard + 1}.safetensors" if shards > 1 else "model.safetensors"
        write(folder / mapped[names[shard]], entries, {"format": "pt"}, data)
    if shards > 1:
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": mapped}))
    (folder / "config.json").write_text(json.dumps({
        "model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "hidden_size": 16,
        "rope_theta": 1e4, "max_position_embeddings": 64}))
    Hub.folders[f"org/{name}"] = folder
    return folder


# ---- Every family: the same answer from the tensors that are needed -------------------------------


def check_families():
    checked, larger, wrong_ones = 0, 0, []
    for folder in sorted(FAMILIES.iterdir()):
        if not (folder / "model.safetensors").exists():
            continue
        Hub.folders["org/family"] = folder
        stacks, keywords = None, {"kernel": 8, "samples": 8, "draws": 0, "threads": 1}
        for stack in (None, "decoder", "cross"):
            if stack and stack not in (stacks or ()):
                continue
            with cache() as own:
                try:
                    with_circuits = szego.checkpoint(folder, stack=stack, circuits=True, **keywords)
                except szego.SzegoError as error:
                    with_circuits = str(error)
                whole = szego.checkpoint(folder, stack=stack, **keywords)
                stacks = whole.stacks
                try:
                    fetched = szego.checkpoint("org/family", stack=stack, **keywords)
                    bad = differ(whole, fetched)
                    if not isinstance(with_circuits, str):
                        bad += differ(with_circuits, szego.checkpoint("org/family", stack=stack, circuits=True, **keywords))
                except szego.SzegoError as error:
                    bad = [str(error)]
                bytes_all = (folder / "model.safetensors").stat().st_size
                larger += (next(own.rglob("part-1.safetensors"), folder / "model.safetensors")).stat().st_size < bytes_all
                checked += 1
                if bad:
                    wrong_ones.append((folder.name, stack, bad[:3]))
    tap.ok(f"{checked} stacks of all families: what is fetched gives the same tables", checked > 120 and not wrong_ones,
           wrong_ones[:4])
    tap.ok("of most it is less than the file", larger > checked / 2, f"{larger} of {checked}")


def change_model(name, source, change, **config):
    """A copy of a model with other tensors: change(entries, tensors by name) gives both."""
    header, data = read(source / "model.safetensors")
    header.pop("__metadata__", None)
    tensors = {one: (entry["dtype"], entry["shape"], data[entry["data_offsets"][0]:entry["data_offsets"][1]])
               for one, entry in header.items()}
    entries, data = {}, b""
    for one, (dtype, shape, content) in change(tensors).items():
        entries[one] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    Hub.folders[f"org/{name}"] = folder = BASE / "models" / name
    write(folder / "model.safetensors", entries, None, data)
    (folder / "config.json").write_text(json.dumps({**json.loads((source / "config.json").read_text()), **config}))
    return folder


def check_kinds():
    """What no family's file has: words beside positions or lags, and 8-bit weights with their scales."""
    random = np.random.default_rng(5)

    def numbers(*shape):
        return "F32", list(shape), random.standard_normal(shape).astype("<f4").tobytes()

    def add_words(tensors):
        width = tensors["embeddings.LayerNorm.weight"][1][0]
        return {**tensors, **{f"embeddings.{which}_embeddings.weight": numbers(rows, width)
                              for which, rows in (("word", 30), ("token_type", 2))}}

    def add_norm(tensors):
        return {**add_words(tensors), **{f"encoder.LayerNorm.{which}": numbers(16) for which in ("weight", "bias")}}

    def add_distances(tensors):
        return {**add_words(tensors), **{f"encoder.layer.{layer}.attention.self.distance_embedding.weight": numbers(127, 4)
                                         for layer in (0, 1)}}

    def quantise(tensors):
        made = dict(tensors)
        for name, (_, shape, _) in tensors.items():
            if name.endswith("q_proj.weight"):
                made[name] = ("F8_E4M3", shape, random.integers(0, 120, shape, np.uint8).tobytes())
                made[name + "_scale_inv"] = ("F32", [2, 1], np.array([0.5, 3], "<f4").tobytes())
        return made
    for name, folder, words in (
            ("words", change_model("words", FAMILIES / "bert", add_words), ("word_embeddings", "token_type", "position")),
            ("lags", change_model("lags", FAMILIES / "deberta-v2", add_norm, norm_rel_ebd="layer_norm"),
             ("word_embeddings", "rel_embeddings", "encoder.LayerNorm.bias", "pos_key_proj.bias", "pos_query_proj.weight")),
            ("distances", change_model("distances", FAMILIES / "bert", add_distances, position_embedding_type="relative_key"),
             ("word_embeddings", "distance_embedding")),
            ("float8", change_model("float8", add_model("plain"), quantise, quantization_config={
                "quant_method": "fp8", "weight_block_size": [8, 16]}), ("q_proj.weight_scale_inv",))):
        with cache() as own:
            whole, found = szego.checkpoint(folder), szego.checkpoint(f"org/{name}")
            had = str(sorted(read(next(own.rglob("part-1.safetensors")))[0]))
            tap.ok(f"{name}: the same tables", whole.bad == 0 and not differ(whole, found), differ(whole, found)[:3])
            tap.ok(f"{name}: they are needed", all(word in had for word in words), had)


# ---- What is fetched, and where it goes -----------------------------------------------------------


def check_fetching():
    folder = add_model("sharded", 3)
    need = re.compile(r"q_proj|k_proj|input_layernorm|embed_tokens")
    sizes = {name: entry["data_offsets"][1] - entry["data_offsets"][0] for file in folder.glob("*.safetensors")
             for name, entry in read(file)[0].items() if name != "__metadata__"}
    with cache() as own:
        ASKED.clear()
        dry = szego.checkpoint("org/sharded", dry_run=True)
        tap.ok("a dry run fetches headers alone", parts(own) == ["headers.safetensors"] and dry.layers == 2, parts(own))
        found = szego.checkpoint("org/sharded")
        tap.ok("shards: the same tables", not differ(found, szego.checkpoint(folder)), differ(found, szego.checkpoint(folder)))
        header, data = read(next(own.rglob("part-1.safetensors")))
        wanted = {name for name in sizes if need.search(name)}
        tap.ok("the part holds what is needed alone", set(header) - {"__metadata__"} == wanted
               and len(data) == sum(sizes[name] for name in wanted), sorted(header))
        asked = [[int(end) for end in one[6:].split("-")] for _, one, _ in ASKED if one and not one.startswith("bytes=0-")]
        tap.ok("by ranges of these bytes alone", sum(end - first + 1 for first, end in asked) == len(data), asked)
        count = len(ASKED)
        szego.checkpoint("org/sharded")
        tap.ok("a second call asks for nothing", len(ASKED) == count)
        szego.kernel("org/sharded")
        tap.ok("nor does the kernel", len(ASKED) == count)
        circuits = szego.checkpoint("org/sharded", circuits=True, draws=0)
        tap.ok("circuits fetch values and outputs", "part-2.safetensors" in parts(own) and len(
            read(next(own.rglob("part-2.safetensors")))[0]) == 1 + 4, parts(own))
        tap.ok("circuits: the same tables", not differ(circuits, szego.checkpoint(folder, circuits=True, draws=0)))
        said = subprocess.run([PROGRAM, "checkpoint", "org/sharded", "--circuits", "--format", "json"], capture_output=True,
                              text=True, check=False)
        tap.ok("the program reads it without a network", said.returncode == 0 and
               "revision main in szego's cache is read" in said.stderr and len(json.loads(said.stdout)["summary"]) == 4,
               said.stderr)
    with cache() as own:
        szego.checkpoint("org/sharded", layers=[1], raw=True)
        header = set(read(next(own.rglob("part-1.safetensors")))[0]) - {"__metadata__"}
        tap.ok("of one layer its tensors alone", header == {f"model.layers.1.{one}.weight" for one in (
            "self_attn.q_proj", "self_attn.k_proj", "input_layernorm")}, sorted(header))
        said = subprocess.run([PROGRAM, "checkpoint", "org/sharded"], capture_output=True, text=True, check=False)
        tap.ok("the program refuses what is not there", said.returncode == 3 and "were not fetched" in said.stderr
               and "python3 -m szego.hub" in said.stderr, said.stderr)
    with cache() as own:
        command = [sys.executable, "-m", "szego.hub", "org/sharded", "--revision", "refs/pr/1"]
        environment = {**os.environ, "PYTHONPATH": PACKAGE}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        tap.ok("python3 -m szego.hub fetches it", done.returncode == 0 and
               pathlib.Path(done.stdout.strip()).name == COMMIT and not done.stderr, done.stdout + done.stderr)
        said = subprocess.run([PROGRAM, "checkpoint", "org/sharded", "--revision", "refs/pr/1"], capture_output=True,
                              text=True, check=False)
        tap.ok("the program reads that revision", said.returncode == 0, said.stderr)
        said = subprocess.run([PROGRAM, "checkpoint", "org/sharded"], capture_output=True, text=True, check=False)
        tap.ok("and names the commands for another", said.returncode == 1 and "hf download org/sharded; or python3 -m szego.hub "
               "org/sharded" in said.stderr, said.stderr)
        done = subprocess.run([*command[:3], "org/none"], capture_output=True, text=True, check=False, env=environment)
        tap.ok("of no model it says so", done.returncode == 1 and "org/none" in done.stderr and "404" in done.stderr,
               done.stderr)
    with cache() as own:
        snapshot = own.parent.parent / "huggingface/hub/models--org--sharded"
        (snapshot / "snapshots").mkdir(parents=True)
        os.symlink(folder, snapshot / "snapshots" / COMMIT)
        (snapshot / "refs").mkdir()
        (snapshot / "refs/main").write_text(COMMIT)
        ASKED.clear()
        found = szego.checkpoint("org/sharded")
        tap.ok("the hub's own cache comes first, without a network", not ASKED and not parts(own) and found.layers == 2)


# ---- What goes wrong ------------------------------------------------------------------------------


def cut(after, times):
    """The first answers end after so many bytes."""
    left = [times]

    def answer(handler, code, headers, data):
        if left[0] == 0 or "Range" not in handler.headers:
            return code, headers, data
        left[0] -= 1
        handler.give(code, headers, data[:after])
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
        return None
    return answer


def stall(most, seconds):
    """Ranges of tensors give so many bytes together, and then nothing while the connection is open; negative: no answer."""
    left = [most]

    def answer(handler, code, headers, data):
        if handler.headers.get("Range", "bytes=0-").startswith("bytes=0-"):
            return code, headers, data
        if most >= 0:
            handler.give(code, headers, data[:left[0]])
            left[0] -= min(left[0], len(data))
        handler.close_connection = True
        if left[0] <= 0:
            CLOSED.wait(seconds)
        return None
    return answer


def check_failures():
    folder = add_model("small")
    whole = szego.checkpoint(folder)
    file = "/model.safetensors"

    def call():
        return szego.checkpoint("org/small")

    def ranges(change):
        """Changes the answers to ranges of tensors."""
        def answer(handler, code, headers, data):
            late = handler.headers.get("Range", "bytes=0-").startswith("bytes=0-")
            return (code, headers, data) if late else change(dict(headers), data)
        return answer
    for name, part, answer, *words in (
            ("401", "/api/", status(401), "org/small", "401", "hf auth login"),
            ("403 of a gated file", file, status(403, X_Error_Message="Access is \x1b[1mrestricted"), "model.safetensors", "403",
             "[1mrestricted)", "accept its terms at http"),
            ("404", "/api/", status(404), "404", "no such model", "no file or folder is called so"),
            ("404 of the configuration", "/config.json", status(404), "config.json", "404"),
            ("416", file, status(416), "model.safetensors", "416", "hf download org/small"),
            ("429", file, status(429, Retry_After="0"), "429", "goes on where it was"),
            ("500", file, status(500), "500", "goes on where it was"),
            ("a whole file in place of a range", file, lambda _, code, headers, data: (200, {"Content-Length": str(len(data))}, data),
             "answered 200 without the range", "hf download org/small"),
            ("a status that is not of a range", file, ranges(lambda headers, data: (200, headers, data)), "answered 200"),
            ("another range", file, ranges(lambda headers, data: (206, {**headers, "Content-Range": headers[
                "Content-Range"].replace("bytes ", "bytes 1")}, data)), "asked for bytes=", "answered bytes 1"),
            ("another size", file, ranges(lambda headers, data: (206, {**headers, "Content-Range": headers[
                "Content-Range"] + "0"}, data)), "asked for bytes="),
            ("no range at all", file, ranges(lambda headers, data: (206, {"Content-Length": str(len(data))}, data)),
             "answered 206 without the range"),
            ("compressed", file, ranges(lambda headers, data: (206, {**headers, "Content-Encoding": "gzip"}, data)), "asked for"),
            ("more than was asked for", file, ranges(lambda headers, data: (206, {
                **headers, "Content-Length": str(len(data) + 1)}, data + b"x")), "sent more than it was asked for"),
            ("less, again and again", file, ranges(lambda headers, data: (206, {**headers, "Content-Length": "0"}, b"")),
             "ended its answer early"),
            ("silent", file, stall(-1, 0.3), "model.safetensors", "timed out"),
            ("stalled", file, stall(5, 0.3), "model.safetensors", "sent nothing for"),
            ("other bytes", file, lambda _, code, headers, data: (code, headers, b"<html>" + data[6:]), "no safetensors file"),
            ("a damaged header", file, lambda _, code, headers, data: (code, headers, data.replace(b"F32", b"F16")),
             "its headers", "take"),
            ("a tensor twice in a header", file, lambda _, code, headers, data: (code, headers, data.replace(
                b"layers.1.input", b"layers.0.input")), "model.safetensors", "header is damaged", "a name is there twice"),
            ("a tensor beyond the file", file, lambda _, code, headers, data: (code, headers, data.replace(
                b"[0, 192000]", b"[0,9999999]")), "model.safetensors", "header is damaged"),
            ("tensors before the file", file, lambda _, code, headers, data: (code, headers, data.replace(
                b"[0, 192000]", b"[-9, 99999]")), "model.safetensors", "bytes of a tensor are beyond"),
            ("a login page", "/api/", lambda *_: (200, {"Content-Length": "6"}, b"<html>"), "is no JSON", "login page"),
            ("a page of no hub", "/api/", lambda *_: (200, {"Content-Length": "2"}, b"{}"), "names no commit"),
            ("a commit that is a path", "/api/", page("../../../x", []), "names no commit"),
            ("no weights", "/api/", page(COMMIT, ["pytorch_model.bin", "config.json"]), "fetched as a whole alone", "hf download org/small"),
            ("plain http elsewhere", file, status(302, Location="http://example.com/x"), "http://example.com/x", "not https"),
            ("a file", file, status(302, Location="file:///etc/passwd"), "org/small"),
            ("redirected for ever", file, lambda handler, *_: (302, {"Location": handler.path, "Content-Length": "0"}, b""),
             "org/small")):
        hub.TIMEOUT = 0.1 if name in ("silent", "stalled") else 5
        with cache() as own, wrong(part, answer):
            refused(name, call, *words)
            leftover = [one for one in parts(own) if one.startswith("part-") and not one.endswith(".incomplete")]
            tap.ok(f"{name}: nothing is taken for whole", not leftover, parts(own))
    for name, part, answer in (("cut in the middle of each piece", file, cut(1000, 12)), ("refused twice", file, twice(503)),
                               ("too many requests", "/api/", twice(429)), ("a cut configuration", "/config.json", cut_once())):
        with cache() as own, wrong(part, answer):
            tap.ok(f"{name}: it goes on", not differ(whole, call()), parts(own))
    most, hub._SMALL_MOST = hub._SMALL_MOST, 10**6  # pylint: disable=protected-access
    with cache(), wrong("/api/", lambda _, code, headers, data: (code, {"Connection": "close"}, b" " * 10**7)):
        refused("an answer without end", call, "sent more than 1000000 bytes")
    hub._SMALL_MOST = most  # pylint: disable=protected-access
    with cache() as own:
        place, flock = own / "models--org--small", fcntl.flock
        with files.locked(str(place)):
            refused("a lock of another one", call, "another writer", kind=szego.SzegoError)
            tap.ok("it stays where it is", place.is_dir())

        def replace(handle, operation):
            place.rmdir()
            place.mkdir()
            flock(handle, operation)
        fcntl.flock = replace
        refused("a folder that was replaced", call, "another writer", kind=szego.SzegoError)
        fcntl.flock = flock
    with cache():
        change_model("renamed", add_model("plain"), lambda tensors: {"x." + name.replace("q_proj", "q"): one for name, one in
                                                                     tensors.items()})
        refused("remedies are Python's", lambda: szego.checkpoint("org/renamed"), 'config="none"', kind=szego.LibraryError)
    # Interrupted: what is there is kept, and asked for no more.
    with cache() as own:
        with wrong(file, limited(1500)):
            refused("an interruption", call, "ended its answer early")
        left = next(own.rglob("*.incomplete")).stat().st_size
        ASKED.clear()
        again = call()
        got = sum(int(b) - int(a) + 1 for a, b in (one[6:].split("-") for _, one, _ in ASKED if one))
        size = next(own.rglob("part-1.safetensors")).stat().st_size
        tap.ok("the next call goes on behind it", left > 1000 and got == size - left and not differ(whole, again),
               f"{left} of {size} bytes, then {got}")
    with cache() as own:
        with wrong(file, limited(1500)):
            refused("an interruption", call)
        file_left = next(own.rglob("*.incomplete"))
        file_left.write_bytes(b"x" * file_left.stat().st_size)
        tap.ok("bytes of something else are not gone on with", not differ(whole, call()))
    with cache() as own:
        with wrong(file, limited(1500)):
            refused("an interruption", call)
        with open(next(own.rglob("*.incomplete")), "ab") as file_left:
            file_left.write(b"x" * 10**6)
        refused("a longer one", call, "is longer than the part: remove it")
        snapshot = next(own.rglob("headers.safetensors")).parent
        lock = os.open(own / "models--org--small", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused("two at once", call, "another writer", kind=szego.SzegoError)
        tap.ok("a dry run needs no lock", szego.checkpoint("org/small", dry_run=True).layers == 2)
        os.close(lock)
        headers = snapshot / "headers.safetensors"
        good, left = headers.read_bytes(), read(headers)[0]["__metadata__"]["szego.left_out"]
        for bad in (None, "abcd", [file, 0], [file, -64, 0, 99], [file, 100, 36, 999], [file, "0", "64", "99"],
                    [5, 0, 64, 99]):
            entries = {name: {**entry, "range": bad} for name, entry in json.loads(left).items()}
            write(headers, {}, {"szego.left_out": json.dumps(entries)})
            refused(f"a range {bad}", call, "headers.safetensors: is damaged: remove", kind=szego.SzegoError)
        headers.write_bytes(good)
        os.unlink(snapshot / "part-1.safetensors.incomplete")
        (snapshot / "part-1.safetensors.incomplete").symlink_to(folder / "model.safetensors")
        before = (folder / "model.safetensors").read_bytes()
        refused("a link in place of a part", call, "symbolic links", kind=szego.SzegoError)
        tap.ok("what it names is kept", (folder / "model.safetensors").read_bytes() == before)
        os.unlink(snapshot / "part-1.safetensors.incomplete")
        call()
        with files.locked(str(own / "models--org--small")):
            tap.ok("what is there is read beside a writer", not differ(whole, call()))
        (snapshot / "part-1.safetensors").write_bytes(b"")
        refused("a damaged part", call, "part-1.safetensors: is truncated", kind=szego.LibraryError)


def check_ctrl_c():
    """It ends the call at once, and the next one goes on."""
    whole = szego.checkpoint(add_model("slow"))
    with cache() as own:
        with wrong("/model.safetensors", stall(1000, 30)):
            caller = subprocess.Popen([sys.executable, "-c", "import szego; szego.checkpoint('org/slow')"],
                                      stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": PACKAGE})
            end = time.monotonic() + 20
            while time.monotonic() < end and caller.poll() is None and not any(
                    one.stat().st_size > 1000 for one in own.rglob("*part-1*")):
                time.sleep(0.02)
            caller.send_signal(signal.SIGINT)
            said = caller.communicate(timeout=20)[1].decode()
        tap.ok("Ctrl-C is heard", "KeyboardInterrupt" in said and parts(own)[1:] == ["part-1.safetensors.incomplete"], said)
        tap.ok("and what is there is kept", not differ(whole, szego.checkpoint("org/slow")), parts(own))


def page(commit, names):
    data = json.dumps({"sha": commit, "siblings": [{"rfilename": name} for name in names]}).encode()
    return lambda *_: (200, {"Content-Length": str(len(data))}, data)


def twice(code):
    left = [2]

    def answer(_, good, headers, data):
        left[0] -= 1
        return (good, headers, data) if left[0] < 0 else (code, {"Content-Length": "0", "Retry-After": "0"}, b"")
    return answer


def cut_once():
    left = [1]

    def answer(handler, code, headers, data):
        left[0] -= 1
        if left[0] < 0:
            return code, headers, data
        handler.give(code, headers, data[:20])
        handler.close_connection = True
        return None
    return answer


def limited(most):
    """Ranges of tensors together give so many bytes, and then nothing."""
    left = [most]

    def answer(handler, code, headers, data):
        if handler.headers.get("Range", "bytes=0-").startswith("bytes=0-"):
            return code, headers, data
        part = data[:left[0]]
        left[0] -= len(part)
        if len(part) == len(data):
            return code, headers, data
        handler.give(code, headers, part)
        handler.close_connection = True
        return None
    return answer


class Screen(io.StringIO):
    def isatty(self):
        return True


def check_progress():
    add_model("shown")
    with cache(), contextlib.redirect_stderr(Screen()) as screen:
        szego.checkpoint("org/shown")
    tap.ok("a person sees how far it is", re.fullmatch(r"(\rorg/shown: 0\.00 of 0\.00 GB)+\n", screen.getvalue()),
           screen.getvalue())


def check_hosts():
    """Tokens stay with the hub; files may lie elsewhere."""
    folder = add_model("gated")
    whole, elsewhere = szego.checkpoint(folder), serve("127.0.0.2")
    away = f"http://127.0.0.2:{elsewhere.server_port}/cdn"

    def answer(handler, *_):
        return 302, {"Location": away + handler.path, "Content-Length": "0"}, b""
    os.environ["HF_TOKEN"] = TOKEN
    with cache(), wrong("/org/gated/resolve", lambda handler, *rest: rest if handler.path.startswith("/cdn") else answer(handler)):
        ASKED.clear()
        found = szego.checkpoint("org/gated")
        tap.ok("redirected to another host: the same tables", not differ(whole, found))
        tap.ok("which never sees the token", {token for path, _, token in ASKED if path.startswith("/cdn")} == {None}
               and {token for path, _, token in ASKED if not path.startswith("/cdn")} == {f"Bearer {TOKEN}"},
               {(path.startswith("/cdn"), token) for path, _, token in ASKED})
        tap.ok("but the range", all(one for path, one, _ in ASKED if path.endswith("/model.safetensors")))
    with cache(), wrong("/api/models/org/old", lambda handler, *_: (307, {
            "Location": handler.path.replace("old", "gated"), "Content-Length": "0"}, b"")):
        Hub.folders["org/old"] = folder
        ASKED.clear()
        szego.checkpoint("org/old")
        tap.ok("a model that was renamed keeps it", {token for _, _, token in ASKED} == {f"Bearer {TOKEN}"})
    os.environ["HF_TOKEN"] = "a\nb"
    if importlib.util.find_spec("huggingface_hub") is None:  # which makes one of it
        with cache():
            for token in ("hf_a\nsecret", "hf_ü_secret"):
                os.environ["HF_TOKEN"] = token
                refused("a token that is no header", lambda: szego.checkpoint("org/gated"), "org/gated", "the token")
                try:
                    szego.checkpoint("org/gated")
                except szego.HubError as error:
                    tap.ok("it is not shown", "secret" not in str(error), str(error))
    del os.environ["HF_TOKEN"]
    elsewhere.shutdown()
    for name, value, *words in (("plain http", "http://example.com", "an address with https is needed"),
                                ("another scheme", "ftp://127.0.0.1", "https is needed"), ("no address", "nonsense", "https"),
                                ("half an address", "http://[::1", "https"),
                                ("a user", "https://me:secret@hub.example", "leave out what stands before the @"),
                                ("nobody there", "http://127.0.0.1:9", "org/gated", "cannot be reached")):
        with cache():
            before, os.environ["HF_ENDPOINT"] = os.environ["HF_ENDPOINT"], value
            refused(f"HF_ENDPOINT: {name}", lambda: szego.checkpoint("org/gated"), *words)
            os.environ["HF_ENDPOINT"] = before
    with cache():
        home, own = os.environ.pop("HOME"), os.environ.pop("XDG_CACHE_HOME")
        refused("no place for a cache", lambda: szego.checkpoint("org/gated"), "neither XDG_CACHE_HOME nor HOME is set")
        os.environ.update(HOME=home, XDG_CACHE_HOME=own + "/~root")
        os.mkdir(own + "/~root")
        before = os.getcwd()
        os.chdir(own)
        os.environ["XDG_CACHE_HOME"] = "~root"  # the library knows ~/ alone
        tap.ok("a folder ~root", szego.checkpoint("org/gated").source.startswith("~root/"))
        os.chdir(before)
    with cache() as own:
        os.environ["HF_HUB_OFFLINE"] = "1"
        ASKED.clear()
        refused("HF_HUB_OFFLINE", lambda: szego.checkpoint("org/gated"), "HF_HUB_OFFLINE", "hf download org/gated")
        tap.ok("nobody was asked", not ASKED and not own.exists() or not list(own.iterdir()))
        del os.environ["HF_HUB_OFFLINE"]
        refused("a revision that is none", lambda: szego.checkpoint("org/gated", revision="../x"), "revision '../x'",
                kind=szego.ArgumentError)
        refused("a revision of a path", lambda: szego.checkpoint(folder, revision="main"), "revision", kind=szego.ArgumentError)
        refused("a file that is not in the cache", lambda: szego.checkpoint("org/gated:m.gguf"), "hf download org/gated m.gguf",
                kind=szego.LibraryError)
        tap.ok("a path comes first", not ASKED)
        refused("an architecture that is not known", lambda: szego.checkpoint("org/gated", config="none"), "every weight",
                "hf download org/gated")


def check_installed():
    """huggingface_hub is asked for the token where it is installed."""
    add_model("token")
    with cache() as own, tempfile.TemporaryDirectory(dir=BASE) as packages:
        (pathlib.Path(packages) / "huggingface_hub.py").write_text("def get_token():\n    return 'hf_other'\n")
        ASKED.clear()
        done = subprocess.run([sys.executable, "-c", "import szego; szego.checkpoint('org/token')"], capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": f"{PACKAGE}:{packages}", "HF_TOKEN": TOKEN})
        tap.ok("the token of huggingface_hub", done.returncode == 0 and {token for _, _, token in ASKED} == {"Bearer hf_other"},
               done.stderr)
        tap.ok("nothing is printed", not done.stdout and not done.stderr and parts(own), done.stderr)


with scratch() as base:
    BASE = pathlib.Path(base)
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "HF_TOKEN", "HF_HUB_OFFLINE"):
        os.environ.pop(variable, None)
    server = serve()
    os.environ.update(HF_ENDPOINT=f"http://127.0.0.1:{server.server_port}/", HOME=base, NO_PROXY="*", no_proxy="*")
    hub.TIMEOUT, hub.PAUSE = 5, 0.001
    check_families()
    check_kinds()
    check_fetching()
    check_failures()
    check_ctrl_c()
    check_progress()
    check_hosts()
    check_installed()
    CLOSED.set()
    server.shutdown()
tap.finish()
