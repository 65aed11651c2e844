#!/usr/bin/python3
"""Adapters of peft over a base: every table equals that of a folder with the applied weights. These are NumPy's
formulas here, and peft's own merge_and_unload where peft is installed. usage: test_adapters.py PROGRAM"""
import json
import os
import sys

from peer import package_test, scratch, skip, tables, write_model

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "notebooks_export", "python"))
try:
    import numpy as np
    import szego
except ImportError as missing:
    skip(f"{missing}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
tap, refused, random = package_test(szego.SzegoError)
draw = random.standard_normal
D, E, HEADS, KEYS, RANK = 16, 4, 4, 2, 3


# ---- Models ----

def llama():
    rows = {"q": HEADS * E, "k": KEYS * E, "v": KEYS * E}
    tensors = {f"model.layers.{i}.self_attn.{name}_proj.weight": draw((size, D)) for i in range(2) for name, size in
               rows.items()}
    tensors |= {f"model.layers.{i}.self_attn.o_proj.weight": draw((D, HEADS * E)) for i in range(2)}
    tensors |= {f"model.layers.{i}.input_layernorm.weight": 1 + draw(D) / 4 for i in range(2)}
    return {"model_type": "qwen2", "num_hidden_layers": 2, "num_attention_heads": HEADS, "num_key_value_heads": KEYS,
            "hidden_size": D, "max_position_embeddings": 40, "rope_theta": 100.0}, tensors | {
                "model.embed_tokens.weight": draw((11, D)),
                **{f"model.layers.{i}.self_attn.{name}_proj.bias": draw(size) for i in range(2) for name, size in
                   rows.items()}}


def gpt2():
    return {"model_type": "gpt2", "n_layer": 1, "n_head": HEADS, "n_embd": D, "n_positions": 20}, {
        "wte.weight": draw((11, D)), "wpe.weight": draw((20, D)), "h.0.ln_1.weight": 1 + draw(D) / 4,
        "h.0.ln_1.bias": draw(D), "h.0.attn.c_attn.weight": draw((D, 3 * D)), "h.0.attn.c_attn.bias": draw(3 * D),
        "h.0.attn.c_proj.weight": draw((D, D)), "h.0.attn.c_proj.bias": draw(D)}


def neox():
    return {"model_type": "gpt_neox", "num_hidden_layers": 1, "num_attention_heads": HEADS, "hidden_size": D,
            "rotary_pct": 0.5, "rotary_emb_base": 100.0, "max_position_embeddings": 40, "intermediate_size": 8}, {
                "gpt_neox.embed_in.weight": draw((11, D)),
                "gpt_neox.layers.0.input_layernorm.weight": 1 + draw(D) / 4,
                "gpt_neox.layers.0.input_layernorm.bias": draw(D),
                "gpt_neox.layers.0.attention.query_key_value.weight": draw((3 * D, D)),
                "gpt_neox.layers.0.attention.query_key_value.bias": draw(3 * D),
                "gpt_neox.layers.0.attention.dense.weight": draw((D, D))}


# ---- Adapters by formula ----

BEGIN = "base_model.model."


class Adapter:
    """One that is drawn over the base: its files, and what they make of the weights."""

    def __init__(self, tensors, **config):
        self.config = {"peft_type": "LORA", "r": RANK, "lora_alpha": 4, "base_model_name_or_path": "org/base",
                       "init_lora_weights": True, "target_modules": ["q_proj"], "lora_dropout": 0.1} | config
        self.applied, self.tensors = dict(tensors), {}

    def add(self, name, *, rank=RANK, alpha=4, turned=False, embedding=False, bias=False, called=None):
        """LoRA of the module `name` with the rank and the alpha that peft takes."""
        rows, columns = self.applied[name + ".weight"].shape[::-1 if turned or embedding else 1]
        down, up = draw((rank, columns)), draw((rows, rank))
        begin = BEGIN + (called or name)
        words = (".lora_embedding_A", ".lora_embedding_B") if embedding else (".lora_A.weight", ".lora_B.weight")
        self.tensors |= dict(zip([begin + word for word in words], (down, up)))
        scale = alpha / (rank ** 0.5 if self.config.get("use_rslora") else rank)
        change = scale * up @ down
        weight = self.applied[name + ".weight"] + (change.T if turned or embedding else change)
        if self.config.get("use_dora"):
            axis = 0 if turned or embedding else 1
            magnitude = 1 + random.random(rows)
            self.tensors[begin + ".lora_magnitude_vector"] = magnitude
            length = np.sqrt((weight ** 2).sum(axis, keepdims=True))
            weight = weight * (np.expand_dims(magnitude, axis) / length)
        self.applied[name + ".weight"] = weight
        if bias:
            self.tensors[begin + ".lora_B.bias"] = draw(rows)
            self.applied[name + ".bias"] = self.applied[name + ".bias"] + scale * self.tensors[begin + ".lora_B.bias"]
        return self

    def save(self, name, *, between=""):
        """A whole weight in place of the base's."""
        self.applied[name] = draw(self.applied[name].shape)
        head, last = name.rsplit(".", 1)
        self.tensors[f"{BEGIN}{head}{between}.{last}"] = self.applied[name]
        return self

    def write(self, folder):
        write_model(folder, self.config, self.tensors)
        os.rename(os.path.join(folder, "config.json"), os.path.join(folder, "adapter_config.json"))
        os.rename(os.path.join(folder, "model.safetensors"), os.path.join(folder, "adapter_model.safetensors"))
        return folder


#: Errors, which rounding decides, and angles of an extremum, which two angles may have.
UNLIKE = ("residual", "error", "toeplitzness_error", "theta_min", "theta_max")


def worst_difference(found, wanted):
    """Of all numbers of all tables, relative to the largest of their column; and how many were compared."""
    worst, count = ("", 0.0), 0
    for table in wanted:
        if table in ("checkpoint_tensors", "checkpoint_architecture"):
            continue
        for column in wanted[table]:
            x, y = (np.ma.getdata(side[table][column]) for side in (found, wanted))
            if x.dtype.kind != "f" or column in UNLIKE:
                continue
            if x.shape != y.shape or (np.isfinite(x) != np.isfinite(y)).any():
                return (f"{table}.{column}: other places", np.inf), count
            there = np.isfinite(x)
            gap = np.abs(x - y)[there].max(initial=0) / max(np.abs(y[there]).max(initial=0), 1e-300)
            count += there.sum()
            if gap > worst[1]:
                worst = (f"{table}.{column}", gap)
    return worst, count


def check_equal(label, base, adapter, merged, bound=1e-9):
    """bound: relative; sums run in another order, and columns such as angles and shares of small kernels magnify
    that by their condition, which is below 1e5 for these weights."""
    found, wanted = szego.checkpoint(base, adapter=adapter, circuits=True), szego.checkpoint(merged, circuits=True)
    (where, gap), count = worst_difference(found, wanted)
    tap.ok(f"{label}: {count} numbers", gap < bound and count > 500, f"{where}: {gap:g}")
    values = [np.ma.getdata(one.singular_values()) for one in (found, wanted, szego.checkpoint(base))]
    top = np.nanmax(values[1])
    tap.ok(f"{label}: singular values", np.nanmax(np.abs(values[0] - values[1])) < 400 * 2.3e-16 * top)
    return np.nanmax(np.abs(values[0] - values[2])) > 1e-3 * top


def qk(layer=0):
    return [f"model.layers.{layer}.self_attn.{name}_proj" for name in "qk"]


def by_formula(where):
    config, tensors = llama()
    att = [f"model.layers.{i}.self_attn.{name}_proj" for i in range(2) for name in "qkvo"]

    def every(**options):
        made = Adapter(tensors, **options)
        for name in att:
            made.add(name)
        return made
    patterns = Adapter(tensors, rank_pattern={r"layers\.\d\.self_attn\.q_proj": 2, "q_proj": 5}, alpha_pattern={
        "^model.layers.1.self_attn.k_proj": 7, "self_attn.v_proj|nothing": 9, "j_proj": 3})
    for name in att:
        patterns.add(name, rank=2 if "q_proj" in name else RANK,
                     alpha=7 if name.endswith("1.self_attn.k_proj") else 9 if "v_proj" in name else 4)
    saved = Adapter(tensors).save("model.layers.1.input_layernorm.weight").save("model.embed_tokens.weight",
                                                                                 between=".base_layer")
    cases = {"LoRA": every(), "rsLoRA": every(use_rslora=True), "DoRA": every(use_dora=True),
             "DoRA, rsLoRA": every(use_dora=True, use_rslora=True), "patterns": patterns,
             "embedding": every().add("model.embed_tokens", embedding=True),
             "DoRA of the embedding": every(use_dora=True).add("model.embed_tokens", embedding=True),
             "lora_bias": Adapter(tensors, lora_bias=True).add(qk()[0], bias=True).add(qk()[1], bias=True),
             "whole weights": saved.add(qk()[0]),
             "other prefix": Adapter(tensors).add(qk()[1], called="base.model.layers.0.self_attn.k_proj")}
    write_model(f"{where}/llama", config, tensors)
    for label, made in cases.items():
        folder = made.write(f"{where}/{label}")
        write_model(f"{where}/{label} merged", config, made.applied)
        moved = check_equal(label, f"{where}/llama", folder, f"{where}/{label} merged")
        tap.ok(f"{label}: it is not the base", moved)
    for name, model, modules in (("Conv1D", gpt2, ["h.0.attn.c_attn", "h.0.attn.c_proj"]),
                                 ("fused heads", neox, ["gpt_neox.layers.0.attention.query_key_value",
                                                        "gpt_neox.layers.0.attention.dense"])):
        config, tensors = model()
        write_model(f"{where}/{name} base", config, tensors)
        for kind in ({}, {"use_dora": True}):
            made = Adapter(tensors, fan_in_fan_out=name == "Conv1D", **kind)
            for module in modules:
                made.add(module, turned=name == "Conv1D",
                         called="transformer." + module if name == "Conv1D" else None)
            label = f"{name}{' DoRA' if kind else ''}"
            folder = made.write(f"{where}/{label}")
            write_model(f"{where}/{label} merged", config, made.applied)
            tap.ok(f"{label}: it is not the base",
                   check_equal(label, f"{where}/{name} base", folder, f"{where}/{label} merged"))


# ---- Bad input ----

def bad_input(where):
    base, (_, tensors) = f"{where}/llama", llama()
    number = 0

    def folder(made=None, **config):
        nonlocal number
        number += 1
        made = made or Adapter(tensors, **config).add(qk()[0])
        return made.write(f"{where}/bad-{number}")

    def tried(name, path, *words):
        refused(name, lambda: szego.checkpoint(base, adapter=path), *words)
    for init, words in {"pissa_niter_4": ["PiSSA", "path_initial_model_for_weight_conversion"], "olora": ["OLoRA"],
                        "corda": ["CorDA"], "lora_ga": ["LoRA-GA"], "loftq": ["LoftQ", "merge_and_unload"],
                        "strange": ["does not know"]}.items():
        tried(f"init {init}", folder(init_lora_weights=init), "adapter_config.json", "init_lora_weights", init, *words)
    for kind, word in {"IA3": "merge_and_unload", "VERA": "merge_and_unload", "PREFIX_TUNING": "changes no weight"}.items():
        tried(f"peft_type {kind}", folder(peft_type=kind), "peft_type", kind, word)
    for field, value in {"use_bdlora": {"a": 1}, "alora_invocation_tokens": [3], "velora_config": {"a": 1},
                         "kasa_config": {"a": 1}, "use_qalora": True, "arrow_config": {"a": 1}, "layer_replication": [[0, 1]],
                         "trainable_token_indices": [1], "use_tomorrow": True}.items():
        tried(field, folder(**{field: value}), "adapter_config.json", field)
    tried("another rank", folder(r=8), "adapter_model.safetensors", "lora_A", "rank is 3", "rank_pattern", "8")
    tried("no rank", folder(r=None), "adapter_config.json", "r")
    tried("rank 0", folder(r=0), "at least 1")
    for pattern in ("(?:q)_proj", r"\w+", "q{2}", "q_proj)", "*a", "a++", "(a", "[a"):
        tried(f"pattern {pattern}", folder(rank_pattern={pattern: 3}), "adapter_config.json", "rank_pattern")
    tried("use_dora alone", folder(_without(Adapter(tensors, use_dora=True).add(qk()[0]), "magnitude")),
          "lora_magnitude_vector", "use_dora")
    dora = Adapter(tensors, use_dora=True).add(qk()[0])
    dora.config["use_dora"] = False
    tried("a magnitude alone", folder(dora), "use_dora")
    tried("no B", folder(_without(Adapter(tensors).add(qk()[0]), "lora_B")), "lora_B, is missing")
    tried("no A", folder(_without(Adapter(tensors).add(qk()[0]), "lora_A")), "lora_A, is missing")
    tried("another model's names", folder(Adapter(tensors).add(qk()[0], called="model.layers.7.self_attn.q_proj")),
          "model.layers.7.self_attn.q_proj.weight", "org/base", "another model")
    other = Adapter({name: draw((rows.shape[0], rows.shape[1] + 2)) if rows.ndim == 2 else rows for name, rows in
                     tensors.items()}).add(qk()[0])
    tried("another shape", folder(other), "lora_A", "[3, 18]", "[16, 16]", "another base")
    unknown = Adapter(tensors).add(qk()[0])
    unknown.tensors[BEGIN + qk()[0] + ".lora_C.weight"] = draw((2, 2))
    tried("an unknown part", folder(unknown), "lora_C", "does not know")
    nothing = Adapter(tensors)
    nothing.tensors["other.lora_A.weight"] = draw((2, 2))
    tried("another beginning", folder(nothing), "base_model.model.")
    zero = Adapter(tensors, use_dora=True).add(qk()[0])
    zero.tensors[BEGIN + qk()[0] + ".lora_A.weight"] = np.full((RANK, D), np.nan)
    found = szego.checkpoint(base, adapter=folder(zero))
    tap.ok("a NaN costs its layer, by name", found.bad > 0 and any("lora_A" in one for one in map(str, found.problems)),
           str(found.problems)[:300])
    cut = folder()
    path = os.path.join(cut, "adapter_model.safetensors")
    os.truncate(path, os.path.getsize(path) - 8)
    tried("a cut file", cut, "adapter_model.safetensors")
    os.remove(path)
    tried("no weights", cut, "adapter_model.safetensors", "missing")
    tried("no adapter", base, "adapter_config.json", "missing")
    tried("no folder", f"{where}/nowhere", "adapter_config.json", "missing")
    refused("an adapter as PATH", lambda: szego.checkpoint(folder()), "org/base", "base", "adapter")
    refused("a model in memory", lambda: szego.checkpoint({"a": draw((2, 2))}, config="none", adapter=base), "adapter")


def _without(made, word):
    made.tensors = {name: value for name, value in made.tensors.items() if word not in name}
    return made


# ---- peft itself ----

def families(transformers):
    size = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
            "max_position_embeddings": 64}
    grouped = size | {"num_key_value_heads": 2, "intermediate_size": 48}
    apart = ["q_proj", "k_proj", "v_proj", "o_proj"]
    yield "llama", transformers.LlamaConfig(**grouped), apart, "embed_tokens"
    yield "qwen2", transformers.Qwen2Config(**grouped), apart, "embed_tokens"
    yield "gpt2", transformers.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64), [
        "c_attn", "c_proj"], "wte"
    yield "phi3", transformers.Phi3Config(**grouped, pad_token_id=0), ["qkv_proj", "o_proj"], "embed_tokens"
    yield "gpt_neox", transformers.GPTNeoXConfig(**size, intermediate_size=48), ["query_key_value", "dense"], "embed_in"
    yield "mixtral", transformers.MixtralConfig(**grouped, num_local_experts=2), apart, "embed_tokens"


def options(family, target, embedding):
    yield "LoRA", {"target_modules": target}
    yield "rsLoRA", {"target_modules": target, "use_rslora": True, "lora_alpha": 3}
    yield "DoRA", {"target_modules": target, "use_dora": True}
    yield "DoRA, rsLoRA", {"target_modules": target[:1], "use_dora": True, "use_rslora": True}
    yield "patterns", {"target_modules": target, "rank_pattern": {r".*\.1\..*": 3}, "alpha_pattern": {target[0]: 7, "x": 1}}
    yield "embedding", {"target_modules": target + [embedding]}
    yield "DoRA of the embedding", {"target_modules": target + [embedding], "use_dora": True}
    yield "whole weights", {"target_modules": target[:1], "modules_to_save": [embedding]}
    if family in ("qwen2", "gpt2", "gpt_neox"):
        yield "lora_bias", {"target_modules": target[:1], "lora_bias": True}
        yield "biases", {"target_modules": target[:1], "bias": "all"}


def by_peft(where, torch, transformers, peft):
    for family, config, target, embedding in families(transformers):
        base = f"{where}/peft-{family}"
        for label, asked in options(family, target, embedding):
            model = transformers.AutoModelForCausalLM.from_config(config).double()
            torch.manual_seed(int(random.integers(1 << 30)) if label == "LoRA" else 5)
            for weight in model.parameters():
                weight.data = torch.randn_like(weight) * 0.3
            model.save_pretrained(base)
            model = peft.get_peft_model(model, peft.LoraConfig(r=4, task_type="CAUSAL_LM", **{"lora_alpha": 16} | asked))
            for name, weight in model.named_parameters():
                if weight.requires_grad:
                    weight.data = weight.data * 1.1 if "magnitude" in name else torch.randn_like(weight) * 0.3
            model.save_pretrained(f"{base}-{label}")
            model.merge_and_unload().save_pretrained(f"{base}-{label}-merged")
            moved = check_equal(f"peft {family} {label}", base, f"{base}-{label}", f"{base}-{label}-merged")
            tap.ok(f"peft {family} {label}: it is not the base", moved)


def on_the_command_line(where):
    rows = tables(PROGRAM, "checkpoint", f"{where}/llama", "--adapter", f"{where}/DoRA")["architecture"]
    said = [row["value"] for row in rows if row["property"] == "adapter"]
    tap.ok("the program says what it added", said == ["DoRA, rank 3, scale 1.33333, in 8 tensors"], str(said))


def differences(where):
    """What diff says of an adapter is what it says of the applied weights; the spectrum of s B A is NumPy's."""
    for label, base, e, d in (("rsLoRA", "llama", E, D), ("Conv1D", "Conv1D base", E, D)):
        with_adapter = tables(PROGRAM, "diff", f"{where}/{base}", f"{where}/{label}")
        merged = tables(PROGRAM, "diff", f"{where}/{base}", f"{where}/{label} merged")
        key = lambda row: (row["layer"], row["head"])  # pylint: disable=unnecessary-lambda-assignment
        gap = max(abs(float(a[column]) - float(b[column])) for a, b in zip(sorted(with_adapter["diff"], key=key),
                  sorted(merged["diff"], key=key)) for column in ("change", "qk_sigma_max", "change_nuclear")
                  if b[column])
        tap.ok(f"diff {label}: as of the applied weights", gap < 1e-8 and "diff_adapter" not in merged, str(gap))
        with open(f"{where}/{label}/adapter_model.safetensors", "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = file.read()
        scale = 4 / (RANK ** 0.5 if label == "rsLoRA" else RANK)

        def tensor(name):
            entry = header[name]  # pylint: disable=cell-var-from-loop
            begin, end = entry["data_offsets"]
            return np.frombuffer(data[begin:end]).reshape(entry["shape"])  # pylint: disable=cell-var-from-loop
        rows, worst, apart = with_adapter["diff_adapter"], 0, 0
        for row in rows:
            stem = row["tensor"][:-len(".weight")]
            name = BEGIN + ("transformer." if label == "Conv1D" else "") + stem
            first = int(row["head"]) * e + (HEADS * e if label == "Conv1D" and row["side"] == "key" else 0)
            change = scale * tensor(name + ".lora_B.weight")[first:first + e] @ tensor(name + ".lora_A.weight")
            sigma = np.linalg.svd(change, compute_uv=False)
            p = sigma[sigma > 1e-12 * sigma[0]] / sigma.sum()
            wanted = {"sigma_max": sigma[0], "frobenius": np.sqrt((sigma ** 2).sum()),
                      "stable_rank": (sigma ** 2).sum() / sigma[0] ** 2, "entropy": -(p * np.log(p)).sum()}
            worst = max([worst] + [abs(float(row[column]) / value - 1) for column, value in wanted.items()])
            apart += float(row["stable_rank_q025"]) < float(row["stable_rank_median"]) < float(row["stable_rank_q975"])
        count = 2 * (HEADS + KEYS) if label == "rsLoRA" else 2 * HEADS
        tap.ok(f"diff {label}: spectra of s B A", len(rows) == count and worst < 1e-11 and apart == count,
               f"{len(rows)} rows, {worst}")
        drawn = [np.linalg.svd(draw((e, RANK)) @ draw((RANK, d)), compute_uv=False) for _ in range(2000)]
        median = np.median([(one ** 2).sum() / one[0] ** 2 for one in drawn])
        low, high = (float(rows[0][f"stable_rank_{name}"]) for name in ("q025", "q975"))
        near = abs(float(rows[0]["stable_rank_median"]) - median) < 0.15 * (high - low)
        tap.ok(f"diff {label}: what chance gives", near, f"{rows[0]['stable_rank_median']} {median}")


def changed_adapter(where):
    """The same tensors with another alpha are another model."""
    base, (_, tensors) = f"{where}/llama", llama()
    first = szego.checkpoint(base, adapter=Adapter(tensors, lora_alpha=4).add(qk()[0]).write(f"{where}/one"))
    with open(f"{where}/one/adapter_config.json", encoding="utf-8") as file:
        config = json.load(file)
    with open(f"{where}/one/adapter_config.json", "w", encoding="utf-8") as file:
        json.dump(config | {"lora_alpha": 400}, file)
    second = szego.checkpoint(base, adapter=f"{where}/one")
    tap.ok("alpha counts", np.nanmax(second.singular_values()) > 2 * np.nanmax(first.singular_values()))


with scratch() as place:
    by_formula(place)
    bad_input(place)
    on_the_command_line(place)
    differences(place)
    changed_adapter(place)
    try:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import peft as its_peft
        import torch as its_torch
        import transformers as its_transformers
    except ImportError as missing:
        print(f"# {missing}: formulas alone, not peft's own merge")
    else:
        its_transformers.logging.set_verbosity_error()
        by_peft(place, its_torch, its_transformers, its_peft)
tap.finish()
