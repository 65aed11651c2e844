"""The rival of `szego bench train`: the paper's decoder as one writes it in PyTorch.

Answers requests, one a line on standard input, with one line on standard output:
    device tf32 | f32 | bf16      from here on a GPU, compiled where PyTorch can; its name, or none
    open ENCODING BATCH LENGTH WIDTH HIDDEN LAYERS HEADS LATENT VOCABULARY CLASSES DROPOUT
    step | evaluate               of the model that was opened
    steps COUNT                   so many of them, and waits for the last
    product ORDER COUNT           square matrix products one after the other, and waits
    attention DROPOUT             forward of one layer's attention alone, at the same sizes
    peak                          largest resident memory in MiB
    version
"""

import math
import os
import sys
import traceback

import torch
import torch.nn.functional as F
from torch import nn


def attend(q, k, v, mask, dropout, training):
    """q, k, v [batch, heads, length, size], mask added to the scores; None: the causal one."""
    rate = dropout if training else 0.0
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=rate)
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=rate)
    weights = torch.matmul(q * (1 / math.sqrt(q.shape[-1])), k.transpose(-2, -1))
    weights = torch.softmax(weights.add_(mask), dim=-1)
    if rate > 0:
        weights = F.dropout(weights, rate, training=True)
    return torch.matmul(weights, v)


def rotate(x, factors):
    """Interleaved pairs of x [..., length, size] times factors [length, size / 2], complex or [.., 2]."""
    if not factors.is_complex():  # the compiler generates no code for complex numbers
        even, odd = x[..., ::2], x[..., 1::2]
        c, s = factors[..., 0].to(x.dtype), factors[..., 1].to(x.dtype)
        return torch.stack((even * c - odd * s, even * s + odd * c), dim=-1).flatten(-2)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * factors).flatten(-2)


def rotary_factors(length, size):
    speed = 10000.0 ** (-torch.arange(0, size, 2) / size)
    angle = torch.arange(length)[:, None] * speed
    return torch.polar(torch.ones_like(angle), angle)


class RotaryAttention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.qkv = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x, factors, mask):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.size.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = rotate(q, factors), rotate(k, factors)
        heads = attend(q, k, v, mask, self.size.dropout, self.training)
        return self.out(heads.transpose(1, 2).reshape(batch, length, width))


class LatentAttention(nn.Module):
    """Multi-head latent attention with a decoupled rotary part: DeepSeek-V2's."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        width, latent, head = size.width, size.latent, size.width // size.heads
        self.down = nn.Linear(width, 2 * latent + head, bias=False)  # queries, keys, rotary key
        self.queries = nn.Linear(latent, 2 * width, bias=False)  # content and rotary parts
        self.keys_values = nn.Linear(latent, 2 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, factors, mask):
        batch, length, width = x.shape
        heads, latent, head = self.size.heads, self.size.latent, width // self.size.heads

        def split(y, parts):
            return y.view(batch, length, parts, heads, -1).permute(2, 0, 3, 1, 4)

        low_q, low_kv, rotary_key = self.down(x).split([latent, latent, head], dim=-1)
        q, rotary_q = split(self.queries(low_q), 2)
        k, v = split(self.keys_values(low_kv), 2)
        rotary_key = rotate(rotary_key, factors)[:, None].expand(-1, heads, -1, -1)
        q = torch.cat([q, rotate(rotary_q, factors)], dim=-1)
        k = torch.cat([k, rotary_key], dim=-1)
        y = attend(q, k, v, mask, self.size.dropout, self.training)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.attention = (LatentAttention if size.encoding == "mla" else RotaryAttention)(size)
        self.up = nn.Linear(size.width, size.hidden)
        self.down = nn.Linear(size.hidden, size.width)
        self.dropout = size.dropout

    def forward(self, x, factors, mask):
        y = self.attention(self.norm1(x), factors, mask)
        x = x + F.dropout(y, self.dropout, self.training)
        y = self.down(F.relu(self.up(self.norm2(x))))
        return x + F.dropout(y, self.dropout, self.training)


class Decoder(nn.Module):
    def __init__(self, size, full=False):
        """full: every sequence has the whole length, so that the causal mask is all there is."""
        super().__init__()
        self.full = full
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        self.blocks = nn.ModuleList([Block(size) for _ in range(size.layers)])
        self.classes = nn.Linear(size.width, size.classes)
        factors = rotary_factors(size.length, size.width // size.heads)
        self.register_buffer("factors", torch.view_as_real(factors) if full else factors)

    def forward(self, tokens, lengths):
        length = tokens.shape[1]
        if self.full:
            x = self.embedding(tokens)
            for block in self.blocks:
                x = block(x, self.factors[:length], None)
            return self.classes(x.mean(1))
        place = torch.arange(length)
        real = place < lengths[:, None]
        allowed = (place[:, None] >= place) & real[:, None, :]
        mask = torch.zeros(allowed.shape).masked_fill_(~allowed, -math.inf)[:, None]
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.factors[:length], mask)
        weight = real / lengths[:, None]
        return self.classes(torch.einsum("bl,blw->bw", weight, x))


class Size:
    def __init__(self, words):
        self.encoding = words[0]
        names = "batch length width hidden layers heads latent vocabulary classes".split()
        for name, value in zip(names, words[1:]):
            setattr(self, name, int(value))
        self.dropout = float(words[10])


class Bench:
    precision = None  # of the GPU; None: the CPU
    result = None  # of products

    def device(self, precision):
        if not torch.cuda.is_available() or not hasattr(F, "scaled_dot_product_attention"):
            return "none"
        torch.set_default_device("cuda")
        torch.set_float32_matmul_precision("highest" if precision == "f32" else "high")
        torch.backends.cudnn.allow_tf32 = precision != "f32"
        self.precision = precision
        return torch.cuda.get_device_name()

    def autocast(self):
        return torch.autocast("cuda", torch.bfloat16, enabled=self.precision == "bf16")

    def open(self, *words):
        self.size = size = Size(words)
        torch.manual_seed(1)
        self.model = Decoder(size, full=self.precision is not None)
        kind = {"fused": True} if self.precision else {"foreach": True}
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=1e-4, betas=(0.98, 0.9), eps=1e-8, weight_decay=1e-5, **kind
        )
        self.tokens = torch.randint(1, size.vocabulary, (size.batch, size.length))
        self.lengths = torch.full((size.batch,), size.length)
        self.labels = torch.randint(0, size.classes, (size.batch,))
        if self.precision:
            self.compiled = torch.compile(self.model)
            return self.steps(5)  # compiles, for the clock must not
        shape = (3, size.batch, size.heads, size.length, size.width // size.heads)
        self.qkv = torch.randn(shape)
        self.causal = torch.full((size.length, size.length), -math.inf).triu_(1)
        return "ok"

    def step(self):
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.model(self.tokens, self.lengths), self.labels)
        loss.backward()
        self.optimiser.step()
        return "%.6g" % loss.item()

    def steps(self, count):
        self.model.train()
        for _ in range(int(count)):
            self.optimiser.zero_grad(set_to_none=True)
            with self.autocast():
                loss = F.cross_entropy(self.compiled(self.tokens, self.lengths), self.labels)
            loss.backward()
            self.optimiser.step()
        return "%.6g" % loss.item()

    def product(self, order, count):
        if self.result is None or self.result.shape[0] != int(order):
            kind = torch.bfloat16 if self.precision == "bf16" else torch.float32
            self.factor = torch.randn(2, int(order), int(order)).to(kind).unbind()
            self.result = torch.empty_like(self.factor[0])
        for _ in range(int(count)):
            torch.matmul(*self.factor, out=self.result)
        torch.cuda.synchronize()
        return "ok"

    def evaluate(self):
        self.model.eval()
        with torch.inference_mode():
            logits = self.model(self.tokens, self.lengths)
            loss = F.cross_entropy(logits, self.labels)
            correct = (logits.argmax(1) == self.labels).sum().item()
        return "%.6g %d" % (loss.item(), correct)

    def attention(self, dropout):
        with torch.inference_mode():
            attend(*self.qkv, self.causal, float(dropout), True)
        return "ok"

    def peak(self):
        with open("/proc/self/status") as status:
            kib = next(line for line in status if line.startswith("VmHWM:")).split()[1]
        return "%.1f" % (int(kib) / 1024)

    def version(self):
        with open("/proc/self/maps") as maps:
            openmp = any("openblas-openmp" in line for line in maps)
        if self.precision:
            return "%s compiled, %s" % (torch.__version__, self.precision)
        return torch.__version__ + (", OpenMP BLAS" if openmp else "")


def main():
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "0")) or torch.get_num_threads())
    bench = Bench()
    for line in sys.stdin:
        name, *words = line.split()
        try:
            answer = getattr(bench, name)(*words)
        except Exception as error:  # the one who asked shall know why
            traceback.print_exc()
            answer = "error " + " ".join(("%s: %s" % (type(error).__name__, error)).split())[:300]
        print(answer, flush=True)


main()
