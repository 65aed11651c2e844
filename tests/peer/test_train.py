#!/usr/bin/python3
"""The decoder against an independent one in PyTorch, in double precision: logits, loss, every
parameter's gradient, the weights after three steps of AdamW; the largest eigenvalue of the Hessian;
checkpoints both ways.
usage: test_train.py TRAIN_STEP CURVATURE SZEGO"""
import csv
import json
import math
import os
import struct
import subprocess
import sys

from peer import Tap, scratch, skip

try:
    import numpy as np
    import torch
    from scipy.sparse.linalg import LinearOperator, eigsh
    from torch_decoder import Decoder, switches
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy, python3-scipy and python3-torch are needed")

TRAIN_STEP, CURVATURE, SZEGO = sys.argv[1:4]
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
# max |a - b| / max |b| of a tensor; in double precision the two differ by rounding alone.
BOUNDS = {"cpu": 1e-5, "reference64": 1e-9}
STEPS = 3
SIZES = {"vocabulary": 20, "width": 16, "hidden": 24, "layers": 2, "heads": 4, "max_length": 12,
         "latent_query": 8, "latent_kv": 6}
DATA = {"task": "count", "words": 8, "count_max": 5, "triggers": 3}  # fits the small sizes
LOOP = {"learning_rate": 1e-4, "beta1": 0.98, "beta2": 0.9, "eps": 1e-8, "decay": 0.5}
tap = Tap()
rng = np.random.default_rng(SEED)
torch.set_num_threads(1)


# ---- Files, by hand: no package is needed to read or write safetensors ----

def save(path, tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, value in tensors.items():
        code = {"float32": "F32", "float64": "F64"}[str(value.dtype)]
        content = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": code, "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    types = {"F32": "<f4", "F64": "<f8"}
    found = {}
    for name, entry in header.items():
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        found[name] = np.frombuffer(content[first:last],
                                    types[entry["dtype"]]).reshape(entry["shape"])
    return found, metadata


# ---- A case ----

def spec_of(encoding):
    name, keys = encoding
    return name + "".join((":" if i == 0 else ",") + f"{key}={value}"
                          for i, (key, value) in enumerate(keys.items()))


def draw_batch(sizes, count, classes):
    """Sequences of every length from 1 to the longest, the last label the largest."""
    lengths = [1, sizes["max_length"], *rng.integers(1, sizes["max_length"] + 1, count - 2)]
    labels = [*rng.integers(0, classes, count - 1), classes - 1]
    return [{"tokens": [int(t) for t in rng.integers(1, sizes["vocabulary"], n)], "label": int(l)}
            for n, l in zip(lengths, labels)]


def tensors_of(batch, sizes):
    tokens = torch.zeros(len(batch), sizes["max_length"], dtype=torch.long)
    for row, example in zip(tokens, batch):
        row[: len(example["tokens"])] = torch.tensor(example["tokens"])
    lengths = torch.tensor([len(example["tokens"]) for example in batch])
    return tokens, lengths, torch.tensor([example["label"] for example in batch])


def draw_weights(shapes):
    """Far from the initial values, so that every path matters: norms and tables too."""
    weights = {}
    for name, shape in shapes.items():
        scale = 1.0 if "embed" in name or "table" in name else shape[-1] ** -0.5
        shift = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        weights[name] = (shift + scale * rng.standard_normal(shape)).astype(np.float32)
    return weights


class Case:
    def __init__(self, label, folder, profile, encoding, options=None, sizes=None, examples=7,
                 intervention=None):
        self.label, self.folder, self.intervention = label, folder, intervention or {}
        self.sizes = {**SIZES, **(sizes or {})}
        name, keys = encoding
        table = None
        if name == "random":
            table = rng.standard_normal((self.sizes["max_length"], self.sizes["width"]))
            path = os.path.join(folder, "rows.npy")
            np.save(path, table.astype(np.float32).astype(np.float64))
            keys = {**keys, "table": path}
            table = table.astype(np.float32)
        chosen = {**switches(profile, encoding, options or {}), "profile": profile}
        self.model = Decoder(self.sizes, (name, keys), chosen, 6, table)
        self.batch = draw_batch(self.sizes, examples, 6)
        self.weights = draw_weights(self.model.shapes())
        self.config = {"profile": profile, "loop": LOOP, "data": DATA, "intervention": self.intervention, "model": {
            "encoding": spec_of((name, keys)), "dropout": 0.0, **self.sizes, **(options or {})}}
        self.write()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self):
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        with open(self.path("model.json"), "w", encoding="utf-8") as file:
            json.dump({key: value for key, value in self.config.items() if key != "data"}, file)
        with open(self.path("batch.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(example) + "\n" for example in self.batch)
        save(self.path("weights.safetensors"), self.weights, {"format": "pt"})

    def ours(self, backend):
        subprocess.run([TRAIN_STEP, backend, self.path("config.json"),
                        self.path("weights.safetensors"), self.path("batch.jsonl"), str(STEPS),
                        self.path("out.safetensors")], check=True)
        return load(self.path("out.safetensors"))[0]

    def theirs(self):
        parameters = {name: torch.tensor(value.astype(np.float64), requires_grad=True)
                      for name, value in self.weights.items()}
        self.model.p = parameters
        tokens, lengths, labels = tensors_of(self.batch, self.sizes)
        optimizer = torch.optim.AdamW(parameters.values(), lr=LOOP["learning_rate"],
                                      betas=(LOOP["beta1"], LOOP["beta2"]), eps=LOOP["eps"],
                                      weight_decay=LOOP["decay"])
        found, self.least, self.most = {}, {}, {}
        begins = math.floor(self.intervention.get("from", 0) * STEPS) if self.intervention else STEPS
        for step in range(STEPS):
            optimizer.zero_grad()
            if step >= begins and self.intervention["kind"] == "rotation":
                self.model.unrotated = self.intervention["layer"], self.intervention["head"]
            logits = self.model.logits(tokens, lengths)
            loss = self.model.loss(logits, labels)
            loss.backward()
            if step == 0:
                found = {"logits": logits.detach().numpy(), "loss": loss.detach().numpy()[None]}
                for name, value in parameters.items():
                    gradient = torch.zeros_like(value) if value.grad is None else value.grad
                    found["gradient." + name] = gradient.numpy().copy()
            for name, value in parameters.items():
                size = torch.zeros_like(value) if value.grad is None else value.grad.abs()
                self.least[name] = np.minimum(self.least.get(name, np.inf), size.numpy())
                self.most[name] = np.maximum(self.most.get(name, 0.0), size.numpy())
            if step >= begins and self.intervention["kind"] == "gradient":
                self.freeze(optimizer)
            optimizer.step()
        for name, value in parameters.items():
            found["stepped." + name] = value.detach().numpy().copy()
        return found

    def freeze(self, optimizer):
        """No gradient for the head's own parameters, and no first moment that would go on moving them."""
        for name, index in self.model.own(self.intervention["layer"], self.intervention["head"]):
            parameter = self.model.p[name]
            parameter.grad[index] = 0
            if parameter in optimizer.state:
                optimizer.state[parameter]["exp_avg"][index] = 0

    def compare(self, backends):
        want = self.theirs()
        for backend in backends:
            try:
                got = self.ours(backend)
            except subprocess.CalledProcessError as error:
                tap.ok(f"{self.label}, {backend}", False, str(error))
                continue
            missing = sorted(set(want) ^ set(got))
            tap.ok(f"{self.label}, {backend}: the same tensors", not missing, " ".join(missing))
            for kind in ("logits", "loss", "gradient.", "stepped."):
                self.compare_kind(backend, kind, want, got)

    def compare_kind(self, backend, kind, want, got):
        worst, at = 0.0, ""
        noise = self.noise(want, got)
        for name in want:
            if not name.startswith(kind) or name not in got:
                continue
            here, there = want[name].copy(), got[name].copy()
            parameter = name.partition(".")[2]
            if parameter in noise:
                here[noise[parameter]] = there[noise[parameter]] = 0
            slack = self.slack(backend, parameter, want) if kind == "stepped." else 0.0
            error = relative(here, there, slack)
            if not error <= worst:
                worst, at = error, name
        tap.ok(f"{self.label}, {backend}: {kind.strip('.')}", worst <= BOUNDS[backend],
               f"# {worst:.1e} at {at}")

    def slack(self, backend, name, want):
        """AdamW divides gradients by their own size: where one is known to a bound's share of the
        tensor's largest, the step is known to that share of the rate."""
        bound = BOUNDS[backend] * np.abs(want["gradient." + name]).max()
        with np.errstate(divide="ignore", invalid="ignore"):
            unknown = np.where(self.least[name] > 0, bound / self.least[name], 0.0)
        return STEPS * LOOP["learning_rate"] * np.minimum(4.0, unknown)

    def noise(self, want, got):
        """Elements without influence on the loss, where rounding is all there is of a gradient and
        AdamW makes steps of it: a key's bias moves all logits of a row alike where it does not
        rotate. Found where PyTorch's gradient is below 1e-12 of the largest one; szego's must be
        below 1e-6 of it, and no weight moves by more than the sum of the rates, twice over."""
        gradients = {name[9:]: value for name, value in want.items() if name.startswith("gradient.")}
        largest = max(np.abs(value).max() for value in gradients.values())
        found, good = {}, True
        for name, value in gradients.items():
            other = got.get("gradient." + name, np.full_like(value, np.nan))
            which = (np.abs(value) < 1e-12 * largest) & ((self.most[name] > 0) | (other != 0))
            if not which.any():
                continue
            found[name] = which
            moved = np.abs(got["stepped." + name] - want["stepped." + name])[which]
            good &= bool((np.abs(other[which]) < 1e-6 * largest).all()
                         and (moved < 4 * STEPS * LOOP["learning_rate"]).all())
        if not good:
            tap.ok(f"{self.label}: parameters without influence", False)
        return found


def relative(want, got, slack=0.0):
    top, error = np.abs(want).max(), np.maximum(np.abs(want - got) - slack, 0).max()
    return 0.0 if error == 0 else float(error / top) if top > 0 else float("inf")


ENCODINGS = {
    "nope": ("nope", {}), "absolute": ("absolute", {}), "learned": ("learned", {}),
    "random": ("random", {}), "relative": ("relative", {}),
    "t5": ("t5", {"buckets": 8, "max_distance": 10}),
    "t5 causal": ("t5", {"buckets": 6, "max_distance": 9, "direction": "causal"}),
    "alibi": ("alibi", {}), "alibi published": ("alibi", {"slopes": "published"}),
    "alibi exp": ("alibi", {"slopes": "exp"}),
    "rope": ("rope", {}), "rope base": ("rope", {"base": 50}),
    "rope half": ("rope", {"pairing": "half"}), "rope dims": ("rope", {"rotary": 2}),
    "rope heads": ("rope", {"rotate": "0-1"}), "rope named heads": ("rope", {"rotate": "0+2-3"}),
    "rope+absolute": ("rope+absolute", {}), "mla": ("mla", {}),
    "rope bands": ("rope", {"bands": "heads", "base": 50}),
    "rope shifted bands": ("rope", {"bands": "heads", "band_shift": 3, "rotate": "0+2-3", "base": 50}),
    "rope theta": ("rope", {"theta": 0.7}),
    "rope-bias": ("rope-bias", {"scale": 2.5, "base": 50}),
    "mla wide": ("mla", {"rope": 10, "base": 50}), "mla narrow": ("mla", {"rope": 2}),
}
# Single switches, each away from its profile.
SWITCHES = [
    ("text", "rope", {"mask": "none"}), ("text", "rope", {"mask_padding": False}),
    ("text", "rope", {"keys_values": "embedding"}), ("text", "rope", {"pooling": "all"}),
    ("text", "rope", {"final_norm": True}), ("text", "rope", {"activation": "gelu"}),
    ("text", "rope", {"added_sinusoid": "halves"}),
    ("text", "rope", {"added_sinusoid": "interleaved"}),
    ("text", "random", {"position_table": "trained"}),
    ("released", "random", {"position_table": "fixed"}),
    ("text", "nope", {"extra_position_table": True}),
    ("text", "random", {"position_table": "trained", "extra_position_table": True}),
    ("text", "rope", {"biases": "not_attention"}), ("text", "rope", {"biases": "none"}),
    ("text", "rope", {"classes": "vocabulary"}), ("text", "rope", {"ignored_label": 2}),
    ("text", "rope", {"rotated_layers": "1"}), ("text", "rope+absolute", {"mask": "none"}),
    ("text", "mla", {"rotary_queries": "shared"}),
    ("text", "mla", {"latent_rotation": "table_halves"}), ("text", "mla", {"biases": "all"}),
    ("released", "mla", {"rotary_queries": "per_head"}),
    ("released", "mla", {"latent_rotation": "true"}),
    ("text", "mla", {"keys_values": "embedding"}), ("text", "t5", {"keys_values": "embedding"}),
]
LARGER_ENCODINGS = {"mla widest": ("mla", {"rope": 144})}  # a head has 16
# One head trained differently, from the first step or from the second of three.
INTERVENTIONS = [
    ("rope", {}, {"kind": "rotation", "layer": 1, "head": 2}),
    ("rope half", {}, {"kind": "rotation", "layer": 0, "head": 3, "from": 0.5}),
    ("rope heads", {}, {"kind": "rotation", "layer": 1, "head": 1}),
    ("rope bands", {}, {"kind": "rotation", "layer": 1, "head": 1, "from": 0.5}),
    ("mla", {}, {"kind": "rotation", "layer": 1, "head": 2, "from": 0.4}),
    ("mla", {"rotary_queries": "shared", "latent_rotation": "table_halves"},
     {"kind": "rotation", "layer": 0, "head": 1}),
    ("rope", {}, {"kind": "gradient", "layer": 1, "head": 2}),
    ("relative", {}, {"kind": "gradient", "layer": 0, "head": 1, "from": 0.5}),
    ("mla", {"biases": "all"}, {"kind": "gradient", "layer": 1, "head": 3, "from": 0.34}),
    ("mla", {"rotary_queries": "shared"}, {"kind": "gradient", "layer": 0, "head": 0}),
    ("mla wide", {}, {"kind": "gradient", "layer": 1, "head": 1}),
    ("mla wide", {}, {"kind": "rotation", "layer": 1, "head": 3}),
]
# The rotation of a model of 12 positions, rescaled for sequences of twice the length.
LONGER = {"max_length": 24}
SCALINGS = {"linear": {"factor": 2}, "ntk": {"factor": 2}, "dynamic": {"factor": 2, "original": 12, "length": 24},
            "yarn": {"factor": 2, "original": 12}, "llama3": {"factor": 2, "original": 12}}
LARGER = {"vocabulary": 60, "width": 64, "hidden": 96, "layers": 2, "heads": 4, "max_length": 40,
          "latent_query": 32, "latent_kv": 24}


def compare_all(folder):
    both = ("reference64", "cpu")
    for profile in ("text", "released"):
        for label, encoding in ENCODINGS.items():
            Case(f"{profile} {label}", folder, profile, encoding).compare(both)
    for profile, name, options in SWITCHES:
        label = " ".join(f"{key}={value}" for key, value in options.items())
        Case(f"{profile} {name} {label}", folder, profile, ENCODINGS[name], options).compare(both)
    for name, options, intervention in INTERVENTIONS:
        label = " ".join(f"{key}={value}" for key, value in {**options, **intervention}.items())
        Case(f"text {name} {label}", folder, "text", ENCODINGS[name], options,
             intervention=intervention).compare(both)
    for scaling, keys in SCALINGS.items():
        for name, own in (("rope", {"base": 50}), ("rope", {"rotate": "0+2", "pairing": "half"}),
                          ("mla", {"rope": 10, "base": 50})):
            encoding = name, {**own, "scaling": scaling, **keys}
            Case(f"text {spec_of(encoding)} longer", folder, "text", encoding, sizes=LONGER).compare(both)
    for profile in ("text", "released"):
        for name in ("rope", "mla", "relative", "rope shifted bands", "mla widest"):
            Case(f"{profile} {name} larger", folder, profile, {**ENCODINGS, **LARGER_ENCODINGS}[name],
                 sizes=LARGER, examples=9).compare(("cpu",))


# ---- Curvature ----

CURVED = 7  # steps that AdamW has done, for its correction
# Smooth activations: differences take in ReLUs that switch within their step, differentiation does not.
CURVATURES = [("text", "rope", {"activation": "gelu"}), ("text", "relative", {"activation": "gelu", "ignored_label": 2}),
              ("released", "mla", {}), ("text", "mla", {"activation": "gelu", "final_norm": True})]


def largest(case, scale):
    """Of S H S, S = diag(scale): SciPy's ARPACK on products by automatic differentiation."""
    parameters = [torch.tensor(value.astype(np.float64), requires_grad=True) for value in case.weights.values()]
    case.model.p = dict(zip(case.weights, parameters))
    tokens, lengths, labels = tensors_of(case.batch, case.sizes)
    loss = case.model.loss(case.model.logits(tokens, lengths), labels)

    def joined(parts):
        return torch.cat([(torch.zeros_like(p) if part is None else part).flatten()
                          for p, part in zip(parameters, parts)])

    gradient = joined(torch.autograd.grad(loss, parameters, create_graph=True, allow_unused=True))

    def times(x):
        along = gradient @ torch.tensor(scale * np.ravel(x))
        parts = torch.autograd.grad(along, parameters, retain_graph=True, allow_unused=True)
        return scale * joined(parts).numpy()

    size = len(scale)
    return eigsh(LinearOperator((size, size), matvec=times, dtype=np.float64), k=1, which="LA", tol=1e-6,
                 return_eigenvectors=False)[0]


def compare_curvature(folder):
    """Lanczos ends at a residual of 0.001, within which an eigenvalue lies. Differences are as far from the derivative
    as those of the two steps are from each other, or nearer; both are below 1% in single precision."""
    for profile, name, options in CURVATURES:
        case = Case("", folder, profile, ENCODINGS[name], options)
        weights = np.concatenate([value.ravel() for value in case.weights.values()]).astype(np.float64)
        root = np.abs(weights) / math.sqrt(1 - LOOP["beta2"] ** CURVED)
        want = {"hessian": largest(case, np.ones_like(root)), "adamw": largest(case, (root + LOOP["eps"]) ** -0.5)}
        for backend in ("reference64", "cpu"):
            done = subprocess.run([CURVATURE, backend, case.path("config.json"), case.path("weights.safetensors"),
                                   case.path("batch.jsonl"), str(CURVED)], capture_output=True, text=True, check=True)
            (row,) = csv.DictReader(done.stdout.splitlines())
            for kind, value in want.items():
                got, apart = (float(row[f"{kind}_{column}"] or "nan") for column in ("max", "agreement"))
                bound = 0.001 + apart if backend == "reference64" else 0.01
                tap.ok(f"{profile} {name}, {backend}: {kind}_max", abs(got - value) <= bound * abs(value),
                       f"# {got:.6g}, {value:.6g}, steps agree to {apart:.1e}")


# ---- Checkpoints of one program in the other ----

def predict(folder, *arguments):
    """Class logits as szego predicts them."""
    out = os.path.join(folder, "logits.npy")
    done = subprocess.run([SZEGO, "predict", "--data", os.path.join(folder, "batch.jsonl"),
                           *arguments, "-o", out, "--quiet"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        print("# " + done.stderr.strip().replace("\n", "\n# "))
        return None
    return np.load(out)


def check_close(label, want, got):
    error = float("inf") if got is None or got.shape != want.shape else relative(want, got)
    tap.ok(label, error <= BOUNDS["cpu"], f"# {error:.1e}")


def torch_logits(model, weights, batch, sizes):
    model.p = {name: torch.tensor(value.astype(np.float64)) for name, value in weights.items()}
    tokens, lengths, _ = tensors_of(batch, sizes)
    return model.logits(tokens, lengths).numpy()


def compare_checkpoints(folder):
    """PyTorch's file in szego, with --config; szego's in PyTorch."""
    for profile, name in (("text", "rope"), ("released", "rope"), ("released", "mla"),
                          ("released", "relative"), ("text", "learned")):
        case = Case("", folder, profile, ENCODINGS[name])
        want = torch_logits(case.model, case.weights, case.batch, case.sizes)
        got = predict(folder, "--checkpoint", case.path("weights.safetensors"), "--config",
                      case.path("model.json"))
        check_close(f"{profile} {name}: a checkpoint of PyTorch predicts", want, got)
        run = os.path.join(folder, f"run-{profile}-{name}")
        subprocess.run([SZEGO, "train", case.path("config.json"), "--set",
                        "loop.limit_steps=3", "--set", "loop.batch=20", "--set",
                        "data.examples=100", "-o", run + "/", "--quiet"],
                       check=True, capture_output=True)
        (path,) = [os.path.join(place, "checkpoint.safetensors")
                   for place, _, names in os.walk(run) if "checkpoint.safetensors" in names]
        weights, metadata = load(path)
        tap.ok(f"{profile} {name}: names and shapes of a checkpoint of szego",
               {key: tuple(value.shape) for key, value in weights.items()} == case.model.shapes()
               and all(value.dtype == np.float32 for value in weights.values()))
        kept = json.loads(metadata["config"])["model"]["encoding"]
        tap.ok(f"{profile} {name}: metadata", kept.startswith(name) and metadata["step"] == "3",
               f"# {kept}, step {metadata['step']}")
        want = torch_logits(case.model, weights, case.batch, case.sizes)
        check_close(f"{profile} {name}: a checkpoint of szego in PyTorch", want,
                    predict(folder, "--checkpoint", path))


with scratch() as place:
    compare_all(place)
    compare_curvature(place)
    compare_checkpoints(place)
tap.finish()
