#!/usr/bin/python3
"""The tables `profiles` and `mixtures` against NumPy: symbols on a fine grid, dense matrices of biases of random and of
adversarial queries, and T5's buckets; against transformers' own module too where there is one.
usage: test_profiles.py PROGRAM"""
import csv
import os
import subprocess
import sys

from peer import Tap, scratch, skip, tables, write_model

try:
    import numpy as np
except ImportError as missing:
    skip(f"{missing}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
FAMILIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "families")
SEED = int(os.environ.get("SZG_TEST_SEED", "33"), 0)
print(f"# SZG_TEST_SEED={SEED}")
rng = np.random.default_rng(SEED)
tap = Tap()
SLIDING, FULL, PROFILES, WIDTH = 8, 20, 3, 12
CONFIG = {"model_type": "inkling_text", "num_hidden_layers": 3, "hidden_size": WIDTH, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 6, "swa_num_attention_heads": 2, "swa_num_key_value_heads": 1,
          "swa_head_dim": 4, "d_rel": PROFILES, "rel_extent": FULL, "sliding_window_size": SLIDING,
          "layer_types": ["hybrid_sliding", "hybrid", "hybrid_sliding"], "max_position_embeddings": 64}
NAMES = {False: ("self_attn.", "q_proj", "k_proj", "r_proj", "input_layernorm"),
         True: ("attn.", "wq_du", "wk_dv", "wr_du", "attn_norm")}


def model(published=False):
    """Random tensors that lean to the corners: profiles of zeros and of one lag, weights of very different sizes."""
    at, query, key, mix, norm = NAMES[published]
    tensors = {}
    for layer, kind in enumerate(CONFIG["layer_types"]):
        heads, keys, size, lags = (2, 1, 4, SLIDING) if kind == "hybrid_sliding" else (4, 2, 6, FULL)
        stem = f"model.llm.layers.{layer}." if published else f"model.layers.{layer}."
        bank = rng.normal(size=(PROFILES, lags)) * 10.0 ** rng.integers(-3, 3, (PROFILES, 1))
        bank[rng.integers(PROFILES)] *= rng.integers(2)
        bank[rng.integers(PROFILES), rng.integers(1, lags):] = 0
        weights = rng.normal(size=(heads * PROFILES, WIDTH)) * 10.0 ** rng.integers(-2, 2, (heads * PROFILES, 1))
        tensors |= {stem + at + query + ".weight": rng.normal(size=(heads * size, WIDTH)),
                    stem + at + key + ".weight": rng.normal(size=(keys * size, WIDTH)),
                    stem + at + "q_norm.weight": rng.normal(size=size), stem + at + "k_norm.weight": rng.normal(size=size),
                    stem + at + mix + ".weight": weights, stem + at + "rel_logits_proj.proj": bank,
                    stem + norm + ".weight": rng.normal(size=WIDTH)}
    return tensors


def part(tensors, layer, ending):
    return next(value for name, value in tensors.items() if f"layers.{layer}." in name and name.endswith(ending))


def weights_of(tensors, layer, head, published=False):
    mix = part(tensors, layer, NAMES[published][3] + ".weight") * part(tensors, layer, NAMES[published][4] + ".weight")
    return mix[head * PROFILES:(head + 1) * PROFILES]


def circle(values, points=1 << 14):
    """Symbols at equidistant points of half the circle, and how far apart their maxima can be from the true ones."""
    return np.fft.rfft(values, points), 1 / np.cos(np.pi * values.shape[-1] / points)


def is_range(name, row, values):
    """The modulus on a grid is inside the range, and near its ends; at the angles of the ends it is there."""
    symbol, factor = circle(values)
    size = np.abs(values).sum() + 1e-300
    at = {end: abs(np.exp(1j * float(row["theta_" + end]) * np.arange(len(values))) @ values) for end in ("min", "max")}
    least, most = [[float(row[f"symbol_{end}_{side}"]) for side in ("lo", "hi")] for end in ("min", "max")]
    modulus, slack = np.abs(symbol), 1e-13 * size
    tap.ok(name, least[0] - slack <= modulus.min() and modulus.max() <= most[1] + slack
           and most[0] <= modulus.max() * factor + slack and most[1] - most[0] <= 1e-12 * size
           and abs(at["max"] - most[1]) <= 1e-11 * size and abs(at["min"] - least[1]) <= 1e-7 * size,
           f"{row} {modulus.min()} {modulus.max()} {at}")


def dense(bank, states, weights, size):
    """The biases of queries with these states: row i is the mixture of its own query, lower triangle."""
    lag = np.subtract.outer(np.arange(size), np.arange(size))
    each = np.where((lag >= 0) & (lag < bank.shape[1]), bank[:, np.clip(lag, 0, bank.shape[1] - 1)], 0)
    return np.einsum("im,mij->ij", states @ weights.T, each), each


def units(count):
    states = rng.normal(size=(count, WIDTH))
    return states * np.sqrt(WIDTH) / np.linalg.norm(states, axis=1, keepdims=True)


def adversary(bank, weights, size, angle):
    """Queries whose matrix nearly has the largest norm: each one is aligned with what its profiles make of a wave."""
    _, each = dense(bank, units(size), weights, size)
    wave = np.cos(angle * np.arange(size) + 0.3)
    for _ in range(4):
        states = np.einsum("md,mi->id", weights, each @ wave)
        length = np.linalg.norm(states, axis=1, keepdims=True)
        states = np.where(length > 0, states * np.sqrt(WIDTH) / np.where(length > 0, length, 1), 0)
        matrix = dense(bank, states, weights, size)[0]
        wave = np.linalg.svd(matrix)[2][0]
    return np.linalg.norm(matrix, 2)


def is_mixture(name, row, bank, weights):
    bias, low, high, norm, total = (float(row[key]) for key in ("bias_max", "symbol_lo", "symbol_hi", "norm", "norm_sum"))
    root = np.sqrt(WIDTH)
    symbol, factor = circle(bank)
    vector = weights.T @ symbol
    lengths = np.linalg.norm(vector, axis=0)
    most = max(np.linalg.svd(np.stack([v.real, v.imag]), compute_uv=False)[0] for v in vector.T[::8])
    at = [np.linalg.norm(weights.T @ bank[:, k]) * root for k in range(bank.shape[1])]
    tap.close(name + ": the largest bias is reached", bias, max(at), 1e-10 * max(at) + 1e-300)
    tap.close(name + ": at its lag", at[int(row["bias_lag"])], max(at), 1e-10 * max(at))
    tap.ok(name + ": largest symbol", most * root <= high * (1 + 1e-12) and low <= most * root * 1.0013 and low > 0.998 * high,
           f"{low} {most * root} {high}")
    at_theta = weights.T @ (bank @ np.exp(1j * float(row["theta"]) * np.arange(bank.shape[1])))
    tap.close(name + ": reached at theta", root * np.linalg.svd(np.stack([at_theta.real, at_theta.imag]), compute_uv=False)[0],
              low, 1e-9 * high)
    tap.ok(name + ": norm", lengths.max() * root <= norm * (1 + 1e-12) and norm <= 1.0013 * lengths.max() * factor * root
           and high <= norm <= total * (1 + 1e-12), f"{lengths.max() * root} {norm} {total}")
    sizes = [np.linalg.norm(dense(bank, units(size), weights, size)[0], 2) for size in (64, 128)]
    reached = adversary(bank, weights, 512, np.pi * lengths.argmax() / (len(lengths) - 1))
    tap.ok(name + ": dense matrices", max(sizes) <= norm and 0.97 * norm <= reached <= norm * (1 + 1e-12),
           f"{sizes} {reached} {norm}")
    one = np.repeat(units(1), 128, axis=0)
    tap.ok(name + ": one query", np.linalg.norm(dense(bank, one, weights, 128)[0], 2) <= high)


def check_banks(folder, published):
    path, tensors = os.path.join(folder, f"inkling{published}"), model(published)
    write_model(path, CONFIG, tensors)
    found = tables(PROGRAM, "checkpoint", path)
    tap.ok("every profile and head", len(found["profiles"]) == 9 and len(found["mixtures"]) == 8)
    for row in found["profiles"]:
        layer, profile = int(row["layer"]), int(row["profile"])
        bank = part(tensors, layer, "rel_logits_proj.proj")
        is_range(f"layer {layer}, profile {profile}", row, bank[profile])
        tap.ok("its lags", int(row["lag_max"]) == bank.shape[1] - 1 and float(row["value_max"]) == bank[profile].max())
    for row in found["mixtures"]:
        layer, head = int(row["layer"]), int(row["head"])
        is_mixture(f"layer {layer}, head {head}", row, part(tensors, layer, "rel_logits_proj.proj"),
                   weights_of(tensors, layer, head, published))
    values = found["profile_values"]
    tap.ok("values", len(values) == PROFILES * (2 * SLIDING + FULL) and all(
        float(row["value"]) == part(tensors, row["layer"], "rel_logits_proj.proj")[int(row["profile"]), int(row["lag"])]
        for row in values))
    tap.ok("scale 1/e", any(row["property"] == "scale" and float(row["value"]) == 0.25 for row in found["architecture"]))


# ---- Bad banks ----


def check_bad(folder, name, words, change, **config):
    path, tensors = os.path.join(folder, name.replace(" ", "-")), model()
    change(tensors)
    write_model(path, CONFIG | config, tensors)
    out = os.path.join(folder, "out-" + os.path.basename(path))
    done = subprocess.run([PROGRAM, "checkpoint", path, "-o", out + "/"], capture_output=True, text=True, check=False)
    with open(os.path.join(out, "mixtures.csv"), encoding="utf-8") as file:
        mixtures = {row["layer"] for row in csv.DictReader(file)}
    with open(os.path.join(out, "summary.csv"), encoding="utf-8") as file:
        heads = [row for row in csv.DictReader(file) if row["sigma_max"]]
    said = " ".join(done.stderr.split())
    tap.ok(name, done.returncode == 3 and all(word in said for word in words) and len(heads) == 8 and "1" not in mixtures
           and mixtures == ({"0", "2"} if name != "another extent" else {"0", "2"}), f"{done.returncode} {mixtures} {said}")


def bad_number(tensors):
    part(tensors, 1, "rel_logits_proj.proj")[1, 5] = np.nan


def transposed(tensors):
    tensors["model.layers.1.self_attn.rel_logits_proj.proj"] = part(tensors, 1, "rel_logits_proj.proj").T


def square(tensors):
    tensors["model.layers.1.self_attn.rel_logits_proj.proj"] = rng.normal(size=(PROFILES, PROFILES))


def missing(tensors):
    del tensors["model.layers.1.self_attn.r_proj.weight"]


def nothing(_):
    pass


# ---- Tables by head ----


def bucket(lag, both, buckets, most=128):
    """relative_position_bucket of transformers, of one lag."""
    base = 0
    if both:
        buckets //= 2
        base = buckets * (lag < 0)
    size = abs(lag) if both else max(lag, 0)
    exact = buckets // 2
    far = exact + int(np.float32(np.log(np.float32(max(size, 1) / exact))) / np.float32(np.log(most / exact))
                      * np.float32(buckets - exact))
    return base + (size if size < exact else min(far, buckets - 1))


def check_tables(folder, family, both):
    """Rows of profiles against the values by lag, and these against the stored table by the buckets of lags."""
    found = tables(PROGRAM, "checkpoint", folder, "--kernel", "300")
    for row in found["profiles"]:
        at = {int(value["lag"]): float(value["value"]) for value in found["profile_values"]
              if all(value[key] == row[key] for key in ("source", "layer", "head"))}
        later = both and "decoder" not in row["source"]
        count = min(int(row["lag_max"]), 299)
        lags = range(-count if later else 0, count + 1)
        tail = float(row["tail"]) if row["tail"] else 0
        before = float(row["tail_before"]) if row["tail_before"] else 0
        tap.ok(f"{family}: both signs", (int(row["lag_min"]) < 0) == later)
        tap.ok(f"{family}: equal buckets have equal values", all(
            at[k] == at[l] for k in lags for l in (k - 1, k + 1) if l in at and
            bucket(k, later, 32) == bucket(l, later, 32)))
        if int(row["lag_max"]) >= 128:
            tap.ok(f"{family}: tails", tail == at[128] == at[299] and (not later or before == at[-128]))
        is_range(f"{family}: layer {row['layer'] or 'all'}, head {row['head']}", row,
                 np.array([at[k] - (before if k < 0 else tail) for k in lags]))


def check_transformers():
    """The module's own biases, on random states and on the directions that reach the bounds."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
        from transformers.models.inkling.modeling_inkling import InklingRelativeLogits  # pylint: disable=import-outside-toplevel
    except ImportError as absent:
        print(f"# without transformers' module: {absent}")
        return
    tensors = model()
    bank, weights = part(tensors, 1, "rel_logits_proj.proj"), weights_of(tensors, 1, 2)
    module = InklingRelativeLogits(*bank.shape).double()
    module.proj.data = torch.tensor(bank)
    states, places = units(48), torch.arange(48)
    got = module(torch.tensor(states @ weights.T)[None, :, None], places, places)[0, 0].detach().numpy()
    want = dense(bank, states, weights, 48)[0]
    tap.ok("transformers' module", np.abs(got - want).max() <= 1e-12 * np.abs(want).max())


with scratch() as place:
    for names in (False, True):
        check_banks(place, names)
    check_bad(place, "a NaN", ["model.safetensors", "layers.1.self_attn.rel_logits_proj.proj", "nan"], bad_number)
    check_bad(place, "transposed", ["[20, 3]", "[3, 20]", "d_rel, rel_extent", "--set"], transposed)
    check_bad(place, "square", ["rel_logits_proj.proj", "d_rel and rel_extent are both 3", "--set"], square, rel_extent=3)
    check_bad(place, "another extent", ["[3, 20]", "[3, 24]", "rel_extent"], nothing, rel_extent=24)
    check_bad(place, "no weights", ["layers.1.self_attn.r_proj.weight is missing"], missing)
    for one, two_sided in (("t5", True), ("umt5", True), ("mpnet", True)):
        check_tables(os.path.join(FAMILIES, one), one, two_sided)
    check_transformers()
tap.finish()
