#!/usr/bin/python3
"""The examples in Python, each run as a user would: what they print is compared with NumPy's numbers.
usage: test_examples.py PROGRAM SOURCE"""
import ast
import json
import os
import re
import subprocess
import sys

from peer import EPS, PACKAGE, Tap, eigenvalue_bound, scratch, skip

PROGRAM, SOURCE = map(os.path.abspath, sys.argv[1:])
sys.path.insert(0, PACKAGE)
try:
    import matplotlib
    import numpy as np
    import pandas
    from szego.safetensors import Entry, write
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy, python3-matplotlib and python3-pandas are needed")

SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}, Matplotlib {matplotlib.__version__}, pandas {pandas.__version__}")
#: Runs the script in the arguments, and prints how many figures it made.
RUN = """import runpy, sys
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
pyplot = sys.modules.get("matplotlib.pyplot")
print(len(pyplot.get_fignums()) if pyplot else 0)"""
NUMBER = r"(-?\d+(?:\.\d+)?(?:e[-+]\d+)?)"


def example(name, *arguments, figure=True, warned=""):
    """What examples/NAME.py prints, in an empty folder; each figure that it makes is a picture."""
    with scratch() as place:
        picture = os.path.join(place, "figure.png")
        done = subprocess.run([sys.executable, "-c", RUN, os.path.join(SOURCE, "examples", f"{name}.py"), *arguments,
                               *([picture] if figure else [])], text=True, capture_output=True, check=False,
                              timeout=240, cwd=place, env={**os.environ, "PYTHONPATH": PACKAGE, "MPLBACKEND": "Agg",
                                                           "SZEGO": PROGRAM})
        tap.ok(f"{name} ends well", done.returncode == 0 and bool(warned) == bool(done.stderr) and warned in done.stderr,
               done.stderr)
        if figure:
            check_picture(name, picture)
        text, _, made = done.stdout.rstrip("\n").rpartition("\n")
        left = sorted(os.listdir(place))
        tap.ok(f"{name}: a picture of every figure, and nothing else", left == ["figure.png"] * figure
               and made == str(len(left)), f"{left}, {made} figures")
        return text + "\n"


def check_picture(name, path):
    """A PNG whose pixels are not all alike."""
    from matplotlib import image  # pylint: disable=import-outside-toplevel
    if not os.path.exists(path):
        tap.ok(f"{name}: its figure", False, "there is none")
        return
    with open(path, "rb") as file:
        head = file.read(8)
    pixels = image.imread(path)
    dark = (pixels[..., :3].mean(axis=2) < 0.9).mean()
    tap.ok(f"{name}: its figure", head == b"\x89PNG\r\n\x1a\n" and min(pixels.shape[:2]) >= 300 and 0.005 < dark < 0.9,
           f"{pixels.shape}, {dark:.3f} of it drawn")


def numbers(text, pattern):
    """The groups of the only match."""
    found = re.findall(pattern.replace("NUMBER", NUMBER), text, re.M)
    tap.ok(f"one line: {pattern}", len(found) == 1, "" if len(found) == 1 else text)
    return [float(one) for one in (found[0] if isinstance(found[0], tuple) else found)] if found else None


# ---- kernel.py ----------------------------------------------------------------------------------

def check_kernel():
    text = example("kernel")
    lags = np.concatenate([np.exp(-np.arange(64)**2 / 8.0), np.zeros(1024 - 64)])
    dense = np.linalg.eigvalsh(lags[np.abs(np.subtract.outer(np.arange(1024), np.arange(1024)))])
    count, least, largest = numbers(text, "^NUMBER eigenvalues from NUMBER to NUMBER$") or [0] * 3
    bound = eigenvalue_bound(1024, dense[-1])
    tap.ok("kernel: as many as the order", count == 1024)
    tap.close("kernel: the least", least, dense[0], bound + 5e-6 * dense[0])  # printed with six digits
    tap.close("kernel: the largest", largest, dense[-1], bound + 5e-6 * dense[-1])
    # Poisson: the symbol is sum_k sqrt(8 pi) e^(-2 (theta + 2 pi k)^2). Lags from 64 on are below e^-512.
    ends = [np.sqrt(8 * np.pi) * sum(np.exp(-2 * (theta + 2 * np.pi * k)**2) for k in range(-3, 4))
            for theta in (np.pi, 0)]
    for name, line in (("1024", "^every"), ("10^9", r"^order 10\^9: every")):
        low, high = numbers(text, line + r" eigenvalue lies in \[NUMBER, NUMBER\]") or [0, 0]
        # A sum of 127 terms at most 1, enclosed in balls of 53 bits.
        for end, got, want in zip(("lower", "upper"), (low, high), ends):
            tap.close(f"kernel, {name}: the {end} end is the closed form's", got, want, 256 * EPS * ends[1])
        tap.ok(f"kernel, {name}: NumPy's eigenvalues lie within", low - bound <= dense[0] and dense[-1] <= high + bound)


# ---- checkpoint.py ------------------------------------------------------------------------------

LAYERS, HEADS, SIZE, WIDTH = 3, 5, 8, 40  # an odd number of heads: the median is a head's


def write_model(folder, damaged=False):
    """A LLaMA-like model with random weights; singular values of every head by NumPy."""
    weights, spectra = {}, {}
    for layer in range(LAYERS):
        q, k = (rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) for _ in "qk")
        if layer == 2:
            q[SIZE:2 * SIZE] = rng.standard_normal((SIZE, 1)) @ rng.standard_normal((1, WIDTH))  # head 1: rank 1
        for head in range(HEADS):
            rows = slice(head * SIZE, (head + 1) * SIZE)
            product = q[rows].astype(float).T @ k[rows].astype(float) / np.sqrt(SIZE)
            spectra[layer, head] = np.linalg.svd(product, compute_uv=False)
        if damaged and layer == 0:
            q[0, 0] = np.nan
        for name, array in (("q", q), ("k", k)):
            weights[f"model.layers.{layer}.self_attn.{name}_proj.weight"] = array
    os.mkdir(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "llama", "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                   "num_key_value_heads": HEADS, "hidden_size": WIDTH, "rope_theta": 10000.0}, file)
    write(os.path.join(folder, "model.safetensors"), [
        Entry(name, array.dtype, array.shape, lambda array=array: array) for name, array in weights.items()], {})
    return spectra


def check_rows(name, text, spectra, layers):
    """The printed frame has the ten heads that differ most, with four digits."""
    ranks = {of: (values**2).sum() / values[0]**2 for of, values in spectra.items()}
    apart = {}
    for layer in layers:
        here = np.array([ranks[layer, head] for head in range(HEADS)])
        apart.update({(layer, head): one for head, one in enumerate(np.abs(here - np.median(here)))})
    middle = np.median(list(apart.values()))
    apart = {of: one / middle for of, one in apart.items()}
    rows, layer = [], None
    for line in text[text.index("layer head"):].splitlines()[1:]:
        words = line.split()
        layer = int(words.pop(0)) if len(words) == 6 else layer  # pandas prints a layer once
        rows.append((layer, int(words[0]), *map(float, words[1:])))
    most = sorted(apart, key=apart.get, reverse=True)[:10]
    tap.ok(f"{name}: the ten heads that differ most, in order", sorted(row[:2] for row in rows) == sorted(most)
           and all(a[5] >= b[5] for a, b in zip(rows, rows[1:])), f"{rows} {most}")
    wrong = [row for row in rows if not all(abs(got - want) <= 6e-4 * want for got, want in zip(
        (row[2], row[3], row[5]), (spectra[row[:2]][0], ranks[row[:2]], apart[row[:2]])))]
    tap.ok(f"{name}: NumPy's numbers", rows and not wrong, str(wrong))
    return rows


def check_checkpoint():
    with scratch() as place:
        model = os.path.join(place, "model")
        spectra = write_model(model)
        text = example("checkpoint", model)
        tap.ok("checkpoint: the model", f"llama, {LAYERS} layers of {HEADS} heads of size {SIZE}" in text, text)
        rows = check_rows("checkpoint", text, spectra, range(LAYERS))
        ones = [row for row in rows if row[3] == 1]
        tap.ok("checkpoint: the head of rank 1", [row[:2] for row in ones] == [(2, 1)], str(ones))
        model = os.path.join(place, "damaged")
        spectra = write_model(model, damaged=True)
        text = example("checkpoint", model, warned="Not drawn: 1 row without a place.")
        skipped = re.findall(r"^skipped: layer (\S+): .*layers\.0\.self_attn\.q_proj\.weight.* NaN", text, re.M)
        tap.ok("checkpoint: a damaged weight is named", skipped == ["0"], text)
        check_rows("checkpoint, damaged", text, spectra, (1, 2))


# ---- capture.py ---------------------------------------------------------------------------------

def check_capture():
    text = example("capture")
    steps = re.findall(rf"^step +(\d+): width ratio by layer \[{NUMBER} +{NUMBER} *\], logits that .* {NUMBER}$", text,
                       re.M)
    at = [int(one[0]) for one in steps]
    (accuracy, last) = numbers(text, "^test accuracy NUMBER after NUMBER steps$") or [np.nan, 0]
    tap.ok("capture: a line each captured step", at == list(range(0, int(last), 20)) and len(at) > 3, str(at))
    tap.ok("capture: ratios and distances are those of spectra", all(
        0 < float(value) < 3 for one in steps for value in one[1:]) and 0 <= accuracy <= 1)
    below, of, step = numbers(text, "^width ratio below 1 in NUMBER of NUMBER matrices of step NUMBER") or [0, 0, 0]
    tap.ok("capture: every matrix is counted", of == 2 * 2 * 4 and 0 <= below <= of and step == at[-1])
    check_capture_again(text, steps)


def check_capture_again(text, steps):
    """The same run by the program: its table has the ratios that were printed."""
    with open(os.path.join(SOURCE, "examples/capture.py"), encoding="utf-8") as file:
        source = file.read()
    config = ast.literal_eval(source[source.index("config = {") + len("config = "):source.index("\n}\n") + 2])
    with scratch() as place:
        path, out = os.path.join(place, "config.json"), os.path.join(place, "out/")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        subprocess.run([PROGRAM, "train", path, "--seed", "7", "--quiet", "-o", out], check=True, timeout=240)
        table = pandas.read_csv(os.path.join(out, "run-7", "contraction.csv"))
    means = table.groupby(["step", "layer"])["width_ratio"].mean()
    wrong = [one for one in steps for layer in (0, 1)
             if not abs(float(one[1 + layer]) - means[int(one[0]), layer]) <= 5.1e-5]  # four digits behind the point
    tap.ok("capture: the program's ratios", len(means) == 2 * len(steps) and not wrong, str(wrong))
    last = table[table["step"] == table["step"].max()]["width_ratio"]
    tap.ok("capture: the program's count below 1", f"below 1 in {(last < 1).sum()} of {len(last)} " in text)


# ---- logits.py ----------------------------------------------------------------------------------

def rope(q, k):
    """Logits with pairs (t, t + d/2) turned by 10000^(-2t/d) a position."""
    n, d = q.shape
    turn = np.exp(1j * np.outer(np.arange(n), 10000.0**(-2 * np.arange(d // 2) / d)))
    pairs = [turn * (x[:, :d // 2] + 1j * x[:, d // 2:]) for x in (q, k)]
    return np.real(pairs[0] @ pairs[1].conj().T) / np.sqrt(d)


def width(a):
    values = np.linalg.eigvalsh((a + a.T) / 2)
    return values[-1] - values[0]


def check_logits():
    n, d = 48, 8
    q, k = rng.standard_normal((2, n, d))
    with scratch() as place:
        files = [os.path.join(place, name) for name in ("q.npy", "k.npy")]
        np.save(files[0], q)
        np.save(files[1], k)
        text = example("logits", *files)
    content = q @ k.T / np.sqrt(d)
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    sides = {"rope:dim=8,pairing=half": rope(q, k), "alibi:heads=1": content - 2.0**-8 * np.abs(lag)}
    for spec, coupled in sides.items():
        got = numbers(text, f"^{spec}: width NUMBER of the content's, largest singular value NUMBER of it") or [0, 0]
        for name, one, want in zip(("width", "norm"), got, (
                width(coupled) / width(content), np.linalg.norm(coupled, 2) / np.linalg.norm(content, 2))):
            tap.close(f"logits, {spec}: {name}", one, want, 5.1e-7)  # six digits behind the point
    tap.ok("logits: three encodings", len(text.splitlines()) == 3 and "t5" in text, text)
    text = example("logits", figure=False)
    tap.ok("logits of random arrays", text.startswith("rope:dim=16,pairing=half: ") and len(text.splitlines()) == 3, text)


# ---- Arguments that do not fit --------------------------------------------------------------------

def check_usage():
    """An argument that is missing, or one too many, is told with the usage before anything is computed."""
    for name, *arguments in (("kernel", "a.png", "b.png"), ("kernel", "--help"), ("capture", "a.png", "b.png"),
                             ("capture", "-h"), ("checkpoint",), ("checkpoint", "checkpoint.png"), ("checkpoint", "--help"),
                             ("checkpoint", ".", "a.png", "b.png"), ("logits", "q.npy"), ("logits", "a.png", "b.png"),
                             ("logits", "--help")):
        with scratch() as place:
            done = subprocess.run([sys.executable, os.path.join(SOURCE, "examples", f"{name}.py"), *arguments], text=True,
                                  capture_output=True, check=False, timeout=60, cwd=place,
                                  env={**os.environ, "PYTHONPATH": PACKAGE})
            tap.ok(f"{name} {' '.join(arguments)}: a usage line", done.returncode == 1 and not done.stdout
                   and f"\nusage: python3 {name}.py" in done.stderr and "Traceback" not in done.stderr
                   and not os.listdir(place), f"{done.returncode} {done.stdout} {done.stderr}")


for check in (check_usage, check_kernel, check_checkpoint, check_capture, check_logits):
    check()
with open(os.path.join(SOURCE, "docs/how-to/python.md"), encoding="utf-8") as page:
    listed = set(re.findall(r"examples/(\w+)\.py", page.read()))
there = {name[:-3] for name in os.listdir(os.path.join(SOURCE, "examples")) if name.endswith(".py")}
tap.ok("each example is tried here, and listed in docs/how-to/python.md", there == listed == {
    "kernel", "checkpoint", "capture", "logits", "monitor"}, f"{there} {listed}")
tap.finish()
