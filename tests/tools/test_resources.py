#!/usr/bin/env python3
"""tools/kernel-resources on reports like ptxas's: a spill that nobody listed fails, reports that ran
into one another are refused, and occupancy is that of the published limits."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parent.parent / "tools" / "kernel-resources"
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "peer"))
# pylint: disable=wrong-import-position
from peer import Tap

KERNEL = "_ZN54_GLOBAL__N__59f06a56_21_attention_backward_cu_9c1e7d308backwardILi{0}ELb1EEEvi"


def report(width, architecture, stores, registers=80):
    """What ptxas tells of one kernel, in release 13.0's words."""
    name = KERNEL.format(width)
    return (f"ptxas info    : Compiling entry function '{name}' for '{architecture}'\n"
            f"ptxas info    : Function properties for {name}\n"
            f"    {2 * stores} bytes stack frame, {stores} bytes spill stores, {3 * stores} bytes "
            "spill loads\n"
            f"ptxas info    : Used {registers} registers, used 1 barriers, 512 bytes smem\n"
            "ptxas info    : Compile time = 1.000 ms\n")


def run(folder, text, spills=""):
    """Exit status, stdout, stderr."""
    told, allowed = folder / "attention_backward.resources", folder / "spills.txt"
    told.write_text("ptxas info    : 0 bytes gmem\n" + text)
    allowed.write_text("# a comment\n\n" + spills)
    done = subprocess.run([TOOL, "--spills", allowed, told], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def check_spills(tap, folder):
    line = "sm_90 | attention_backward | backward<32, true> | {0} | a reason\n"
    good, bad = report(16, "sm_90", 0) + report(32, "sm_80", 0), report(32, "sm_90", 24)
    code, out, said = run(folder, good)
    tap.ok("no spill", code == 0 and not said, f"{code} {said}")
    tap.ok("a row a kernel", len(out.splitlines()) == 3, out)
    code, out, said = run(folder, good + bad)
    tap.ok("a spill that is not listed fails", code == 1, f"{code}")
    tap.ok("the spill is named", "sm_90 | attention_backward | backward<32, true>: 24 bytes" in said, said)
    row = next(row for row in out.splitlines() if "24" in row)
    tap.ok("the spill's row", row.split()[-4:] == ["80", "24", "72", "48"], row)
    code, _, said = run(folder, good + bad, line.format(24))
    tap.ok("a listed one passes", code == 0 and not said, f"{code} {said}")
    code, _, said = run(folder, good + bad, line.format(23))
    tap.ok("more bytes than listed fail", code == 1 and "allows 23" in said, f"{code} {said}")
    code, _, said = run(folder, good + bad, line.format(24).replace("sm_90", "sm_80"))
    tap.ok("another architecture is not listed", code == 1, f"{code}")
    code, _, said = run(folder, good, line.format(24).replace("sm_90", "sm_80"))
    tap.ok("a line that nothing needs is told", code == 0 and "take its line out" in said, said)
    code, _, said = run(folder, good, "sm_90 | attention_backward | backward<32, true> | 24 |\n")
    tap.ok("a reason is asked for", code == 2 and "spills.txt:3" in said, f"{code} {said}")


def check_reports(tap, folder):
    first, second = report(16, "sm_80", 0).splitlines(), report(16, "sm_90", 0).splitlines()
    mixed = "\n".join(line for pair in zip(first, second) for line in pair)
    code, _, said = run(folder, mixed)
    tap.ok("reports that ran into one another are refused", code == 2 and "breaks off" in said, said)
    code, _, said = run(folder, "\n".join(first[:3]))
    tap.ok("half a report is refused", code == 2 and "breaks off" in said, said)
    done = subprocess.run([TOOL, folder / "empty"], capture_output=True, text=True, check=False)
    tap.ok("a missing file is refused", done.returncode == 2, done.stderr)
    (folder / "build" / "cuda").mkdir(parents=True)
    done = subprocess.run([TOOL, folder / "build"], capture_output=True, text=True, check=False)
    tap.ok("no plugin: skipped, and says so", done.returncode == 77 and "skipped" in done.stdout,
           done.stdout)


def check_occupancy(tap):
    """Against NVIDIA's occupancy calculator (CUDA C++ Programming Guide, table of compute
    capabilities): registers, threads and shared memory of a block, and blocks."""
    scope = {"__name__": "kernel_resources", "__file__": str(TOOL)}
    exec(compile(TOOL.read_text(), str(TOOL), "exec"), scope)  # pylint: disable=exec-used
    blocks = scope["resident_blocks"]
    for want, arguments in [
            (3, ("sm_90", 80, 256, 66816)),   # 24 of 64 warps by registers, 3.4 by shared memory
            (2, ("sm_80", 80, 256, 66816)),   # 164 KB of shared memory
            (2, ("sm_90", 32, 1024, 0)),      # all 64 warps
            (1, ("sm_90", 33, 1024, 0)),      # 40 registers a thread, given by 8: 48 warps
            (4, ("sm_80", 255, 64, 0)),       # 8 warps by registers
            (32, ("sm_90", 16, 32, 0)),       # no more blocks
            (1, ("sm_90", 32, 256, 227 * 1024)),
            (0, ("sm_80", 32, 256, 200 * 1024))]:
        got = blocks(*arguments)
        tap.ok(f"blocks of {arguments}", got == want, f"{got}, not {want}")


def main():
    """The test."""
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_spills(tap, pathlib.Path(folder))
        check_reports(tap, pathlib.Path(folder))
    check_occupancy(tap)
    tap.finish()


main()
