#!/usr/bin/python3
"""What szego.Monitor must not do to a training of transformers' models, and bounds that it must not give.
usage: test_monitor_guards.py PROGRAM"""
import functools
import math
import os
import shutil
import sys
import tempfile
import warnings

from peer import PACKAGE, Tap, skip

sys.path.insert(0, PACKAGE)
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import numpy as np
    import szego
    import torch
    import transformers
except ImportError as error:
    skip(f"{error}: NumPy, PyTorch and transformers are needed")
from szego import capture_hf, interface
from szego.monitor import headroom

os.environ["SZEGO"] = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("SZG_TEST_SEED", "20261129"), 0)
torch.set_num_threads(1)
warnings.simplefilter("ignore", szego.SzegoWarning)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}\n# transformers {transformers.__version__}")
COMMON = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, pad_token_id=0,
              max_position_embeddings=64)


def causal(implementation="sdpa", **settings):
    torch.manual_seed(SEED)
    config = transformers.LlamaConfig(num_key_value_heads=2, attention_dropout=0.2, **COMMON, **settings)
    config._attn_implementation = implementation  # pylint: disable=protected-access
    return transformers.LlamaForCausalLM(config).train()


def tokens(sequences=2, number=10, seed=0):
    return torch.randint(2, 50, (sequences, number), generator=torch.Generator().manual_seed(seed))


def seen(model, steps=1, each=None, **named):
    """The table of a monitor that watches some passes."""
    watch = szego.Monitor(model, every=1, **named.pop("monitor", {}))
    with watch:
        for step in range(steps):
            if each is not None:
                each(step)
            model(**{"input_ids": tokens(), **named})
            watch.step()
    return watch.table


def text(table, name, row=0):
    return str(table[name][row])


# ---- Trainings ------------------------------------------------------------------------------------


def check_exceptions():
    model, build = causal(), interface._call

    def failing(*_arguments):
        raise ValueError("of the monitor")
    interface._call = failing
    try:
        table = seen(model)
    finally:
        interface._call = build
    tap.ok("an exception while a call is described never reaches the model", len(table["step"]) >= 2 and all(
        one == "not observed: ValueError: of the monitor" for one in table["seen"]), text(table, "seen"))


def gradients(prepare, around, watched):
    model = causal()
    prepare(model)
    watch = szego.Monitor(model, every=1)
    torch.manual_seed(SEED + 1)
    with watch, around():
        if not watched:
            watch.close()
        loss = model(input_ids=tokens(), labels=tokens(), use_cache=False).loss
        loss.backward()
        watch.step()
    return [loss.item(), torch.rand(1).item(), *(weight.grad.double().sum().item() for weight in model.parameters())], watch.table


def check_modes():
    """Modes that see every operation: the monitor's are none of the training's."""
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

    def policy(_context, operation, *_args, **_kwargs):
        return CheckpointPolicy.MUST_SAVE if "mm" in str(operation) else CheckpointPolicy.PREFER_RECOMPUTE

    def selective(model):
        contexts = functools.partial(create_selective_checkpoint_contexts, policy)
        for layer in model.model.layers:
            layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=False, context_fn=contexts)

    class Drawing(torch.overrides.TorchFunctionMode):
        """Draws a number at each product."""

        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            if getattr(function, "__name__", "") == "matmul":
                torch.rand(1)
            return function(*args, **(kwargs or {}))

    for name, prepare, around in (("checkpointing by a policy", selective, torch.enable_grad),
                                  ("a mode of functions", lambda model: None, Drawing)):
        plain, watched = (gradients(prepare, around, which) for which in (False, True))
        tap.ok(f"{name}: the training is the same, bit for bit", plain[0] == watched[0] and len(watched[1]["step"]) == 8 and
               all(np.ma.getmaskarray(watched[1]["seen"])), f"{plain[0][:2]} {watched[0][:2]} {text(watched[1], 'seen')}")


def check_removed():
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "rows")
        table = seen(causal(), 4, lambda step: shutil.rmtree(place) if step == 2 else None, monitor={"folder": place})
        saved = szego.load(place)["monitor_monitor"]
        tap.ok("a folder that is removed is written again, whole", len(table["step"]) == len(saved["step"]) == 32 and
               sorted(set(saved["step"])) == [0, 1, 2, 3], str(set(saved["step"])))


# ---- What is seen ---------------------------------------------------------------------------------


def warned(call):
    """Texts of the SzegoWarnings of a call, and its answer."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = call()
    return [str(one.message) for one in said if issubclass(one.category, szego.SzegoWarning)], answer


def check_filters():
    """Layers and heads that the model lacks."""
    tap.refused("layers that the model lacks", lambda: szego.Monitor(causal(), layers=[7]),
                "layers: there is no 7: the model has layers 0 to 1", kind=szego.ArgumentError)
    said, table = warned(lambda: seen(causal(), 2, monitor={"heads": [9]}))
    tap.ok("heads that the model lacks: said once, and no row", len(said) == 1 and
           "heads: there is no 9: the model has heads 0 to 3" in said[0] and not len(table["step"]), f"{said} {table['seen']}")

    def later():
        watch = szego.Monitor(every=1, layers=[7])
        for step in range(2):
            watch.begin(causal(), step)
            watch.watch_next()
            watch.model(input_ids=tokens())
            watch.step()
        return watch.table
    said, table = warned(later)
    tap.ok("layers that a Trainer's model lacks: said once, and no row", len(said) == 1 and
           "layers: there is no 7: the model has layers 0 to 1" in said[0] and not len(table["step"]), f"{said} {table['seen']}")


def check_forgotten():
    """A loop without step(). A backward pass that computes layers again is no other pass."""
    def loop(passes, checkpointing):
        model = causal()
        if checkpointing:
            model.gradient_checkpointing_enable()
        with szego.Monitor(model, every=5):
            for _ in range(passes):
                model(input_ids=tokens(), labels=tokens(), use_cache=False).loss.backward()
    for passes, checkpointing, count in ((2, False, 1), (2, True, 1), (1, True, 0), (1, False, 0)):
        said, _ = warned(lambda: loop(passes, checkpointing))  # pylint: disable=cell-var-from-loop
        tap.ok(f"step() is not called: passes {passes}, checkpointing {checkpointing}", len(said) == count and
               all("monitor.step()" in one for one in said), str(said))


def check_padding():
    mask = torch.ones(2, 1, 10, 10, dtype=torch.bool).tril()
    mask[0] = False
    table = seen(causal("sdpa"), attention_mask=mask)
    alone = seen(causal("sdpa"), input_ids=tokens()[1:], attention_mask=mask[1:])
    # Of the first layer: the others follow a dropout, which differs.
    same = all(np.allclose(table[name][:4], alone[name][:4], rtol=1e-6) for name in ("largest_logit", "entropy_mean", "stable_rank",
                                                                                    "lag_share"))
    tap.ok("a sequence of padding alone leaves the others", same and table["tokens"][0] == 10, f"{text(table, 'tokens')} {text(table, 'seen')}")
    table = seen(causal(), attention_mask=torch.zeros_like(mask))
    tap.ok("padding alone: no token", table["tokens"][0] == 0 and np.ma.getmaskarray(table["largest_logit"])[0] and
           np.ma.getmaskarray(table["seen"])[0], text(table, "seen"))


def check_packed():
    """An attention that takes no mask, as that of flash attention, and positions that begin anew."""
    def attention(module, query, key, value, _mask=None, **named):
        named.pop("is_causal", None)
        return transformers.integrations.sdpa_attention.sdpa_attention_forward(module, query, key, value, None, is_causal=True, **named)
    transformers.AttentionInterface.register("maskless", attention)
    transformers.AttentionMaskInterface.register("maskless", lambda *_args, **_named: None)
    model, positions = causal("maskless"), torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4, 5]])
    table = seen(model, input_ids=tokens(1), position_ids=positions)
    tap.ok("packed sequences without a mask are not observed", "packed" in text(table, "seen") and
           np.ma.getmaskarray(table["entropy_mean"]).all(), text(table, "seen"))

    def captured():
        with capture_hf.Capture(model.eval()):
            model(input_ids=tokens(1), position_ids=positions, use_cache=False)
    tap.refused("packed sequences without a mask, captured", captured, "packed", kind=szego.SzegoError)
    table = seen(causal("maskless"), input_ids=tokens(1), position_ids=torch.arange(10)[None])
    tap.ok("one sequence is observed", np.ma.getmaskarray(table["seen"]).all(), text(table, "seen"))


# ---- Bounds ---------------------------------------------------------------------------------------


class Linear(torch.nn.Linear):
    """Not PyTorch's."""


def first(model):
    return model.model.layers[0].self_attn


def check_assumptions():
    def own(model):
        first(model).q_proj = Linear(32, 32, bias=False)

    def replaced(model):
        forward = first(model).q_proj.forward
        first(model).q_proj.forward = functools.wraps(forward)(lambda x: 1.5 * forward(x))

    def hooked(model):
        model.model.layers[0].input_layernorm.register_forward_hook(lambda _module, _inputs, output: 1.5 * output)

    for name, change in (("a class", own), ("a forward", replaced), ("a hook", hooked)):
        model = causal()
        change(model)
        table = seen(model)
        tap.ok(f"{name} that is not transformers': the bound says what it assumes", "; assumed, as its configuration says: " in
               text(table, "bound_of") and "model.layers.0." in text(table, "bound_of"), text(table, "bound_of"))
    table = seen(causal())
    tap.ok("nothing is assumed of transformers' own", set(table["bound_of"]) == {"input-norm, float32"}, text(table, "bound_of"))
    model = causal()
    first(model).scaling *= 100
    table = seen(model)
    tap.ok("a logit above the bound: there is no bound", np.ma.getmaskarray(table["bound"])[:4].all() and
           np.ma.getmaskarray(table["headroom"])[:4].all() and "a logit of modulus" in text(table, "bound_of") and
           not np.ma.getmaskarray(table["bound"])[4:].any(), text(table, "bound_of"))


def check_dropout():
    """Dropout after the norm of the embeddings multiplies what it leaves by 1 / (1 - p)."""
    torch.manual_seed(SEED)
    config = transformers.BertConfig(hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.0, **COMMON)
    model = transformers.BertModel(config).train()

    def bounds():
        made = headroom.bounds(model, torch.empty(0))
        return [[made.find(layer, head) for head in range(4)] for layer in range(2)]
    none, some = bounds()
    tap.ok("dropout after the norm of embeddings: the first layer has no bound", all(
        one.value is None and "dropout of 0.5" in one.said for one in none) and all(one.value for one in some), none[0].said)
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    tap.ok("without dropout it has one", all(one.value for one in sum(bounds(), [])))


def check_clip():
    """Llama clips no queries, whatever its configuration says."""
    plain, table = seen(causal()), seen(causal(clip_qkv=1e-3))
    tap.ok("clip_qkv that the model ignores changes no bound", table["bound"].tolist() == plain["bound"].tolist() and
           all(one.startswith("input-norm,") for one in table["bound_of"]),
           text(table, "bound_of"))


def check_stacks():
    torch.manual_seed(SEED)
    config = transformers.BartConfig(vocab_size=50, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                     decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64)
    table = seen(transformers.BartModel(config).train(), decoder_input_ids=tokens(), monitor={"layers": [0, 1]})
    tap.ok("layers of one stack of several", all("several stacks" in one for one in table["bound_of"]), text(table, "bound_of"))


def check_precision():
    if not hasattr(torch.backends, "fp32_precision"):
        print("# this PyTorch has no fp32_precision")
        return
    torch.backends.fp32_precision = "tf32"
    try:
        table = seen(causal())
    finally:
        torch.backends.fp32_precision = "none"
    tap.ok("a precision that PyTorch cannot name: no bound, and the logits are observed", np.ma.getmaskarray(table["bound"]).all() and
           np.ma.getmaskarray(table["seen"]).all() and math.isfinite(table["largest_logit"][0]), text(table, "bound_of"))


if __name__ == "__main__":
    for check in (check_exceptions, check_modes, check_removed, check_filters, check_forgotten, check_padding, check_packed, check_assumptions, check_dropout, check_clip,
                  check_stacks, check_precision):
        try:
            check()
        except Exception as error:  # pylint: disable=broad-except # the other checks tell more
            tap.ok(f"{check.__name__} ended with {type(error).__name__}: {error}", False)
    tap.finish()
