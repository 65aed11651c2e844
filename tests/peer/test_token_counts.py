#!/usr/bin/python3
"""Token counts of szego checkpoint: layer 0 is that of a model whose embeddings are repeated as often as tokens occur.
usage: test_token_counts.py PROGRAM [SEED]"""
import os
import sys

from head_models import analyse_all
from peer import Tap, scratch, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 41
COUNTS = [3, 0, 1, 7, 0, 4, 1, 0]  # 16 in all, which divides the number of tokens that the program looks at
tap = Tap()
print(f"# seed {SEED}")
random = np.random.default_rng(SEED)
draw = random.standard_normal


class Model:
    def __init__(self, config, tensors, embeddings):
        self.config, self.shared, self.embeddings = config, tensors, embeddings

    def tensors(self):
        return {**self.shared, self.embeddings[0]: self.embeddings[1]}

    def repeated(self):
        """Each token as often as it occurs."""
        name, rows = self.embeddings
        return Model(self.config, self.shared, (name, np.repeat(rows, COUNTS, axis=0)))


def rotary():
    layers = [{f"model.layers.{i}.self_attn.q_proj.weight": draw((32, 16)), f"model.layers.{i}.self_attn.k_proj.weight":
               draw((16, 16)), f"model.layers.{i}.input_layernorm.weight": 1 + draw(16) / 4} for i in range(2)]
    return Model({"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                  "hidden_size": 16, "head_dim": 8, "max_position_embeddings": 40, "rope_theta": 100.0},
                 layers[0] | layers[1], ("model.embed_tokens.weight", 2 * draw((len(COUNTS), 16)) + draw(16)))


def learned():
    tensors = {"wpe.weight": draw((24, 16)), "h.0.attn.c_attn.weight": draw((16, 48)), "h.0.attn.c_attn.bias": draw(48),
               "h.0.ln_1.weight": 1 + draw(16) / 4, "h.0.ln_1.bias": draw(16) / 4}
    return Model({"model_type": "gpt2", "n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": 24}, tensors,
                 ("wte.weight", draw((len(COUNTS), 16)) + draw(16)))


def number(text):
    return float(text) if text else float("nan")


#: Where positions are added each token is looked at in one position, and more draws have other pairs of them.
ROUGH = ("mean_share", "mean_null", "mean_noise", "mean_p")


def check_equal(name, counted, repeated, rough=()):
    """Every number of layer 0, to what another order of sums may change; the rough ones to a half."""
    for table in ("heads", "kernel"):
        for got, want in zip(counted[table], repeated[table]):
            for column, text in want.items():
                if column in ("source", "mean_tokens", "note") or text == got[column]:
                    continue
                tap.close(f"{name}: {table}, layer {want['layer']}, head {want['head']}, {column}", number(got[column]),
                          number(text), abs(number(text)) / 2 if column in rough else 1e-9 * (1 + abs(number(text))))
    tap.ok(f"{name}: rows", [len(counted[table]) for table in ("heads", "kernel")] ==
           [len(repeated[table]) for table in ("heads", "kernel")] and len(counted["heads"]) > 0)


with scratch() as folder:
    path = os.path.join(folder, "counts.npy")
    np.save(path, np.array(COUNTS))
    for name, model, rough in (("rotary", rotary(), ()), ("learned positions", learned(), ROUGH)):
        counted = analyse_all(model, "--token-counts", path)
        check_equal(name, counted, analyse_all(model.repeated()), rough)
        tokens = {(row["layer"], row["mean_tokens"]) for row in counted["heads"]}
        tap.ok(f"{name}: what the tokens are called", {layer for layer, kind in tokens if kind == "counts"} == {"0"}, tokens)
        even = analyse_all(model)
        tap.ok(f"{name}: counts matter", counted["heads"][0]["mean_share"] != even["heads"][0]["mean_share"])
        np.save(path, np.ones(len(COUNTS)))
        check_equal(f"{name}, even counts", analyse_all(model, "--token-counts", path), even, rough)
        np.save(path, np.array(COUNTS))
    model = rotary()
    unplaced = rotary()
    unplaced.embeddings = ("other.weight", unplaced.embeddings[1])
    for what, value, words, refusing in (
            ("one below 0", [1, -2], "token 1", model), ("none", [0, 0], "their sum is 0", model),
            ("not finite", [1, np.nan], "token 1", model), ("more than rows", [1] * 9, "has 8 rows", model),
            ("two axes", [[1, 2]], "one axis", model), ("complex", [1j], "complex", model),
            ("no embeddings", COUNTS, "layer 0 does not depend on token counts", unplaced)):
        np.save(path, np.array(value))
        try:
            analyse_all(refusing, "--token-counts", path)
            tap.ok(f"refused: {what}", False)
        except SystemExit as error:
            tap.ok(f"refused: {what}", words in " ".join(str(error).split()), str(error))
tap.finish()
