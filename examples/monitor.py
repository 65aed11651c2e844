"""A learning rate that is too high: do attention logits warn before the loss does?

usage: python3 monitor.py [FIGURE.png]     one run, and its picture (a minute)
       python3 monitor.py --seeds 10       the tables of docs/how-to/monitor.md (ten minutes of one processor)

The protocol, fixed before the runs that count: a run diverges at the first step whose loss, the mean of WINDOW steps,
is MARGIN above the least one before it and stays there to the end. An alarm is the first observed step at which a number
exceeds its threshold: FACTOR times its largest value in stable runs of other seeds.
"""
import argparse
import math
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

import torch
from torch import nn
from torch.nn import functional

import szego
from szego.figures import inference

VOCABULARY, TOKENS, BATCH, WIDTH, HEADS, LAYERS = 64, 32, 8, 64, 4, 2
STEPS, EVERY = 240, 10  # updates of the weights; one pass in EVERY is observed
RATES = {"stable": 0.005, "fast": 0.02, "too high": 0.3}  # reached linearly, at the last step
MARGIN, WINDOW, FACTOR = 0.5, 10, 2.0
NUMBERS = {"proved bound": "headroom", "largest logit": "headroom_seen"}  # threshold over the number, by the table

Course = Dict[int, float]  # a number by step


class Norm(nn.Module):  # type: ignore[misc]
    """RMSNorm."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):  # type: ignore[misc]
    """Causal attention with RoPE, without a norm of queries and keys."""

    def __init__(self, layer: int) -> None:
        super().__init__()
        self.layer, self.size = layer, WIDTH // HEADS
        self.monitor: Optional[szego.Monitor] = None
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        angle = torch.arange(TOKENS)[:, None] * 10000.0 ** (-torch.arange(self.size // 2) / (self.size // 2))
        self.cos, self.sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
        self.hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat([-second, first], -1) * self.sin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (project(x).view(*x.shape[:2], HEADS, self.size).transpose(1, 2)
                   for project in (self.q_proj, self.k_proj, self.v_proj))
        q, k, scale = self.rotated(q), self.rotated(k), self.size ** -0.5
        if self.monitor:
            self.monitor.observe(q, k, scale, "causal", self.layer)
        weights = (q @ k.transpose(-1, -2) * scale).masked_fill(self.hidden, -math.inf).softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):  # type: ignore[misc]
    """Attention and a feed-forward part, each behind a norm."""

    def __init__(self, layer: int) -> None:
        super().__init__()
        self.input_layernorm, self.self_attn = Norm(), Attention(layer)
        self.post_attention_layernorm = Norm()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):  # type: ignore[misc]
    """A decoder. Its configuration, and the names of its norms, queries and keys, are those of Llama: so szego knows what
    bounds its logits."""

    config = {"model_type": "llama", "hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
              "rope_theta": 10000.0, "rms_norm_eps": 1e-6, "vocab_size": VOCABULARY}

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(map(Block, range(LAYERS)))
        self.norm, self.lm_head = Norm(), nn.Linear(WIDTH, VOCABULARY, bias=False)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02 if weight is self.embed_tokens.weight else WIDTH ** -0.5)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def sequences(seed: int) -> torch.Tensor:
    """[STEPS, BATCH, TOKENS + 1]: a Markov chain that all seeds share; the second half of a sequence repeats the first."""
    language = torch.softmax(3 * torch.randn(VOCABULARY, VOCABULARY, generator=torch.Generator().manual_seed(0)), -1)
    chance = torch.Generator().manual_seed(seed)
    drawn = [torch.randint(VOCABULARY, (STEPS * BATCH,), generator=chance)]
    for _ in range(TOKENS // 2):
        drawn.append(torch.multinomial(language[drawn[-1]], 1, generator=chance)[:, 0])
    half = torch.stack(drawn, 1)
    return torch.cat([half, half], 1)[:, :TOKENS + 1].view(STEPS, BATCH, TOKENS + 1)


def train(seed: int, rate: float) -> Tuple[List[float], szego.Monitor]:
    """The losses of a run, and what its monitor saw."""
    torch.manual_seed(seed)
    model = Decoder()
    monitor = szego.Monitor(model, every=EVERY)
    for layer in model.layers:
        layer.self_attn.monitor = monitor
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.0)
    losses = []
    with monitor:
        for step, batch in enumerate(sequences(seed)):
            optimizer.param_groups[0]["lr"] = rate * (step + 1) / STEPS
            loss = functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            monitor.step()
            losses.append(loss.item())
    return losses, monitor


def divergence(losses: Sequence[float]) -> Optional[int]:
    """The step at which the loss leaves its least mean for good; None: it does not."""
    means = [math.fsum(losses[max(0, i - WINDOW + 1):i + 1]) / min(i + 1, WINDOW) for i in range(len(losses))]
    least = math.inf
    left: Optional[int] = None
    for step, mean in enumerate(means):
        if mean <= least + MARGIN:
            left = None
        elif left is None:
            left = step
        least = min(least, mean)
    return left


def course(monitor: szego.Monitor, number: str) -> Course:
    """{step: the largest `number` over layers and heads}."""
    table = monitor.table
    largest: Course = {}
    for step, headroom, threshold in zip(table["step"], table[NUMBERS[number]], table["threshold"]):
        largest[int(step)] = max(largest.get(int(step), 0.0), threshold / headroom)
    return largest


def alarm(values: Course, threshold: float) -> Optional[int]:
    """The first step whose value exceeds the threshold; None: none does."""
    return next((step for step, value in sorted(values.items()) if not value <= threshold), None)


def one_run(rate: str, seed: int) -> Tuple[Optional[int], Dict[str, Course], szego.Monitor]:
    """(the step of divergence, {number: its course}) of a run that is announced."""
    losses, monitor = train(seed, RATES[rate])
    left = divergence(losses)
    print(f"# {rate}, seed {seed}: least loss {min(losses):.2f}, last {losses[-1]:.2f}, "
          f"{'no divergence' if left is None else f'diverges at step {left}'}", flush=True)
    return left, {number: course(monitor, number) for number in NUMBERS}, monitor


def thresholds(seeds: Iterable[int]) -> Dict[str, float]:
    """{number: what its alarm exceeds}, by stable runs of these seeds."""
    runs = [one_run("stable", seed) for seed in seeds]
    return {number: FACTOR * max(max(courses[number].values()) for _, courses, _ in runs) for number in NUMBERS}


def interval(values: Sequence[float]) -> str:
    """"12 [10, 14]": the mean and its 95% interval by Student's t."""
    mean, low, high = inference.mean_interval(values)
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def compare(count: int) -> None:
    """Tables of `count` seeds: steps of each run that diverges, then leads and false alarms."""
    limits = thresholds(range(100, 100 + count))
    runs = {rate: [one_run(rate, seed) for seed in range(count)] for rate in RATES}
    alarms = {rate: [{number: alarm(courses[number], limits[number]) for number in NUMBERS} for _, courses, _ in found]
              for rate, found in runs.items()}
    print(f"| seed | loss diverges | {' | '.join(f'{number} above {limits[number]:.0f}' for number in NUMBERS)} |")
    print("| --- | ---: | ---: | ---: |")
    for seed, ((left, _, _), found) in enumerate(zip(runs["too high"], alarms["too high"])):
        print(f"| {seed} | {left} | {' | '.join(str(found[number]) for number in NUMBERS)} |")
    known = [{number: left - step for number, step in found.items() if step is not None}
             for (left, _, _), found in zip(runs["too high"], alarms["too high"]) if left is not None]
    known = [found for found in known if len(found) == len(NUMBERS)]
    leads = {number: [found[number] for found in known] for number in NUMBERS}
    print(f"\n| | {' | '.join(NUMBERS)} |\n| --- | ---: | ---: |")
    rows = [(f"mean lead in steps, {len(known)} of {count} runs", [interval(leads[number]) for number in NUMBERS]),
            ("least lead", [str(min(leads[number], default="none")) for number in NUMBERS])]
    for rate in ("stable", "fast"):
        calm = [found for (left, _, _), found in zip(runs[rate], alarms[rate]) if left is None]
        rows.append((f"false alarms, {rate}", [f"{sum(one[number] is not None for one in calm)} of {len(calm)}"
                                               for number in NUMBERS]))
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"\nThe bound's lead less that of the largest logit: {interval([a - b for a, b in zip(*leads.values())])} steps.")


def show(picture: Optional[str]) -> None:
    """One run that diverges, with the thresholds of one stable run; its picture, if that is wanted."""
    limits = thresholds([100])
    left, courses, monitor = one_run("too high", 0)
    for number, limit in limits.items():
        at = alarm(courses[number], limit)
        lead = f", {left - at} steps before the loss diverges" if at is not None and left is not None else ""
        print(f"{number} above {limit:.0f}: {'never' if at is None else f'at step {at}{lead}'}")
    if picture:
        szego.plot.monitor(monitor).figure.savefig(picture, dpi=200)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("picture", nargs="?", metavar="FIGURE.png", help="where the picture of the run goes")
    parser.add_argument("--seeds", type=int, metavar="N", help="the comparison, with N seeds of each kind")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.seeds:
        compare(given.seeds)
    else:
        show(given.picture)
