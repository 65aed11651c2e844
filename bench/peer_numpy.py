"""The rival of `szego bench checkpoint`: spectra of every head as a careful user of NumPy writes it.

Answers requests, one a line on standard input, with one line on standard output:
    heads FOLDER FILE    singular values and eigenvalues of W_Q^T W_K of each head of a llama with BF16
                         weights in one file: each key head is factored once, by a thin QR without Q.
                         The singular values go to FILE, as doubles. Processor seconds of all threads
    peak                 largest resident memory in MiB
    version
"""

import json
import struct
import sys
import time
import traceback

import numpy as np


def read(path):
    """The tensors of a safetensors file, as doubles, when they are asked for by name."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    data = np.memmap(path, np.uint8, "r", offset=8 + length)

    def tensor(name):
        begin, end = header[name]["data_offsets"]
        bits = data[begin:end].view(np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64).reshape(header[name]["shape"])

    return tensor


def analyse(folder):
    with open(folder + "/config.json") as file:
        config = json.load(file)
    tensor = read(folder + "/model.safetensors")
    heads, key_heads = config["num_attention_heads"], config["num_key_value_heads"]
    size, width = config["head_dim"], config["hidden_size"]
    singular, eigenvalues = [], []
    for layer in range(config["num_hidden_layers"]):
        stem = "model.layers.%d.self_attn." % layer
        q = tensor(stem + "q_proj.weight").reshape(heads, size, width) / np.sqrt(size)
        k = tensor(stem + "k_proj.weight").reshape(key_heads, size, width)
        r_k = [np.linalg.qr(rows.T, mode="r") for rows in k]
        for head in range(heads):
            key = head // (heads // key_heads)
            r_q = np.linalg.qr(q[head].T, mode="r")
            singular.append(np.linalg.svd(r_q @ r_k[key].T, compute_uv=False))
            eigenvalues.append(np.linalg.eigvals(k[key] @ q[head].T))
    return np.array(singular), np.array(eigenvalues)


def answer(name, *words):
    if name == "heads":
        start = time.process_time()
        singular, _ = analyse(words[0])
        seconds = time.process_time() - start
        singular.tofile(words[1])
        return "%.6f" % seconds
    if name == "peak":
        with open("/proc/self/status") as status:
            kib = next(line for line in status if line.startswith("VmHWM:")).split()[1]
        return "%.1f" % (int(kib) / 1024)
    return np.__version__


def main():
    for line in sys.stdin:
        try:
            reply = answer(*line.split())
        except Exception as error:  # the one who asked shall know why
            traceback.print_exc()
            reply = "error " + " ".join(("%s: %s" % (type(error).__name__, error)).split())[:300]
        print(reply, flush=True)


main()
