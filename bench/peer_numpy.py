"""The rival of `szego bench checkpoint`, `extremes` and `density`, as a careful user of NumPy writes it.

Answers requests, one a line on standard input, with one line on standard output:
    heads FOLDER FILE    singular values and eigenvalues of W_Q^T W_K of each head of a llama with BF16
                         weights in one file: each key head is factored once, by a thin QR without Q.
                         The singular values go to FILE, as doubles. Processor seconds of all threads
    extremes LAGS K THREADS FILE
                         the K largest eigenvalues of the symmetric Toeplitz matrix whose lags LAGS holds as
                         doubles, by SciPy's eigsh (ARPACK) with products by FFT; to FILE, descending
    moments LAGS M THREADS LO HI FILE
                         M Chebyshev moments of that matrix over [LO, HI] from one vector of random signs, two a
                         product; to FILE
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


def product(lags, threads):
    """x -> T x by the circulant of twice the order."""
    import scipy.fft

    n = len(lags)
    length = scipy.fft.next_fast_len(2 * n, real=True)
    column = np.zeros(length)
    column[:n] = lags
    column[length - n + 1 :] = lags[:0:-1]
    values = scipy.fft.rfft(column, workers=threads).real.copy()

    def multiply(x):
        spectrum = scipy.fft.rfft(x.ravel(), length, workers=threads)
        spectrum *= values
        return scipy.fft.irfft(spectrum, length, workers=threads, overwrite_x=True)[:n]

    return multiply


def extremes(lags, count, threads):
    import scipy.sparse.linalg

    n = len(lags)
    matrix = scipy.sparse.linalg.LinearOperator((n, n), matvec=product(lags, threads), dtype=np.float64)
    values = scipy.sparse.linalg.eigsh(
        matrix, k=count, which="LA", ncv=2 * count + 20, tol=1e-12, return_eigenvectors=False
    )
    return np.sort(values)[::-1]


def moments(lags, count, threads, low, high):
    centre, half, n = (low + high) / 2, (high - low) / 2, len(lags)
    multiply = product(lags, threads)
    before, now = np.zeros(n), np.random.default_rng(1).integers(0, 2, n) * 2.0 - 1
    result = np.empty(count + 2)
    for j in range((count + 1) // 2):
        after = multiply(now)
        after -= centre * now
        after *= (2 if j else 1) / half
        after -= before
        square, cross = now @ now / n, after @ now / n
        result[2 * j] = 2 * square - result[0] if j else square
        result[2 * j + 1] = 2 * cross - result[1] if j else cross
        before, now = now, after
    return result[:count]


def answer(name, *words):
    if name == "extremes":
        extremes(np.fromfile(words[0]), int(words[1]), int(words[2])).tofile(words[3])
        return "done"
    if name == "moments":
        lags, interval = np.fromfile(words[0]), (float(words[3]), float(words[4]))
        moments(lags, int(words[1]), int(words[2]), *interval).tofile(words[5])
        return "done"
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
