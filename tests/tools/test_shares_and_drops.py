#!/usr/bin/python3
"""tools/shares-and-drops: shares of a made run against sums over tokens and lags in the run's own terms, where its norm
takes a mean and rotation pairs neighbours; and the statistics of tables with known answers. Prints TAP.

usage: test_shares_and_drops.py SZEGO
"""
import csv
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    sys.exit(print(f"1..0 # SKIP {missing}"))

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOOL = SOURCE / "tools/shares-and-drops"
WIDTH, HEADS, LENGTH, VOCABULARY = 16, 2, 9, 30
SIZE = WIDTH // HEADS
random = np.random.default_rng(5)
lags = np.arange(1 - LENGTH, LENGTH)
weight = 1 / (1 + abs(lags)) / np.sum(1 / (1 + abs(lags)))
answers = []


def check(name, good, why=""):
    answers.append((name, bool(good), why))


def make_tensors():
    found = {"embedding.weight": random.standard_normal((VOCABULARY, WIDTH)) + 2 * random.standard_normal(WIDTH)}
    for layer in range(2):
        name = f"layers.{layer}."
        found |= {name + "norm1.weight": 1 + 0.3 * random.standard_normal(WIDTH),
                  name + "norm1.bias": 0.3 * random.standard_normal(WIDTH)}
        for side in "qk":
            found |= {f"{name}{side}_linear.weight": random.standard_normal((WIDTH, WIDTH)) / 2,
                      f"{name}{side}_linear.bias": random.standard_normal(WIDTH) / 2}
    return found


def write_run(root, encoding, tensors, number=7, mask="none", finished=True):
    folder = root / "runs/own/distance" / encoding / f"run-{number}"
    folder.mkdir(parents=True)
    header, data = {}, b""
    for name, value in tensors.items():
        content = value.astype("<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": value.shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    (folder / "checkpoint.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    if finished:
        (folder / "finished.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps({"model": {
        "encoding": encoding, "width": WIDTH, "heads": HEADS, "layers": 2, "max_length": LENGTH, "mask": mask}}))
    with open(folder / "ablation.csv", "w", encoding="utf-8") as file:
        file.write("run,encoding,task,seed,layer,head,accuracy,drop,label_ceiling,method,note\n")
        for layer in range(2):
            for head in (0, 1, ""):
                file.write(f"own/{encoding},{encoding},distance,7,{layer},{head},0.9,0.{layer}{head},,output,\n")
                file.write(f"own/{encoding},{encoding},distance,7,{layer},{head},0.9,0.99,,rotation,\n")


def norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True))


def variance(values):
    return weight @ (values - weight @ values)**2


def share(kernel, noise):
    return variance(kernel) / (variance(kernel) + weight @ noise)


def rotation(lag):
    found = np.zeros((SIZE, SIZE))
    for t in range(SIZE // 2):
        angle = lag * 1e4**(-2 * t / SIZE)
        found[2 * t:2 * t + 2, 2 * t:2 * t + 2] = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    return found


def sides(tensors, layer, head):
    """W, W b + beta of queries, scaled, and of keys."""
    rows, found = slice(head * SIZE, (head + 1) * SIZE), []
    gain, shift = (tensors[f"layers.{layer}.norm1.{part}"] for part in ("weight", "bias"))
    for side, scale in (("q", SIZE**-0.5), ("k", 1)):
        w, b = (tensors[f"layers.{layer}.{side}_linear.{part}"][rows] for part in ("weight", "bias"))
        found += [scale * w * gain, scale * (w @ shift + b)]
    return found


def isotropic_share(tensors, layer, head):
    """The self kernel, for tokens of covariance d / (d - 1) P."""
    a, beta_q, b, beta_k = sides(tensors, layer, head)
    covariance = WIDTH / (WIDTH - 1) * (np.eye(WIDTH) - 1 / WIDTH)
    kernel, noise = [], []
    for r in map(rotation, lags):
        kernel.append(np.trace(r @ b @ covariance @ a.T) + beta_q @ r @ beta_k)
        q, k = a @ covariance @ a.T, r @ b @ covariance @ b.T @ r.T
        noise.append(np.sum(q * k) + beta_q @ k @ beta_q + (r @ beta_k) @ q @ (r @ beta_k))
    return share(np.array(kernel), np.array(noise))


def vocabulary_share(tensors, head):
    """The mean kernel of layer 0: every pair of tokens."""
    a, beta_q, b, beta_k = sides(tensors, 0, head)
    tokens = norm(tensors["embedding.weight"])
    q, k = tokens @ a.T + beta_q, tokens @ b.T + beta_k
    logits = [q @ rotation(lag) @ k.T for lag in lags]
    return share(np.array([x.mean() for x in logits]), np.array([x.var() for x in logits]))


def sinusoid_share(tensors, head):
    a, beta_q, b, _ = sides(tensors, 0, head)
    places = np.array([[f(i * 1e4**(-2 * t / WIDTH)) for t in range(WIDTH // 2) for f in (math.sin, math.cos)]
                       for i in range(LENGTH)])
    tokens = norm(tensors["embedding.weight"][:, None] + places)
    mean = tokens.mean(0)
    rest = np.array([tokens[v, v % LENGTH] - mean[v % LENGTH] for v in range(VOCABULARY)])
    query, key = mean @ a.T + beta_q, (mean - mean.mean(0)) @ b.T
    q, k = (rest @ a.T).T @ (rest @ a.T) / VOCABULARY, (rest @ b.T).T @ (rest @ b.T) / VOCABULARY
    logits = query @ key.T
    diagonals = [np.diagonal(logits, -lag) for lag in lags]
    kernel, spread = (np.array([f(x) for x in diagonals]) for f in (np.mean, np.var))
    noise = np.sum(q * k) + np.mean([x @ q @ x for x in key]) + np.mean([x @ k @ x for x in query])
    return share(kernel, spread + noise)


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], check=True, capture_output=True, text=True).stdout


def check_shares(szego, root):
    tensors = make_tensors()
    for encoding in ("rope", "absolute", "alibi"):
        write_run(root, encoding, tensors)
    write_run(root, "rope", tensors, 8, mask="causal")
    write_run(root, "rope", tensors, 9, finished=False)
    run(szego, root, root / "table.csv")
    with open(root / "table.csv", encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    rows = {(row["encoding"], int(row["layer"]), int(row["head"])): row for row in listed}
    check("each once", len(listed) == len(rows), f"{len(listed)} rows")
    check("which heads", sorted(rows) == [("absolute", 0, 0), ("absolute", 0, 1)] + [
        ("rope", layer, head) for layer in range(2) for head in range(2)], f"{sorted(rows)}")
    for (encoding, layer, head), row in rows.items():
        want = {"mean_share": sinusoid_share(tensors, head)} if encoding == "absolute" else {
            "self_share": isotropic_share(tensors, layer, head)}
        if encoding == "rope" and layer == 0:
            want["mean_share"] = vocabulary_share(tensors, head)
        for name, value in want.items():
            check(f"{encoding}, layer {layer}, head {head}: {name}", abs(float(row[name]) - value) < 1e-9 * value,
                  f"{row[name]}, not {value}")
        check(f"{encoding}, layer {layer}, head {head}: drop", float(row["drop"]) == float(f"0.{layer}{head}"), row["drop"])


def said(path, drops):
    """The statistics' row of runs whose shares are 1, 2, 3, 4."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("run,encoding,seed,layer,head,mean_share,self_share,drop\n")
        for index, run_drops in enumerate(drops):
            for head, drop in enumerate(run_drops):
                file.write(f"r{index},rope,{index},1,{head},,{head + 1},{drop}\n")
    return run(path).splitlines()[1].split()


def check_statistics(root):
    path = root / "made.csv"
    # Two of the 24 x 24 orders are as extreme as two perfect ones.
    check("alike", said(path, [(1, 2, 3, 9), (0.1, 0.2, 0.3, 0.4)]) == ["rope", "1", "self", "2", "8", "1.00", "0.003", "2"],
          f"{said(path, [(1, 2, 3, 9), (0.1, 0.2, 0.3, 0.4)])}")
    # Spearman: 1 - 6 (1 + 1) / (4 x 15) = 0.8, and its opposite; every order is at least as extreme as 0.
    check("opposite", said(path, [(2, 1, 3, 4), (4, 3, 1, 2)]) == ["rope", "1", "self", "2", "8", "0.00", "1.000", "1"],
          f"{said(path, [(2, 1, 3, 4), (4, 3, 1, 2)])}")
    # Of the 24 orders, 1 + 3 have a correlation of 0.8 or more, and as many of -0.8 or less.
    check("one run", said(path, [(2, 1, 3, 4)]) == ["rope", "1", "self", "1", "4", "0.80", "0.333", "1"],
          f"{said(path, [(2, 1, 3, 4)])}")
    # Ranks 1.5, 1.5, 3.5, 3.5: 4 / sqrt(5 x 4).
    check("equal drops", said(path, [(0, 0, 1, 1)])[5] == "0.89", f"{said(path, [(0, 0, 1, 1)])}")


def main(szego):
    with tempfile.TemporaryDirectory() as folder:
        check_shares(pathlib.Path(szego).resolve(), pathlib.Path(folder))
        check_statistics(pathlib.Path(folder))
    for number, (name, good, why) in enumerate(answers, 1):
        print(f"{'' if good else 'not '}ok {number} - {name}{'' if good else ' # ' + why}")
    print(f"1..{len(answers)}")
    return int(not all(good for _, good, _ in answers))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
