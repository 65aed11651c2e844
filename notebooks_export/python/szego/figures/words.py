"""What titles, captions and hover texts are put together from. All of it is plain text."""
import decimal
import math
import os.path
import re

from . import labels

SOURCE_CHARACTERS, NAME_CHARACTERS = 80, 48


def signed(text):
    """A printed number with the minus sign that axes have."""
    return text.replace("-", "\N{MINUS SIGN}")


def number(value):
    """Four significant digits, without an exponent below 1e15; whole numbers, of steps and orders, have all digits."""
    return exact(value if is_whole(value) else float(f"{value:.4g}"))


def is_whole(value):
    return math.isfinite(value) and abs(value) < 1e15 and value == int(value)


def exact(value):
    """The shortest digits that read back as the number, without an exponent below 1e15; for readers, with their minus
    sign."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else signed("inf" if value > 0 else "-inf")
    return signed(str(int(value)) if is_whole(value) else repr(float(value)))


def count(n, one, many):
    """"1 head", "3 heads"; "inf heads", "nan heads" of a cell that holds no count."""
    return f"{exact(n)} {one if n == 1 else many}"


def listed(names, most=6):
    """"layer 3 to layer 7, other; and 3 more": runs of three or more names that count on by one are told by their
    ends; of more runs than `most` the first ones are named."""
    runs = []
    for name in names:
        stem, _, place = name.rpartition(" ")
        last = runs[-1] if runs else None
        if last and place.isdecimal() and (stem, int(place)) == (last[0], last[1] + 1):
            runs[-1] = (stem, int(place), last[2] + [name])
        else:
            runs.append((stem, int(place) if place.isdecimal() else -2, [name]))
    text = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for _, _, run in runs[:most])
    more = sum(len(run) for _, _, run in runs[most:])
    return text + (f"; and {more} more" if more else "")


def clipped(text, characters=NAME_CHARACTERS):
    """At most so many characters of a text, with an ellipsis where it is cut."""
    text = text or ""
    return text if len(text) <= characters else text[:characters] + "\N{HORIZONTAL ELLIPSIS}"


def file(path):
    """A file or folder by the last part of its path."""
    return clipped((path or "unnamed").rstrip("/").rpartition("/")[2] or path)


def key(rows, columns, characters=NAME_CHARACTERS):
    """"head 3", "n = 64" of a number, a text as it is: what the first row has in these columns."""
    parts = []
    for column in columns:
        cell = rows.cell(column) if len(rows) else None
        if cell is not None:
            text = isinstance(cell, str)
            name = "n =" if column == "n" else labels.words(column, rows.table)
            parts.append(clipped(cell, characters) if text else f"{name} {number(cell)}")
    return ", ".join(parts)


def percent(value):
    """"91.8%" of a share of 1."""
    return signed(f"{100 * value:.1f}%")


def task(rows, columns=("task", "experiment")):
    """"task count, experiment text": what the first row has of these."""
    return ", ".join(f"{column} {clipped(rows.text(column))}" for column in columns if rows.text(column))


def run(rows):
    """What a run has learned: "rope, task count, experiment text"; the source where there is no encoding."""
    return ", ".join(filter(None, (clipped(rows.text("encoding") or rows.text("source")), task(rows))))


def capital(text):
    """The text with a capital, as a title or sentence begins."""
    return text[:1].upper() + text[1:]


def uncapital(text):
    """A title within a sentence."""
    return text[:1].lower() + text[1:]


def model(rows):
    """The checkpoint and the kind of matrix: "model.safetensors, position"."""
    matrix = rows.text("matrix")
    return file(rows.text("source")) + (f", {clipped(matrix)}" if matrix else "")


#: What libraries call a file of weights, whatever the model is.
_WEIGHTS = re.compile(r"(model|pytorch_model|consolidated|adapter_model)\b.*\.(safetensors|bin|pt|pth|json)")


def checkpoint(path):
    """The model's name by the path of its checkpoint: "org/name" in a cache of Hugging Face, else the folder, or the file
    without its ending; None: the path has none."""
    parts = [part for part in (path or "").split("/") if part not in ("", ".", "..")]
    if parts and _WEIGHTS.fullmatch(parts[-1]):
        del parts[-1]
    if len(parts) > 2 and parts[-2] == "snapshots" and parts[-3].startswith("models--"):
        return clipped("/".join(parts[-3].split("--")[1:]))
    return clipped(re.sub(r"\.(gguf|safetensors|bin|pt|pth)$", "", parts[-1])) if parts else None


def _several_results(source):
    results = source.texts("result") if source.size else []
    return len(results) > 1 and results[0] is not None and results[-1] is not None and results[0] != results[-1]


def subject(rows, heads=True):
    """What the first row is about: "SOURCE, layer 2, head 3, matrix", and "in RESULT" where the table has several
    results. Without heads: without layer and head."""
    parts = [clipped(rows.text("source") or "unnamed", SOURCE_CHARACTERS)]
    for column in ("layer", "head") if heads else ():
        if not math.isnan(rows.number(column)):
            parts.append(f"{column} {exact(rows.number(column))}")
    if rows.text("matrix"):
        parts.append(clipped(rows.text("matrix")))
    if _several_results(rows.source):
        parts.append(f"in {clipped(rows.text('result'))}")
    return ", ".join(parts)


def of_what(rows):
    """Of which matrix the values are, where it is not the one that the rows name; nothing where it is."""
    return "Hermitian part" if rows.text("values_of") == "hermitian_part" else ""


def source(rows):
    """As `subject`, without layer and head."""
    return subject(rows, heads=False)


def source_of_values(rows):
    """"t5, Hermitian part": whose eigenvalues these are."""
    return ", ".join(filter(None, (source(rows), of_what(rows))))


def lower(value, digits=6):
    """A certified lower end: the greatest number of so many digits that is not above it."""
    return _end(value, digits, decimal.ROUND_FLOOR)


def upper(value, digits=6):
    """A certified upper end: the least number of so many digits that is not below it."""
    return _end(value, digits, decimal.ROUND_CEILING)


def _end(value, digits, rounding):
    """A number that so few digits write exactly stays; reading the digits never gives a number on the inner side."""
    if not math.isfinite(value):
        return exact(value)
    wide = decimal.Context(prec=digits, rounding=rounding, Emin=-999999, Emax=999999)
    return exact(float(wide.create_decimal(repr(float(value)))))


def apart(texts, characters=NAME_CHARACTERS):
    """The texts, each cut to so many characters, but none where it differs from another one: what texts that are cut
    alike have in common is cut instead, and they stay whole where that does not do."""
    texts = [text or "" for text in texts]
    out = [clipped(text, characters) for text in texts]
    for alike in _alike(out, texts):
        differing = list(dict.fromkeys(texts[i] for i in alike))
        common = len(os.path.commonprefix(differing))
        head = characters // 3
        start = max(min(common - 4, min(map(len, differing)) - (characters - head)), head)
        for i in alike:
            out[i] = texts[i][:head] + "\N{HORIZONTAL ELLIPSIS}" + clipped(texts[i][start:], characters - head)
    for alike in _alike(out, texts):
        for i in alike:
            out[i] = texts[i]
    return out


def _alike(shown, texts):
    """Lists of places whose texts differ but are shown alike."""
    places = {}
    for i, text in enumerate(shown):
        places.setdefault(text, []).append(i)
    return [alike for alike in places.values() if len({texts[i] for i in alike}) > 1]
