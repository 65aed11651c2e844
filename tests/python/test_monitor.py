#!/usr/bin/python3
"""szego.Monitor without transformers: statistics against dense ones in NumPy, the folder of rows, and what must not stop
or change a training. PyTorch is needed. usage: test_monitor.py PROGRAM"""
import math
import os
import sys
import types
import warnings

from peer import EPS, PACKAGE, package_test, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    import torch
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-torch are needed")
from szego.columns import own_tables
from szego.monitor import journal, monitor as module, observation

tap, refused, rng = package_test(szego.ArgumentError)
SEED = int(rng.integers(2**31))
torch.manual_seed(SEED)
torch.set_num_threads(1)


def warned(call):
    """Texts of the SzegoWarnings of a call, and its answer."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = call()
    return [str(one.message) for one in said if issubclass(one.category, szego.SzegoWarning)], answer


# ---- Statistics -----------------------------------------------------------------------------------


class Case(types.SimpleNamespace):
    """q, k: arrays [S, H, N, d] and [S, G, M, d]; keep: [S, H, N, M]; added: the same; cap, learned."""


def draw(case):
    """Arguments of `observe`, and the same as a dense case."""
    s, g, n, d = (int(rng.choice(some)) for some in ([1, 2, 3], [1, 2], [1, 2, 5, 6, 17, 41], [1, 3, 8]))
    h = g * int(rng.choice([1, 3]))
    size = float(rng.choice([0, 1, 4, 60]))
    dtype = [torch.float32, torch.float64, torch.bfloat16, torch.float16][int(rng.integers(4))]
    q, k = (torch.tensor(size * rng.standard_normal((s, heads, n, d))).to(dtype) for heads in (h, g))
    keep, added = np.ones((s, h, n, n), bool), np.zeros((s, h, n, n))
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    mask, named = None, {}
    kind = ["none", "causal", "padded", "added", "heads"][case % 5]
    if kind == "causal":
        mask, keep = "causal", keep & (lag >= 0)
    elif kind == "padded":  # on the right, and causal
        length = rng.integers(1, n + 1, s)
        real = (np.arange(n) < length[:, None])[:, None, None, :]
        keep = keep & (lag >= 0) & real
        mask = torch.tensor(keep[:, :1])
    elif kind == "added":
        keep = keep & (lag >= 0)
        least = -math.inf if rng.integers(2) else torch.finfo(torch.float32).min
        bias = rng.standard_normal((n, n)).astype(np.float32)
        mask = torch.tensor(np.where(lag >= 0, bias, least), dtype=torch.float32)
        added = added + bias
    elif kind == "heads":  # another mask a head; each query sees itself
        keep = (rng.random((s, h, n, n)) < 0.5) | (lag == 0)
        mask = torch.tensor(keep)
    if rng.integers(3) == 0:
        named["window"] = int(rng.integers(1, n + 1))
        keep = keep & (np.abs(lag) < named["window"])
    cap = float(rng.choice([3, 30])) if rng.integers(3) == 0 else None
    learned = rng.standard_normal(h) if rng.integers(3) == 0 else None
    scale = None if rng.integers(2) else float(rng.choice([0.25, 1, -0.5]))
    asked = dict(q=q, k=k, scale=scale, mask=mask, cap=cap, sinks=None if learned is None else torch.tensor(learned), **named)
    dense = Case(q=q.double().numpy(), k=k.double().numpy(), scale=d**-0.5 if scale is None else scale, keep=keep, added=added,
                 cap=cap, learned=learned, kind=kind)
    return asked, dense


def entropies(logits):
    """Of rows with -inf where a key is not seen: entropies, and the weights."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    logs = np.log(np.where(weights > 0, weights, 1))
    return -(weights * logs).sum(-1), weights


def lag_share(x, used, lag):
    """One-way analysis over the entries of all sequences."""
    entries, lags = x[used], np.broadcast_to(lag, x.shape)[used]
    if not entries.size or np.ptp(entries) == 0:
        return None
    groups = [entries[lags == one] for one in np.unique(lags)]
    between = sum(len(one) * (one.mean() - entries.mean())**2 for one in groups)
    within = ((entries - entries.mean())**2).sum()
    return between / within


def expected(case, head):
    """Columns of a head, [S, N, M] logits at once."""
    s, h, n, _ = case.q.shape
    q, k = case.q[:, head], case.k[:, head // (h // case.k.shape[1])]
    shown = case.keep.any((1, 2))                      # keys [S, M]
    asks = case.keep.any((1, 3)) & shown               # queries [S, N]
    keep = case.keep[:, head] & asks[:, :, None]
    x = case.scale * q @ k.swapaxes(1, 2) + case.added[:, head]
    z = case.cap * np.tanh(x / case.cap) if case.cap else x
    z = np.where(keep, z, -np.inf)
    columns = z if case.learned is None else np.concatenate([z, np.full((s, n, 1), case.learned[head])], -1)
    some = keep.any(-1)
    entropy, weights = entropies(columns[some])
    place = np.broadcast_to(np.arange(n), (s, n))
    first = shown.argmax(1)[:, None]
    after, far = (place > first)[some], (place > first + 3)[some]
    at = np.broadcast_to(first, (s, n))[some]
    sinks = sum(weights[np.arange(len(at)), np.minimum(at + t, columns.shape[-1] - 1)] * (at + t < n) for t in range(4))
    several = (np.isfinite(columns[some]).sum(-1) > 1)
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    used = keep & (lag != 0) & (np.arange(n) != first[:, :, None]) & (np.arange(n)[:, None] != first[:, :, None])
    ranks = []
    for one in range(s):
        values = np.linalg.svd(q[one][asks[one]] @ k[one][shown[one]].T, compute_uv=False)
        ranks.append((values**2).sum() / values[0]**2 if values[0] > 0 else np.nan)
    queries = asks.sum()
    return {"tokens": queries, "largest_logit": x[keep].max(), "smallest_logit": x[keep].min(),
            "entropy_mean": entropy.sum() / queries, "entropy_min": entropy[several].min() if several.any() else None,
            "first_share": weights[np.arange(len(at)), at][after].mean() if after.any() else None,
            "sink_share": sinks[far].mean() if far.any() else None,
            "learned_share": None if case.learned is None else weights[:, -1].sum() / queries,
            "q_norm_max": np.linalg.norm(q[asks], axis=-1).max(), "k_norm_max": np.linalg.norm(k[shown], axis=-1).max(),
            "lag_share": lag_share(x, used, lag), "stable_rank": None if np.isnan(ranks).any() else np.mean(ranks)}


def tolerances(row, case):
    """By column. A logit is off by `error` on either side, an entropy by 2 log(n) times that and what sums of n weights
    round, a weight by twice the error."""
    n, d = case.q.shape[2:]
    error, reach = 2 * row["error"], max(abs(row["largest_logit"]), abs(row["smallest_logit"]))
    entropy = 2 * math.log(n + 2) * error + (n + 20) * EPS * (2 * reach + 10)
    share = 2 * error + (n + 20) * EPS
    norm = (d + 4) * EPS
    return {"tokens": 0, "largest_logit": error, "smallest_logit": error, "entropy_mean": entropy, "entropy_min": entropy,
            "first_share": share, "sink_share": share, "learned_share": share, "q_norm_max": norm * row["q_norm_max"],
            "k_norm_max": norm * row["k_norm_max"], "lag_share": 1e-9, "stable_rank": 1e3 * n * d * EPS * d}


def row_at(table, at):
    return {name: None if np.ma.getmaskarray(cells)[at] else cells[at] for name, cells in table.items()}


def check_statistics():
    blocks, keys = dict(observation._BLOCK), observation._KEYS
    wrong, seen = [], {}
    for number in range(160):
        observation._BLOCK["cpu"], observation._KEYS = ((64, 7), (300, 3), (1 << 19, 512))[number % 3]
        asked, case = draw(number)
        watch = szego.Monitor(every=1)
        watch.observe(**asked)
        watch.step()
        table = watch.table
        for head in range(case.q.shape[1]):
            row = row_at(table, head)
            if row["seen"]:
                wrong.append(f"case {number}: {row['seen']}")
                continue
            limits, want = tolerances(row, case), expected(case, head)
            for name, value in want.items():
                got = row[name]
                good = (got is None and value is None) or (got is not None and value is not None and
                                                          abs(got - value) <= limits[name])
                seen[name] = seen.get(name, 0) + (value is not None)
                if not good:
                    wrong.append(f"case {number} ({case.kind}), head {head}: {name} {got!r}, dense {value!r} +- {limits[name]:.3g}")
    observation._BLOCK.update(blocks)
    observation._KEYS = keys
    tap.ok("statistics equal dense ones", not wrong and min(seen.values()) > 60, f"{wrong[:3]} {seen}")


def check_sequences():
    """How many sequences are looked at: 512 tokens of them, and the first tokens alone."""
    q = torch.randn(6, 2, 300, 4)
    watch = szego.Monitor(every=1, heads=[1])
    watch.observe(q, q)
    watch.observe(q, q, layer=1, mask="causal")
    watch.observe(100 * q, 100 * q, layer=1)  # a second micro-batch
    few = szego.Monitor(every=1, tokens=100)
    few.observe(q, q, mask=torch.zeros(6, 1, 300, 300))
    watch.step()
    few.step()
    said = [watch.table["sequences"].tolist(), watch.table["head"].tolist(), watch.table["tokens"].tolist()]
    n = module._TOKENS // 300
    tap.ok("an observation looks at some sequences and heads", said == [[n, n], [1, 1], [300 * n, 300 * n]], str(said))
    tap.ok("the first call of a layer counts", watch.table["largest_logit"][1] < 100)
    n = min(6, module._TOKENS // 100)
    said = few.table["sequences"].tolist(), few.table["tokens"].tolist(), few.table["seen"].tolist()
    tap.ok("tokens cuts sequences, and says so", said == ([n] * 2, [100 * n] * 2, ["the first 100 of 300 tokens"] * 2), str(said))
    alone = szego.Monitor(every=1)
    alone.observe(q[:n, :, :100], q[:n, :, :100])
    alone.step()
    tap.ok("what is cut is what shorter sequences are", np.allclose(alone.table["entropy_mean"], few.table["entropy_mean"]))


def check_numbers_that_are_none():
    watch = szego.Monitor(every=1)
    q = torch.randn(1, 3, 8, 4)
    q[0, 0, 3], q[0, 1, 2] = math.nan, math.inf
    said, _ = warned(lambda: (watch.observe(q, torch.ones(1, 3, 8, 4)), watch.step()))
    table = watch.table
    tap.ok("NaN and infinity are in the row", math.isnan(table["largest_logit"][0]) and np.isfinite(table["largest_logit"][2]) and
           not np.isfinite(table["largest_logit"][1]) and not said, f"{table['largest_logit']} {said}")
    tap.ok("and said", ["not finite" in str(one) for one in table["seen"]] == [True, True, False], str(table["seen"]))
    tap.ok("scalars keep them", math.isnan(watch.scalars()["szego/largest_logit"]))


# ---- Table, scalars, arguments --------------------------------------------------------------------


def check_table():
    columns = own_tables("monitor")["monitor"]["columns"]
    kinds = {"integer": "i", "real": "f", "text": "O"}
    empty, watch = szego.Monitor().table, szego.Monitor(every=2, threshold=10)
    for _ in range(5):
        watch.observe(torch.ones(1, 2, 4, 4), 8 * torch.ones(1, 1, 4, 4), layer=3)
        watch.step()
    for table, what in ((empty, "an empty table"), (watch.table, "a table")):
        tap.ok(f"{what} has the columns that are described", list(table) == [one["name"] for one in columns] and all(
            np.ma.getdata(table[one["name"]]).dtype.kind == kinds[one["type"]] for one in columns))
    tap.ok("steps, every K-th", watch.table["step"].tolist() == [0, 0, 2, 2, 4, 4])
    tap.ok("headroom seen", np.allclose(watch.table["headroom_seen"], 10 / 16))
    tap.ok("why there is no bound", set(watch.table["bound_of"]) == {"no bound: the monitor was given no model"})
    made = watch.scalars()
    tap.ok("scalars are floats, nine a layer at most", all(type(x) is float for x in made.values()) and len(made) <= 18 and
           made["szego/layer3/largest_logit"] == made["szego/largest_logit"] == 16 and "szego/bound" not in made, str(made))
    for what, call, words in (("every", lambda: szego.Monitor(every=0), ["every=0", "at least 1"]),
                              ("threshold", lambda: szego.Monitor(threshold=math.inf), ["threshold=inf", "above 0"]),
                              ("layers", lambda: szego.Monitor(layers=3), ["layers=3", "list"]),
                              ("heads that are bytes", lambda: szego.Monitor(heads=b"3"), ["heads=b'3'", "list"]),
                              ("a model that is a number", lambda: szego.Monitor(3), ["model=3", "torch.nn.Module is needed"]),
                              ("a model that is a word", lambda: szego.Monitor("x"), ["model='x'", "torch.nn.Module is needed"]),
                              ("a keyword", lambda: szego.Monitor(evry=3), ["Monitor: unknown keyword", "did you mean every"])):
        refused(what, call, *words)
    q = torch.ones(1, 2, 4, 4)
    for what, arguments, words in (
            ("arrays", (np.ones((1, 2, 4, 4)), q), "q: a tensor of PyTorch"), ("axes", (q[0], q), "q: shape (2, 4, 4)"),
            ("heads", (q, torch.ones(1, 3, 4, 4)), "key heads"), ("a word", (q, q, None, "full"), "mask='full'"),
            ("a mask's shape", (q, q, None, torch.zeros(3, 3)), "mask: shape (3, 3)"),
            ("a mask of integers", (q, q, None, torch.zeros(4, 4, dtype=torch.int64)), "mask: torch.int64"),
            ("a cache", (q, torch.ones(1, 2, 9, 4), None, "causal"), "4 queries and 9 keys")):
        watch = szego.Monitor(every=1)
        said, _ = warned(lambda: (watch.observe(*arguments), watch.observe(*arguments), watch.step()))  # pylint: disable=cell-var-from-loop
        tap.ok(f"said once: {what}", len(said) == 1 and words in said[0] and words in watch.table["seen"][0], str(said))


def check_blind():
    """A monitor that can see nothing says so once, at the caller's line."""
    model = torch.nn.Linear(2, 2)

    def outside(watch):
        for _ in range(3):
            watch.step()

    def inside(watch):
        with watch:
            outside(watch)
    for what, call, given, words in (("outside a block", outside, model, ["with monitor:"]),
                                     ("within one", inside, model, ["no attention of the model"]),
                                     ("without a model", outside, None, None)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            call(szego.Monitor(given, every=1))
        texts = [str(one.message) for one in said]
        tap.ok(f"steps {what}", len(said) == (1 if words else 0) and all(word in texts[0] for word in words or ()) and
               all(one.filename == __file__ for one in said), f"{texts} {[one.filename for one in said]}")


def check_filters():
    """Layers and heads that are not there: said once, with those that are, and no row."""
    q = torch.randn(1, 4, 6, 4)
    for what, named, rows, words in (
            ("no head", dict(heads=[9]), 0, "heads: there is no 9: the model has heads 0 to 3"),
            ("one head of two", dict(heads=[1, 9]), 4, "heads: there is no 9: the model has heads 0 to 3"),
            ("no layer", dict(layers=[7]), 0, "layers: there is no 7: the model has layers 0 to 1"),
            ("one layer of two", dict(layers=[1, 7]), 8, "layers: there is no 7: the model has layers 0 to 1"),
            ("no head of a process", dict(heads=[9], rank=1), 0, "heads: there is no 9: this process has heads 0 to 3"),
            ("one head of a process", dict(heads=[1, 9], rank=1), 4, None),
            ("all that are asked for", dict(heads=[3], layers=[0, 1]), 4, None)):
        watch = szego.Monitor(every=1, **named)

        def passes():
            for _ in range(2):
                for layer in range(2):
                    watch.observe(q, q, layer=layer)  # pylint: disable=cell-var-from-loop
                watch.step()  # pylint: disable=cell-var-from-loop
        said, _ = warned(passes)
        tap.ok(f"filters: {what}", len(watch.table["step"]) == rows and len(said) == (words is not None) and
               all(words in one for one in said), f"{said} {watch.table['seen']}")


def check_forgotten():
    """A loop within `with` that never calls step()."""
    q = torch.randn(1, 2, 6, 4)

    def loop(passes, steps, fails=False):
        with szego.Monitor(every=10) as watch:
            for at in range(passes):
                watch.observe(q, q)
                if at < steps:
                    watch.step()
            if fails:
                raise ValueError("of the training")
        return watch
    for what, arguments, count in (("several passes", (3, 0), 1), ("one pass", (1, 0), 0), ("steps", (3, 3), 0)):
        said, watch = warned(lambda: loop(*arguments))  # pylint: disable=cell-var-from-loop
        tap.ok(f"step() that is not called: {what}", len(said) == count and all("monitor.step()" in one for one in said) and
               set(watch.table["step"]) == {0}, str(said))
    said, _ = warned(lambda: refused("an exception of a loop", lambda: loop(3, 0, True), "of the training", kind=ValueError))
    tap.ok("step() that is not called: the training failed", not said, str(said))


# ---- The folder -----------------------------------------------------------------------------------


def pass_by(watch, steps, heads=2):
    for _ in range(steps):
        watch.observe(torch.randn(1, heads, 6, 4), torch.randn(1, heads, 6, 4), mask="causal")
        watch.step()


def same(a, b):
    """Tables with equal cells, empty ones too."""
    a, b = ({name: cells for name, cells in one.items() if name != "result"} for one in (a, b))
    return list(a) == list(b) and all(
        np.array_equal(np.ma.getmaskarray(a[name]), np.ma.getmaskarray(b[name])) and
        list(map(str, np.ma.compressed(a[name]))) == list(map(str, np.ma.compressed(b[name]))) for name in a)


def loaded(folder):
    return szego.load(folder)["monitor_monitor"]


def check_folder():
    with scratch() as folder:
        place = os.path.join(folder, "run")
        watch = szego.Monitor(every=2, folder=place)
        pass_by(watch, 3)
        tap.ok("rows are in the folder after each step", same(loaded(place), watch.table))
        watch.save(os.path.join(folder, "saved"))
        tap.ok("save writes the same", same(loaded(os.path.join(folder, "saved")), watch.table))
        with open(os.path.join(place, "monitor.csv"), "ab") as file:  # killed between the lines and the manifest
            file.write(b"4,0,0")
        said, again = warned(lambda: szego.Monitor(every=2, folder=place))
        tap.ok("goes on, and says where", again.steps == 2 and "continues after step 2" in said[0] and same(again.table, watch.table), str(said))
        again.step(4)
        pass_by(again, 3)
        tap.ok("rows join", loaded(place)["step"].tolist() == [0, 0, 2, 2, 4, 4, 6, 6] and same(loaded(place), again.table))
        again.step(4)
        pass_by(again, 1)
        tap.ok("a training that went back", loaded(place)["step"].tolist() == [0, 0, 2, 2, 4, 4] and same(loaded(place), again.table))
        refused("other settings", lambda: szego.Monitor(every=3, folder=place), "every was 2 and is 3")
        with open(os.path.join(place, "monitor.csv"), "rb+") as file:
            file.truncate(600)
        refused("lines that are missing", lambda: szego.Monitor(every=2, folder=place), "less than the 6 rows",
                kind=szego.DataError)
        szego.spectrum("kms:rho=0.5", 4).save(os.path.join(folder, "other"))
        refused("another result", lambda: szego.Monitor(folder=os.path.join(folder, "other")), "not of a monitor")


def check_disk():
    """The disk is full for two of four observed steps; and another process writes into the file."""
    extend = journal.Journal._extend
    full = []

    def failing(self, new, count):
        if not full:
            return extend(self, new, count)
        with open(self._csv, "ab") as file:  # a part of the rows
            file.write(new[:30])
        os.truncate(self._csv, self._size)
        raise szego.SzegoError("no space left on device")
    with scratch() as folder:
        place = os.path.join(folder, "run")
        watch = szego.Monitor(every=1, folder=place)
        journal.Journal._extend = failing
        try:
            pass_by(watch, 2)
            full.append(1)
            said, _ = warned(lambda: pass_by(watch, 2))
            held = loaded(place)["step"].tolist()
            full.clear()
            pass_by(watch, 1)
        finally:
            journal.Journal._extend = extend
        tap.ok("a full disk is said once", len(said) == 1 and "no space left" in said[0] and held == [0, 0, 1, 1], f"{said} {held}")
        table = loaded(place)
        tap.ok("rows come when there is room, and say so", table["step"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] and
               "written late: no space left" in table["seen"][4] and same(table, watch.table), str(table["seen"]))
        with open(os.path.join(place, "monitor.csv"), "ab") as file:
            file.write(b"x\n")
        said, _ = warned(lambda: pass_by(watch, 1))
        tap.ok("another writer", not said and "another process" in watch.table["seen"][-1], str(watch.table["seen"][-1]))


def check_real_disk():
    """A device that takes nothing: every write of /dev/full fails."""
    if not os.path.exists("/dev/full"):
        return
    with scratch() as folder:
        place = os.path.join(folder, "run")
        watch = szego.Monitor(every=1, folder=place)
        pass_by(watch, 1)
        os.rename(os.path.join(place, "monitor.csv"), os.path.join(place, "held"))
        os.symlink("/dev/full", os.path.join(place, "monitor.csv"))
        watch._journal._size = 0
        said, _ = warned(lambda: pass_by(watch, 1))
        tap.ok("a device without room stops nothing", len(said) == 1 and len(watch.table["step"]) == 4, str(said))


def check_truncated():
    """The disk fails, and then what was written cannot be taken back: the first error is said, and the next step mends it."""
    def failing(*_given):
        raise OSError(28, "No space left on device")

    def stuck(*_given):
        raise OSError(5, "Input/output error")
    with scratch() as folder:
        watch = szego.Monitor(every=1, folder=folder)
        pass_by(watch, 1)
        rows, kept = os.stat(os.path.join(folder, "monitor.csv")).st_ino, (os.fsync, os.truncate)
        os.fsync, os.truncate = lambda file: failing() if os.fstat(file).st_ino == rows else kept[0](file), stuck
        try:
            said, _ = warned(lambda: pass_by(watch, 1))
        finally:
            os.fsync, os.truncate = kept
        tap.ok("a full disk that takes nothing back: its error", len(said) == 1 and "No space left on device" in said[0], str(said))
        pass_by(watch, 1)
        tap.ok("and the folder is whole after the next step", loaded(folder)["step"].tolist() == [0, 0, 1, 1, 2, 2] and
               same(loaded(folder), watch.table), str(watch.table["seen"]))


def check_ranks():
    with scratch() as folder:
        for rank, heads in ((0, 3), (1, 2), (2, 0)):
            watch = szego.Monitor(every=1, folder=folder, rank=rank)
            q = torch.randn(1, heads, 5, 4)
            watch.observe(q, q, first_head=3 * rank)
            watch.step()
        table = loaded(folder)
        tap.ok("processes join, one without heads too", table["rank"].tolist() == [0] * 3 + [1] * 2 and
               table["head"].tolist() == [0, 1, 2, 3, 4], f"{table['rank']} {table['head']}")


# ---- Training -------------------------------------------------------------------------------------


class Small(torch.nn.Module):
    """An attention of its own, with dropout, which shows the monitor its queries and keys."""

    def __init__(self, watch=None, fails=-1):
        super().__init__()
        self.parts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))
        self.drop, self.watch, self.fails, self.count = torch.nn.Dropout(0.3), watch, fails, 0

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, (2, 4)).transpose(1, 2) for part in self.parts)
        if self.watch is not None:
            self.watch.observe(q, k, mask="causal")
        self.count += 1
        if self.count == self.fails:
            raise RuntimeError("of the training")
        keep = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        weights = (q @ k.transpose(2, 3) / 2).masked_fill(~keep, -math.inf).softmax(-1)
        return (self.drop(weights) @ v).transpose(1, 2).flatten(2)


def train(watch, steps=6, **named):
    torch.manual_seed(SEED)
    model = Small(watch, **named)
    optimizer, losses = torch.optim.AdamW(model.parameters(), 1e-2), []
    for _ in range(steps):
        loss = (model(torch.randn(2, 7, 8)) - torch.randn(2, 7, 8)).square().mean()
        loss.backward()
        losses.append([loss.item(), *(part.weight.grad.sum().item() for part in model.parts)])
        optimizer.step()
        optimizer.zero_grad()
        if watch is not None:
            watch.step()
    return losses, torch.random.get_rng_state(), [part.weight.detach().clone() for part in model.parts]


def check_training():
    plain = train(None)
    watch = szego.Monitor(every=2)
    seen = train(watch)
    tap.ok("a watched training is the same, bit for bit", plain[0] == seen[0] and torch.equal(plain[1], seen[1]) and
           all(map(torch.equal, plain[2], seen[2])) and len(watch.table["step"]) == 6)

    def broken(*_given):
        raise ValueError("of the monitor")
    kept, observation.observe = observation.observe, broken
    try:
        watch = szego.Monitor(every=2)
        said, seen = warned(lambda: train(watch))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            strict = train(szego.Monitor(every=2))
    finally:
        observation.observe = kept
    tap.ok("an exception of the monitor is said once, and in each row", len(said) == 1 and "of the monitor" in said[0] and all(
        "of the monitor" in one for one in watch.table["seen"]) and len(watch.table["seen"]) == 3, f"{said} {watch.table['seen']}")
    tap.ok("and changes no training, whatever warnings do", plain[0] == seen[0] == strict[0])
    watch = szego.Monitor(every=2)
    refused("an exception of the training", lambda: train(watch, fails=3), "of the training", kind=RuntimeError)
    tap.ok("passes through", watch.steps == 2 and watch.table["step"].tolist() == [0, 0])


check_statistics()
check_sequences()
check_numbers_that_are_none()
check_table()
check_blind()
check_filters()
check_forgotten()
check_folder()
check_disk()
check_real_disk()
check_truncated()
check_ranks()
check_training()
tap.finish()
