#!/usr/bin/python3
"""szego.Monitor in trainings of transformers' models: its rows against the attention weights that the models compute,
its bounds against ascents over inputs in each arithmetic, and trainings that do not change because they are watched.
usage: test_monitor_hf.py PROGRAM"""
import math
import os
import sys
import tempfile
import warnings

from peer import PACKAGE, Tap, scratch, skip

sys.path.insert(0, PACKAGE)
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import numpy as np
    import szego
    import torch
    import transformers
except ImportError as error:
    skip(f"{error}: NumPy, PyTorch and transformers are needed")
from szego import interface
from szego.monitor import headroom, observation

os.environ["SZEGO"] = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("SZG_TEST_SEED", "20261129"), 0)
torch.set_num_threads(1)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}\n# transformers {transformers.__version__}")
TOKENS, SHORT = 17, 11

COMMON = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32,
              max_position_embeddings=64, attention_dropout=0.0, pad_token_id=0)
GROUPED = dict(num_key_value_heads=2, **COMMON)
LATENT = dict(num_key_value_heads=4, q_lora_rank=12, kv_lora_rank=10, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=6,
              first_k_dense_replace=2, n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1,
              moe_intermediate_size=16, **COMMON)
GEMMA = dict(head_dim=10, query_pre_attn_scalar=20, sliding_window=4, **GROUPED)
BERT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **COMMON)
#: Class without ForCausalLM or Model and Config; what bounds its heads; its configuration.
FAMILIES = {
    "Llama": ("input-norm", GROUPED), "Qwen2": ("input-norm", GROUPED),
    "Qwen3": ("qk-norm", dict(head_dim=10, **GROUPED)), "Gemma2": ("input-norm", dict(attn_logit_softcapping=3.0, **GEMMA)),
    "Gemma3Text": ("qk-norm", dict(layer_types=["sliding_attention", "full_attention"], **GEMMA)),
    "Phi3": ("input-norm", GROUPED), "Olmo2": ("qk-norm", GROUPED), "Granite": ("input-norm", dict(attention_multiplier=0.2, **GROUPED)),
    "GPTNeoX": ("input-norm", dict(rotary_pct=0.5, hidden_dropout=0.0, **COMMON)),
    "GPT2": ("input-norm", dict(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64, resid_pdrop=0.0, embd_pdrop=0.0,
                                attn_pdrop=0.0)),
    "DeepseekV3": ("latent-norm", LATENT), "Cohere": ("input-norm", GROUPED),
    "GptOss": ("input-norm", dict(head_dim=8, num_local_experts=2, num_experts_per_tok=1, sliding_window=4,
                                  layer_types=["sliding_attention", "full_attention"], **GROUPED)),
    "Bert": ("input-norm", BERT), "Glm": ("input-norm", dict(head_dim=8, **GROUPED)),
}


def made(name, implementation="eager"):
    """A model with weights that matter, in training mode; None where this version has none."""
    if not hasattr(transformers, name + "Model"):
        return None
    torch.manual_seed(SEED)
    config = getattr(transformers, name + "Config")(**FAMILIES[name][1])
    config._attn_implementation = implementation  # pylint: disable=protected-access
    model = getattr(transformers, name + "Model")(config)
    for weight in model.parameters():
        with torch.no_grad():
            weight.add_(0.2 * torch.randn_like(weight)) if weight.dim() == 1 else weight.normal_(std=0.3)
    return model.train()


def inputs():
    tokens, mask = torch.randint(2, 50, (2, TOKENS)), torch.ones(2, TOKENS, dtype=torch.long)
    mask[1, SHORT:], tokens[1, SHORT:] = 0, 0
    return {"input_ids": tokens, "attention_mask": mask}


# ---- Rows -----------------------------------------------------------------------------------------


def by_weights(weights, lengths, learned):
    """Entropies and shares of a head from its attention weights, [S, N, N] in double precision."""
    entropy, least, first, sinks, rest, count = 0.0, math.inf, [], [], 0.0, sum(lengths)
    for one, n in zip(weights, lengths):
        for i, row in enumerate(one[:n, :n]):
            left = max(0.0, 1 - row.sum()) if learned else 0.0
            mine = -(row * np.log(np.where(row > 0, row, 1))).sum() - (left * math.log(left) if left > 0 else 0)
            entropy += mine / count
            rest += left / count
            least = min(least, mine) if (row > 0).sum() + learned > 1 else least
            first += [row[0]] * (i > 0)
            sinks += [row[:4].sum()] * (i > 3)
    return {"entropy_mean": entropy, "entropy_min": least, "first_share": np.mean(first), "sink_share": np.mean(sinks),
            **({"learned_share": rest} if learned else {})}


def check_family(name):
    model = made(name)
    if model is None:
        return 0
    if not interface.places(model):
        return 0  # of a version whose attention of this family has no interface: check_without_interface
    watch, given = szego.Monitor(model, every=1), inputs()
    lengths = [TOKENS, SHORT]
    with watch:
        out = model(**given, output_attentions=True)
        watch.step()
    table = watch.table
    heads = model.config.num_attention_heads
    wrong = [] if len(table["step"]) == 2 * heads else [f"{len(table['step'])} rows"]
    learned = name == "GptOss"
    for row in range(len(table["step"])):
        layer, head = table["layer"][row], table["head"][row]
        weights = out.attentions[layer][:, int(head)].detach().double().numpy()
        for column, want in by_weights(weights, lengths, learned).items():
            got = table[column][row]
            # Weights in single precision: 17 of them, and logits of up to 10^2 that were rounded before.
            if not abs(got - want) <= 3e-4:
                wrong.append(f"{column} {got} is {want}")
        if np.ma.getmaskarray(table["bound"])[row] or not table["bound"][row] >= max(
                abs(table["largest_logit"][row]), abs(table["smallest_logit"][row])):
            wrong.append(f"bound {table['bound'][row]}: {table['bound_of'][row]}")
        if not str(table["bound_of"][row]).startswith(FAMILIES[name][0] + ", float32"):
            wrong.append(str(table["bound_of"][row]))
        # No model here has LayerNorm by another name, or RMS norms by this one.
        if ("assumed: LayerNorm" in table["bound_of"][row]) != any("LayerNorm" in type(part).__name__ for part in model.modules()):
            wrong.append(str(table["bound_of"][row]))
        if table["tokens"][row] != sum(lengths) or not np.ma.getmaskarray(table["seen"])[row]:
            wrong.append(f"{table['tokens'][row]} tokens: {table['seen'][row]}")
    tap.ok(f"{name}: rows are what its own attention weights say", not wrong, "; ".join(wrong[:3]))
    if name not in ("GptOss", "Gemma2"):  # which have no SDPA, or one that leaves the soft cap out
        sdpa = made(name, "sdpa")
        other = szego.Monitor(sdpa, every=1)
        with other:
            sdpa(**given)
            other.step()
        near = all(np.allclose(other.table[column], table[column], rtol=2e-4, atol=2e-4) for column in (
            "largest_logit", "entropy_mean", "first_share", "bound", "stable_rank", "k_norm_max"))
        tap.ok(f"{name}: the same with SDPA", near, str(other.table["seen"][:1]))
    return 1


# ---- Bounds ---------------------------------------------------------------------------------------


def logits_of(model, x, layer=0):
    """[heads, N, N] of the first layer for inputs x, in the model's own arithmetic: products, then the scale."""
    found = []
    with interface.watched(model, found.append, [layer]):
        model(inputs_embeds=x, **({"position_ids": torch.arange(x.shape[1])[None]} if x.shape[1] else {}))
    call = found[0]
    keys = call.key.repeat_interleave(call.query.shape[1] // call.key.shape[1], 1)
    return (call.query @ keys.transpose(2, 3) * call.scaling)[0]


def ascend(name, head, steps):
    """The largest logit of a head of layer 0 that an ascent over the inputs finds, evaluated in each arithmetic, over its
    bound there."""
    model = made(name)
    for weight in model.parameters():
        weight.requires_grad_(False)
    torch.manual_seed(SEED + head)
    x = torch.randn(1, 2, model.get_input_embeddings().weight.shape[1], requires_grad=True)
    optimizer = torch.optim.Adam([x], 0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        (-logits_of(model, x)[head, 1, 0].abs()).backward()
        optimizer.step()
    reached = {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        found = headroom.bounds(model.to(dtype), torch.empty(0, dtype=dtype)).find(0, head)
        with torch.no_grad():
            # Sizes of the input turn norms' epsilons and roundings around.
            most = max(float(logits_of(model, (size * x).to(dtype))[head].abs().max()) for size in (0.3, 1, 7.7, 100))
        reached[str(dtype).replace("torch.", "")] = (most, found.value)
    return reached


def check_ascents():
    for name in ("Llama", "Qwen3", "GPT2", "DeepseekV3", "GPTNeoX", "Olmo2"):
        if not hasattr(transformers, name + "Model"):
            continue
        found = {kind: [] for kind in ("float32", "bfloat16", "float16")}
        for head in range(2):
            for kind, (most, bound) in ascend(name, head, 150).items():
                found[kind].append(most / bound)
        print(f"# {name}: the ascent's logit over the bound: " +
              ", ".join(f"{kind} {min(one):.3f} to {max(one):.3f}" for kind, one in found.items()))
        tap.ok(f"{name}: no input exceeds the bound", all(one <= 1 for ones in found.values() for one in ones), str(found))
        tap.ok(f"{name}: it is no empty one", min(found["float32"]) > 0.45, str(found))


# ---- Trainings ------------------------------------------------------------------------------------


def causal(name="Llama", implementation="sdpa", **settings):
    torch.manual_seed(SEED)
    config = getattr(transformers, name + "Config")(**{**FAMILIES[name][1], "attention_dropout": 0.2, **settings})
    config._attn_implementation = implementation  # pylint: disable=protected-access
    return getattr(transformers, name + "ForCausalLM")(config).train()


def train(model, watch, steps=5, checkpointing=False, fails=None, between=None):
    """Losses, gradients and the generator's state."""
    torch.manual_seed(SEED + 1)
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": checkpointing == "reentrant"})
    optimizer, said = torch.optim.SGD(model.parameters(), 0.1), []
    for step in range(steps):
        for _ in range(2):  # micro-batches
            tokens = torch.randint(2, 50, (3, TOKENS))
            loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
            if step == fails:
                raise RuntimeError("of the training")
            loss.backward()
            said.append(loss.item())
        said += [weight.grad.double().sum().item() for weight in model.parameters() if weight.grad is not None]
        optimizer.step()
        optimizer.zero_grad()
        if between is not None:
            between(model, step)
        if watch is not None:
            watch.step()
    return said, torch.random.get_rng_state()


def module_names():
    """What the watching of a model may leave behind: names of transformers' files, and hooks."""
    return {name: value for name, value in vars(sys.modules["transformers.models.llama.modeling_llama"]).items()
            if "ttention" in name or "ATTENTION" in name}


def check_training():
    names = module_names()
    for checkpointing in (False, "reentrant", "plain"):
        plain = train(causal(), None, checkpointing=checkpointing)
        model = causal()
        watch, second = szego.Monitor(model, every=2), szego.Monitor(model, every=1, layers=[1])
        with watch, second:
            torch.manual_seed(SEED + 1)
            seen = train(model, Both(watch, second), checkpointing=checkpointing)
        same = plain[0] == seen[0] and torch.equal(plain[1], seen[1])
        counts = len(watch.table["step"]), len(second.table["step"])
        tap.ok(f"two monitors, gradient checkpointing {checkpointing}: the training is the same, bit for bit", same)
        tap.ok("each layer is seen once in a step", counts == (3 * 2 * 4, 5 * 4) and not any(watch.table["seen"].mask == 0),
               f"{counts} {watch.table['seen'][:2]}")
    tap.ok("nothing is left behind", module_names() == names)
    model = causal()
    watch = szego.Monitor(model, every=1)

    def failing():
        with watch:
            train(model, watch, fails=2)
    tap.refused("an exception of the training", failing, "of the training", kind=RuntimeError)
    tap.ok("leaves nothing behind, and the rows so far", module_names() == names and set(watch.table["step"]) == {0, 1, 2})


class Both:
    """The steps of two monitors."""

    def __init__(self, *watches):
        self.watches = watches

    def step(self):
        for watch in self.watches:
            watch.step()


def check_odd():
    def recast(model, step):
        model.to(torch.bfloat16 if step == 1 else torch.float32)
    model = causal()
    watch = szego.Monitor(model, every=1)
    with watch:
        train(model, watch, steps=4, between=recast)
    kinds = [str(watch.table["bound_of"][watch.table["step"] == step][0]) for step in range(4)]
    tap.ok("a model that is moved to another type", [kind.split(", ")[1] for kind in kinds] == [
        "float32", "float32", "bfloat16", "float32"], str(kinds))
    model = causal()
    watch = szego.Monitor(model, every=1)
    with watch:
        with torch.autocast("cpu", torch.bfloat16):
            model(input_ids=torch.randint(2, 50, (2, 9)))
        watch.step()
        model.eval()
        model(input_ids=torch.randint(2, 50, (2, 9)))
        watch.step()
    tap.ok("autocast: the arithmetic of queries and keys", "bfloat16" in watch.table["bound_of"][0], str(watch.table["bound_of"][:1]))
    last = [str(watch.table[name][-1]) for name in ("largest_logit", "seen")]
    torch.set_float32_matmul_precision("medium")
    medium = headroom.bounds(model, torch.empty(0)).find(0, 0)
    torch.set_float32_matmul_precision("highest")
    single, half = (headroom.bounds(model, torch.empty(0, dtype=dtype)).find(0, 0) for dtype in (torch.float32, torch.bfloat16))
    tap.ok("products of float32 in bfloat16", medium.value == half.value > single.value and medium.said.endswith("float32 by bfloat16"),
           str((medium, half, single)))
    tap.ok("evaluation is not observed, and said", last[0] == "--" and "evaluation mode" in last[1], str(last))


def check_compiled():
    """Rows of a compiled model have its bounds, and say that its attention was not seen. With the backend that compiles
    nothing, graphs are traced all the same."""
    model = causal(attention_dropout=0.0)
    compiled = torch.compile(model, backend="eager")
    watch = szego.Monitor(compiled, every=1)
    with watch:
        tokens = torch.randint(2, 50, (2, 9))
        loss = compiled(input_ids=tokens, labels=tokens).loss
        watch.step()
    with torch.no_grad():
        tap.close("a compiled model computes what it did", loss.item(), model(input_ids=tokens, labels=tokens).loss.item(), 1e-5)
    row = [str(watch.table[name][0]) for name in ("largest_logit", "bound_of", "seen")]
    tap.ok("torch.compile is said, and the bound is there", row[0] == "--" and row[1] == "input-norm, bfloat16" and
           "torch.compile" in row[2] and len(watch.table["step"]) == 8, str(row))


def check_trainer():
    try:
        import accelerate  # pylint: disable=import-outside-toplevel, unused-import
    except ImportError:
        print("# accelerate is missing: no Trainer")
        return
    data = [{"input_ids": one, "labels": one} for one in torch.randint(2, 50, (24, TOKENS))]

    def run(watch, folder, model, **named):
        options = transformers.TrainingArguments(
            output_dir=folder, max_steps=5, per_device_train_batch_size=2, gradient_accumulation_steps=2, logging_steps=1,
            report_to=[], use_cpu=True, seed=SEED % 2**31, save_strategy="no", disable_tqdm=True, eval_strategy="steps", eval_steps=2,
            gradient_checkpointing=True, **named)
        trainer = transformers.Trainer(model=model, args=options, train_dataset=data, eval_dataset=data[:4],
                                       callbacks=[] if watch is None else [watch.callback()])
        trainer.train()
        return [{key: log[key] for key in ("loss", "grad_norm", "eval_loss") if key in log} for log in trainer.state.log_history]
    names = module_names()
    with tempfile.TemporaryDirectory() as folder, scratch() as rows:
        plain = run(None, folder, causal())
        watch = szego.Monitor(every=2, folder=rows)
        watched = run(watch, folder, causal())
        tap.ok("Trainer: the training is the same, bit for bit", plain == watched and len(plain) > 5, f"{plain[:2]} {watched[:2]}")
        table = szego.load(rows)["monitor_monitor"]
        tap.ok("Trainer: steps, one micro-batch, no evaluation", sorted(set(table["step"])) == [0, 2, 4] and len(table["step"]) == 24
               and set(table["sequences"]) == {2} and all(np.ma.getmaskarray(table["seen"])), f"{table['step']} {table['seen'][:1]}")
        model = causal()
        before = dict(model._forward_hooks), dict(model._forward_pre_hooks)
        forward, calls = model.model.layers[1].forward, []

        def failing(*args, **kwargs):
            calls.append(1)
            if len(calls) > 2:
                raise RuntimeError("of the training")
            return forward(*args, **kwargs)
        model.model.layers[1].forward = failing
        tap.refused("Trainer: an exception of the training", lambda: run(szego.Monitor(every=1), folder, model), "of the training",
                    kind=RuntimeError)
        left = module_names() == names, interface._watchers == (), before == (dict(model._forward_hooks),
                                                                              dict(model._forward_pre_hooks))
        tap.ok("Trainer: it leaves nothing behind", all(left), str(left))


def check_without_interface():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watch = szego.Monitor(model, every=1)
        with watch:
            model(torch.ones(1, 4))
            watch.step()
    tap.ok("a model without such attention is said", "call observe()" in watch.table["seen"][0] and
           "no bound" in watch.table["bound_of"][0], f"{watch.table['seen']} {watch.table['bound_of']}")


if __name__ == "__main__":
    tap.ok("ten families or more", sum(check_family(name) for name in FAMILIES) >= 10)
    check_ascents()
    check_training()
    check_odd()
    check_compiled()
    check_trainer()
    check_without_interface()
    tap.finish()
