#!/usr/bin/python3
"""Heads whose queries and keys are multiplied by vectors of the lag: szego checkpoint against the models' own
formulas, for every pair of tokens at every lag. usage: test_head_tables.py PROGRAM [SEED]"""
import sys

from head_models import analyse_all, check_numbers, number
from peer import Tap, skip

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 30
tap = Tap()
print(f"# seed {SEED}")
random = np.random.default_rng(SEED)
draw = random.standard_normal
LAYER = "encoder.layer.{}.attention.self."


class Relative:
    """Two layers of HEADS heads with LayerNorm behind them, and all biases."""

    def __init__(self, heads=3, size=4, width=12, length=20, tokens=40, **config):
        self.heads, self.size, self.width, self.length, self.first = heads, size, width, length, 1 - length
        inner = heads * size
        self.q, self.k = draw((2, inner, width)), draw((2, inner, width))
        self.q_bias, self.k_bias = draw((2, inner)), draw((2, inner))
        self.gain, self.shift = 1 + 0.3 * draw((2, width)), 0.3 * draw((2, width))
        self.embeddings, self.types = draw((tokens, width)) + draw(width), draw((2, width))
        self.config = {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": 2,
                       "max_position_embeddings": length} | config

    def common(self, query, key):
        found = {"embeddings.word_embeddings.weight": self.embeddings,
                 "embeddings.token_type_embeddings.weight": self.types,
                 "embeddings.LayerNorm.weight": self.gain[0], "embeddings.LayerNorm.bias": self.shift[0],
                 "encoder.layer.0.output.LayerNorm.weight": self.gain[1],
                 "encoder.layer.0.output.LayerNorm.bias": self.shift[1]}
        for i in range(2):
            name = LAYER.format(i)
            found |= {f"{name}{query}.weight": self.q[i], f"{name}{query}.bias": self.q_bias[i],
                      f"{name}{key}.weight": self.k[i], f"{name}{key}.bias": self.k_bias[i]}
        return found

    def at(self, head):
        return slice(head * self.size, (head + 1) * self.size)

    def tokens(self, layer):
        """Inputs of a layer before gain and shift: those of the vocabulary, or a set that has the moments of isotropic
        tokens exactly, both ends of each axis of the space without the mean."""
        if layer == 0:
            x = self.embeddings + self.types[0]
            x = x - x.mean(1, keepdims=True)
        else:
            basis = np.linalg.svd(np.eye(self.width) - 1 / self.width)[0][:, :self.width - 1].T
            x = np.concatenate([basis, -basis])
        return x / np.sqrt((x**2).mean(1, keepdims=True))

    def sides(self, layer, head, signs=1):
        """Queries and keys of the tokens. Signs act on the columns of W_K with gain, less the mean of each row."""
        x, rows = self.tokens(layer), self.at(head)
        folded = self.k[layer][rows] * self.gain[layer]
        folded -= folded.mean(1, keepdims=True)
        return ((x * self.gain[layer] + self.shift[layer]) @ self.q[layer][rows].T + self.q_bias[layer][rows],
                (x * signs) @ folded.T + self.k[layer][rows] @ self.shift[layer] + self.k_bias[layer][rows])


class Deberta(Relative):
    def __init__(self, buckets=-1, longest=-1, kinds="p2c|c2p", shared=True, normed=True, conv=False, **sizes):
        super().__init__(**sizes)
        self.kinds, self.shared, self.normed, self.conv = kinds, shared, normed, conv
        longest = self.length if longest < 1 else longest
        self.buckets, self.longest, self.span = buckets, longest, buckets if buckets > 0 else longest
        inner = self.heads * self.size
        self.table = 0.1 * draw((2 * self.span, self.width))
        self.table_norm = 1 + 0.3 * draw(self.width), 0.3 * draw(self.width)
        self.conv_norm = 1 + 0.3 * draw(self.width), 0.3 * draw(self.width)
        self.position = {name: (draw((2, inner, self.width)), draw((2, inner))) for name in ("key", "query")}
        self.config |= {"model_type": "deberta-v2", "relative_attention": True, "position_buckets": buckets,
                        "max_relative_positions": longest, "pos_att_type": kinds, "share_att_key": shared,
                        "norm_rel_ebd": "layer_norm" if normed else "none", "position_biased_input": False,
                        "layer_norm_eps": 1e-7}
        if conv:  # what layer 1 reads has passed its norm
            self.file_gain, self.file_shift = self.gain[1], self.shift[1]
            self.gain[1], self.shift[1] = self.conv_norm
        self.scale = (self.size * (1 + ("c2p" in kinds) + ("p2c" in kinds)))**-0.5

    def tensors(self):
        found = self.common("query_proj", "key_proj") | {"encoder.rel_embeddings.weight": self.table}
        if self.normed:
            found |= dict(zip(("encoder.LayerNorm.weight", "encoder.LayerNorm.bias"), self.table_norm))
        if self.conv:
            found |= {"encoder.conv.LayerNorm.weight": self.conv_norm[0], "encoder.conv.LayerNorm.bias": self.conv_norm[1],
                      "encoder.layer.0.output.LayerNorm.weight": draw(self.width),
                      "encoder.layer.0.output.LayerNorm.bias": draw(self.width)}
        if self.config["position_biased_input"]:
            found["embeddings.position_embeddings.weight"] = draw((self.config["max_position_embeddings"], self.width))
        for name, (weight, bias) in self.position.items():
            for i in range(2):
                if not self.shared:
                    found |= {f"{LAYER.format(i)}pos_{name}_proj.weight": weight[i],
                              f"{LAYER.format(i)}pos_{name}_proj.bias": bias[i]}
        return {f"deberta.{name}": value for name, value in found.items()}

    def bucket(self, lags):
        """make_log_bucket_position of transformers, then the clamp."""
        if self.buckets > 0:
            mid, one = self.buckets // 2, np.float32
            size = np.where((lags < mid) & (lags > -mid), mid - 1, abs(lags))
            steps = np.log((size / mid).astype(one)) / np.log(one((self.longest - 1) / mid)) * one(mid - 1)
            lags = np.where(size <= mid, lags, ((np.ceil(steps) + mid) * np.sign(lags)).astype(int))
        return np.clip(lags + self.span, 0, 2 * self.span - 1)

    def vectors(self, layer, head, lags, signs=1):
        """K_r and Q_r of each lag; zeros where there is no such product."""
        rel, rows = self.table, self.at(head)
        if self.normed:
            rel = rel - rel.mean(1, keepdims=True)
            rel = rel / np.sqrt((rel**2).mean(1, keepdims=True) + 1e-7) * self.table_norm[0] + self.table_norm[1]
        found = []
        for name, kind, weight, bias in (("key", "c2p", self.k, self.k_bias), ("query", "p2c", self.q, self.q_bias)):
            weight, bias = (weight, bias) if self.shared else self.position[name]
            made = (rel * (signs if name == "key" else 1)) @ weight[layer][rows].T + bias[layer][rows]
            found.append(made[self.bucket(lags)] * (kind in self.kinds))
        return found


class Distances(Relative):
    """BERT with relative keys: a layer's vectors serve its heads, and queries and keys alike."""

    def __init__(self, kind, decoder=False, **sizes):
        super().__init__(**sizes)
        self.kind, self.scale = kind, self.size**-0.5
        self.first = 0 if decoder else self.first
        self.distance = draw((2, 2 * self.length - 1, self.size))
        self.config |= {"model_type": "bert", "position_embedding_type": kind, "is_decoder": decoder}

    def tensors(self):
        return self.common("query", "key") | {f"{LAYER.format(i)}distance_embedding.weight": self.distance[i]
                                              for i in range(2)}

    def vectors(self, layer, head, lags, signs=1):
        found = self.distance[layer][lags + self.length - 1]
        return found, found * (self.kind == "relative_key_query")


def logits(model, layer, head, lags, signs=1):
    """[lags, query tokens, key tokens]"""
    q, k = model.sides(layer, head, signs)
    to_query, to_key = model.vectors(layer, head, lags, signs)
    return model.scale * (np.einsum("ie,je->ij", q, k)[None] + np.einsum("ie,re->ri", q, to_query)[:, :, None] +
                          np.einsum("je,re->rj", k, to_key)[:, None])


def mean_kernel(model, layer, head, lags, signs):
    q, k = (x.mean(0) for x in model.sides(layer, head, signs))
    to_query, to_key = model.vectors(layer, head, lags, signs)
    return model.scale * (q @ k + to_query @ q + to_key @ k)


def check(label, model):
    found = analyse_all(model)
    lags = np.arange(model.first, model.length)
    weight = 1 / (1 + np.abs(lags))
    weight /= weight.sum()
    tap.ok(f"{label}: all heads", len(found["heads"]) == 2 * model.heads)
    for row in found["heads"]:
        layer, head = int(row["layer"]), int(row["head"])
        name = f"{label}, layer {layer}, head {head}"
        x = logits(model, layer, head, lags)
        kernel = x.mean((1, 2))
        by_query = np.einsum("r,rij->i", weight, x) / x.shape[2]  # cancels in the softmax
        x = x - by_query[None, :, None] + by_query.mean()
        own = weight @ (kernel - weight @ kernel)**2
        rest = np.einsum("r,rij->", weight, (x - kernel[:, None, None])**2) / x[0].size
        noise = np.var(np.einsum("r,rij->ij", weight, x))
        check_numbers(tap, name, row, {"mean_share": own / (own + rest), "mean_noise": noise**0.5,
                                       "spread": (rest - noise)**0.5, "mean_min": kernel.min(), "mean_max": kernel.max(),
                                       "lag_min": lags[0], "lag_max": lags[-1]}, 1e-10)
        tap.ok(f"{name}: tokens", row["mean_tokens"] == ("isotropic" if layer else "vocabulary"), row["mean_tokens"])
        tap.ok(f"{name}: the rest", row["note"] == "no self kernel: nothing rotates in this layer"
               and row["self_share"] == row["slow_pairs"] == row["mean_wavelength"] == "")
        rows = [x for x in found["kernel"] if (x["layer"], x["head"]) == (row["layer"], row["head"])]
        tap.ok(f"{name}: every lag", [int(x["lag"]) for x in rows] == list(lags))
        tap.close(f"{name}: the kernel", max(abs(number(x, "mean") - v) for x, v in zip(rows, kernel)), 0, 1e-10)
        check_draws(name, model, row, rows, lags, weight, (own, rest, kernel))


def check_draws(name, model, row, rows, lags, weight, wanted):
    """Signs of the test's own, in distribution; a model whose vectors no weight makes has draws in layer 0 alone."""
    own, rest, kernel = wanted
    layer, head = int(row["layer"]), int(row["head"])
    by_keys, by_mean = ((False, model.kind == "relative_key_query") if isinstance(model, Distances) else
                        ("c2p" in model.kinds, "p2c" in model.kinds))
    if not by_keys and (layer or not by_mean):
        tap.ok(f"{name}: nothing is drawn", row["mean_null"] == row["mean_p"] == rows[0]["mean_low"] == "")
        return
    signs = random.choice([-1.0, 1.0], (1000, model.width))
    one, still, columns = (np.array([mean_kernel(model, layer, head, lags, s) for s in several])
                           for several in (signs, np.zeros((1, model.width)), np.eye(model.width)))
    drawn = (weight @ (one - one @ weight[:, None]).T**2)
    p, below = np.mean(drawn >= own * (1 - 1e-9)), np.mean(drawn / (drawn + rest) <= number(row, "mean_null"))
    tap.close(f"{name}: p", number(row, "mean_p"), p, 4 * (max(p * (1 - p), 2e-3) / 500)**0.5 + 0.002)
    tap.close(f"{name}: quantile of the draws", below, 0.95, 4 * (0.05 * 0.95 / 500)**0.5)
    columns -= still
    half = 1.96 * np.sqrt(((columns - (columns @ weight)[:, None])**2).sum(0))
    middle = weight @ kernel + still[0] - weight @ still[0]
    for column, want in (("mean_low", middle - half), ("mean_high", middle + half)):
        got = np.array([number(x, column) for x in rows])
        tap.ok(f"{name}: {column}", bool(np.all(abs(got - want) < 1e-5 * (1 + abs(want)))))


check("DeBERTa, log buckets, shared", Deberta(buckets=8, longest=24))
check("DeBERTa, a row a lag, own projections", Deberta(shared=False, normed=False, longest=9))
check("DeBERTa, c2p alone", Deberta(buckets=6, longest=16, kinds="c2p"))
check("DeBERTa, p2c alone, a convolution behind layer 0", Deberta(buckets=8, longest=16, kinds="p2c", conv=True))
check("BERT, relative_key", Distances("relative_key"))
check("BERT, relative_key_query", Distances("relative_key_query"))
check("BERT as a decoder", Distances("relative_key_query", decoder=True))

# ---- What has no numbers ----


def notes(model, **config):
    model.config |= config
    rows = analyse_all(model)["heads"]
    tap.ok("rows without numbers have a reason", all(
        row["note"] and (row["mean_share"] != "") == row["note"].startswith("no self kernel: ") for row in rows))
    return [row["note"] for row in rows if int(row["head"]) == 0]


first, second = notes(Deberta(), position_biased_input=True)
tap.ok("positions that are added too: layer 0 alone", "position_biased_input" in first and second.startswith("no self kernel: "), first)
for what, words, model, config in (
        ("relative_attention is false", "relative_attention=true", Deberta(), {"relative_attention": False}),
        ("a norm is missing", "encoder.LayerNorm", Deberta(normed=False), {"norm_rel_ebd": "layer_norm"}),
        ("a table of another size", "another shape", Deberta(), {"max_relative_positions": 50}),
        ("more buckets than a number of rows can be", "another shape", Deberta(), {"position_buckets": 2**62}),
        ("weights of their own are missing", "--set share_att_key=true", Deberta(), {"share_att_key": False}),
        ("no lag in pos_att_type", "neither c2p nor p2c", Deberta(), {"pos_att_type": []}),
        ("buckets beyond the longest lag", "max_relative_positions is below", Deberta(buckets=8, longest=24),
         {"max_relative_positions": 5})):
    said = notes(model, **config)
    tap.ok(what, all(words in note for note in said), said[0])
long = Distances("relative_key", length=2050, heads=1, width=4)
rows = analyse_all(long, "--kernel", "0")["heads"]
tap.ok("lags end at 2047", {(row["lag_min"], row["lag_max"]) for row in rows} == {("-2047", "2047")}, str(rows[0]))
other = Distances("relative_key")
other.distance = other.distance[:, :-1]
tap.ok("distances of another number of lags", "distance_embedding" in notes(other)[0])
tap.finish()
