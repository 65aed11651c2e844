#!/usr/bin/python3
"""docs/findings.md says what the program answers: kinds, verdicts, counts, numbers, and the picture of ranges. README's
counts are the same. Prints TAP.

usage: findings.py SZEGO SOURCE
Each section's Python and commands are run; each number with a decimal point in its prose must be one that they print, rounded.
The ends of a range [a, b] must be rounded outwards, since what is certified to lie in it lies in it as printed, too.
Commands that fetch a model or train for minutes are not run, and the section about training is left to its reader.
"""
import collections
import csv
import importlib.util
import io
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

KINDS = ("paper", "reading", "correction")
SLOW = ("fetch-model", "reproduce", "szego judge")
ROW = re.compile(r"^\| (\S+) \| (paper|reading|correction) \|.*\| (\w+) \|$", re.MULTILINE)
# With digits behind the point; not a section's number, a version or a claim's name.
NUMBER = re.compile(r"(?<![\w.^])\d+\.\d+(?![\w^|]|\.\d)")
RANGE = re.compile(r"\[(-?\d+(?:\.\d+)?), (-?\d+(?:\.\d+)?)\]")
FENCE = re.compile(r"^```(?:sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections(page):
    parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def commands(section):
    return [shlex.split(line, comments=True) for block in FENCE.findall(section) for line in block.splitlines()
            if line.startswith("szego ") and not any(word in line for word in SLOW)]


def called(szego, words, folder):
    return subprocess.run([szego, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def cells(text):
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def answers(szego, section):
    """Every number that the section's commands print or write."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for block in PYTHON.findall(section):
            subprocess.run([sys.executable, "-c", block], cwd=folder, check=True)
        for words in commands(section):
            words = words[1:words.index("|")] if "|" in words else words[1:]
            if "-o" not in words and "--format" not in words:
                words += ["--format", "csv"]
            found += cells(called(szego, words + ["--quiet"], folder))
        for path in pathlib.Path(folder).rglob("*.csv"):
            found += cells(path.read_text(encoding="utf-8"))
    return [float(cell) for cell in found if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]\d+)?", cell)]


def recorded(source):
    """Every number of the sentences that deposit.py checks against the recorded runs, and of their hypotheses."""
    said = subprocess.run([sys.executable, source / "tests/docs/deposit.py", source], capture_output=True, text=True,
                          check=True).stdout
    tables = ((source / "docs/reference/mechanism-results" / name / "hypotheses.csv").read_text(encoding="utf-8")
              for name in ("mechanism", "mechanism-replication"))
    return ([float(number) for line in said.splitlines() if line.startswith("# findings: ") for number in NUMBER.findall(line)]
            + [float(cell) for table in tables for cell in cells(table) if re.fullmatch(r"-?\d+\.\d+(e[-+]\d+)?", cell)])


def is_outside(text, sign, numbers):
    """Whether an answer lies on the inner side of an end of a range, by less than a unit of the end's last digit."""
    unit = 10.0 ** -len(text.partition(".")[2])
    return any(0 <= sign * (x - float(text)) < unit for x in numbers)


def unexplained(section, numbers):
    """Numbers of the prose that are no rounding of an answer, nor of a hundredth of one (per cent)."""
    prose = re.sub(r"`[^`]*`|\([^()]*://[^()]*\)", "", FENCE.sub("", section))
    prose = re.sub(r"^\|.*$|^#.*$", "", prose, flags=re.MULTILINE)
    for low, high in RANGE.findall(prose):
        yield from (text for text, sign in ((low, 1), (high, -1)) if not is_outside(text, sign, numbers))
    for text in NUMBER.findall(RANGE.sub("", prose)):
        digits = len(text.split(".")[1])
        near = 0.5 * 10.0**-digits * (1 + 1e-9)  # half of the last digit shown
        if not any(abs(abs(x) - float(text)) <= near or abs(100 * abs(x) - float(text)) <= near for x in numbers):
            yield text


def counts(rows):
    verdicts = {kind: collections.Counter() for kind in KINDS}
    for _, kind, verdict in rows:
        verdicts[kind][verdict if verdict in ("holds", "fails") else "other"] += 1
    verdicts["all"] = sum(verdicts.values(), collections.Counter())
    return {kind: (c.total(), c["holds"], c["fails"], c["other"]) for kind, c in verdicts.items()}


def said_counts(page):
    """Of "13 of the 26 rows .. fail: 6 of .. 13 statements .. 7 of our 8 readings"."""
    text = " ".join(page.replace("**", "").split())
    said = re.search(r"(\d+) of the (\d+) rows of the .*? fail: (\d+) of the (?:paper's )?(\d+) statements.*?"
                     r"(\d+) of our (\d+) readings", text)
    return tuple(map(int, said.groups())) if said else None


def due_counts(rows):
    made = counts(rows)
    return made["all"][2], made["all"][0], made["paper"][2], made["paper"][0], made["reading"][2], made["reading"][0]


def shown_counts(page):
    return {kind: tuple(map(int, numbers.split(" | "))) for kind, numbers in
            re.findall(r"^\| (paper|reading|correction|all) \| (\d+ \| \d+ \| \d+ \| \d+) \|$", page, re.MULTILINE)}


def pictures(szego, source, page):
    """Those of docs/pictures that differ from what the page's command draws."""
    words = next(words for block in sections(page).values() for words in commands(block) if "tools/range-picture" in words)
    rows = called(szego, words[1:words.index("|")] + ["--quiet"], source)
    for name, options in (("light", []), ("dark", ["--dark"])):
        drawn = subprocess.run([source / "tools/range-picture", *options], input=rows, check=True, capture_output=True,
                               text=True).stdout
        if drawn != (source / "docs" / "pictures" / f"ranges-{name}.svg").read_text(encoding="utf-8"):
            yield name


def report(results):
    """TAP of (name, whether it holds, why not); the exit status."""
    print(f"1..{len(results)}")
    for index, (name, good, why) in enumerate(results, 1):
        print(f"ok {index} - {name}" if good else f"not ok {index} - {name}\n# {why}")
    return 0 if all(good for _, good, _ in results) else 1


def main():
    szego, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    page = (source / "docs/findings.md").read_text(encoding="utf-8")
    rows = ROW.findall(page)
    with tempfile.TemporaryDirectory() as folder:
        called(szego, ["verify", "--quiet", "-o", "claims/"], folder)
        claims, certificates = (list(csv.DictReader(io.StringIO((pathlib.Path(folder) / "claims" / f"{name}.csv").read_text(
            encoding="utf-8")))) for name in ("claims", "certificates"))
    ledger = [(row["id"], row["kind"], row["verdict"]) for row in claims]
    readme = (source / "README.md").read_text(encoding="utf-8")
    due, refuted = due_counts(ledger), {i for i, _, verdict in ledger if verdict == "fails"}
    results = [("every claim has its row", sorted(rows) == sorted(ledger), f"{set(rows) ^ set(ledger)}"),
               ("counts add up", shown_counts(page) == counts(ledger), f"{counts(ledger)}"),
               ("the summary's counts", said_counts(page) == due, f"{said_counts(page)}, not {due}"),
               ("README's counts", said_counts(readme) == due, f"{said_counts(readme)}, not {due}"),
               ("README counts corrections", f"All {counts(ledger)['correction'][1]} corrected statements" in readme, ""),
               ("certificates", f"All {len(certificates)} certificates are confirmed" in page, f"{len(certificates)}"),
               ("all that fail have one", refuted <= {row["id"] for row in certificates}, "")] + [
                   (f"{name} counts the rows", f"{len(ledger)} {word}" in (source / name).read_text(encoding="utf-8"), "")
                   for name, word in (("docs/how-to/verify.md", "rows"), ("docs/reference/glossary.md", "claims"))]
    for title, section in sections(page).items():
        if not importlib.util.find_spec("scipy") and (PYTHON.search(section) or "mechanism" in section):
            results.append((f"{title} # SKIP no SciPy", True, ""))
        elif ROW.search(section) or "szego judge" in section:
            wrong = list(unexplained(section, answers(szego, section) + recorded(source)))
            told = commands(section) or "szego judge" in section
            results.append((title, not wrong and told, f"no command prints {', '.join(wrong)}"))
    different = list(pictures(szego, source, page))
    results.append(("pictures are what the command draws", not different, f"{different}"))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
