#!/usr/bin/env python3
"""tools/prose counts what it says, and finds what it forbids. Prints TAP."""
import pathlib
import subprocess
import sys
import tempfile

PROSE = pathlib.Path(__file__).resolve().parents[2] / "tools/prose"
LONG = " ".join(["word"] * 26)
PAGE = f"""# A heading is no sentence. Nor two.

Four words are here. See Eq. 9 by A. Gu, `code with. dots.` and [a link](a.b/c.md). One $x. Y$ more! It is 0. So.

| a table | is exempt {LONG} {LONG} {LONG}. |
|---|---|

- first item
- second item of {LONG}.

```sh
a command. {LONG} {LONG} {LONG}
```

    indented code. {LONG}

The lock is had at night, but for a row a day. {'x' * 90}
"""

# Code is not read, and so are texts outside analysis/ not; line numbers are those of the file.
C = """/* A lock that
 * is had. */
int stands_in = but_for; // "it" goes on with it
char *text = "but "
             "for rain"; /* is none of */
"""
PYTHON = """#!/usr/bin/env python3
'''A docstring, but
for one.'''
x = "stands in"  # it stands
# in two lines
"""


def run(*arguments, name="page.md", text=PAGE):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([PROSE, *arguments, folder if name != "page.md" else path], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout.replace(str(path), "PAGE").splitlines()


def idioms(name, text):
    """What is found in a source, which a folder holds."""
    code, lines = run("--limits", name=name, text=text)
    return code, [line.replace("private idiom: ", "") for line in lines[1:]]


def main():
    code, lines = run()
    # Words: 4, 10, 3, 3, 1; the items 2 and 29; the last paragraph 13, as a small letter begins no sentence.
    results = [("counts", code == 0 and lines[1:] == ["    65         8    3.5      29     2      3  PAGE"], lines)]
    code, lines = run("--limits")
    want = ["PAGE:9: a line of more than 120 characters",
            "PAGE:17: a line of more than 120 characters",
            "PAGE:17: private idiom: is had", "PAGE:17: private idiom: but for",
            "PAGE:17: private idiom: a row a day"]
    results.append(("limits", code == 1 and lines[2:] == want, lines))
    comments = ["PAGE:2: is had", "PAGE:3: goes on with", "PAGE:5: is none of"]
    for name, text, want in [("comments of C", C, comments), ("help of analysis", C, [*comments, "PAGE:4: but for"]),
                             ("docstrings and comments of Python", PYTHON, ["PAGE:2: but for", "PAGE:4: stands in"])]:
        place = "room/code.py" if text is PYTHON else "analysis/code.c" if "help" in name else "room/code.c"
        code, lines = idioms(place, text)
        results.append((name, code == 1 and sorted(lines) == sorted(want), lines))
    print(f"1..{len(results)}")
    for index, (name, good, found) in enumerate(results, 1):
        print(f"ok {index} - {name}" if good else f"not ok {index} - {name}\n# {found}")
    return 0 if all(good for _, good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
