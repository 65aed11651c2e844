#!/usr/bin/env python3
"""What docs/findings.md and README.md say of trained models, against the tables of docs/models. Prints TAP.

usage: models.py SOURCE
Each sentence is made from the tables and looked for; every number of the section must be in one of them.
"""
import csv
import pathlib
import re
import sys

from findings import NUMBER, report, sections

SOURCE = pathlib.Path(sys.argv[1])
MODELS = SOURCE / "docs/models"
PANELS = 10


def table(model, name):
    with open(MODELS / model / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(text):
    return " ".join(re.sub(r"[*`]", "", text).split())


def value(row, column):
    return float(row[column])


def three(x):
    return f"{float(x):.3f}"


def share(row, kernel):
    return f"{three(row[f'{kernel}_share'])} ({three(row[f'{kernel}_null'])})"


def ranked(heads, kernel):
    """Those that pass Benjamini and Hochberg at 5% over all with a p, and have a share of a tenth."""
    known = sorted((row for row in heads if row[f"{kernel}_p"]), key=lambda row: value(row, f"{kernel}_p"))
    passed = max((rank for rank, row in enumerate(known, 1) if value(row, f"{kernel}_p") <= 0.05 * rank / len(known)),
                 default=0)
    standing = [row for row in known[:passed] if value(row, f"{kernel}_share") >= 0.1]
    return sorted(standing, key=lambda row: -value(row, f"{kernel}_share"))


def a_layer_passes(layers, kernel):
    """Whether one does by Benjamini and Hochberg at 5%."""
    p = sorted(value(row, "part_p") for row in layers if row["kernel"] == kernel)
    return any(x <= 0.05 * rank / len(p) for rank, x in enumerate(p, 1))


def name(row):
    return f"layer {row['layer']} head {row['head']}"


def of_gemma():
    heads, layers, kernel = (table("gemma-3-270m", part) for part in ("heads", "layers", "kernel"))
    mean, own = ranked(heads, "mean"), ranked(heads, "self")
    first, second = mean
    yield f"{1 + max(int(row['layer']) for row in heads)} layers of {1 + max(int(row['head']) for row in heads)} heads"
    yield f"others a window of {1 + min(int(row['lag_max']) for row in heads)}"
    yield (f"see {1 + max(int(row['lag_max']) for row in heads)} tokens")
    wide = sorted({int(row["layer"]) for row in heads if int(row["lag_max"]) > 511})
    yield "Layers {}, {} and {} see".format(*wide)
    yield f"By position alone, {len(mean)} of the {sum(bool(row['mean_share']) for row in heads)} heads of layer 0 stand out"
    yield f"Head {first['head']} has a share of {share(first, 'mean')}, and head {second['head']} has {share(second, 'mean')}"
    yield (f"Both kernels fall with the distance, from lags {first['mean_peak']} and {second['mean_peak']}"
           if {row["mean_shape"] for row in mean} == {"decaying"} else "shapes differ")
    within = [row for row in heads if row["mean_share"] and value(row, "mean_p") > 0.05]
    yield f"Head {within[0]['head']} has {share(within[0], 'mean')}, so it is within chance, and so is head {within[1]['head']}"

    near = [row for row in own if int(row["lag_max"]) == 511]
    far = [row for row in own if row not in near]
    counts = [sum((int(row["lag_max"]) == 511) == windowed for row in heads) for windowed in (True, False)]
    yield (f"In {len(own)} of {len(heads)} heads the self kernel stands out, in {len(near)} of {counts[0]} with a window "
           f"and in {len(far)} of {counts[1]} without")
    a, b, c = own[:3]
    yield (f"The strongest are {name(a)} with {share(a, 'self')}, largest at lag {a['self_peak']}; {name(b)} with "
           f"{share(b, 'self')}, at lag {b['self_peak']}; and {name(c)} with {share(c, 'self')}, at lag {c['self_peak']}")
    yield f"{sum(value(row, 'self_p') <= 0.05 for row in heads)} of {len(heads)} heads have p at most 0.05"
    yield (f"In {sum(int(row['self_peak']) > 200 for row in near)} of the {len(near)} heads with a window the kernel is "
           "largest beyond lag 200")
    panels = [row for row in own[:PANELS] if row in near]
    at_zero = {(row["layer"], row["head"]): value(row, "self") for row in kernel if row["lag"] == "0"}
    least = sum(abs(at_zero[row["layer"], row["head"]] - value(row, "self_min")) < 1e-9 for row in panels)
    yield f"Of the {len(panels)} of them in the picture, {least} are least at lag 0"
    close = sorted((row for row in near if int(row["self_peak"]) < 10), key=lambda row: int(row["layer"]))
    yield f"Only {' and '.join(map(name, close))} of the {len(near)} have their peaks below lag 10"
    yield (f"{sum(row['self_shape'] == 'peaked' for row in own)} of the {len(own)} are peaked, and none is periodic"
           if all(row["self_shape"] != "periodic" for row in own) else "some are periodic")
    slow = sorted(value(row, "self_wavelength") for row in near if value(row, "self_wavelength") > 512)
    yield (f"In {len(slow)} of the {len(near)} the wavelength is longer than the window, {slow[0]:.0f} to {slow[-1]:.0f} "
           f"positions. Of the 128 pairs of a head, {near[0]['slow_pairs']} turn less than once there")
    wave = sorted(value(row, "self_wavelength") for row in far)
    yield f"In the {len(far)} heads without a window the wavelengths are {wave[0]:.0f} to {wave[-1]:.0f}"

    layer, *others = layers
    yield (f"Head {layer['largest']} has {three(layer['part'])} of layer 0's summed mean shares ({three(layer['part_null'])}, "
           f"p = {layer['part_p']})")
    beyond = sorted((row for row in layers if row["kernel"] == "self" and value(row, "part_p") <= 0.05),
                    key=lambda row: value(row, "part_p"))
    said = [f"{three(row['part'])} ({three(row['part_null'])}, p = {row['part_p']}) in layer {row['layer']}" for row in beyond]
    yield f"exceeds its null in {len(beyond)} of {len(others)} layers: {said[0]}, {said[1]}, and {said[2]}"
    yield ("None of them passes Benjamini and Hochberg over the 18 layers" if not a_layer_passes(layers, "self")
           else "some pass")


def of_minilm():
    heads, layers = (table("all-MiniLM-L6-v2", part) for part in ("heads", "layers"))
    mean, known = ranked(heads, "mean"), [row for row in heads if row["mean_share"]]
    by = {row["head"]: row for row in mean}
    yield f"{1 + max(int(row['layer']) for row in heads)} layers of {1 + max(int(row['head']) for row in heads)} heads"
    yield f"In {len(mean)} of the {len(known)} heads of layer 0 position alone stands out"
    next_one, b, _, a = mean[:4]
    yield (f"Head {next_one['head']} has a share of {share(next_one, 'mean')}, largest at lag {next_one['mean_peak']}, the next "
           "token")
    yield (f"Head {b['head']} has {share(b, 'mean')} and head {a['head']} has {share(a, 'mean')}, both largest at "
           f"lag {a['mean_peak']}, the previous token" if a["mean_peak"] == b["mean_peak"] else "peaks differ")
    yield (f"Heads 4 and 0 are largest at lag {by['4']['mean_peak']}, head 7 at lag {by['7']['mean_peak']}, and heads 6 and "
           f"10 at the last lags, {by['6']['mean_peak']} and {by['10']['mean_peak']}"
           if by["0"]["mean_peak"] == by["4"]["mean_peak"] else "peaks differ")
    yield (f"In head {a['head']} the logits of positions differ from the kernel by {value(a, 'spread'):.1f} (spread, a "
           f"weighted root mean square), while the kernel goes from {value(a, 'mean_min'):.1f} to {value(a, 'mean_max'):.1f}")
    (layer,) = layers
    yield (f"Head {layer['largest']} has {three(layer['part'])} of the layer's summed shares. The largest head of a draw reaches "
           f"{three(layer['part_null'])}, and it has at least as much in {1000 * value(layer, 'part_p') - 1:.0f} of the 999 draws "
           f"(p = {layer['part_p']}). The effective number of heads is {value(layer, 'effective_heads'):.2f}")


def shown_rows(readme):
    """(kernel, cells) of the rows in README's output."""
    block = readme.partition('$ szego checkpoint "$model"\n')[2].partition("\n...\n")[0]
    kernel = None
    for line in block.splitlines():
        kernel = line.split("_")[0] if line.endswith("_kernel") else kernel
        if kernel and re.match(r" +\d", line):
            yield kernel, line.split()


def due_rows():
    heads = table("gemma-3-270m", "heads")
    for kernel in ("mean", "self"):
        for row in ranked(heads, kernel)[:PANELS]:
            yield kernel, [row["layer"], row["head"], f"{value(row, kernel + '_share'):.3g}", f"{value(row, kernel + '_null'):.3g}",
                           row[kernel + "_shape"], row[kernel + "_peak"], f"{value(row, kernel + '_min'):.3g}", "to",
                           f"{value(row, kernel + '_max'):.3g}"]


def of_readme():
    heads, kernel = (table("gemma-3-270m", part) for part in ("heads", "kernel"))
    mean, own = ranked(heads, "mean"), ranked(heads, "self")
    places = {name(row) for row in mean + own}
    both = next(row["head"] for row in own if row in mean)
    yield f"So {len(places)} of the {len(heads)} heads are positional: {len(mean)} by the mean kernel (layer 0 heads " \
          f"{mean[0]['head']} and {mean[1]['head']}), and {len(own)} by the self kernel (layer 0 head {both} among them)"
    top = own[0]
    values = {int(row["lag"]): value(row, "self") for row in kernel if (row["layer"], row["head"]) == (top["layer"], top["head"])}
    low, high = value(top, "self_min"), value(top, "self_max")
    part = {lag: (x - low) / (high - low) for lag, x in values.items()}
    yield (f"{name(top).capitalize()} leads: its logits are large up to some hundreds of tokens back, and small "
           "beyond some thousands"
           if min(x for lag, x in part.items() if lag <= 600) > 0.9 and max(x for lag, x in part.items() if lag > 5000) < 0.25
           else "the strongest is not large at hundreds or not small at thousands")
    yield f"{name(own[1]).capitalize()} is largest {own[1]['self_peak']} tokens back"
    at_zero = {(row["layer"], row["head"]): value(row, "self") for row in kernel if row["lag"] == "0"}
    least = [row for row in own[:PANELS] if abs(at_zero[row["layer"], row["head"]] - value(row, "self_min")) < 1e-9]
    lags, layers = sorted(int(row["self_peak"]) for row in least), sorted(int(row["layer"]) for row in least)
    yield (f"{['Five', 'Six', 'Seven'][len(least) - 5]} heads of layers {layers[0]} to {layers[-1]} are largest {lags[0]} to "
           f"{lags[-1]} tokens back, and least at the token itself")


def main():
    page = sections((SOURCE / "docs/findings.md").read_text(encoding="utf-8"))["In trained models"]
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    said = [*of_gemma(), *of_minilm()]
    results = [(f"findings: {sentence[:60]}", sentence in plain(page), f"the section lacks: {sentence}") for sentence in said]
    results += [(f"README: {sentence[:60]}", sentence in plain(readme), f"README lacks: {sentence}") for sentence in of_readme()]
    # What no table has: the rule's numbers, and what the test of the models themselves looks at.
    told = " ".join([*said, "0.1 0.95 0.008"])
    free = [number for number in NUMBER.findall(plain(page.partition("```sh")[0])) if number not in NUMBER.findall(told)]
    results.append(("every number is of a table", not free, f"{free}"))
    shown, due = list(shown_rows(readme)), list(due_rows())
    results.append(("README shows the tables' rows", shown == due,
                    f"{[pair for pair in zip(shown, due) if pair[0] != pair[1]] or (len(shown), len(due))}"))
    pins = (SOURCE / "tools/fetch-model").read_text(encoding="utf-8")
    digests = re.findall(r"\b[0-9a-f]{64}\b", (MODELS / "README.md").read_text(encoding="utf-8"))
    results.append(("the files are those that the tool fetches", len(digests) == 2 and all(digest in pins for digest in digests),
                    f"{digests}"))
    # Toeplitzness ranks layer 3 head 10 of MiniLM first, whose logits are about 0.03.
    mini = {(row["layer"], row["head"]): row for row in table("all-MiniLM-L6-v2", "heads")}
    strong, weak = mini["0", "2"], mini["3", "10"]
    results.append(("MiniLM: layer 0 head 2 is above layer 3 head 10", strong["stands_out"] == "mean" and
                    not weak["stands_out"] and value(strong, "mean_share") > float(weak["mean_share"] or 0), f"{weak}"))
    for model in ("gemma-3-270m", "all-MiniLM-L6-v2"):
        sources = {row["source"] for part in ("heads", "layers", "kernel") for row in table(model, part)}
        results.append((f"{model}: named without folders", len(sources) == 1 and "/" not in sources.pop(), f"{sources}"))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
