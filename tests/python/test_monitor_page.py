#!/usr/bin/python3
"""Every block of Python in docs/how-to/monitor.md, run with stand-ins of what the reader has: numbers against dense ones.
usage: test_monitor_page.py PROGRAM SOURCE"""
import contextlib
import io
import math
import os
import pathlib
import re
import runpy
import sys
import types
import warnings

from peer import PACKAGE, Tap, scratch, skip

SOURCE = pathlib.Path(sys.argv[2])
sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import torch
    from torch import nn
    import matplotlib  # pylint: disable=unused-import
    import pandas  # pylint: disable=unused-import
    import szego
except ImportError as error:
    skip(f"{error}: python3-torch, -numpy, -matplotlib and -pandas are needed")
try:
    import transformers
except ImportError:
    transformers = None

PAGE = (SOURCE / "docs/how-to/monitor.md").read_text(encoding="utf-8")
SEED = int(os.environ.get("SZG_TEST_SEED", "31"), 0)
EXAMPLE = runpy.run_path(str(SOURCE / "examples/monitor.py"))
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}, torch {torch.__version__}")
if transformers:
    print(f"# transformers {transformers.__version__}")
torch.manual_seed(SEED)
torch.set_num_threads(1)
SECTIONS = {part.partition("\n")[0]: re.findall(r"^```python\n(.*?)^```", part, re.M | re.S)
            for part in PAGE.split("\n## ")[1:]}
ran = []


def run(section, place, space):
    """Runs a block of the page in these names."""
    ran.append((section, place))
    exec(compile(SECTIONS[section][place], f"monitor.md, {section}, block {place}", "exec"), space)  # pylint: disable=exec-used
    return space


def dense(q, k, scale):
    """Causal logits as double-precision numbers, -inf where a key is hidden."""
    logits = q.detach().double() @ k.detach().double().transpose(-1, -2) * scale
    return logits.masked_fill(torch.ones(logits.shape[-2:], dtype=torch.bool).triu(1), -math.inf)


def same(name, monitor, q, k, scale, first=0, layer=0):
    """The table's largest logits are the dense ones."""
    want = dense(q, k.repeat_interleave(q.shape[1] // k.shape[1], 1), scale).amax((0, 2, 3)).tolist()
    table = monitor.table
    mine = table["layer"] == layer
    got, heads = table["largest_logit"][mine], table["head"][mine].tolist()
    # Both are sums of products in double precision, or of float32 numbers: gamma_d |q| |k| is far below 1e-5.
    tap.ok(f"{name}: largest logits", heads == list(range(first, first + len(want))) and
           np.allclose(got, want, rtol=1e-5, atol=1e-5), f"{heads} {got} {want}")


def weights_bound(norm, query, key, heads, scale):
    """|| W_Q D || || W_K D || width scale of each head: the closed form, in exact arithmetic."""
    gain = norm.weight.detach().double()
    q, k = (one.weight.detach().double() * gain for one in (query, key))
    size = q.shape[0] // heads
    k = k.view(-1, size, k.shape[1]).repeat_interleave(q.shape[0] // k.shape[0], 0)
    norms = (torch.linalg.svdvals(one)[..., 0] for one in (q.view(heads, size, -1), k))
    return (math.prod(norms) * gain.numel() * scale).tolist()


def proved(name, table, want):
    """Bounds are above the exact ones, by no more than float32 rounds: 64 columns, 2^-24 each, and a few factors."""
    got = np.ma.filled(table["bound"], np.nan)
    tap.ok(f"{name}: bounds", all(w <= g <= w * (1 + 1e-3) for g, w in zip(got, want)) and len(got) == len(want),
           f"{got} {want}")


# ---- transformers, and a loop ----

def trains_with_transformers():
    section = "With the Trainer of transformers"
    if not transformers:
        ran.append((section, 0))
        print("# no transformers: the block of its Trainer is not run")
        return
    config = transformers.LlamaConfig(hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, vocab_size=32)
    model = transformers.LlamaForCausalLM(config)
    rows = [{"input_ids": torch.randint(32, (16,))} for _ in range(8)]
    with scratch() as place:
        arguments = transformers.TrainingArguments(output_dir="out", max_steps=3, per_device_train_batch_size=2, report_to=[],
                                                   use_cpu=True, save_strategy="no", disable_tqdm=True)
        os.chdir(place)
        rows = [{**row, "labels": row["input_ids"]} for row in rows]
        space = run(section, 0, {"model": model, "arguments": arguments, "dataset": rows})
        found = szego.load("run/monitor")["monitor_monitor"]
        tap.ok("Trainer: the rows of step 0 are in the folder", found["step"].tolist() == [0] * 8 and
               not np.ma.getmaskarray(found["bound"]).any() and (found["bound"] >= found["largest_logit"]).all(), str(found))
        tap.ok("Trainer: they are the monitor's", np.array_equal(found["bound"], space["monitor"].table["bound"]))
        tap.ok("Trainer: the report", os.path.exists(szego.report("run")))
        os.chdir(SOURCE)


class Loop(EXAMPLE["Decoder"]):
    """The decoder of the example, whose answer has a loss."""

    def forward(self, tokens):  # pylint: disable=arguments-differ
        for layer in self.layers:
            layer.self_attn.monitor = self.space["monitor"]
        self.space["seen"] = self.space.get("seen", 0) + 1
        return types.SimpleNamespace(loss=super().forward(tokens).square().mean())


def a_loop_is_watched():
    model = Loop()
    batches = [{"tokens": torch.randint(64, (2, 32))} for _ in range(3)]
    space = {"model": model, "batches": batches, "szego": szego, "optimizer": torch.optim.SGD(model.parameters(), 0.1)}
    model.space = space
    with scratch() as place:
        os.chdir(place)
        before = [weights_bound(one.input_layernorm, one.self_attn.q_proj, one.self_attn.k_proj, 4, 0.25)
                  for one in model.layers]
        run("In a loop of your own", 0, space)
        monitor = space["monitor"]
        tap.ok("loop: one observed step of three, all heads", monitor.table["step"].tolist() == [0] * 8 and space["seen"] == 3)
        proved("loop", monitor.table, sum(before, []))
        tap.ok("loop: the folder", szego.load("run/monitor")["monitor_monitor"]["step"].tolist() == [0] * 8)
        os.chdir(SOURCE)


# ---- An attention of one's own ----

def an_attention_is_observed():
    section = "With an attention of your own"
    q, k, v = (torch.randn(2, 4, 8, 16) for _ in range(3))
    naive = types.SimpleNamespace(scaled_dot_product_attention=lambda q, k, v, is_causal: dense(
        q, k, q.shape[-1] ** -0.5).softmax(-1).to(v.dtype) @ v)
    known = nn.functional if hasattr(nn.functional, "scaled_dot_product_attention") else naive  # torch 1.13 lacks it
    space = run(section, 0, {"functional": known, "monitor": szego.Monitor(every=100)})
    out = space["attention"](q, k, v, 0)
    space["monitor"].step()
    tap.ok("attention: its answer", torch.allclose(out, dense(q, k, 0.25).softmax(-1).float() @ v, atol=1e-5))
    same("attention", space["monitor"], q, k, 0.25)

    decoder = EXAMPLE["Decoder"]()
    space = run(section, 1, {"szego": szego, "model": decoder})
    for layer in decoder.layers:
        layer.self_attn.monitor = space["monitor"]
    with space["monitor"] as monitor:
        decoder(torch.randint(64, (2, 32)))
        monitor.step()
    want = sum((weights_bound(one.input_layernorm, one.self_attn.q_proj, one.self_attn.k_proj, 4, 0.25)
                for one in decoder.layers), [])
    proved("configuration", monitor.table, want)

    blocks = [types.SimpleNamespace(attention_norm=one.input_layernorm, wq=one.self_attn.q_proj, wk=one.self_attn.k_proj)
              for one in decoder.layers]
    space = run(section, 2, {"szego": szego, "nn": nn, "blocks": blocks, "model": decoder})
    proved("view", szego.checkpoint(space["view"])["checkpoint_bounds"], want)
    with torch.no_grad():
        blocks[0].wq.weight *= 2
    proved("view: the weights are the model's", szego.checkpoint(space["view"])["checkpoint_bounds"],
           [2 * one for one in want[:4]] + want[4:])
    return space["View"]


# ---- Stand-ins with the classes and arguments of two programs ----

class ScaledDotProductAttentionWrapper(nn.Module):
    """torchtitan's: q, k, v are [batch, heads, N, d]."""

    def forward(self, q, k, v, *, scale=None, enable_gqa=False, is_causal=True):
        self.given = q, k, scale, is_causal
        k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], 1) if enable_gqa else one for one in (k, v))
        return dense(q, k, q.shape[-1] ** -0.5 if scale is None else scale).softmax(-1).to(v.dtype) @ v


class GQAttention(nn.Module):
    """torchtitan's, without the rotation, whose answers have the norms of what it is given. scaling: as for head_dim."""

    def __init__(self, scaling):
        super().__init__()
        self.wq, self.wk, self.wv = (nn.Linear(64, size, bias=False) for size in (64, 32, 32))
        self.inner_attention, self.scaling = ScaledDotProductAttentionWrapper(), scaling

    def forward(self, x):
        q, k, v = (one(x).view(*x.shape[:2], -1, 16).transpose(1, 2) for one in (self.wq, self.wk, self.wv))
        more = {} if self.scaling is None else {"scale": self.scaling}
        return self.inner_attention(q, k, v, enable_gqa=True, **more).transpose(1, 2).flatten(2)


class Titan(nn.Module):
    """The blocks of a torchtitan model: a ModuleDict with the numbers as names."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict()
        for name, scaling in (("0", None), ("1", 0.25)):
            block = nn.Module()
            block.attention_norm, block.attention = EXAMPLE["Norm"](), GQAttention(scaling)
            self.layers[name] = block

    def forward(self, x):
        for block in self.layers.values():
            x = x + block.attention(block.attention_norm(x) * (64 / EXAMPLE["WIDTH"]))
        return x


def torchtitan_is_watched(view):
    if int(torch.__version__.split(".", maxsplit=1)[0]) < 2:
        ran.append(("torchtitan", 0))
        print("# torch 1 has no hooks with keywords: the block of torchtitan is not run")
        return
    model = Titan()
    with scratch() as place:
        os.chdir(place)
        space = run("torchtitan", 0, {"szego": szego, "model": model, "View": view})
        with space["monitor"] as monitor:
            model(torch.randn(2, 8, 64))
            monitor.step()
        os.chdir(SOURCE)
    for number, block in enumerate(model.layers.values()):
        q, k, scale, _ = block.attention.inner_attention.given
        same(f"torchtitan, layer {number}", monitor, q, k, 0.25 if scale is None else scale, layer=number)
    proved("torchtitan", monitor.table, sum((weights_bound(one.attention_norm, one.attention.wq, one.attention.wk, 4, 0.25)
                                             for one in model.layers.values()), []))


class DotProductAttention(nn.Module):
    """Megatron core's: query and key are [N, batch, heads, d], layers count from 1."""

    def __init__(self, layer_number, softmax_scale):
        super().__init__()
        self.layer_number, self.softmax_scale = layer_number, softmax_scale

    def forward(self, query, key, value, attention_mask, attn_mask_type=None, attention_bias=None, packed_seq_params=None):
        return value


class TEDotProductAttention(DotProductAttention):
    """Transformer Engine's may have no attribute of the scale."""

    def __init__(self, layer_number):
        super().__init__(layer_number, None)
        del self.softmax_scale


def megatron_is_watched():
    model = nn.ModuleList([DotProductAttention(1, 0.5), TEDotProductAttention(2)])
    with scratch() as place:
        os.chdir(place)
        monitor = run("Megatron-LM", 0, {"szego": szego, "model": model, "tensor_rank": 1, "heads_per_rank": 4})["monitor"]
        q, k = torch.randn(8, 2, 4, 16), torch.randn(8, 2, 2, 16)
        for one in model:
            one(q, k, k, None, attn_mask_type="causal")
        monitor.step(1)
        turned = [one.permute(1, 2, 0, 3) for one in (q, k)]
        same("Megatron, its scale", monitor, *turned, 0.5, first=4)
        same("Megatron, 1/sqrt(d)", monitor, *turned, 0.25, first=4, layer=1)
        tap.ok("Megatron: no bound, and why", np.ma.getmaskarray(monitor.table["bound"]).all() and
               all("no model" in text for text in monitor.table["bound_of"]), str(monitor.table["bound_of"]))
        os.chdir(SOURCE)  # the rows that follow go to the same folder
        monitor.step(100)
        model[0](torch.randn(16, 4, 16), torch.randn(16, 2, 16), None, None, packed_seq_params=True)
        monitor.step(101)
        found = szego.load(os.path.join(place, "run/monitor"))["monitor_monitor"]
        tap.ok("Megatron: the folder stays where it was", found["step"].tolist() == [0] * 8 + [100] and
               not os.path.exists(os.path.join(SOURCE, "run")), str(found["step"]))
    last = monitor.table["seen"][-1]
    tap.ok("Megatron: packed sequences are named", "(16, 4, 16)" in last, str(last))


# ---- Loggers ----

class Log(list):
    """wandb, mlflow and a SummaryWriter, which take what these take."""

    def log(self, data, step=None):
        self.append(("wandb", dict(data), step))

    def log_metrics(self, metrics, step=None):
        assert all(re.fullmatch(r"[\w./ -]+", name) and isinstance(value, float) for name, value in metrics.items()), metrics
        self.append(("mlflow", dict(metrics), step))

    def add_scalar(self, tag, scalar_value, global_step=None):
        self.append((tag, scalar_value, global_step))


def scalars_are_logged():
    monitor, log = szego.Monitor(every=100), Log()
    monitor.observe(*(torch.randn(1, 2, 8, 16) for _ in range(2)), mask="causal", layer=3)
    monitor.step()
    scalars = monitor.scalars()
    for step in (0, 1):
        run("Weights & Biases, TensorBoard, MLflow", 0, {"step": step, "monitor": monitor, "wandb": log, "mlflow": log,
                                                         "writer": log})
    tap.ok("loggers: each got the numbers of step 0 once", log == [("wandb", scalars, 0), ("mlflow", scalars, 0)] +
           [(name, value, 0) for name, value in scalars.items()], str(log))
    tap.ok("loggers: names as the page has them", {"szego/headroom_seen", "szego/layer3/largest_logit"} <= set(scalars))


# ---- The example, and its tables ----

def losses_diverge_by_the_rule():
    """Against the rule in its own words: at each step, over all steps after it."""
    window, margin = EXAMPLE["WINDOW"], EXAMPLE["MARGIN"]
    rng = np.random.default_rng(SEED)
    kinds = set()
    for trial in range(300):
        losses = np.abs(np.cumsum(rng.normal(0, 0.4, 40))) + rng.choice([0, 0, 1]) * np.r_[np.zeros(25), np.full(15, 2.0)]
        if trial % 10 == 0:
            losses[30:] = np.nan if trial % 20 else np.inf
        means = [np.mean(losses[max(0, i - window + 1):i + 1]) for i in range(40)]
        above = [not m <= min([math.inf] + [x for x in means[:i] if not np.isnan(x)]) + margin for i, m in enumerate(means)]
        want = next((i for i in range(40) if all(above[i:])), None)
        got = EXAMPLE["divergence"](losses.tolist())
        kinds.add(want is None)
        if got != want:
            tap.ok("divergence", False, f"trial {trial}: {got}, {want}: {losses.tolist()}")
            return
    tap.ok("divergence by the rule, of runs that do and that do not", kinds == {False, True}, str(kinds))
    tap.ok("an alarm is the first above, or not a number", [EXAMPLE["alarm"](values, 2.0) for values in (
        {10: 3.0, 0: 2.0, 20: 9.0}, {0: 1.0}, {0: 1.0, 10: math.nan})] == [10, None, 10])


def a_short_comparison_prints_its_tables():
    names = EXAMPLE["train"].__globals__
    kept = names["STEPS"], names["EVERY"]
    names["STEPS"], names["EVERY"] = 12, 4
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            EXAMPLE["compare"](2)
            EXAMPLE["show"](None)
    finally:
        names["STEPS"], names["EVERY"] = kept
    text = said.getvalue()
    tap.ok("comparison: every run is announced", len(re.findall("^# ", text, re.M)) == 8 + 2, text)
    tap.ok("comparison: rows", re.findall(r"^\| (\d) \|", text, re.M) == ["0", "1"] and "| false alarms, stable | " in text and
           "proved bound above " in text, text)


def leads_of_the_page_add_up():
    """Means and intervals of the table of leads, by the table of runs. 2.262: what abs(t) of 9 degrees exceeds in 5%."""
    runs = [[int(cell) for cell in row] for row in re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.M)]
    runs = np.array(runs)
    tap.ok("the page has ten runs", runs.shape == (10, 4) and runs[:, 0].tolist() == list(range(10)), str(runs))
    lead = {"bound": runs[:, 1] - runs[:, 2], "logit": runs[:, 1] - runs[:, 3]}
    lead["difference"] = lead["bound"] - lead["logit"]
    interval = {}
    for name, values in lead.items():
        reach = 2.262157 * values.std(ddof=1) / math.sqrt(10)
        interval[name] = f"{values.mean():.1f} [{values.mean() - reach:.1f}, {values.mean() + reach:.1f}]"
    row = f"| mean lead in steps, 10 of 10 runs | {interval['bound']} | {interval['logit']} |"
    tap.ok("mean leads", row in PAGE, row)
    tap.ok("least leads", f"| least lead | {lead['bound'].min()} | {lead['logit'].min()} |" in PAGE, str(lead))
    tap.ok("the difference", f"{interval['difference']} steps" in PAGE, interval["difference"])


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    trains_with_transformers()
    a_loop_is_watched()
    made = an_attention_is_observed()
    torchtitan_is_watched(made)
    megatron_is_watched()
    scalars_are_logged()
    losses_diverge_by_the_rule()
    a_short_comparison_prints_its_tables()
    leads_of_the_page_add_up()
every = [(section, place) for section, blocks in SECTIONS.items() for place in range(len(blocks))]
tap.ok("every block of the page was run", len(every) > 6 and set(ran) == set(every), f"{set(every) - set(ran)}")
tap.finish()
