"""Which heads of a checkpoint are positional, at which lags, and is it more than chance?"""
import numpy as np

from . import chance, lagmap, rows as rows_of, words
from .chance import LEVEL, largest_share, prepare_shares, rounded, say_greys, say_notes
from .compose import build
from .drawing import Finding, Heading
from .lagmap import KINDS, name, two
from .record import CELLS, LINE, Axis, Column, Figure, Section

#: Checkpoints that are drawn.
MODELS = 4
HEADINGS = {"mean": "Independent tokens: the mean kernel", "self": "A token and its own copy: the self kernel"}
ASSUMED = "This assumes that tokens have no common direction (isotropic). A mean direction or massive activations void it; " \
          "`szego logits` measures your data."
WAYS = {"decaying": "falls with the distance, largest at lag {peak}", "rising": "rises up to the last lag, {peak}",
        "forward": "rises towards the latest keys", "backward": "rises towards the earliest keys",
        "peaked": "peaks at lag {peak}", "periodic": "repeats every {wave} lags", "flat": "is flat",
        "mixed": "has no simple shape and is largest at lag {peak}"}


# ---- Which heads ----

class Heads(chance.Heads):
    """The heads with a share of one kernel, the largest first."""

    def __init__(self, rows, kind):
        super().__init__(rows, kind)
        self.positional = np.array([kind in (text or "").split("+") for text in self.rows.texts("stands_out")], bool)

    @property
    def assumed(self):
        """Whether tokens of one of the heads are not known."""
        return self.kind == "self" or not all(text in ("vocabulary", "counts") for text in self.rows.texts("mean_tokens"))


# ---- Sentences ----

def model(rows):
    """The checkpoint's name."""
    return words.checkpoint(rows.text("source")) or "checkpoint"


def _of_layers(heads):
    layers = heads.layers
    if len(layers) == 1:
        return f" of layer {words.number(layers[0])}"
    return ""


def _way(head, kind):
    """"peaks at lag 1": what the head's kernel does."""
    text = WAYS.get(head.text(f"{kind}_shape"), "is largest at lag {peak}")
    return text.format(peak=words.number(head.number(f"{kind}_peak")), wave=two(head.number(f"{kind}_wavelength")))


def _say_strongest(heads):
    head, kind = heads.one(int(np.argmax(heads.positional))), heads.kind
    null = head.number(f"{kind}_null")
    reached = f", by chance up to {two(null)}" if np.isfinite(null) else ""
    return f"the strongest, {name(head)}, {_way(head, kind)} (share {two(head.number(f'{kind}_share'))}{reached})"


def say_heads(heads):
    """"model: in 11 of 72 heads position alone explains ...": the finding of one kernel."""
    count, kind = int(heads.positional.sum()), heads.kind
    of = f"{count} of {words.count(len(heads), 'head', 'heads')}{_of_layers(heads)}"
    beyond = ", beyond chance" if heads.tested.all() else ", beyond chance where that is known" if heads.tested.any() else ""
    what = {"mean": f"in {of} position alone explains a tenth or more of the logits' variance{beyond}",
            "self": f"in {of} the logit of a token and its own copy depends on the lag (a share of a tenth or more{beyond})"
            }[kind]
    strongest = f"; {_say_strongest(heads)}" if count else ""
    assumed = f". {ASSUMED}" if heads.assumed else "."
    return f"{model(heads.rows)}: {what}{strongest}{assumed}".replace("`", "")


def say_deposit(layers, kind):
    """"half of layer 0's summed share is in head 2": of one layer, or of that which is least like chance."""
    part, p = layers.numbers("part"), layers.numbers("part_p")
    if not np.isfinite(part).any():
        return None
    at = int(np.lexsort((-part, np.where(np.isnan(p), 2, p)))[0])
    one = layers.pick([at])
    layer, head = (words.number(one.number(column)) for column in ("layer", "largest"))
    null = one.number("part_null")
    text = f"head {head} has {_percent(part[at])} of layer {layer}'s summed shares of the {KINDS[kind]}"
    if len(layers) > 1:
        none = np.isfinite(p).any() and np.nanmin(p) * np.isfinite(p).sum() > LEVEL
        text = f"layer {layer} depends most on one head: head {head} has {_percent(part[at])} of the layer's summed shares of " \
               f"the {KINDS[kind]}"
        tail = f", and random signs reach {_percent(null)}" if np.isfinite(null) else ""
        tail += f"; over {len(layers)} layers that is within chance" if none else ""
    else:
        tail = f"; random signs reach {_percent(null)}" if np.isfinite(null) else ""
    return f"{model(layers)}: {text}{tail}."


def _percent(value):
    return f"{100 * value:.0f}%"


def _say_notes(rows):
    """Which heads have no share, and why."""
    none = rows.pick(np.isnan(rows.numbers("mean_share")) & np.isnan(rows.numbers("self_share")))
    return say_notes(none, "head has no share", "heads have no share")


def ranking(heads):
    """The heads with the largest shares, as a table for readers."""
    kind = heads.kind
    wave = bool(np.isfinite(heads.rows.numbers(f"{kind}_wavelength")).any())
    return chance.ranking(heads, ("shape", False, lambda head: head.text(f"{kind}_shape") or ""), chance.peak(kind),
                          *[("period", True, rounded(f"{kind}_wavelength"))] * wave)


# ---- Figures ----

def _say_shares(drawing):
    return f"{largest_share(drawing)}; {say_greys(drawing)}."


def _say_parts(drawing):
    rows = drawing.rows
    part, null, p = (rows.numbers(column) for column in ("part", "part_null", "part_p"))
    beyond = rows.pick(p <= LEVEL)
    named = words.listed([f"layer {words.number(layer)}" for layer in beyond.numbers("layer")])
    expected = LEVEL * np.isfinite(p).sum()
    lines = f"In {len(beyond)} of {words.count(int(np.isfinite(part).sum()), 'layer', 'layers')} the largest head has more " \
            f"than 95% of random signs give it{f' ({named})' if named else ''}; chance alone would put about {two(expected)} there."
    return lines if np.isfinite(null).any() else "The table has no parts by chance."


MAPS = {kind: Figure(f"positional-{kind}-map", ("checkpoint_kernel",), marks=CELLS) for kind in KINDS}
KERNELS = {kind: Figure(f"positional-{kind}-kernels", ("checkpoint_kernel",), panel_by=("layer", "head"), marks=LINE,
                        x=Axis("lag"), y=Axis(kind, label="logit, in the tokens' standard deviations"), lo=f"{kind}_low",
                        hi=f"{kind}_high", area=True, subject=model, title=f"{KINDS[kind]} and chance")
           for kind in KINDS}
SHARES = {kind: Figure(f"positional-{kind}-shares", ("checkpoint_heads",), marks=CELLS, x=Axis("head"), y=Axis("layer"),
                       value=f"{kind}_share", value_lo=0, subject=model, title=f"share of the {KINDS[kind]} by head",
                       prepare=prepare_shares(kind), caption=_say_shares) for kind in KINDS}
PARTS = {kind: Figure(f"positional-{kind}-parts", ("checkpoint_layers",), known=("part",), where=("kernel", kind),
                      columns=(Column("part", "largest head", colour=0),
                               Column("part_null", "chance: 95% of random signs", colour="muted")),
                      x=Axis("layer"), y=Axis(label="part of the layer's share", lo=0, hi=1), subject=model,
                      title=f"the largest head's part, {KINDS[kind]}", caption=_say_parts) for kind in KINDS}
FIGURES = tuple(of[kind] for kind in KINDS for of in (MAPS, KERNELS, SHARES, PARTS))


def _caption_of_map(heads, drawn, single):
    rest = len(heads) - drawn
    inside = int(heads.within.sum())
    text = f"A row is a head, the largest share first; {inside} of {words.count(len(heads), 'share is', 'shares are')} within " \
           "chance. Red: a key at this lag gets a larger logit than at the head's other lags; blue: a smaller one. Grey: no lag " \
           "is beyond what 95% of random signs of W_K's columns give."
    text += " Lags above 0 are those of earlier keys." if heads.rows.numbers("lag_min").min() < 0 else ""
    text += f" From lag {2 * lagmap.SINGLE} on a column is the mean of several lags." if single else ""
    text += f" {ASSUMED}".replace("`", "") if heads.assumed else ""
    keys = heads.rows.numbers("key_head")
    if len(set(zip(heads.rows.numbers("layer"), keys))) < len(heads):
        text += " Heads that share a key head are not independent."
    return text + (f" Not drawn: {words.count(rest, 'head', 'heads')} of smaller share." if rest > 0 else "")


def _kernels(heads, table):
    """[(head, its rows of the table `kernel`, Kernel)] of those that can be drawn, in order."""
    groups = {(rows.number("layer"), rows.number("head")): rows for rows in table.split("layer", "head")}
    made = []
    for i in range(len(heads)):
        head = heads.one(i)
        rows = groups.get((head.number("layer"), head.number("head")))
        kernel = rows and lagmap.read(rows, heads.kind, head.number(f"{heads.kind}_noise"))
        if kernel:
            made.append((head, rows, kernel))
        if len(made) == lagmap.HEADS:
            break
    return made


def _draw_kernels(section, heads, table):
    """The map with its table, then the panels."""
    kind, kernels = heads.kind, _kernels(heads, table)
    if kernels and MAPS[kind] in section.figures:
        shown, rows, drawn = zip(*kernels)
        title = f"{model(heads.rows)}: {KINDS[kind]} by head and lag"
        one = lagmap.draw_map(MAPS[kind], shown, drawn, kind, title)
        one.caption = _caption_of_map(heads, len(shown), len(one.cells.column_keys) > 2 * lagmap.SINGLE)
        one.sources = [table.pick(np.isin(table.index, np.concatenate([of.index for of in rows]))), heads.rows]
        yield one
    if MAPS[kind] in section.figures:
        yield ranking(heads)
    out = [of for of in kernels if of[0].number(f"{kind}_p") <= LEVEL][:lagmap.PANELS]
    if out and KERNELS[kind] in section.figures:
        one = lagmap.draw_panels(KERNELS[kind], [of[0] for of in out], [of[1] for of in out], kind, KINDS[kind],
                                 "chance: 95% of random signs", lagmap.in_noise(kind))
        one.free_y = True
        one.caption = f"{'The head' if len(out) == 1 else f'The {len(out)} heads'} with the largest {'share' if len(out) == 1 else 'shares'} " \
                      "beyond chance; titles have the shares. A kernel is drawn less its mean over the lags. The band holds 95% of the kernels with random signs of " \
                      f"W_K's columns.{' Panels have scales of their own.' if len(out) > 1 else ''}"
        yield one


def _draw_kind(section, heads, table, layers):
    blocks = list(_draw_kernels(section, heads, table))
    sentences = [say_heads(heads)] + ([say_deposit(layers, heads.kind)] if len(layers) else [])
    findings = [Finding(text) for text in sentences if text]
    yield from blocks[:1] + findings + blocks[1:]
    if SHARES[heads.kind] in section.figures and len(heads.layers) > 1:
        yield from filter(None, [build(SHARES[heads.kind], heads.rows)])
    if PARTS[heads.kind] in section.figures and len(layers.known("part")) > 1:
        yield from filter(None, [build(PARTS[heads.kind], layers.known("part"))])


def _compose(section, tables):
    every = tables.rows("checkpoint_heads")
    models = every.split("result", "source")
    for rows in models[:MODELS]:
        beside = [rows_of.match(tables.rows(name).split("result", "source"), rows, "result", "source")
                  for name in ("checkpoint_kernel", "checkpoint_layers")]
        table, layers = (of if of is not None else every.pick([]) for of in beside)
        for kind in KINDS:
            heads = Heads(rows, kind)
            if len(heads):
                yield Heading(HEADINGS[kind] + (f", {model(rows)}" if len(models) > 1 else ""))
                yield from _draw_kind(section, heads, table, layers.where("kernel", kind) if len(layers) else layers)
        yield from _say_notes(rows)
    yield from chance.say_rest([model(rows) for rows in models[MODELS:]], every)


SECTION = Section(
    "positional", "Positional heads", ("checkpoint_heads",),
    "The lag is the position of the query less that of the key. The share of a head is the part of its logits' variance that the "
    "lag explains. The mean kernel is the expected logit of two independent tokens by lag. The self kernel is that of a token and "
    "its own copy; for it the share is an index. Chance is what the same weights give with random signs of W_K's columns: 95% of "
    "the draws stay below. A head stands out if its share is a tenth or more and beyond chance; at most 5% of such heads are "
    "expected to be false (Benjamini and Hochberg). Trained heads mostly exceed chance, so read the size.",
    FIGURES, most=8 * MODELS, compose=_compose)
