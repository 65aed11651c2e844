#!/usr/bin/python3
"""`szego checkpoint -o DIR/` that is killed or interrupted at any moment, and run again until it ends: the files
are those of one run. SZG_TEST_SEED repeats the moments.
usage: test_resume.py PROGRAM"""
import glob
import os
import random
import signal
import subprocess
import sys
import time

from peer import Tap, scratch, skip, write_llama

try:
    import numpy as np
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
HEADS, KEY_HEADS, SIZE, WIDTH, LAYERS = 16, 16, 64, 80, 40  # four layers a window: ten windows
SIGNALS = signal.SIGKILL, signal.SIGINT, signal.SIGTERM
seed = int(os.environ.get("SZG_TEST_SEED", random.randrange(1 << 32)))
draw = random.Random(seed)
tap = Tap()
print(f"# SZG_TEST_SEED={seed}")


def start(folder, *arguments):
    return subprocess.Popen([PROGRAM, "checkpoint", "model", "--threads", "1", "-o", "out/", *arguments],
                            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder, *arguments):
    process = start(folder, *arguments)
    said = process.communicate()[1]
    return process.returncode, said


def contents(folder):
    """The tables by name; the manifest has no times, so that it is the same too."""
    found = {}
    for path in glob.glob(os.path.join(folder, "out", "*")):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = file.read()
        os.unlink(path)
    return found


def journal_size(folder):
    return sum(map(os.path.getsize, glob.glob(os.path.join(folder, "out", "*.journal"))))


def interrupted(folder, number, wait):
    """One run that gets the signal after so many seconds, or once its journal has grown: how it ended, and what it
    said."""
    before = journal_size(folder)
    process = start(folder)
    if wait is None:
        while process.poll() is None and journal_size(folder) <= before:
            time.sleep(0.002)
    else:
        time.sleep(wait)
    process.send_signal(number)
    said = process.communicate()[1]
    return process.returncode, said


numbers = np.random.default_rng(seed)
with scratch() as folder:
    write_llama(os.path.join(folder, "model"), (HEADS, KEY_HEADS, SIZE, WIDTH),
                [(numbers.standard_normal((HEADS * SIZE, WIDTH)), numbers.standard_normal((KEY_HEADS * SIZE, WIDTH)))
                 for _ in range(LAYERS)])
    begin = time.monotonic()
    code, said = run(folder)
    seconds = time.monotonic() - begin
    want = contents(folder)
    tap.ok("one run", code == 0 and "summary.csv" in want, said)
    tap.ok("one run leaves no journal", not any(name.endswith(".journal") for name in want))

    # As soon as there is a journal: SIGKILL leaves it, and the next run goes on behind it.
    code, said = interrupted(folder, signal.SIGKILL, None)
    tap.ok("killed while there is a journal", code == -signal.SIGKILL and journal_size(folder) > 0, code)
    code, said = interrupted(folder, signal.SIGINT, None)
    tap.ok("Ctrl-C says what is kept", code == 130 and " of 40 layers are kept in out/checkpoint.journal: the same "
           "command goes on" in said, said)
    code, said = run(folder, "--raw")
    tap.ok("another command is refused", code == 3 and "out/checkpoint.journal: is of other work: raw is true, and "
           "was false there" in said, said)
    code, said = run(folder)
    tap.ok("the same command goes on", code == 0 and "going on after layer " in said, said)
    tap.ok("its files are those of one run", contents(folder) == want)

    for trial in range(3):
        codes = []
        while not codes or codes[-1] != 0:
            number = draw.choice(SIGNALS)
            codes.append(interrupted(folder, number, draw.uniform(0, seconds))[0])
            if codes[-1] not in (0, 130, -number) or len(codes) > 100:
                break
        got = contents(folder)
        tap.ok(f"trial {trial}: {len(codes)} runs end in the files of one", codes[-1] == 0 and got == want,
               f"{codes} {[name for name in want if got.get(name) != want[name]]}")

    # Two at once: one of them is refused or finds the work done, and the result is right.
    both = [start(folder), start(folder)]
    ends = [(process.communicate()[1], process.returncode) for process in both]
    good = [said for said, code in ends if code == 0]
    refused = [said for said, code in ends if code == 1 and ("another process does this work" in said or
                                                             "another writer uses this folder" in said)]
    tap.ok("two at once", good and len(good) + len(refused) == 2, ends)
    tap.ok("two at once: the files are those of one run", contents(folder) == want)
tap.finish()
