"""What a szego.Monitor costs a training: a decoder in plain PyTorch, whose steps are timed with and without it."""
import math
import time
from typing import Callable, Dict, Iterator, Optional

import numpy as np

LAYERS, WIDTH, HEADS, TOKENS, BATCH, VOCABULARY, EVERY = 6, 256, 8, 256, 4, 512, 100
NAME = f"training step, {LAYERS} layers of width {WIDTH}"


def _decoder(torch):
    """The decoder, under Llama's names. `observe` of an attention: who is told q, k, scale, mask and layer."""
    nn = torch.nn

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(WIDTH))

        def forward(self, x):
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight

    class Attention(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer, self.observe = layer, None
            self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
            self.hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)

        def forward(self, x):
            q, k, v = (one(x).view(*x.shape[:2], HEADS, -1).transpose(1, 2) for one in (self.q_proj, self.k_proj, self.v_proj))
            scale = q.shape[-1] ** -0.5
            if self.observe:
                self.observe(q, k, scale, "causal", self.layer)
            weights = (q @ k.transpose(-1, -2) * scale).masked_fill(self.hidden, -math.inf).softmax(-1)
            return self.o_proj((weights @ v).transpose(1, 2).reshape(x.shape))

    class Block(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.input_layernorm, self.post_attention_layernorm, self.self_attn = Norm(), Norm(), Attention(layer)
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x):
            x = x + self.self_attn(self.input_layernorm(x))
            return x + self.mlp(self.post_attention_layernorm(x))

    class Decoder(nn.Module):
        config = {"model_type": "llama", "hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
                  "rope_theta": 10000.0, "rms_norm_eps": 1e-6}

        def __init__(self):
            super().__init__()
            self.embed_tokens, self.lm_head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
            self.layers = nn.ModuleList(map(Block, range(LAYERS)))

        def forward(self, tokens):
            x = self.embed_tokens(tokens)
            for layer in self.layers:
                x = layer(x)
            return self.lm_head(x)

    return Decoder()


class Training:
    """A training by AdamW, alone or with a monitor that observes every pass."""

    def __init__(self, torch, watched: bool):
        from . import Monitor  # pylint: disable=import-outside-toplevel
        torch.manual_seed(0)
        self.torch, self.model = torch, _decoder(torch)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.tokens = torch.randint(VOCABULARY, (BATCH, TOKENS + 1))
        self.monitor = Monitor(self.model, every=1) if watched else None
        for layer in self.model.layers:
            layer.self_attn.observe = self.monitor and self.monitor.observe

    def step(self) -> None:
        """Forward, backward, update."""
        answer = self.model(self.tokens[:, :-1])
        loss = self.torch.nn.functional.cross_entropy(answer.flatten(0, 1), self.tokens[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.monitor:
            self.monitor.step()


def _idle(torch) -> Callable[[], None]:
    """What a monitor is told in a step that it does not observe."""
    from . import Monitor  # pylint: disable=import-outside-toplevel
    monitor, q = Monitor(_decoder(torch), every=10**9), torch.zeros(BATCH, HEADS, TOKENS, WIDTH // HEADS)
    monitor.step(1)

    def step() -> None:
        for layer in range(LAYERS):
            monitor.observe(q, q, 1.0, "causal", layer)
        monitor.step()
    return step


def _processor_time(call: Callable[[], None]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def measure(threads: Optional[int], repeats: int) -> Iterator[Dict]:
    """A row: the mean step of a run that observes one pass in EVERY, in milliseconds, and its ratio to a step of the same run
    alone. Nothing without PyTorch. Processor time, in turn: a hundredth of a step is less than what other programs take."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    before = torch.get_num_threads()
    if threads:
        torch.set_num_threads(threads)
    alone, watched, idle = Training(torch, False), Training(torch, True), _idle(torch)
    with watched.monitor:
        rounds = np.array([[_processor_time(call) for call in (alone.step, watched.step, idle)]
                           for _ in range(repeats + 1)])[1:]
    torch.set_num_threads(before)
    without, observed, told = rounds.T
    cost = ((EVERY - 1) * told + observed - without) / EVERY
    yield {"question": NAME, "threads": "all" if threads is None else str(threads),
           "ms": [1e3 * float(np.median(one)) for one in (without + cost, without, observed)],
           "ratios": [float(np.median(1 + cost / without))]}
