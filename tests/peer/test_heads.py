#!/usr/bin/python3
"""The table `heads` of szego checkpoint against NumPy, which sums over every lag with dense rotations.
usage: test_heads.py PROGRAM [SEED]"""
import csv
import json
import os
import struct
import subprocess
import sys

from peer import Tap, scratch, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 29
tap = Tap()
print(f"# seed {SEED}")
random = np.random.default_rng(SEED)


class Model:
    """One layer of random weights: HEADS query heads and GROUPS key heads of SIZE dimensions, WIDTH wide."""

    def __init__(self, kind, length=96, size=12, width=40, heads=4, groups=2, turning=None, base=50.0, **config):
        self.length, self.size, self.width, self.heads, self.groups = length, size, width, heads, groups
        self.turning, self.base = turning or size, base
        self.both, self.normed = kind == "eurobert", kind == "qwen3"
        self.centred = kind in ("starcoder2", "stablelm")
        self.config = {"model_type": kind, "hidden_size": width, "num_attention_heads": heads,
                       "num_key_value_heads": groups, "num_hidden_layers": 1, "rope_theta": base, "head_dim": size,
                       "max_position_embeddings": length} | config
        self.window = config.get("sliding_window") or length
        self.q, self.k = (random.standard_normal((n * size, width)) for n in (heads, groups))
        self.gain = 1 + 0.3 * random.standard_normal(width)
        self.shift = 0.2 * random.standard_normal(width) if self.centred else np.zeros(width)
        biased = self.centred
        self.q_bias = random.standard_normal(heads * size) if biased else np.zeros(heads * size)
        self.k_bias = random.standard_normal(groups * size) if biased else np.zeros(groups * size)
        self.q_gain = 1 + 0.3 * random.standard_normal(size) if self.normed else None
        self.k_gain = 1 + 0.3 * random.standard_normal(size) if self.normed else None
        if self.normed:
            self.k_gain[0] = 0  # as trained models have it: rows with gains have lost this one
        self.embeddings = None

    def tensors(self):
        layer = "model.layers.0."
        found = {"self_attn.q_proj.weight": self.q, "self_attn.k_proj.weight": self.k, "input_layernorm.weight": self.gain}
        if self.centred:
            found |= {"input_layernorm.bias": self.shift, "self_attn.q_proj.bias": self.q_bias,
                      "self_attn.k_proj.bias": self.k_bias}
        if self.normed:
            found |= {"self_attn.q_norm.weight": self.q_gain, "self_attn.k_norm.weight": self.k_gain}
        named = {layer + name: value for name, value in found.items()}
        return named | ({} if self.embeddings is None else {"model.embed_tokens.weight": self.embeddings})

    def write(self, folder):
        header, data = {}, b""
        for name, value in self.tensors().items():
            content = value.astype("<f8").tobytes()
            header[name] = {"dtype": "F64", "shape": value.shape, "data_offsets": [len(data), len(data) + len(content)]}
            data += content
        text = json.dumps(header).encode()
        os.makedirs(folder)
        with open(os.path.join(folder, "model.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(self.config, file)

    # ---- What a head is made of ----

    def sides(self, head):
        """A, B, beta_Q, beta_K before a norm of queries or keys; the scale is in A and beta_Q but for that norm."""
        e, key = self.size, head // (self.heads // self.groups)
        q, k = self.q[head * e:(head + 1) * e], self.k[key * e:(key + 1) * e]
        scale = 1 if self.normed else e**-0.5
        beta_q = scale * (q @ self.shift + self.q_bias[head * e:(head + 1) * e])
        beta_k = k @ self.shift + self.k_bias[key * e:(key + 1) * e]
        a, b = scale * q * self.gain, k * self.gain
        if self.centred:
            a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
        return a, b, beta_q, beta_k

    def rotations(self):
        """R_k of every lag, and the weights of the lags."""
        n = min(self.length, self.window)
        lags = np.arange(1 - n, n) if self.both else np.arange(n)
        weight = 1 / (1 + np.abs(lags))
        half = self.turning // 2
        angle = np.outer(lags, self.base ** (-2 * np.arange(half) / self.turning))
        r = np.zeros((len(lags), self.size, self.size))
        r[:, np.arange(self.turning, self.size), np.arange(self.turning, self.size)] = 1
        first, second = np.arange(half), np.arange(half, 2 * half)
        r[:, first, first] = r[:, second, second] = np.cos(angle)
        r[:, first, second], r[:, second, first] = np.sin(angle), -np.sin(angle)
        return lags, weight / weight.sum(), r

    def isotropic(self, count):
        x = random.standard_normal((count, self.width))
        return x * np.sqrt(self.width) / np.linalg.norm(x, axis=1, keepdims=True)


def variance(weight, kernel):
    return float(weight @ (kernel - weight @ kernel) ** 2)


def noise_of(r, weight, gram_q, gram_k, mean_q, mean_k, turning):
    """sum_k w_k v(k), from dense rotations."""
    turned = mean_k.copy()
    turned[turning:] = 0
    v = [np.sum(gram_q * (m @ (gram_k + np.outer(turned, turned)) @ m.T)) + mean_q @ m @ gram_k @ m.T @ mean_q
         for m in r]
    return float(weight @ v)


def analyse(model, *arguments):
    with scratch() as folder:
        model.write(f"{folder}/model")
        run = subprocess.run([PROGRAM, "checkpoint", f"{folder}/model", "-o", f"{folder}/out/", *arguments],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(run.stderr)
        with open(f"{folder}/out/heads.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def number(row, column):
    return float(row[column]) if row[column] else float("nan")


def check_numbers(label, row, want, bound):
    for column, value in want.items():
        tap.close(f"{label}: {column}", number(row, column), value, bound * (1 + abs(value)))


# ---- Closed forms ----

def check_closed(label, model):
    lags, weight, r = model.rotations()
    f = model.width / (model.width - 1) if model.centred else 1
    for row in analyse(model):
        a, b, beta_q, beta_k = model.sides(int(row["head"]))
        self_kernel = np.array([f * np.trace(a.T @ m @ b) + beta_q @ m @ beta_k for m in r])
        mean_kernel = np.array([beta_q @ m @ beta_k for m in r])
        noise = noise_of(r, weight, f * a @ a.T, f * b @ b.T, beta_q, beta_k, model.turning)
        own, mean = variance(weight, self_kernel), variance(weight, mean_kernel)
        want = {"lags": min(model.length, model.window), "self_share": own / (own + noise), "noise": noise**0.5,
                "kernel_min": self_kernel.min(), "kernel_max": self_kernel.max()}
        if model.centred:
            want["mean_share"] = mean / (mean + noise)
        check_numbers(f"{label}, head {row['head']}", row, want, 1e-12)
        tap.ok(f"{label}, head {row['head']}: the largest value's lag", int(row["peak"]) == lags[self_kernel.argmax()],
               row["peak"])
        tap.ok(f"{label}, head {row['head']}: a mean token is known where biases are",
               (row["mean_share"] != "") == model.centred, row["mean_share"])


check_closed("RMS norm", Model("llama"))
check_closed("RMS norm, both signs", Model("eurobert"))
check_closed("LayerNorm, biases", Model("starcoder2"))
check_closed("LayerNorm, half of the head turns", Model("stablelm", turning=6, partial_rotary_factor=0.5,
                                                        use_qkv_bias=True, qk_layernorm=False))
check_closed("a window", Model("mistral", sliding_window=17))
check_closed("one position", Model("llama", length=1))

# ---- A norm of queries and keys: many tokens ----


def check_normed():
    model, tokens = Model("qwen3"), 400000
    _, weight, r = model.rotations()
    x = model.isotropic(tokens)
    for row in analyse(model):
        a, b, _, _ = model.sides(int(row["head"]))
        q, k = x @ a.T, x @ b.T
        q *= model.q_gain / np.sqrt((q**2).mean(1, keepdims=True)) * model.size**-0.5
        k *= model.k_gain / np.sqrt((k**2).mean(1, keepdims=True))
        cross, zero = k.T @ q / tokens, np.zeros(model.size)
        kernel = np.array([np.sum(m.T * cross) for m in r])
        noise = noise_of(r, weight, q.T @ q / tokens, k.T @ k / tokens, zero, zero, model.turning)
        own = variance(weight, kernel)
        # 1,024 tokens of the program: a deviation of about 1 / 32 of the correction, which is 0.2 here at most.
        check_numbers(f"q and k norms, head {row['head']}", row,
                      {"self_share": own / (own + noise), "noise": noise**0.5}, 0.03)


check_normed()

# ---- Layer 0: the vocabulary ----


def check_vocabulary():
    model = Model("llama")
    direction = random.standard_normal(model.width)
    model.embeddings = random.standard_normal((300, model.width)) + direction
    _, weight, r = model.rotations()
    z = model.embeddings / np.sqrt((model.embeddings**2).mean(1, keepdims=True))
    mean, covariance = z.mean(0), np.cov(z.T, bias=True)
    for row in analyse(model):
        a, b, _, _ = model.sides(int(row["head"]))
        kernel = np.array([a @ mean @ m @ b @ mean for m in r])
        noise = noise_of(r, weight, a @ covariance @ a.T, b @ covariance @ b.T, a @ mean, b @ mean, model.turning)
        own = variance(weight, kernel)
        check_numbers(f"vocabulary, head {row['head']}", row, {"mean_share": own / (own + noise)}, 1e-12)


check_vocabulary()

# ---- Chance ----


def check_level():
    """W_Q and W_K are independent: p is uniform on its 1,000 values, so that 5% of the heads have p <= 0.05."""
    rows = []
    for _ in range(10):
        rows += analyse(Model("llama", heads=32, groups=32, size=8, width=16, length=24))
    low = sum(number(row, "self_p") <= 0.05 for row in rows)
    # 320 heads, of which those of one model share the signs: 3 deviations of the binomial, and a half more.
    tap.ok("5% of random heads exceed chance", 3 <= low <= 35, f"{low} of {len(rows)}")
    flat = sum(row["shape"] == "flat" for row in rows)
    tap.ok("heads within chance are flat", flat == len(rows) - low, f"{flat}")


check_level()

# ---- Planted heads ----


def plant(values):
    """A llama's head whose self kernel is proportional to the real part of sum_t values[t] e^{i k theta_t}."""
    model = Model("llama", heads=1, groups=1, size=32, width=64, length=256, base=1e4)
    model.gain[:] = 1
    half = model.size // 2
    basis = np.linalg.qr(random.standard_normal((model.width, model.size)))[0].T
    block = np.zeros((model.size, model.size))
    at = np.arange(half)
    block[at, at] = block[at + half, at + half] = np.real(values)
    block[at, at + half], block[at + half, at] = -np.imag(values), np.imag(values)
    model.k, model.q = basis, block @ basis + 0.02 * random.standard_normal((model.size, model.width))
    return analyse(model)[0]


theta = 1e4 ** (-np.arange(16) / 16)
at_lag_one = plant(np.where(np.arange(16) < 10, np.exp(-1j * theta), 0))
tap.ok("the previous token: peaked at lag 1", (at_lag_one["shape"], at_lag_one["peak"]) == ("peaked", "1"),
       f"{at_lag_one['shape']} {at_lag_one['peak']}")
falling = plant(np.ones(16))
tap.ok("the nearest tokens: decaying from lag 0", (falling["shape"], falling["peak"]) == ("decaying", "0"),
       f"{falling['shape']} {falling['peak']}")
one = np.zeros(16)
one[3] = 1
wave = plant(one)
tap.ok("one pair: periodic", (wave["shape"], wave["carrier"]) == ("periodic", "3"), f"{wave['shape']} {wave['carrier']}")
tap.close("its wavelength", number(wave, "wavelength"), 2 * np.pi / theta[3], 1e-12)
far = plant(-np.ones(16))
tap.ok("a kernel that grows with the lag: no peak nearby", far["shape"] in ("rising", "peaked") and int(far["peak"]) > 100,
       f"{far['shape']} {far['peak']}")
for label, row in (("previous token", at_lag_one), ("decaying", falling), ("periodic", wave)):
    tap.ok(f"{label}: more than chance", number(row, "self_p") == 0.001, row["self_p"])

# ---- What has no numbers ----
rows = analyse(Model("llama"), "--raw")
tap.ok("--raw: rows without numbers say why", all(not row["self_share"] and "--raw" in row["note"] for row in rows))
model = Model("qwen3")
numbers = [[{name: cell for name, cell in row.items() if name != "source"} for row in analyse(model, "--threads", n)]
           for n in ("1", "2")]
tap.ok("numbers do not depend on threads", numbers[0] == numbers[1])
tap.finish()
