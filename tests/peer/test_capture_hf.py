#!/usr/bin/python3
"""szego.capture_hf: queries, keys and logits that it takes from a model, against an oracle that computes
them from the weights, against the model's own attention, and through `szego logits`. Stand-ins of
PyTorch alone always run; models of transformers run where it is installed. usage: test_capture_hf.py
PROGRAM"""
import json
import os
import re
import subprocess
import sys
import threading
from types import SimpleNamespace

from peer import Tap, scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "notebooks_export", "python"))
try:
    import numpy as np
    import szego
except ImportError as missing:
    skip(f"{missing}: Debian's python3-numpy is needed")
try:
    import torch
    import attention_standins as standins
except ImportError:
    torch = None
try:
    import transformers
except ImportError:
    transformers = None

import attention_oracle as oracle
from attention_oracle import Rule
from szego.capture_families import FAMILIES
from szego.capture_hf import SUPPORTED, Capture, CaptureError, main
from szego.interface import Attention, uses_interface, watched
from szego.capture_masks import described

PROGRAM = os.path.abspath(sys.argv[1])
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
HEADS, TOKENS, SHORT = 4, 17, 11


def refused(name, call, *words):
    tap.refused(name, call, *words, kind=CaptureError)


# ---- Models ----

#: What is known of each family: its stand-in has the class of transformers and follows the same rule.
#: A head's size differs from width / heads, and the scale from the head's, where the family allows it.
MLA = dict(layout="latent", pairs="interleaved", turned=4)
RULES = {
    "Llama": Rule(8, 8**-0.5),
    "Qwen3": Rule(10, 10**-0.5, norm="head"),
    "Gemma": Rule(10, 10**-0.5),
    "Gemma 2": Rule(10, 20**-0.5, window=(4, None)),
    "Gemma 3": Rule(10, 20**-0.5, norm="head", gain=1.0, bases=(1e4, 1e6), window=(4, None)),
    "Phi-3": Rule(8, 8**-0.5, layout="fused"),
    "OLMo 2": Rule(8, 8**-0.5, norm="width"),
    "DeepSeek V2": Rule(6, 10**-0.5, **MLA),
    "DeepSeek V2, queries without a latent": Rule(6, 10**-0.5, **MLA),
    "DeepSeek V3": Rule(6, 10**-0.5, **MLA),
    "Qwen2 MoE": Rule(8, 8**-0.5),
    "RoBERTa": Rule(8, 8**-0.5, layout="rows", causal=False),
}
#: The stand-in's class; "Qwen2 MoE", "StableLM, normed" and "RoBERTa" are without the attention interface.
STAND_INS = {"Llama": "Llama", "Qwen3": "Qwen3", "Gemma": "Gemma", "Gemma 2": "Gemma2", "Gemma 3": "Gemma3", "Phi-3": "Phi3",
             "OLMo 2": "Olmo2", "DeepSeek V2": "DeepseekV2", "DeepSeek V3": "DeepseekV3", "Qwen2 MoE": "Qwen2Moe",
             "StableLM, normed": "StableLm"}
CAP = 3.0  # of Gemma 2: small, so that it shows


def stand_in(family):
    attention = getattr(standins, STAND_INS[family] + "Attention" if family in STAND_INS else "RobertaSelfAttention")
    rule = RULES.get(family) or Rule(10, 10**-0.5)
    config = SimpleNamespace(hidden_size=32, num_attention_heads=HEADS, num_key_value_heads=key_heads(family),
                             head_dim=rule.size, scale=rule.scale, bases=rule.bases, rope_theta=rule.bases[1], nope=6, rope=4,
                             v_head_dim=5, q_lora_rank=12, kv_lora_rank=10,
                             attn_logit_softcapping=cap_of(family), rows=rule.layout == "rows")
    return standins.StandIn(attention, config,
                            lambda layer, n: oracle.seen(rule, layer, n)).double()


def key_heads(family):
    return 4 if family in RULES and RULES[family].layout in ("latent", "rows") else 2


def cap_of(family):
    return CAP if family == "Gemma 2" else None


COMMON = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=HEADS,
              intermediate_size=32, max_position_embeddings=64, attn_implementation="eager")
GROUPED = dict(num_key_value_heads=2, **COMMON)
LATENT = dict(num_key_value_heads=4, kv_lora_rank=10, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=5,
              first_k_dense_replace=2, n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1,
              moe_intermediate_size=16, **COMMON)
GEMMA = dict(head_dim=10, query_pre_attn_scalar=20, sliding_window=4, **GROUPED)
SLIDING = dict(layer_types=["sliding_attention", "full_attention"], sliding_window=4, pad_token_id=0)
LINEAR = dict(layer_types=["linear_attention", "full_attention"], head_dim=16, pad_token_id=0)
EXPERTS = dict(num_experts=2, num_experts_per_tok=1, moe_intermediate_size=16)
VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=HEADS, intermediate_size=32, image_size=16, patch_size=4,
              attn_implementation="eager")
DELTA = dict(linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=8)
SHARED = dict(GROUPED, num_hidden_layers=4, head_dim=16, num_kv_shared_layers=2, layer_types=SLIDING["layer_types"] * 2,
              sliding_window=4, pad_token_id=0, vocab_size_per_layer_input=50, hidden_size_per_layer_input=8)

#: By name: the class without Model and Config, and its configuration.
MODELS = {
    "Llama": ("Llama", GROUPED),
    "Qwen3": ("Qwen3", dict(head_dim=10, **GROUPED)),
    "Gemma": ("Gemma", dict(head_dim=10, **GROUPED)),
    "Gemma 2": ("Gemma2", dict(attn_logit_softcapping=CAP, **GEMMA)),
    "Gemma 3": ("Gemma3Text", dict(layer_types=["sliding_attention", "full_attention"], **GEMMA)),
    "Phi-3": ("Phi3", dict(pad_token_id=0, **GROUPED)),
    "OLMo 2": ("Olmo2", dict(rms_norm_eps=oracle.EPS, **GROUPED)),
    "DeepSeek V2": ("DeepseekV2", dict(q_lora_rank=12, **LATENT)),
    "DeepSeek V2, queries without a latent": ("DeepseekV2", dict(q_lora_rank=None, **LATENT)),
    "DeepSeek V3": ("DeepseekV3", dict(q_lora_rank=12, **LATENT)),
    "RoBERTa": ("Roberta", dict(pad_token_id=1, layer_norm_eps=oracle.EPS, **COMMON)),
    # Without a rule: against the model's own attention alone.
    "Mistral": ("Mistral", dict(COMMON, num_key_value_heads=1)),
    "Mixtral": ("Mixtral", GROUPED),
    "Qwen2": ("Qwen2", dict(COMMON, num_key_value_heads=4)),
    "Qwen2 MoE": ("Qwen2Moe", dict(num_experts=2, num_experts_per_tok=1, **GROUPED)),
    "Qwen3 MoE": ("Qwen3Moe", dict(num_experts=2, num_experts_per_tok=1, head_dim=8, **GROUPED)),
    "OLMo, clipped": ("Olmo", dict(clip_qkv=0.5, **GROUPED)),
    "SmolLM3, a layer without rotation": ("SmolLM3", dict(no_rope_layers=[1, 0], pad_token_id=0, **GROUPED)),
    "StarCoder2": ("Starcoder2", GROUPED),
    "Granite": ("Granite", dict(attention_multiplier=0.2, **GROUPED)),
    "Phi": ("Phi", dict(partial_rotary_factor=0.5, pad_token_id=0, **GROUPED)),
    "Phi, normed": ("Phi", dict(partial_rotary_factor=0.5, qk_layernorm=True, pad_token_id=0, **GROUPED)),
    "StableLM": ("StableLm", dict(partial_rotary_factor=0.5, pad_token_id=0, **GROUPED)),
    "StableLM, normed": ("StableLm", dict(partial_rotary_factor=0.5, qk_layernorm=True, pad_token_id=0, **GROUPED)),
    "Nemotron": ("Nemotron", dict(partial_rotary_factor=0.5, **GROUPED)),
    "Cohere": ("Cohere", GROUPED),
    "Cohere, normed": ("Cohere", dict(use_qk_norm=True, **GROUPED)),
    "GLM": ("Glm", dict(head_dim=8, pad_token_id=0, **GROUPED)),
    "GPT-NeoX, partial": ("GPTNeoX", dict(rotary_pct=0.5, **COMMON)),
    "GPT-J, partial": ("GPTJ", dict(vocab_size=50, n_embd=32, n_layer=2, n_head=HEADS, n_positions=64,
                                    rotary_dim=4, attn_implementation="eager")),
    "GPT-J": ("GPTJ", dict(vocab_size=50, n_embd=32, n_layer=2, n_head=HEADS, n_positions=64,
                           rotary_dim=8, attn_implementation="eager")),
    "DeepSeek V3, YaRN": ("DeepseekV3", dict(q_lora_rank=12, rope_scaling={
        "type": "yarn", "rope_type": "yarn", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 16, "beta_fast": 32, "beta_slow": 1}, **LATENT)),
    "GPT-2": ("GPT2", dict(vocab_size=50, n_embd=32, n_layer=2, n_head=HEADS, n_positions=64,
                           scale_attn_by_inverse_layer_idx=True, attn_implementation="eager")),
    "BERT": ("Bert", COMMON),
    "XLM-RoBERTa": ("XLMRoberta", dict(pad_token_id=1, **COMMON)),
    "CamemBERT": ("Camembert", dict(pad_token_id=1, **COMMON)),
    "gpt-oss": ("GptOss", dict(head_dim=8, num_local_experts=2, num_experts_per_tok=1, **SLIDING, **GROUPED)),
    "Llama 4": ("Llama4Text", dict(head_dim=8, no_rope_layers=[1, 0], num_local_experts=2, intermediate_size_mlp=32,
                                   attention_chunk_size=4, layer_types=["chunked_attention", "full_attention"], pad_token_id=0,
                                   floor_scale=4, **GROUPED)),
    "ModernBERT": ("ModernBert", dict(local_attention=4, global_attn_every_n_layers=2, pad_token_id=0, bos_token_id=1,
                                      eos_token_id=2, cls_token_id=1, sep_token_id=2, reference_compile=False, **COMMON)),
    "Gemma 4": ("Gemma4Text", dict(SHARED, global_head_dim=16)),
    "Gemma 3n": ("Gemma3nText", dict(SHARED, laurel_rank=4, activation_sparsity_pattern=[0.0] * 4)),
    "Qwen3-Next": ("Qwen3Next", dict(shared_expert_intermediate_size=16, **EXPERTS, **LINEAR, **DELTA, **GROUPED)),
    "Qwen 3.5": ("Qwen3_5Text", dict(**LINEAR, **DELTA, **GROUPED)),
    "GLM 4": ("Glm4", dict(head_dim=8, pad_token_id=0, **GROUPED)),
    "GLM 4.5": ("Glm4Moe", dict(head_dim=8, use_qk_norm=True, n_routed_experts=2, num_experts_per_tok=1, moe_intermediate_size=16,
                                first_k_dense_replace=2, pad_token_id=0, **GROUPED)),
    "MiniMax M2": ("MiniMaxM2", dict(head_dim=8, rotary_dim=4, num_local_experts=2, num_experts_per_tok=1, pad_token_id=0, **GROUPED)),
    "MiniMax": ("MiniMax", dict(num_local_experts=2, num_experts_per_tok=1, block_size=8, **LINEAR, **GROUPED)),
    "Cohere 2": ("Cohere2", dict(SLIDING, **GROUPED)),
    "Llama, YaRN": ("Llama", dict(rope_scaling={"type": "yarn", "rope_type": "yarn", "factor": 4.0,
                                                "original_max_position_embeddings": 16}, **GROUPED)),
    "OPT": ("OPT", dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=HEADS, ffn_dim=32,
                        max_position_embeddings=64, word_embed_proj_dim=32, pad_token_id=1, attn_implementation="eager")),
    "ViT": ("ViT", VISION),
    "SigLIP": ("SiglipVision", VISION),
    "DistilBERT": ("DistilBert", dict(vocab_size=50, dim=32, n_layers=2, n_heads=HEADS, hidden_dim=32,
                                      max_position_embeddings=64, attn_implementation="eager")),
}
#: Those whose configuration szego.rope(like=...) reads.
LIKE = [name for name in MODELS if name not in ("gpt-oss", "Llama 4", "ModernBERT", "Gemma 4", "Gemma 3n", "Qwen3-Next", "Qwen 3.5",
                                                "GLM 4", "GLM 4.5", "MiniMax M2", "MiniMax", "Cohere 2")]
#: Older versions that were tried fail in code of their own.
WORKS_SINCE = {"StableLM, normed": (5, 0), "Phi, normed": (4, 57),
               # Before, output_attentions gives what its linear attentions keep.
               "MiniMax": (5, 0)}
BIDIRECTIONAL = ("BERT", "RoBERTa", "XLM-RoBERTa", "CamemBERT", "DistilBERT", "ModernBERT")
#: Arguments of a call besides tokens and mask: with a cache, layers of Gemma 3n take keys of others out of it in version 4.
GIVEN = {"Gemma3nTextModel": {"use_cache": False}}


def transformers_model(name):
    """None where this version has no such model, or cannot make it."""
    prefix, settings = MODELS[name]
    if not hasattr(transformers, prefix + "Model"):
        return None
    if tuple(map(int, transformers.__version__.split(".")[:2])) < WORKS_SINCE.get(name, (0, 0)):
        return None
    return getattr(transformers, prefix + "Model")(getattr(transformers, prefix + "Config")(**settings))


def spread(model):
    """Weights that matter: gains differ from 1, biases from 0."""
    for weight in model.parameters():
        with torch.no_grad():
            weight.add_(0.3 * torch.randn_like(weight)) if weight.dim() == 1 else weight.normal_(std=0.3)
    return model.eval()


# ---- One model ----

def rows_that_enter(model):
    """The rows that each attention sees, pass after pass. Capture runs projections again with the same rows."""
    entered, undo = [], []

    def hook(_part, inputs, _out):
        rows = inputs[0].detach().double().numpy()
        if not entered or not np.array_equal(rows, entered[-1]):
            entered.append(rows)

    for name, part in model.named_modules():
        if name.rsplit(".", 1)[-1] in ("q_proj", "qkv_proj", "q_a_proj", "query"):
            undo.append(part.register_forward_hook(hook).remove)
    return entered, undo


def inputs_of(model):
    """A batch of two sequences, one of them padded; or of two pictures."""
    if getattr(model, "main_input_name", "") == "pixel_values":
        return {"pixel_values": torch.randn(2, 3, 16, 16)}
    tokens, mask = torch.randint(2, 50, (2, TOKENS)), torch.ones(2, TOKENS, dtype=torch.long)
    mask[1, SHORT:] = 0
    tokens[1, SHORT:] = 1
    return {"input_ids": tokens, "attention_mask": mask, **GIVEN.get(type(model).__name__, {})}


def run(model):
    """What came out of a batch, and what was captured."""
    inputs = inputs_of(model)
    entered, undo = rows_that_enter(model)
    with torch.no_grad():
        plain = model(**inputs)[0]
        del entered[:]
        with Capture(model) as capture:
            out = model(**inputs, output_attentions=True)
            if not capture.rotary:
                with capture.zeroed():
                    model(**inputs)
        for one in undo:
            one()
        same = torch.equal(plain, out[0]) and torch.equal(plain, model(**inputs)[0])
    return SimpleNamespace(model=model, inputs=inputs, out=out, capture=capture, entered=entered, same=same,
                           u=2.0**-53 if plain.dtype == torch.float64 else 2.0**-24)


def weights_of(module):
    return {name: value.detach().double().numpy() for name, value in module.named_parameters()}


def embedded(model, tokens, u, positions):
    """RoBERTa's first rows: words, positions counted from the padding's number + 1, the type."""
    w = weights_of(model.embeddings)
    parts = [w["word_embeddings.weight"][tokens], w["token_type_embeddings.weight"][0]]
    if positions:
        parts.append(w["position_embeddings.weight"][2 + np.arange(len(tokens))])
    # Two sums, in any order.
    rows = oracle.Near(sum(parts), 2 * u * sum(map(np.abs, parts)))
    return oracle.layer_norm(rows, w["LayerNorm.weight"], w["LayerNorm.bias"], oracle.EPS, u)


def expected(run, family, layer, probe, coupled):
    """What the oracle says of the logits."""
    n = (TOKENS, SHORT)[probe]
    rule = RULES[family]
    x = run.entered[layer + (0 if coupled or rule.layout != "rows" else 2)][probe, :n]
    x = oracle.exact(x)
    if rule.layout == "rows" and layer == 0:
        x = embedded(run.model, run.inputs["input_ids"][probe, :n].numpy(), run.u, coupled)
    return oracle.logits(rule, weights_of(run.capture.places[layer].module), x, layer, HEADS,
                         key_heads(family), run.u, coupled)


def check_oracle(name, run, family, folder):
    """Logits as arrays, and what szego makes of the queries and keys, are what the weights say. A
    singular value moves by at most the norm of the error (Weyl), and szego's own by N^2 ulps of it."""
    path = os.path.join(folder, "dump.safetensors")
    run.capture.write(path)
    table = szego.run("logits", path)["logits_contraction"]
    worst, read, sharp = 0.0, 0.0, 0.0
    for probe, n in enumerate((TOKENS, SHORT)):
        for kind in ("coupled", "content"):
            got = run.capture.logits(probe, kind)
            for layer in range(2):
                want = expected(run, family, layer, probe, kind == "coupled")
                # The result is rounded once more, to the model's own precision.
                bound = want.error + 2 * run.u * np.abs(want.value)
                worst = max(worst, (np.abs(got[layer] - want.value) / bound).max())
                sharp = max(sharp, bound.max() / np.abs(want.value).max())
                for head in range(HEADS):
                    row = np.flatnonzero((table["layer"] == layer) & (table["head"] == head)
                                         & (table["probe"] == str(probe)))
                    values = np.linalg.svd(want.value[head], compute_uv=False)
                    largest = table[f"sigma_max_{kind}"][row][0]
                    size = largest * np.sqrt(table[f"stable_rank_{kind}"][row][0])
                    allowed = np.linalg.norm(bound[head]) + n**2 * 2.0**-52 * np.linalg.norm(values)
                    read = max(read, abs(largest - values[0]) / allowed,
                               abs(size - np.linalg.norm(values)) / allowed)
    # Bounds are far below the logits, so that a wrong rule cannot hide in them.
    tap.ok(f"{name}: logits are what the weights say", worst <= 1 and 0 < sharp < 1e-3,
           f"{worst:.2g} of the bound, {sharp:.1g} of the logits")
    tap.ok(f"{name}: szego logits finds the same matrices", read <= 1 and len(table["n"]) == 16,
           f"{read:.2g} of the bound")


def seen_by(capture, layer, n, rule):
    """Which keys a query sees, of the words of the mask; of models without the interface, of the rule."""
    words, lag = capture.masks[layer], np.arange(n)[:, None] - np.arange(n)
    if words is None:
        return oracle.seen(rule, layer, n)
    number = int(words.split()[-1]) if words.split()[-1].isdigit() else n
    assert words in ("all", "causal") or "window" in words or "chunks" in words, words
    seen = (lag >= 0) | ("causal" not in words)
    if "chunks" in words:
        return seen & (np.arange(n)[:, None] // number == np.arange(n) // number)
    return seen & (np.abs(lag) < number)


def softmax(logits, sinks):
    """Over the keys, with the learned logit of a sink where there is one."""
    largest = logits.max(-1, keepdims=True)
    e = np.exp(logits - largest)
    extra = 0 if sinks is None else np.exp(sinks[:, None, None].astype(float) - largest)
    return e / (e.sum(-1, keepdims=True) + extra)


def check_attention(name, run, rule, cap):
    """A logit is off by at most (d + 2) u sum |q_i k_i| / sqrt(d) (Higham 2002, 3.5) and by the cap's four
    roundings, a weight by twice that and what sums and exponentials of n terms lose."""
    worst, u, one = 0.0, run.u, run.capture
    attentions = [weights for weights in run.out.attentions if weights is not None]
    if len(attentions) != len(one.layers):  # transformers 4 has those of linear attentions too
        attentions = [attentions[layer] for layer in one.layers]
    for probe, n in enumerate(one.passes[0].lengths):
        for at, layer in enumerate(one.layers):
            x = one.passes[0].layers[layer]
            q, k = (x[role][probe, :, :n].astype(float) for role in ("q_coupled", "k_coupled"))
            d, k = q.shape[-1], np.repeat(k, len(q) // len(k), axis=0)
            bound = 2 * (d + 2) * u * (np.abs(q) @ np.abs(k).transpose(0, 2, 1)).max() / np.sqrt(d)
            bound += 8 * u * (cap or 0) + 2 * (n + 8) * u
            logits = one.logits(probe, capped=True)[at].astype(float)
            got = softmax(np.where(seen_by(one, layer, n, rule), logits, -np.inf), one.sinks.get(layer))
            worst = max(worst, np.abs(got - attentions[at][probe, :, :n, :n].double().numpy()).max() / bound)
    tap.ok(f"{name}: softmax of what was captured is the model's attention",
           0 < worst <= 1 and bound < 1e-3, f"{worst:.2g} of the bound, {bound:.1g}, masks {one.masks}")


def check_parts(name, run, folder):
    """Chosen layers, heads and positions are those of the whole; products of smaller arrays may add in another
    order: each is off by (d + 2) u sum |q_i k_i| / sqrt(d) at most (Higham 2002, 3.5)."""
    at = run.capture.layers.index(1)
    with torch.no_grad(), Capture(run.model, layers=[1], heads=[3, 1], positions=9) as part:
        run.model(**run.inputs)
    files = [os.path.join(folder, f"{kind}.safetensors") for kind in ("whole", "part")]
    run.capture.write(files[0])
    part.write(files[1])
    sides, got = map(read_safetensors, files)
    wanted = {f"layers.1.heads.{head}.probes.{probe}.{role}": sides[f"layers.1.probes.{probe}.{role}"]
              for head in (3, 1) for probe in (0, 1)
              for role in (("q", "k") if run.capture.rotary else ()) + ("q_coupled", "k_coupled")
              + (("sink_logit",) if 1 in run.capture.sinks else ())}
    x = run.capture.passes[0].layers[1]
    q, k = (np.abs(x[role][1].astype(float)) for role in ("q_coupled", "k_coupled"))
    d, k = q.shape[-1], np.repeat(k, len(q) // len(k), axis=0)
    rounding = 2 * (d + 2) * run.u * (q @ k.transpose(0, 2, 1)).max() / np.sqrt(d)
    tap.ok(f"{name}: axes of chosen heads", header(files[1])["__metadata__"]["axes"] == "token,dim")
    tap.ok(f"{name}: chosen layers, heads and positions", got.keys() == wanted.keys() and all(
        np.array_equal(got[key], whole[int(key.split(".")[3]) // (HEADS // len(whole))][..., :9, :] if whole.ndim > 1
                       else whole[int(key.split(".")[3])]) for key, whole in wanted.items())
           and np.abs(part.logits(1) - run.capture.logits(1)[at:at + 1, [3, 1], :9, :9]).max() <= rounding)


def check_sinks(name, run, folder):
    """Learned logits of a sink are in the file, and `szego logits --statistics` takes each head's."""
    path = os.path.join(folder, "sinks.safetensors")
    run.capture.write(path)
    table = szego.run("logits", path, "--statistics", "--mask", "causal")["logits_statistics"]
    found = [table["sink_logit"][(table["layer"] == layer) & (table["head"] == head)]
             for layer in run.capture.layers for head in range(HEADS)]
    want = np.concatenate([run.capture.places[layer].module.sinks.detach().numpy() for layer in run.capture.layers])
    tap.ok(f"{name}: logits of sinks", all(len(got) and np.allclose(got, one, rtol=1e-6, atol=0)
                                           for got, one in zip(found, want)), f"{found} {want}")


def header(path):
    with open(path, "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    data = data[8 + int.from_bytes(data[:8], "little"):]
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])],
                                {"F32": "<f4", "F64": "<f8"}[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header(path).items() if name != "__metadata__"}


def check_files(name, run, folder):
    """Queries and keys, and logits, give szego the same matrices: single precision rounds logits once."""
    files = [os.path.join(folder, f"{kind}.safetensors") for kind in ("qk", "logits")]
    run.capture.write(files[0])
    run.capture.write(files[1], logits=True)
    rows = [szego.run("logits", file)["logits_contraction"] for file in files]
    written = read_safetensors(files[1])
    layers = run.capture.layers
    tap.ok(f"{name}: szego logits reads both files", all(len(one["head"]) == 2 * HEADS * len(layers) for one in rows)
           and set(rows[0]["content_kind"]) == {"same_qk" if run.capture.rotary else "zeroed"}
           and np.allclose(rows[0]["norm_ratio"], rows[1]["norm_ratio"], rtol=1e-6, atol=0)
           and np.isfinite(rows[0]["width_ratio"]).all()
           and all(np.array_equal(written[f"layers.{layer}.probes.{probe}.{kind}"],
                                  run.capture.logits(probe, kind)[at])
                   for at, layer in enumerate(layers) for probe in range(2) for kind in ("coupled", "content")))


def turned(x, size, pairing, last, angles):
    """x, [heads, N, d], with `size` dimensions of a head rotated: rows of the pairs as complex numbers."""
    part = x[..., x.shape[-1] - size:] if last else x[..., :size]
    halves = pairing == "half"
    pairs = part[..., :size // 2] + 1j * part[..., size // 2:] if halves else part[..., 0::2] + 1j * part[..., 1::2]
    return np.exp(1j * angles) * pairs


def rotations(run):
    """By pairing, how far each captured layer is from pairs that only turn: the same rotation for queries, keys and
    heads, whatever its angles and its amplitude, keeps the products of pairs at equal positions."""
    found = {"half": 0.0, "interleaved": 0.0}
    for layer, kept in run.capture.passes[0].layers.items():
        module = run.capture.places[layer].module
        rotated = np.flatnonzero(np.abs(kept["q_coupled"] - kept["q"]).max(axis=(0, 1, 2)) > 0)
        if not len(rotated):
            continue  # a layer without rotation
        last = type(module).__name__.startswith("Deepseek")
        size = run.model.config.rope if hasattr(run.model.config, "rope") else getattr(module, "qk_rope_head_dim", 0)
        size = size if last else 2 * ((rotated[-1] + 2) // 2)
        if type(module).__name__.startswith("Gemma4"):
            size = kept["q"].shape[-1]  # pairs of whole heads, of which some have frequency zero
        for pairing in found:
            # DeepSeek V3 gives pairs that stood side by side back as halves.
            after = "half" if type(module).__name__.startswith("DeepseekV3") else pairing
            q, turned_q = (turned(kept[role][0].astype(float), size, how, last, 0)
                           for role, how in (("q", pairing), ("q_coupled", after)))
            ratio = np.abs(turned_q) / np.abs(q)
            amplitude = np.median(ratio)
            found[pairing] = max(found[pairing], np.abs(np.abs(turned_q) - amplitude * np.abs(q)).max())
    return found


def check_metadata(name, run, folder):
    """What the file says of the rotation is what the arrays show; a wrong pairing is far from it."""
    path = os.path.join(folder, "told.safetensors")
    run.capture.write(path, logits=True)
    told = header(path)["__metadata__"]
    tap.ok(f"{name}: axes of logits", told["axes"] == "head,query,key", str(told))
    run.capture.write(path)
    told = header(path)["__metadata__"]
    tap.ok(f"{name}: axes of queries and keys", told["axes"] == "head,token,dim")
    model_type = getattr(run.model.config, "model_type", None)
    tap.ok(f"{name}: the model", told.get("model") == (model_type or None))
    if not run.capture.rotary:
        tap.ok(f"{name}: no pairing where nothing rotates", "pairing" not in told and "base" not in told)
        return
    found = rotations(run)
    other = {"half": "interleaved", "interleaved": "half"}[told["pairing"]]
    tap.ok(f"{name}: the pairing is {told['pairing']}", found[told["pairing"]] < 1e-4 < 0.05 < found[other], str(found))
    if getattr(run.model.config, "bases", None):  # stand-ins: of one base for whole heads
        rule = RULES.get(name.split(",")[0])
        whole = rule is not None and rule.bases[0] == rule.bases[1] and not rule.turned
        tap.ok(f"{name}: a base where it says all", ("base" in told) == whole, str(told))
    elif hasattr(run.model.config, "to_dict"):
        check_like(name, run, told)
    if "base" in told:
        check_base(name, run, told)


def check_like(name, run, told):
    """szego.rope(like=config) makes q_coupled . k_coupled of q and k, in a layer that rotates."""
    layer = run.capture.layers[0]
    if name.split(" of ")[0] not in LIKE:
        return
    spec = szego.rope(like=run.model.config, layer=layer)
    tap.ok(f"{name}: rope(like=config), as a dict too", f"pairing={told['pairing']}" in spec
           and spec == szego.rope(like=run.model.config.to_dict(), layer=layer), spec)
    kept = {role: x[0].astype(float) for role, x in run.capture.passes[0].layers[layer].items()}
    q, k = (np.ascontiguousarray(kept[side][0]) for side in "qk")
    want = np.linalg.svd(kept["q_coupled"][0] @ kept["k_coupled"][0].T / np.sqrt(q.shape[-1]), compute_uv=False)
    got = szego.logits(q, k, spec, question="singular").singular_values
    tap.ok(f"{name}: {spec} is the model's rotation", np.abs(got - want).max() < 1e-5 * want[0],
           f"{np.abs(got - want).max() / want[0]}")


def check_base(name, run, told):
    """szego's own rope with the pairing and base of the file makes q_coupled . k_coupled of q and k."""
    kept = {role: x[0, :1].astype(float) for role, x in run.capture.passes[0].layers[run.capture.layers[-1]].items()}
    d = kept["q"].shape[-1]
    spec = f"rope:dim={d},base={told['base']},pairing={told['pairing']}"
    got = szego.logits(kept["q"], kept["k"], spec, question="singular").values
    want = np.linalg.svd(kept["q_coupled"][0] @ kept["k_coupled"][0].T / np.sqrt(d), compute_uv=False)
    other = {"half": "interleaved", "interleaved": "half"}[told["pairing"]]
    wrong = szego.logits(kept["q"], kept["k"], spec.replace(told["pairing"], other), question="singular").values
    tap.ok(f"{name}: {spec} is its rotation", np.abs(got - want).max() < 1e-5 * want[0] < np.abs(wrong - want).max(),
           f"{np.abs(got - want).max()} {np.abs(wrong - want).max()}")


def check_model(name, model, family, folder):
    one = run(spread(model))
    tap.ok(f"{name}: nothing changes", one.same)
    # Of ModernBERT, which has no interface in version 4, layer 1 sees local_attention / 2 tokens on each side.
    rule = RULES.get(family) or Rule(8, 0, causal=family not in BIDIRECTIONAL,
                                     window=(None, 3 if family == "ModernBERT" else None))
    check_attention(name, one, rule, cap_of(family))
    check_files(name, one, folder)
    check_parts(name, one, folder)
    check_metadata(name, one, folder)
    if one.capture.sinks:
        check_sinks(name, one, folder)
    if family in RULES:
        check_oracle(name, one, family, folder)


# ---- Refusals ----

class Layers:
    """A model of those modules."""

    def __init__(self, *modules):
        self.all = modules

    def named_modules(self):
        return [(f"layers.{at}.attention", module) for at, module in enumerate(self.all)]


def check_choices():
    """Layers, heads and positions are checked before any pass, without PyTorch."""
    module = type("StableLmAttention", (), {"num_heads": 4})()
    for heads in ([4], [0, -1], [2, 2], [], 1, [1.5], ["0"]):
        refused(f"heads {heads} of 4", lambda heads=heads: Capture(Layers(module), heads=heads),
                "heads", "from 0 to 3")
    tap.ok("heads that are there", Capture(Layers(module), heads=[3, 0]).heads == [3, 0])
    tap.ok("numbers of NumPy are numbers", Capture(Layers(module), heads=np.arange(2)).heads == [0, 1])
    refused("heads of a module that does not tell", lambda: Capture(
        Layers(type("GPTJAttention", (), {})()), heads=[0]), "GPTJAttention", "num_heads")
    model = Layers(module, module)
    for layers in ([2], [-1], [0, 0], [], 0):
        refused(f"layers {layers} of 2", lambda layers=layers: Capture(model, layers=layers),
                "layers", "from 0 to 1")
    linear = Layers(*(type(name, (), {})() for name in ("Linear", "GPTJAttention", "Linear", "GPTJAttention")))
    tap.ok("a layer has the number in its name", Capture(linear).layers == [1, 3])
    refused("a layer without attention", lambda: Capture(linear, layers=[0]), "layers [0]", "of 1, 3")
    refused("every other position", lambda: Capture(model, positions=slice(0, 8, 2)), "consecutive")
    refused("a model that is not known", lambda: Capture(Layers(type("NewAttention", (), {})())), "Layers",
            "NewAttention", f"supported are {SUPPORTED}", "docs/how-to/logits.md")


def check_spectra(capture):
    """Against NumPy's of the logits, which are rounded to their type, single precision at least: each value moves by less than 2^-24 of
    the Frobenius norm, and the spectra of szego.spectra alike."""
    for kind in ("coupled", "content"):
        logits = capture.logits(1, kind)
        found, dense = capture.spectra(1, kind, question="singular"), szego.spectra(logits, question="singular")
        want = np.linalg.svd(logits.astype(float), compute_uv=False)
        tap.ok(f"spectra of {kind} logits: layers, heads", found.shape == dense.shape == logits.shape[:2]
               and found.input_dtype == dense.input_dtype == logits.dtype.name, repr(found))
        for name, one in (("of q and k", found), ("of the logits", dense)):
            tap.close(f"spectra of {kind} logits, {name}", float(np.abs(one.values - want).max()), 0,
                      2.0**-23 * np.linalg.norm(want))
    refused("spectra of a kind that is not there", lambda: capture.spectra(kind="q"), "'coupled' or 'content'")


def check_logits(folder):
    """What `logits` refuses, and what it says."""
    one = run(spread(stand_in("Qwen3"))).capture
    refused("a probe that is not there", lambda: one.logits(2), "probe", "from 0 to 1")
    refused("a kind that is not there", lambda: one.logits(kind="q"), "'coupled' or 'content'")
    refused("logits before any pass", lambda: Capture(stand_in("Qwen3")).logits(), "call the model")
    model = spread(stand_in("RoBERTa"))
    inputs = {"input_ids": torch.randint(2, 50, (1, 5)), "attention_mask": torch.ones(1, 5)}
    with Capture(model) as capture, torch.no_grad():
        model(**inputs)
    refused("content without a second pass", lambda: capture.logits(kind="content"), "zeroed()")
    tap.ok("coupled logits need no second pass", capture.logits().shape == (2, HEADS, 5, 5))
    capped = run(spread(stand_in("Gemma 2"))).capture
    plain = capped.logits()
    tap.ok("a cap acts where it is asked for", capped.caps == {0: CAP, 1: CAP} and one.caps == {0: None, 1: None}
           and np.abs(plain).max() > np.abs(capped.logits(capped=True)).max() > 0
           and np.abs(capped.logits(capped=True)).max() <= CAP
           and np.array_equal(one.logits(capped=True), one.logits()))
    check_spectra(one)
    caps = []
    for capture in (capped, one):
        capture.write(os.path.join(folder, "cap.safetensors"))
        caps.append(header(os.path.join(folder, "cap.safetensors"))["__metadata__"].get("logit_cap"))
    tap.ok("a file says what the cap is", caps == [str(CAP), None], str(caps))


def one_pass(model):
    with Capture(model), torch.no_grad():
        model(input_ids=torch.randint(2, 50, (1, 5)), attention_mask=torch.ones(1, 5))


def changed(family, **methods):
    """A stand-in whose attention differs from what the table says, under the same name."""
    model = spread(stand_in(family))
    for layer in model.layers:
        # The same module name too: it is where functions that rotate are looked up.
        layer.__class__ = type(type(layer).__name__, (type(layer),),
                               {"__module__": standins.__name__, **methods})
    return model


def norm_late(self, hidden_states, seen=None, position_embeddings=None):
    q, k, v = (self.split(part(hidden_states)) for part in (self.q_proj, self.k_proj, self.v_proj))
    q, k = self.turn(q, k, position_embeddings)
    norms = [getattr(self, side + "_norm", None) or getattr(self, side + "_layernorm") for side in "qk"]
    return self.attend(norms[0](q), norms[1](k), v, seen)


def turn_twice(self, q, k, angles):
    return standins.apply_rotary_pos_emb(*standins.apply_rotary_pos_emb(q, k, *angles), *angles)


def scale_first(self, q, k, angles):
    rope = self.config.rope
    parts = standins.apply_rotary_pos_emb(2 * q[..., :rope], k[..., :rope], *angles)
    return [torch.cat((part, x[..., rope:]), -1) for part, x in zip(parts, (q, k))]


def queries_alone(self, q, k, angles):
    return standins.apply_rotary_pos_emb(q, q, *angles)[0], k


def other_angles(self, q, k, angles):
    return standins.apply_rotary_pos_emb(q, k, angles[0], angles[1] * 1.1)


def other_angles_of_keys(self, q, k, angles):
    cos, sin = angles
    twice = 2 * cos * cos - 1, 2 * sin * cos
    return standins.apply_rotary_pos_emb(q, q, cos, sin)[0], standins.apply_rotary_pos_emb(k, k, *twice)[0]


def twice_the_angle(self, q, k, angles):
    """But at right angles, where the probe looks."""
    cos, sin = angles
    if bool((cos == 0).all()):
        return standins.apply_rotary_pos_emb(q, k, cos, sin)
    return standins.apply_rotary_pos_emb(q, k, 2 * cos * cos - 1, 2 * sin * cos)


def sin_before_cos(self, angles):
    return angles.sin(), angles.cos()


def turn_sin_before_cos(self, q, k, angles):
    return standins.apply_rotary_pos_emb(q, k, *angles[::-1])


def no_first_position(self, x, size, first=0):
    return standins.Attention.angles(self, x, size, 3)


def biased(self, q, k, v, seen):
    mask = torch.zeros(seen.shape, dtype=q.dtype).masked_fill(~seen, -torch.inf) - 0.5 * seen
    return self.joined(*standins.eager_attention_forward(self, q, k, v, mask[:, None], scaling=self.scaling))


def with_bias(self, q, k, v, seen):
    mask = torch.zeros(seen.shape, dtype=q.dtype).masked_fill(~seen, -torch.inf)
    return self.joined(*standins.eager_attention_forward(self, q, k, v, mask[:, None], scaling=self.scaling, position_bias=mask))


def check_interrupted():
    """What a pass that failed left behind is not taken for a part of the next one."""
    broken = []

    def fails_once(self, q, k, v, seen):
        if not broken:
            broken.append(self)
            raise RuntimeError("out of memory")
        return standins.Direct.attend(self, q, k, v, seen)

    model = changed("Qwen2 MoE", attend=fails_once)
    inputs = {"input_ids": torch.randint(2, 50, (1, 5)), "attention_mask": torch.ones(1, 5)}
    with Capture(model) as capture, torch.no_grad():
        tap.refused("a pass that fails", lambda: model(**inputs), "out of memory", kind=RuntimeError)
        model(**inputs)
    with Capture(model) as again, torch.no_grad():
        model(**inputs)
    tap.ok("a pass after one that failed", len(capture.passes) == 1
           and np.array_equal(capture.logits(), again.logits()))


def check_generation():
    """A pass that continues another one is refused however the model hands its cache on; the first one is a pass."""
    tokens = torch.randint(2, 50, (1, 6))
    for family, convention in ((family, convention) for family in ("Llama", "Qwen2 MoE") for convention in standins.CONVENTIONS):
        model = spread(stand_in(family))
        model.convention = convention
        name = f"{family}, {convention}"
        with torch.no_grad(), Capture(model) as capture:
            model.generate(tokens, 0)
            tap.ok(f"{name}: a pass that fills a cache", [one.lengths for one in capture.passes] == [[6]])
            held = model.own
            for at_once in (1, 2):
                if convention == "keys that the model keeps" and at_once == 2 and family == "Qwen2 MoE":
                    continue  # nothing that is called shows these keys
                words = ["continues", "whole sequence"] + (["8 keys"] if at_once == 2 else [])
                refused(f"{name}: {at_once} more", lambda n=at_once: model.generate(tokens, 3, n), *words)
        model.own = None
        tap.ok(f"{name}: nothing is kept twice", held is None)
        with torch.no_grad(), Capture(model) as capture:
            model(tokens[:, :1])
            model(tokens)
            model(tokens[:, :3])
        tap.ok(f"{name}: shorter sequences after longer ones", [one.lengths[0] for one in capture.passes] == [1, 6, 3])


def check_watched():
    """Watchers of one model: two at once, in any order of leaving, an exception in between, another model beside it, threads."""
    for implementation in ("eager, 4", "sdpa, 4", "eager, 5", "sdpa, 5"):
        model, other = spread(stand_in("Llama")), spread(stand_in("Llama"))
        for layer in (*model.layers, *other.layers):
            layer.implementation = implementation
        tokens, first, second = torch.randint(2, 50, (1, 7)), [], []
        with torch.no_grad():
            plain = model(tokens).rows
            one, two = watched(model, first.append), watched(model, second.append, layers=[1])
            one.__enter__()
            two.__enter__()
            same = torch.equal(plain, model(tokens).rows)
            other(tokens)
            one.__exit__(None, None, None)
            same = same and torch.equal(plain, model(tokens).rows)
            two.__exit__(None, None, None)
            model(tokens)
        tap.ok(f"{implementation}: each watcher its layers", same and [call.layer for call in first] == [0, 1]
               and [call.layer for call in second] == [1, 1]
               and [call.name for call in first] == ["layers.0", "layers.1"])
        tap.ok(f"{implementation}: what is called", first[0].scaling == 8**-0.5 and first[0].query.shape == (1, HEADS, 7, 8)
               and first[0].key.shape == (1, 2, 7, 8) and first[0].mask is not None and first[0].cap is None
               and first[1].module is model.layers[1])

        def fails(call):
            raise RuntimeError("out of memory")

        with torch.no_grad(), watched(model, fails):
            tap.refused(f"{implementation}: what `seen` raises", lambda: model(tokens), "out of memory", kind=RuntimeError)
        tap.ok(f"{implementation}: nothing is left", not hasattr(standins.eager_attention_forward, "__wrapped__")
               and type(standins.ALL_ATTENTION_FUNCTIONS) is standins.AttentionInterface
               and torch.equal(plain, model(tokens).rows))
    seen = [[], []]

    def pass_of(at, model):
        with torch.no_grad(), watched(model, seen[at].append):
            for _ in range(20):
                model(tokens)

    models = model, other
    threads = [threading.Thread(target=pass_of, args=(at, models[at])) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tap.ok("two threads", all([call.layer for call in calls] == [0, 1] * 20 and {call.module for call in calls}
                              == set(models[at].layers) for at, calls in enumerate(seen)))


def check_cache():
    """A cache that a captured pass fills has the bits of one without the capture."""
    for convention in ("5.24", "a cache of another kind"):
        model = spread(stand_in("Llama"))
        model.convention = convention
        outer, _, kind = standins.CONVENTIONS[convention]
        caches, tokens = [kind(), kind()], torch.randint(2, 50, (1, 6))
        with torch.no_grad():
            model(tokens, **{outer: caches[0]})
            with Capture(model):
                model(tokens, **{outer: caches[1]})
        tap.ok(f"{convention}: the cache is the same", all(
            torch.equal(a, b) for layer in range(2) for a, b in zip(*(cache.held[layer] for cache in caches))))


def only_coupled(name, model, *words):
    """There are logits with the encoding, and a reason why there are none without it."""
    inputs = {"input_ids": torch.randint(2, 50, (1, 7)), "attention_mask": torch.ones(1, 7)}
    with Capture(model) as capture, torch.no_grad():
        model(**inputs)
    tap.ok(f"{name}: coupled logits", capture.logits().shape == (2, HEADS, 7, 7) and not capture.rotary, str(capture.reasons))
    refused(f"{name}: content", lambda: capture.logits(kind="content"), *words)
    refused(f"{name}: zeroed", lambda: capture.zeroed().__enter__(), *words)


def check_rotations():
    """Attentions that do something else with their cos and sin give no queries and keys before rotation."""
    only_coupled("a norm by dimension after the rotation", changed("Qwen3", forward=norm_late), "Qwen3Attention")
    only_coupled("angles that are no rotation", changed("Llama", turn=other_angles), "does not rotate pairs")
    only_coupled("other angles of keys", changed("Llama", turn=other_angles_of_keys), "no rotation makes")
    only_coupled("queries alone", changed("Llama", turn=queries_alone), "rotates its queries and not its keys")
    only_coupled("two rotations", changed("Llama", turn=turn_twice), "does not rotate pairs")
    only_coupled("twice the angle", changed("Llama", turn=twice_the_angle), "other angles than its cos and sin")
    model = changed("Llama", turned_by=sin_before_cos, turn=turn_sin_before_cos)
    tokens = torch.randint(2, 50, (1, 7))
    with Capture(model) as capture, torch.no_grad():
        model(tokens)
    tap.ok("sin before cos", set(capture.pairings.values()) == {"half"} and capture._base() == "10000.0", str(capture.reasons))
    with Capture(changed("Llama", angles=no_first_position)) as capture, torch.no_grad():
        capture.model(tokens)
    refused("no token at angle zero: sin and cos look alike", lambda: capture.logits(kind="content"), "hides how it rotates")
    refused("numbers in the mask", lambda: one_pass(changed("Llama", attend=biased)), "adds numbers to the logits")
    refused("a bias by position", lambda: one_pass(changed("Llama", attend=with_bias)), "bias by position")


def check_undone():
    """Keys of an earlier layer are rotated back: to rounding what they were there."""
    model = spread(stand_in("Llama"))
    kept = {}

    def shares(self, q, k, v, seen):
        kept.setdefault("keys", (k, v))
        return standins.Interface.attend(self, q, *(kept["keys"] if self.layer else (k, v)), seen)

    for layer in model.layers:
        layer.__class__ = type(type(layer).__name__, (type(layer),), {"__module__": standins.__name__, "attend": shares})
    with Capture(model) as capture, torch.no_grad():
        model(torch.randint(2, 50, (1, 7)))
    first, second = (capture.passes[0].layers[layer] for layer in range(2))
    size = np.abs(first["k"]).max()
    tap.ok("keys of an earlier layer", np.array_equal(first["k_coupled"], second["k_coupled"])
           and 0 < np.abs(first["k"] - first["k_coupled"]).max() and np.abs(first["k"] - second["k"]).max() < 16 * 2.0**-53 * size,
           str(capture.reasons))


def check_stacks():
    """A model of two towers: which one must be said."""
    towers = torch.nn.ModuleDict({"vision": stand_in("Llama"), "text": stand_in("Qwen3")})
    refused("two towers", lambda: Capture(towers), "attentions of 2 kinds", "'vision.layers.*' (2)", "'text.layers.*' (2)")
    refused("a tower that is not there", lambda: Capture(towers, stack="sound"), "no attentions 'sound'", "'text.layers.*' (2)")
    towers.forward = lambda input_ids: [towers[name](input_ids) for name in ("vision", "text")]
    tokens = torch.randint(2, 50, (1, 7))
    with Capture(towers, stack="text.layers.*") as capture, Capture(towers["text"]) as alone, torch.no_grad():
        towers(tokens)
    tap.ok("the tower that was said", capture.layers == [0, 1] and np.array_equal(capture.logits(), alone.logits()))


def check_masks():
    """Words of masks that are given as tensors, as numbers or as functions, of a sequence long enough to show them."""
    n = 40
    lag = torch.arange(n)[:, None] - torch.arange(n)
    block = torch.arange(n)[:, None] // 12 == torch.arange(n) // 12
    patterns = {"causal": lag >= 0, "all": lag > -n, "causal, window 5": (lag >= 0) & (lag < 5), "window 5": lag.abs() < 5,
                "causal, chunks of 12": (lag >= 0) & block, "other": (lag >= 0) & ((lag % 3) != 1)}
    query = torch.zeros(1, 1, n, 4)

    def words(mask, causal=None, window=None):
        return described(Attention(None, 0, query, query, mask, 1.0, None, None, causal, window, None, False, "", "", None), n)

    for name, seen in patterns.items():
        added = torch.zeros(n, n).masked_fill(~seen, torch.finfo(torch.float32).min)
        got = [words(seen[None, None]), words(added[None, None]), words(seen[None, None].repeat(1, 2, 1, 1))]
        tap.ok(f"mask: {name}", got == [name] * 3, str(got))
    tap.ok("no mask", [words(None, True), words(None, False), words(None, True, 7), words(None)]
           == ["causal", "all", "causal, window 7", "causal"])
    two = torch.stack([patterns["causal"], patterns["all"]])[None]
    tap.ok("heads that differ", words(two) == "other")


def check_unknown():
    """Versions that differ from the table are refused, and the model is left as it was."""
    refused("a norm after the rotation", lambda: one_pass(changed("StableLM, normed", forward=norm_late)),
            "StableLmAttention", "q_layernorm and k_layernorm", "not known")
    refused("two rotations", lambda: one_pass(changed("Qwen2 MoE", turn=turn_twice)), "rotates twice")
    refused("no rotation", lambda: one_pass(changed("Qwen2 MoE", turn=lambda self, q, k, _: (q, k))),
            "did not call apply_rotary_pos_emb")
    refused("a rotation of something else", lambda: one_pass(changed("StableLM, normed", turn=scale_first)),
            "does not rotate the first dimensions")
    for family in ("StableLM, normed", "Qwen3"):
        model = changed(family, forward=norm_late)
        try:
            one_pass(model)
        except CaptureError:
            pass
        tap.ok(f"{family}: a refusal leaves the model as it was", "forward" not in vars(model)
               and standins.apply_rotary_pos_emb.__module__ == standins.__name__
               and not hasattr(standins.apply_rotary_pos_emb, "__wrapped__")
               and not hasattr(standins.eager_attention_forward, "__wrapped__")
               and type(standins.ALL_ATTENTION_FUNCTIONS) is standins.AttentionInterface)


def check_table():
    """Each class is in one row, and the guide names each family."""
    classes = [cls for family in FAMILIES for cls in family.attention]
    tap.ok("each class is in one row", len(classes) == len(set(classes)))
    names = {family.name for family in FAMILIES}
    guide = os.path.join(HERE, "..", "..", "docs", "how-to", "python.md")
    with open(guide, encoding="utf-8") as file:
        told = {name for line in file if line.startswith("| ") for name in line.split("|")[1].strip().split(", ")}
    untold = sorted(names - told)
    tap.ok("the guide names each family", not untold, str(untold) if untold else "")


# ---- Models of transformers ----

def check_end_to_end(model, folder):
    model = model.float()
    tokens = torch.randint(1, 50, (1, 12))
    with Capture(model.bfloat16()) as capture, torch.no_grad():
        model(tokens)
    path = os.path.join(folder, "half.safetensors")
    capture.write(path)
    halves = read_safetensors(path)["layers.0.probes.0.q"]
    tap.ok("bfloat16 becomes single precision, exactly", halves.dtype == np.float32 and
           not (halves.view(np.uint32) & 0xffff).any() and halves.any())
    model.float().save_pretrained(os.path.join(folder, "model"))
    path = os.path.join(folder, "dump.safetensors")
    tap.ok("the command line", main([os.path.join(folder, "model"), "--tokens", "1,2,3,4,5", "-o", path])
           == 0 and szego.run("logits", path)["logits_contraction"]["n"].tolist() == [5] * 8)
    out = os.path.join(folder, "report")
    subprocess.run([PROGRAM, "logits", path, "-o", out + "/", "--quiet"], check=True)
    page = os.path.join(folder, "report.html")
    done = subprocess.run([PROGRAM, "report", out, "-o", page, "--quiet"], check=False,
                          capture_output=True, text=True)
    tap.ok("dump, logits, report", done.returncode == 0 and os.path.getsize(page) > 1000, done.stderr)
    with Capture(model) as capture, torch.no_grad():
        first = model(tokens, use_cache=True)
        handed = "cache" if "cache" in first else "past_key_values"
        refused("a pass that continues a cache", lambda: model(tokens, attention_mask=torch.ones(1, 24), **{
            handed: first[handed]}), "12 queries against 24 keys")
        left = torch.ones(1, 12, dtype=torch.long)
        left[0, :3] = 0
        refused("padding on the left", lambda: model(tokens, attention_mask=left), "right")
        refused("a part of the model", lambda: model.layers[0].self_attn(
            torch.zeros(1, 3, 32), position_ids=torch.arange(3)[None]), "part")
        refused("zeroed rows of a rotary model", lambda: capture.zeroed().__enter__(), "no rows")
    tap.ok("the model is as before", "forward" not in vars(model)
           and model.layers[0].self_attn.forward.__qualname__.startswith("Llama"))


def check_generate():
    """generate() of models whose attentions hand the cache on under different names."""
    for name, suffix in (("Llama", "ForCausalLM"), ("GPT-NeoX, partial", "ForCausalLM"), ("GPT-J", "ForCausalLM"),
                         ("Gemma 2", "ForCausalLM"), ("GPT-2", "LMHeadModel")):
        prefix, settings = MODELS[name]
        config = getattr(transformers, prefix + "Config")(**settings)
        model = getattr(transformers, prefix + suffix)(config).eval()
        tokens = torch.randint(2, 50, (1, 12))
        # Looking up several tokens needs a cache that can be cropped, which a sliding window's cannot.
        lookup = [] if name == "Gemma 2" else [{"prompt_lookup_num_tokens": 2}]
        for kind in ({}, {"cache_implementation": "static"}, *lookup):
            with Capture(model) as capture, torch.no_grad():
                refused(f"{name}: generate {kind or ''}", lambda model=model, kind=kind: model.generate(
                    tokens, max_new_tokens=4, min_new_tokens=4, do_sample=False, pad_token_id=0, **kind), "whole sequence")
            tap.ok(f"{name}: generate {kind or ''}: no probe of a continued pass",
                   all(one.lengths[0] >= 12 for one in capture.passes))
        with Capture(model) as capture, torch.no_grad():
            model.generate(tokens, max_new_tokens=4, use_cache=False, do_sample=False, pad_token_id=0, min_new_tokens=4)
        tap.ok(f"{name}: generate without a cache", [one.lengths[0] for one in capture.passes] == [12, 13, 14, 15])


def check_transformers(folder):
    print(f"# transformers {transformers.__version__}, torch {torch.__version__}")
    check_training()
    check_compiled()
    check_flex()
    check_towers()
    check_generate()
    for name in MODELS:
        model = transformers_model(name)
        if model is None:
            tap.ok(f"{name} # SKIP not in transformers {transformers.__version__}", True)
        else:
            check_model(f"{name} of transformers", model, name, folder)
    check_end_to_end(transformers_model("Llama"), folder)
    t5 = transformers.T5EncoderModel(transformers.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=32,
                                                           num_layers=1, num_heads=4))
    interface = any(uses_interface(type(part)) for part in t5.modules())
    refused("T5", lambda: one_pass(t5), *(["bias by position"] if interface else
                                          ["T5Attention", "supported are Qwen2 MoE", "docs/how-to/logits.md"]))
    bert = transformers.BertModel(transformers.BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=32, position_embedding_type="relative_key"))
    if any(hasattr(part, "distance_embedding") for part in bert.modules()):
        refused("BERT with relative keys", lambda: Capture(bert).__enter__(), "relative_key")
        tap.ok("that refusal leaves the model as it was", "forward" not in vars(bert))


# ---- The seam: what watching leaves as it is ----

def step(model, tokens):
    """Loss and gradients of a step with dropout."""
    torch.manual_seed(SEED)
    model.zero_grad()
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    return [loss.detach(), *(weight.grad.clone() for weight in model.parameters() if weight.grad is not None)]


def check_training():
    """Steps of a watched and of a captured model have the bits of others, with each implementation and with checkpointing,
    whose repeated forwards are seen once."""
    config = transformers.LlamaConfig(**{**GROUPED, "attention_dropout": 0.1})
    for implementation, kind in (("eager", None), ("sdpa", None), ("sdpa", False), ("eager", True)):
        model = transformers.LlamaForCausalLM(config).train()
        model.set_attn_implementation(implementation)
        if kind is not None:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": kind})
        tokens, seen = torch.randint(2, 50, (2, TOKENS)), []
        plain = step(model, tokens)
        with watched(model, lambda call: seen.append(call.layer)), watched(model, lambda call: None, layers=[1]):
            one = step(model, tokens)
        with Capture(model) as capture:
            two = step(model, tokens)
        name = f"{implementation}, checkpointing {kind}"
        tap.ok(f"{name}: a step has the same bits", all(torch.equal(a, b) and torch.equal(a, c)
                                                        for a, b, c in zip(plain, one, two)) and len(plain) > 5)
        tap.ok(f"{name}: each layer once", seen == [0, 1] and len(capture.passes) == 1, str(seen))


def check_compiled():
    model = transformers.LlamaModel(transformers.LlamaConfig(**GROUPED)).eval()
    compiled = torch.compile(model, backend="eager")
    tokens = torch.randint(2, 50, (1, 7))
    refused("a compiled model", lambda: Capture(compiled).__enter__(), "compiled", "before compilation")
    seen = []
    with torch.no_grad():
        plain = compiled(tokens)[0]
        with watched(model, seen.append):
            same = torch.equal(plain, compiled(tokens)[0])
            unseen = not seen
            model(tokens)
        with Capture(model):
            refused("a graph of before", lambda: compiled(tokens), "compiled model")
    tap.ok("a compiled graph is not seen, and has the same bits", same and unseen and len(seen) == 2)
    layer = transformers.LlamaModel(transformers.LlamaConfig(**GROUPED)).eval()
    layer.layers[0].compile(backend="eager")
    refused("a compiled layer", lambda: Capture(layer).__enter__(), "layers.0 is compiled")


def check_flex():
    """The mask of flex attention is a function: its words are those of the others."""
    model = transformers.Qwen3Model(transformers.Qwen3Config(
        **{**GROUPED, "head_dim": 16, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1,
           "attn_implementation": "flex_attention"})).eval()
    with torch.no_grad(), Capture(model) as capture:
        model(torch.randint(2, 50, (1, TOKENS)))
    tap.ok("flex attention", capture.masks == {0: "causal", 1: "causal, window 4"}, str(capture.masks))


def check_towers():
    """Of a model with an encoder and a decoder the stack is asked for; cross-attention is refused."""
    model = transformers.BartModel(transformers.BartConfig(
        vocab_size=50, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, attn_implementation="eager")).eval()
    inputs = {"input_ids": torch.randint(3, 50, (1, 9)), "decoder_input_ids": torch.randint(3, 50, (1, 9))}
    refused("Bart", lambda: Capture(model), "3 kinds", "'encoder.layers.*.self_attn' (2)", "'decoder.layers.*.encoder_attn' (2)")

    def captured(stack):
        with torch.no_grad(), Capture(model, stack=stack) as capture:
            return capture, model(**inputs, output_attentions=True)

    refused("Bart, cross-attention", lambda: captured("decoder.layers.*.encoder_attn"), "cross-attention")
    for stack, name in (("encoder", "encoder_attentions"), ("decoder", "decoder_attentions")):
        capture, out = captured(f"{stack}.layers.*.self_attn")
        logits = np.where(seen_by(capture, 1, 9, None), capture.logits()[1].astype(float), -np.inf)
        got = softmax(logits, None) - out[name][1][0].numpy()
        tap.ok(f"Bart, {stack}", np.abs(got).max() < 1e-5 and capture.masks[1] == ("all" if stack == "encoder" else "causal"))


def check_stand_ins(folder):
    check_unknown()
    check_rotations()
    check_undone()
    check_stacks()
    check_masks()
    check_cache()
    check_watched()
    check_interrupted()
    check_generation()
    check_logits(folder)
    for name in (*RULES, "StableLM, normed"):
        if name in (*STAND_INS, "RoBERTa"):
            check_model(f"{name}, a stand-in", stand_in(name), name, folder)


check_choices()
check_table()
# Below, TAP's own words for cases that cannot run here.
with scratch() as place:
    if torch is None:
        tap.ok("stand-ins # SKIP Debian's python3-torch is needed", True)
    else:
        torch.manual_seed(SEED)
        check_stand_ins(place)
    if torch is None or transformers is None:
        tap.ok("models of transformers # SKIP pip install torch transformers", True)
    else:
        check_transformers(place)
tap.finish()
