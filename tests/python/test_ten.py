#!/usr/bin/python3
"""The ten lines that docs/how-to/python.md begins with, run as they stand, beside NumPy and PyTorch. A model of
transformers is used where that is installed, otherwise a stand-in. usage: test_ten.py PROGRAM SOURCE"""
import json
import os
import pathlib
import re
import sys
from types import SimpleNamespace

from peer import PACKAGE, Tap, eigenvalue_bound, scratch, skip

PROGRAM, SOURCE = map(os.path.abspath, sys.argv[1:])
sys.path.insert(0, PACKAGE)
os.environ.update(SZEGO=PROGRAM, MPLBACKEND="agg")
try:
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas
    import szego  # noqa: F401 # pylint: disable=unused-import # by the page
    import torch
    from szego.safetensors import Entry, write
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy, -matplotlib, -pandas and -torch are needed")
try:
    import transformers
except ImportError:
    transformers = None
    import attention_standins as standins

SEED = int(os.environ.get("SZG_TEST_SEED", "20261129"), 0)
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}\n# transformers {transformers.__version__}" if transformers else f"# SZG_TEST_SEED={SEED}")
HEADS, KEYS, SIZE, WIDTH, TOKENS = 4, 2, 8, 32, 11
CONFIG = {"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": HEADS, "num_key_value_heads": KEYS,
          "hidden_size": WIDTH, "head_dim": SIZE, "rope_theta": 10000.0, "max_position_embeddings": 64, "vocab_size": 50,
          "intermediate_size": 32}




def model_of(folder):
    """A Llama, whose folder has its queries' and keys' weights."""
    if transformers is not None:
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG, attn_implementation="eager")).eval()
        model.save_pretrained(folder)
        return model
    config = SimpleNamespace(**CONFIG, scale=SIZE**-0.5, bases=(1e4, 1e4), rows=False, to_dict=lambda: CONFIG)
    model = standins.StandIn(standins.LlamaAttention, config, lambda layer, n: np.tri(n, dtype=bool))
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    weights = {f"model.layers.{layer}.self_attn.{side}_proj.weight": getattr(model.layers[layer], f"{side}_proj").weight
               for layer in range(2) for side in "qk"}
    write(os.path.join(folder, "model.safetensors"), [Entry(name, np.dtype(np.float32), tuple(one.shape), lambda one=one: one.
                                                            detach().numpy()) for name, one in weights.items()], {})
    return model


def block():
    """The first Python of the page."""
    page = pathlib.Path(SOURCE, "docs/how-to/python.md").read_text("utf-8")
    return re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]


def rotated(x, size):
    """Queries or keys, [..., tokens, size], rotated in halves."""
    angle = np.outer(np.arange(x.shape[-2]), 10000.0 ** (-2 * np.arange(size // 2) / size))
    z = (x[..., :size // 2] + 1j * x[..., size // 2:]) * np.exp(1j * angle)
    return np.concatenate([z.real, z.imag], -1)


def check(space, q, k):
    k = np.repeat(k, HEADS // KEYS, axis=1)
    lag = np.abs(np.subtract.outer(np.arange(512), np.arange(512)))
    for name, got, matrix in (
            ("1. rope", space["eigenvalues"], np.cos(lag[..., None] * 10000.0 ** (-np.arange(32) / 32)).mean(-1)),
            ("2. own lags", space["own"], np.append(space["lags"], np.zeros(512))[lag]),
            ("5. a matrix", space["every"], np.asarray(space["matrix"], float))):
        want = np.linalg.eigvalsh(matrix)
        tap.close(name, float(np.abs(got - want).max()) if got.shape == want.shape else None, 0,
                  eigenvalue_bound(len(matrix), np.linalg.norm(matrix, 2)))
    tap.ok("3. encodings as one frame", isinstance(space["table"], pandas.DataFrame) and len(space["table"]) == 9
           and np.isclose(space["table"]["lambda_max"][0], space["eigenvalues"][-1]))
    # (1 - rho) / (1 + rho) and its inverse bound the symbol of rho^|k|.
    tap.ok("4. a range", 1 / 3 - 1e-9 < space["lo"] <= 1 / 3 + 1e-9 and abs(space["hi"] - 3) < 1e-4)
    product = rotated(q, SIZE) @ rotated(k, SIZE).swapaxes(-1, -2) / SIZE**0.5
    want = np.linalg.eigvals(product)
    tap.ok("6. logits of bfloat16", space["heads"].shape == (2, HEADS, TOKENS))
    got = space["heads"].sum(-1)
    tap.close("6. their traces", float(np.abs(got - np.trace(product, axis1=-2, axis2=-1)).max()), 0, 1e-11)
    tap.close("6. their largest", float(np.abs(np.abs(space["heads"]).max(-1) - np.abs(want).max(-1)).max()), 0, 1e-9)
    logits = space["capture"].logits().astype(float)
    # The logits are rounded to single precision: so many halves of an ulp in a trace of that many numbers.
    tap.close("7. a capture", float(np.abs(space["captured"].sum(-1) - np.trace(logits, axis1=-2, axis2=-1)).max()), 0,
              TOKENS * 2.0**-23 * np.abs(logits).max())
    tap.close("7. and of its square", float(np.abs((space["captured"]**2).sum(-1) - np.trace(
        logits @ logits, axis1=-2, axis2=-1)).max()), 0, 2.0**-22 * (logits**2).sum((-2, -1)).max())
    tap.ok("7. its axes", space["captured"].shape == (2, HEADS, TOKENS))
    weights = [[getattr(layer, f"{side}_proj").weight.detach().numpy().astype(float).reshape(-1, SIZE, WIDTH)
                for side in "qk"] for layer in attentions(space["model"])]
    norm = np.array([np.linalg.norm(a[h].T @ b[h // 2] / SIZE**0.5, 2) for a, b in weights for h in range(HEADS)])
    tap.ok("8. a checkpoint", isinstance(space["summary"], pandas.DataFrame) and np.allclose(
        space["summary"]["sigma_max"].to_numpy(float), norm, rtol=1e-6), str(space["summary"]))
    tap.ok("9. a figure on my Axes", space["drawn"] is space["ax"] and bool(space["ax"].lines or space["ax"].collections))
    tap.ok("10. saved and loaded", np.array_equal(space["loaded"]["checkpoint_summary"]["sigma_max"],
                                                  space["found"]["checkpoint_summary"]["sigma_max"]))
    with open(space["page"], encoding="utf-8") as file:
        tap.ok("10. a page", "<svg" in file.read() and space["page"] == os.path.join("out/", "report.html"), space["page"])


def attentions(model):
    return [one for one in model.modules() if type(one).__name__ == "LlamaAttention"]


with scratch() as place:
    os.chdir(place)
    made, path = model_of(os.path.join(place, "model")), os.path.join(place, "model")
    pair = [torch.randn(2, heads, TOKENS, SIZE, dtype=torch.bfloat16, requires_grad=True) for heads in (HEADS, KEYS)]
    given = {"lags": torch.rand(40, dtype=torch.float64).numpy(), "matrix": (lambda x: x + x.T)(torch.randn(60, 60)),
             "q": pair[0], "k": pair[1], "model": made, "path": path, "ax": plt.subplots()[1],
             "inputs": {"input_ids": torch.randint(0, 50, (1, TOKENS))}}
    lines = [line for line in block().splitlines() if line and not line.startswith(("import", "from"))]
    tap.ok("ten things, of three lines at most", [
        sum(f"# {k}." in line for line in lines) for k in range(1, 11)] == [1] * 10 and len(lines) <= 16, str(lines))
    exec(block(), given)  # pylint: disable=exec-used # of our own page
    check(given, *(one.detach().double().numpy() for one in pair))
tap.finish()
