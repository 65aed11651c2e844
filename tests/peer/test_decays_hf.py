#!/usr/bin/python3
"""The table `decays` against the log decays that modules of transformers compute.

Each tiny model's recurrent layers read random tokens, and the tokens on which theory.md says that a gate reaches its
ends: the direction is that of the module's own gradient. What the module sums up over the steps is recorded. No decay
is outside its interval, in float32, bfloat16 and float16; in float32 the ends are reached, and the quantiles are those
of the samples. usage: test_decays_hf.py PROGRAM"""
import csv
import math
import os
import subprocess
import sys

from peer import Tap, scratch, skip, tool

LEFT_OUT = "decays of ten model types were not compared with modules (./check --release does it)"
try:
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
    from torch.overrides import TorchFunctionMode
except ImportError as missing:
    skip(f"{missing}: {LEFT_OUT}")
if not transformers.is_torch_available():
    skip(f"transformers {transformers.__version__} takes no torch {torch.__version__}: {LEFT_OUT}")

PROGRAM = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("SZG_TEST_SEED", "33"), 0)
VERSION = int(transformers.__version__.split(".")[0])
BATCHES, TOKENS = 200, 512  # 102,400 samples
#: At most 200 shares are compared: a share exceeds it with probability 2e-9.
DEVIATIONS = 6
#: In float32 a bound is wider than what is reached by some (2 d + 50) 2^-24 of the argument, here below 60.
REACHED = 5e-4
tap = Tap()
torch.manual_seed(SEED)
torch.set_num_threads(1)
print(f"# transformers {transformers.__version__}, torch {torch.__version__}, SZG_TEST_SEED={SEED}")

SIZES = dict(vocab_size=16, hidden_size=24, intermediate_size=8, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=2)
LINEAR = dict(SIZES, layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2, linear_num_value_heads=6,
              linear_key_head_dim=4, linear_value_head_dim=4, linear_num_heads=2, linear_head_dim=4)
MOE = dict(num_experts=2, num_experts_per_tok=1, moe_intermediate_size=8, shared_expert_intermediate_size=8, n_routed_experts=2,
           n_group=1, topk_group=1)
MLA = dict(MOE, num_key_value_heads=4, kv_lora_rank=8, q_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=4)
MAMBA = dict(mamba_n_heads=4, mamba_d_state=4, mamba_d_conv=2, mamba_expand=2, mamba_n_groups=1, mamba_chunk_size=64)
#: What one configuration may not have is left out for it.
MODELS = {
    "qwen3_next": dict(LINEAR, **MOE),
    "qwen3_5_text": LINEAR,
    "olmo_hybrid": LINEAR,
    "kimi_linear": dict(LINEAR, **MLA),
    "bailing_hybrid": dict(LINEAR, **MLA, kda_lower_bound=-3.0),
    "bailing_hybrid, not bounded": dict(LINEAR, **MLA, kda_safe_gate=False),
    "glm5_next_text": dict(LINEAR, **dict(MLA, qk_rope_head_dim=0), linear_lower_bound=-4.0, index_n_heads=2, index_head_dim=8),
    "bamba": dict(SIZES, **MAMBA, attn_layer_indices=[1], hidden_size=32, mamba_proj_bias=True),
    "bamba, clamped": dict(SIZES, **MAMBA, attn_layer_indices=[1], hidden_size=32, time_step_limit=(0.05, 3.0)),
    "falcon_h1": dict(SIZES, **dict(MAMBA, mamba_n_groups=2), mamba_d_ssm=48, mamba_d_head=12, ssm_in_multiplier=0.7,
                      ssm_multipliers=[0.9, 0.8, 0.7, 0.6, 1.3], mamba_proj_bias=True),
    "granitemoehybrid": dict(SIZES, **dict(MAMBA, mamba_d_head=12), num_local_experts=0, shared_intermediate_size=8,
                             layer_types=["mamba", "attention"]),
    "nemotron_h": dict(SIZES, layers_block_type=["linear_attention", "full_attention"], mamba_num_heads=4, mamba_head_dim=4,
                       ssm_state_size=4, conv_kernel=2, n_groups=1, chunk_size=64),
    "zamba2": dict(SIZES, mamba_d_state=4, mamba_expand=2, mamba_headdim=12, n_mamba_heads=4, mamba_ngroups=1, num_mem_blocks=1,
                   layers_block_type=["mamba", "hybrid"], hybrid_layer_ids=[1], adapter_rank=4, chunk_size=64),
    "mamba2": dict(vocab_size=16, hidden_size=24, num_hidden_layers=2, num_heads=4, head_dim=12, state_size=4, n_groups=1,
                   expand=2, chunk_size=64),
}
#: These have no such model in version 4.
NEW = ("qwen3_5_text", "olmo_hybrid", "kimi_linear", "bailing_hybrid", "glm5_next_text", "nemotron_h")


families = tool("families")


class Found(Exception):
    """The rest of the layer is of no use."""


class Sums(TorchFunctionMode):
    """Ends at the first running sum over the steps, which receives the log decays of each."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in (torch.cumsum, torch.Tensor.cumsum) and args[0].is_floating_point():
            raise Found(args[0])
        return func(*args, **(kwargs or {}))


def decays_of(mixer, normed):
    """[batch, tokens, heads, channels] of a mixer that reads these tokens."""
    try:
        with Sums():
            mixer(normed)
        raise RuntimeError("the mixer sums up no decays")
    except Found as sums:
        g = sums.args[0]
    if g.dim() == 4:  # [batch, heads, chunks, steps], or the same with chunks before
        heads = mixer.A_log.numel()
        g = (g if g.shape[1] == heads else g.transpose(1, 2)).unsqueeze(-1)
    batch, heads, _, _, channels = g.shape
    return g.reshape(batch, heads, -1, channels)[:, :, :normed.shape[1]].transpose(1, 2)


def recurrent(model):
    """(layer, its norm, its mixer) of each layer that is recurrent."""
    for name, mixer in model.named_modules():
        gate = getattr(mixer, "forget_gate", mixer)
        if isinstance(getattr(gate, "A_log", None), torch.Tensor) and not name.endswith("forget_gate"):
            path = name.split(".")
            layer = int(next(part for part in path if part.isdigit()))
            parent = model.get_submodule(".".join(path[:-1]))
            yield layer, getattr(parent, "input_layernorm", None) or parent.norm, mixer


def table(folder, *options):
    out, config = os.path.join(folder, "out"), os.path.join(folder, "config.json")
    with open(config, encoding="utf-8") as file:  # version 4 writes what is no JSON
        text = file.read().replace(" Infinity", ' {"__float__": "Infinity"}')
    with open(config, "w", encoding="utf-8") as file:
        file.write(text.replace('{"__float__": {"__float__": "Infinity"}}', '{"__float__": "Infinity"}')
                   .replace('"__float__": {"__float__": "Infinity"}', '"__float__": "Infinity"'))
    done = subprocess.run([PROGRAM, "checkpoint", folder, "-q", "-o", out + "/", *options], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(os.path.join(out, "decays.csv"), encoding="utf-8") as file:
        return {(int(row["layer"] or -1), int(row["head"] or -1)): row for row in csv.DictReader(file)}


def number(row, column):
    return float(row[column]) if row[column] else math.inf


def check_inside(name, rows, layer, g):
    """Every sample of every head."""
    for head in range(g.shape[2]):
        row, own = rows[layer, head], g[:, :, head].double()
        low, high = number(row, "log_decay_min"), number(row, "log_decay_max")
        tap.ok(f"{name}: layer {layer}, head {head}: no decay is outside", low <= float(own.min()) and float(own.max()) <= high,
               f"[{low!r}, {high!r}] has not [{float(own.min())!r}, {float(own.max())!r}]")


def attaining(norm, mixer, d):
    """Tokens, one for each head, channel and sign, on which its gate is largest or least."""
    gain = torch.stack([norm(1e3 * math.sqrt(d) * torch.eye(d)[i:i + 1])[0, i] for i in range(d)]).detach() / math.sqrt(d)
    probe = torch.zeros(1, 64, d, requires_grad=True)
    g = decays_of(mixer, probe)[0, 0]
    found = []
    for value in g.flatten():
        grad, = torch.autograd.grad(value, probe, retain_graph=True)
        found += [grad[0, 0] * gain, -grad[0, 0] * gain]
    tokens = torch.stack(found)
    return 1e4 * tokens / tokens.norm(dim=1, keepdim=True)


def check_reached(name, rows, layer, g, mixer):
    """A mixer that clamps its time steps does so here, where it reads many tokens, and not where it reads one."""
    least, most = getattr(mixer, "time_step_limit", None) or (0.0, math.inf)
    if hasattr(mixer, "time_step_min") and VERSION < 5:  # Zamba 2
        least = mixer.time_step_min
    rates = getattr(mixer, "forget_gate", mixer).A_log.detach().double().exp().flatten().tolist()
    for head in range(g.shape[2]):
        row, own = rows[layer, head], g[:, :, head].double()
        for end, value in (("log_decay_min", float(own.min())), ("log_decay_max", float(own.max()))):
            bound = -rates[head] * min(max(-number(row, end) / rates[head], least), most)
            tap.ok(f"{name}: layer {layer}, head {head}: {end} is reached",
                   abs(value - bound) <= REACHED * abs(bound) + 2e-7 * abs(number(row, "log_decay_min")), f"{value!r} of {bound!r}")


def check_quantiles(name, rows, layer, g):
    """Channels of a token depend on each other: the deviation is at most that of one."""
    samples = g.shape[0] * g.shape[1]
    for head in range(g.shape[2]):
        half = -math.log(2) / g[:, :, head].double()
        for column, chance in (("half_life_q01", 0.01), ("half_life_q50", 0.5), ("half_life_q99", 0.99)):
            at = number(rows[layer, head], column)
            share, equal = float((half < at * (1 - 1e-5)).double().mean()), float((half <= at * (1 + 1e-5)).double().mean())
            slack = DEVIATIONS * math.sqrt(chance * (1 - chance) / samples)
            tap.ok(f"{name}: layer {layer}, head {head}: {column}", share - slack <= chance <= equal + slack,
                   f"{at!r}: {share} to {equal} of {samples} samples are shorter")


def settings_of(kind, settings):
    known = families.declared(type(transformers.AutoConfig.for_model(kind)))
    return {key: value for key, value in settings.items() if key in known}


def build(name, settings):
    kind = name.split(",")[0]
    config = transformers.AutoConfig.for_model(kind, **settings)
    config._attn_implementation = "eager"
    try:
        model = transformers.AutoModelForCausalLM.from_config(config)
    except ValueError:
        model = transformers.AutoModel.from_config(config)
    model = model.eval().float()
    families.randomise(model)
    return model


def check_model(name, settings):
    model = build(name, settings)
    d = model.config.hidden_size
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        model = model.to(dtype)
        with scratch() as folder:
            model.save_pretrained(folder)
            rows = table(folder)
        own = f"{name}, {str(dtype).removeprefix('torch.')}"
        seen = 0
        for layer, norm, mixer in recurrent(model):
            seen += 1
            tokens = attaining(norm.float(), mixer.float(), d)
            norm.to(dtype), mixer.to(dtype)
            pad = torch.cat([tokens, tokens[:1].expand(-len(tokens) % 64, d)])
            with torch.no_grad():
                worst = decays_of(mixer, norm(pad[None].to(dtype)))
                check_inside(f"{own}, ends", rows, layer, worst)
                sizes = torch.exp(2 * torch.randn(8, 64, 1)).clamp(max=1e4)  # tokens of all sizes, which the norm takes away
                check_inside(own, rows, layer, decays_of(mixer, norm((sizes * torch.randn(8, 64, d)).to(dtype))))
                if dtype == torch.float32:
                    check_reached(own, rows, layer, worst, mixer)
                    typical = torch.cat([decays_of(mixer, norm(1e3 * torch.randn(20, TOKENS, d)))
                                         for _ in range(BATCHES // 20)])
                    check_inside(own, rows, layer, typical)
                    check_quantiles(own, rows, layer, typical)
        tap.ok(f"{own}: has recurrent layers, and rows of them alone", seen > 0 and
               {layer for layer, _ in rows} == {layer for layer, _, _ in recurrent(model)}, f"{seen}: {list(rows)}")


def check_lightning():
    """Slopes of the file, and without them those of the formula."""
    model = build("minimax", dict(LINEAR, **MOE, num_local_experts=2, block_size=8))
    with scratch() as folder:
        model.save_pretrained(folder)
        path = os.path.join(folder, "model.safetensors")
        for stored in (True, False):
            if not stored:
                save_file({key: value for key, value in load_file(path).items() if "slope_rate" not in key}, path, {"format": "pt"})
            rows = table(folder)
            mixer = next(module for module in model.modules() if hasattr(module, "slope_rate"))
            for head, slope in enumerate(mixer.slope_rate.flatten().double().tolist()):
                row = rows[0, head]
                tap.close(f"minimax: head {head}, {'stored' if stored else 'computed'}", number(row, "half_life_q50"),
                          math.log(2) / slope, 1e-6 * math.log(2) / slope)
                rho = math.exp(-slope)
                tap.ok(f"minimax: head {head}: symbol", abs(number(row, "symbol_min") * (1 + rho) - 1) < 1e-6 and
                       abs(number(row, "symbol_max") * (1 - rho) - 1) < 1e-6, str(row))


def check_channels():
    """RWKV-4: a decay for each channel."""
    model = build("rwkv", dict(vocab_size=16, hidden_size=200, num_hidden_layers=2, attention_hidden_size=200, intermediate_size=8))
    with scratch() as folder:
        model.save_pretrained(folder)
        rows = table(folder)
    for layer, block in enumerate(model.rwkv.blocks if hasattr(model, "rwkv") else model.blocks):
        half = torch.sort(math.log(2) / block.attention.time_decay.detach().double().exp()).values
        row = rows[layer, -1]
        tap.ok(f"rwkv: layer {layer}: range", abs(number(row, "half_life_min") / float(half[0]) - 1) < 1e-9 and
               abs(number(row, "half_life_max") / float(half[-1]) - 1) < 1e-9 and row["channels"] == "200", str(row))
        for column, chance in (("half_life_q01", 0.01), ("half_life_q50", 0.5), ("half_life_q99", 0.99)):
            at = number(row, column)
            tap.ok(f"rwkv: layer {layer}: {column}", float((half < at * (1 - 1e-9)).double().mean()) <= chance + 0.006 and
                   float((half <= at * (1 + 1e-9)).double().mean()) >= chance - 0.006, f"{at}: {half.tolist()[:4]}")


for model_name, model_settings in MODELS.items():
    if VERSION < 5 and model_name.split(",")[0] in NEW:
        continue
    check_model(model_name, settings_of(model_name.split(",")[0], model_settings))
check_lightning()
check_channels()
tap.finish()
