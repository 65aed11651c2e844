#!/usr/bin/python3
"""What szego checkpoint shows to a person, against its own tables: which heads stand out (Benjamini and Hochberg by their
step-up rule), in which order, and the sum of each layer. usage: test_digest.py PROGRAM"""
import csv
import os
import re
import subprocess
import sys

from peer import Tap, scratch, skip, write_model

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = sys.argv[1]
tap = Tap()
LAYERS, HEADS, SIZE, WIDTH, LENGTH = 2, 64, 8, 16, 64
COLUMNS = {"mean_kernel": "mean", "self_kernel": "self"}


def turned(rows, lag):
    """Rows of which pair t, half a head apart, is turned by lag theta_t."""
    half = SIZE // 2
    angle = lag * 10000.0 ** (-2 * np.arange(half) / SIZE)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.concatenate([cos * rows[:half] - sin * rows[half:], sin * rows[:half] + cos * rows[half:]])


def planted(folder):
    """Random heads, and in each layer 12 whose keys are more or less their queries, turned by some lag; in layer 0 also 16
    that read the mean token alike in queries and keys."""
    random = np.random.default_rng(5)
    tensors = {"model.embed_tokens.weight": 1 + random.standard_normal((50, WIDTH))}
    for layer in range(LAYERS):
        q, k = (random.standard_normal((HEADS * SIZE, WIDTH)) for _ in "qk")
        for head in range(12):
            rows = slice(head * SIZE, (head + 1) * SIZE)
            k[rows] = 0.15 * (head + 1) * turned(q[rows], head % 4) + random.standard_normal((SIZE, WIDTH))
        for head in range(12, 28 if layer == 0 else 0):
            rows, mean = slice(head * SIZE, (head + 1) * SIZE), np.full((1, WIDTH), WIDTH ** -0.5)
            k[rows] += 0.4 * (head - 11) * turned(q[rows], head % 4) @ mean.T @ mean
        stem = f"model.layers.{layer}."
        tensors |= {stem + "self_attn.q_proj.weight": q, stem + "self_attn.k_proj.weight": k,
                    stem + "input_layernorm.weight": np.ones(WIDTH)}
    write_model(folder, {"model_type": "llama", "hidden_size": WIDTH, "num_attention_heads": HEADS, "head_dim": SIZE,
                   "num_key_value_heads": HEADS, "num_hidden_layers": LAYERS, "rope_theta": 10000.0,
                   "max_position_embeddings": LENGTH}, tensors)


def run(*arguments):
    environment = {**os.environ, "COLUMNS": "80", "LC_ALL": "C"}
    done = subprocess.run([PROGRAM, "checkpoint", "-q", *arguments], capture_output=True, text=True, check=True,
                          env=environment)
    return done.stdout


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def standing(heads, kernel):
    """Those with a share of a tenth that Benjamini and Hochberg's rule keeps at 5%: the adjusted p, min over j >= i of
    p_j m / j, is at most 5%. By their share, and those that a p of 5% alone would have kept."""
    known = [one for one in heads if one[kernel + "_p"]]
    p = np.array([float(one[kernel + "_p"]) for one in known])
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    large = np.array([float(one[kernel + "_share"]) for one in known]) >= 0.1
    kept = [one for one, good in zip(known, (adjusted <= 0.05 * (1 + 1e-12)) & large) if good]
    return len(known), sorted(kept, key=lambda one: -float(one[kernel + "_share"])), int(((p <= 0.05) & large).sum())


def tables_of(screen):
    """{name: [the cells of each line]} of tables: a name, headings, and lines that begin with two spaces."""
    return {name: [line.split() for line in body.splitlines()]
            for name, _, body in re.findall(r"^(\w+)\n(  .*\n)((?:  .*\n)*)", screen, re.M)}


def check_heads(screen, heads):
    text = " ".join(screen.split())
    shown = tables_of(screen)
    for table, kernel in COLUMNS.items():
        count, kept, naive = standing(heads, kernel)
        subject = f"In {len(kept)} of {count} heads " if count == len(heads) else \
            f"In {len(kept)} of the {count} heads that have a {kernel} kernel, "
        told = [one for one in heads if kernel in one["stands_out"].split("+")]
        tap.ok(f"{kernel}: the table has the same", sorted(told, key=heads.index) == sorted(kept, key=heads.index))
        tap.ok(f"{kernel}: how many stand out", subject in text and 10 <= len(kept) < naive,
               f"{len(kept)} of {count}, {naive} of them at 5% each")
        got = [(int(one[0]), int(one[1])) for one in shown.get(table, [])]
        want = [(int(one["layer"]), int(one["head"])) for one in kept[:10]]
        tap.ok(f"{kernel}: the ten largest shares", got == want, f"{got} and {want}")
        numbers = [[float(one[2]), float(one[3]), one[4], int(one[5])] for one in shown.get(table, [])]
        told = [[float(f"{float(one[kernel + '_share']):.3g}"), float(f"{float(one[kernel + '_null']):.3g}"),
                 one[kernel + "_shape"], int(one[kernel + "_peak"])] for one in kept[:10]]
        tap.ok(f"{kernel}: share, chance, shape and peak", numbers == told, f"{numbers} and {told}")
        best = (kept or heads)[0]
        tap.ok(f"{kernel}: the strongest in words",
               f"The strongest, layer {best['layer']} head {best['head']}," in text)


def check_layers(screen, heads, summary):
    got = [[int(one[0]), one[1], float(one[2]), int(one[3]), float(one[-2]), int(one[-1])]
           for one in tables_of(screen)["by_layer"]]
    want = []
    for layer, kernel in ((0, "mean"), (0, "self"), (1, "self")):
        shares = [float(one[kernel + "_share"]) for one in heads if int(one["layer"]) == layer]
        sigma = [float(one["sigma_max"]) for one in summary if int(one["layer"]) == layer and one["matrix"] == "qk"]
        want.append([layer, kernel, float(f"{sum(shares):.3g}"), int(np.argmax(shares)), float(f"{max(sigma):.3g}"),
                     int(np.argmax(sigma))])
    tap.ok("a line a layer and kernel", got == want, f"{got} and {want}")


def main():
    with scratch() as folder:
        model, out = (os.path.join(str(folder), name) for name in ("model", "out"))
        planted(model)
        screen = run(model)
        run(model, "-o", out + "/")
        heads, summary = (rows_of(os.path.join(out, name + ".csv")) for name in ("heads", "summary"))
        check_heads(screen, heads)
        check_layers(screen, heads, summary)
        tap.ok("no line is longer than 80 columns", max(map(len, screen.splitlines())) <= 80)
        tap.ok("what the shares assume", "Self shares assume that tokens have no common direction" in " ".join(screen.split()))
        tap.ok("key heads of their own are not said to be shared", "share a key head" not in screen)
        raw = run(model, "--raw")
        tap.ok("why no head has a share, first", raw.startswith(f"{LAYERS * HEADS} of {LAYERS * HEADS} heads have no share: "),
               raw[:100])
        tap.ok("every table, and no sentence", run(model, "--all").startswith("summary\n"))
    tap.finish()


main()
