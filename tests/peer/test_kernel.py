#!/usr/bin/python3
"""Values by lag: Encoding.lags and Encoding.matrix against the encodings' formulas in NumPy, szego.kernel against the
folders that the program writes. usage: test_kernel.py PROGRAM"""
import os
import pathlib
import subprocess
import sys

from peer import EPS, PACKAGE, Counted, Tap, compute_alike, eigenvalue_bound, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    from szego import encodings, native
    from szego.encodings import Encoding
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
FAMILIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "families")
os.environ["SZEGO"] = PROGRAM
rng = np.random.default_rng(int(os.environ.get("SZG_TEST_SEED", "20250513"), 0))
tap = Tap()
compute_alike(szego)
N = 24
ROW, COLUMN = np.indices((N, N))
K = ROW - COLUMN  # query less key


# ---- Formulas -----------------------------------------------------------------------------------


def angles(dim, base=10000.0):
    return base ** (-2 * np.arange(dim // 2) / dim)


def mean_of(theta, unrotated=0):
    """The rotary mean kernel: the trace of a rotation by K, over the dimension."""
    return (2 * np.cos(K[..., None] * theta).sum(-1) + unrotated) / (2 * len(theta) + unrotated)


def sinusoids(dim):
    phase = np.arange(N)[:, None] * angles(dim)
    rows = np.empty((N, dim))
    rows[:, 0::2], rows[:, 1::2] = np.sin(phase), np.cos(phase)
    return rows @ rows.T


def alibi(heads):
    """Press, Smith, Lewis 2022: heads that are no power of two take every second slope of the next one."""
    def slopes(count):
        return [2.0 ** (-8 * (h + 1) / count) for h in range(count)]
    power = 2 ** int(np.log2(heads))
    taken = slopes(power) + slopes(2 * power)[0::2][:heads - power]
    return np.array([-slope * np.abs(K) for slope in taken])


def t5(table, both, most=128):
    """relative_position_bucket of transformers, of key less query."""
    buckets, relative = len(table), -K
    base = np.zeros_like(relative)
    if both:
        buckets //= 2
        base = (relative > 0) * buckets
        distance = np.abs(relative)
    else:
        distance = np.maximum(-relative, 0)
    exact = buckets // 2
    far = exact + (np.log(np.maximum(distance, 1) / exact) / np.log(most / exact) * (buckets - exact)).astype(int)
    bucket = base + np.where(distance < exact, distance, np.minimum(far, buckets - 1))
    return np.moveaxis(table[bucket], -1, 0)


def by_lag(values):
    """values[k + c] of lags -c .. c, for each head."""
    return np.array([one[K + len(one) // 2] for one in values])


with scratch() as folder:
    def saved(name, values):
        path = os.path.join(folder, name)
        np.save(path, values)
        return path

    TABLE, PLACES = rng.normal(size=(32, 3)), rng.normal(size=(N, 6))
    EVERY, TWO = rng.normal(size=(2, 2 * N - 1)), rng.normal(size=N) + 1j * rng.normal(size=N)
    TWO[0] = 2
    LAGS = np.arange(N)
    KERPLE = -1.5 * np.log(1 + 0.7 * LAGS)  # Chi et al. 2022
    SANDWICH = np.cos(LAGS[:, None] * angles(16)).sum(-1) - 8  # Chi et al. 2023
    CASES = {
        "nope": (np.zeros((1, N, N)), 0),
        "rope:dim=10": (mean_of(angles(10))[None], 0),
        "rope:dim=12,rotary=8,base=500": (mean_of(angles(8, 500.0), 4)[None], 0),
        "rope:dim=8,scaling=linear,factor=4": (mean_of(angles(8) / 4)[None], 0),
        "rope:dim=6,heads=3,rotate=1": (np.array([np.ones((N, N)), mean_of(angles(6)), np.ones((N, N))]), 0),
        "mla:content=6,rope=4": (mean_of(angles(4), 6)[None], 0),
        "rope-bias:dim=6,scale=0.3": (0.3 * mean_of(angles(6))[None], 0),
        "rope+absolute:dim=8,input=6": (mean_of(angles(8))[None], 0),
        "rope+absolute:dim=6,input=8": (sinusoids(8)[None], 1),
        "absolute:dim=8": (sinusoids(8)[None], 0),
        "alibi:heads=4": (alibi(4), 0),
        "alibi:heads=6": (alibi(6), 0),
        "kms:rho=-0.7": ((-0.7) ** np.abs(K)[None], 0),
        f"t5:table={saved('t5.npy', TABLE)}": (t5(TABLE, True), 0),
        f"t5:table={saved('t5.npy', TABLE)},direction=causal": (t5(TABLE, False), 0),
        f"relative:table={saved('relative.npy', EVERY)}": (by_lag(EVERY), 0),
        f"learned:table={saved('learned.npy', PLACES)}": ((PLACES @ PLACES.T)[None], 0),
        f"file:path={saved('kerple.npy', KERPLE)}": (KERPLE[np.abs(K)][None], 0),
        f"file:path={saved('sandwich.npy', SANDWICH)}": (SANDWICH[np.abs(K)][None], 0),
        f"file:path={saved('full.npy', EVERY)},lags=full": (by_lag(EVERY), 0),
        f"file:path={saved('two.npy', TWO)}": (np.where(K < 0, TWO[np.abs(K)].conj(), TWO[np.abs(K)])[None], 0),
    }
    for spec, (want, matrix) in CASES.items():
        short = spec.replace(folder + os.sep, "")
        encoding = Encoding(spec)
        got = encoding.matrix(N, matrix=matrix)
        # Phases up to N round, and up to 16 terms of modulus 1 are summed; other numbers are products of six.
        close = np.abs(got - want).max() <= 64 * N * EPS * max(1, np.abs(want).max())
        tap.ok(f"{short}: entries", got.shape == want.shape and got.dtype == want.dtype and close)
        lags, values = encoding.lags(N, matrix=matrix)
        tap.ok(f"{short}: lags", lags.tolist() == list(range(1 - N, N)) and values.shape == (len(want), 2 * N - 1))
        means = np.array([[one.diagonal(-k).mean() for k in lags] for one in got])
        if spec.startswith("learned"):
            tap.ok(f"{short}: means of diagonals", np.abs(values - means).max() <= 64 * N * EPS * np.abs(got).max())
        else:
            tap.ok(f"{short}: the matrix is that of its lags", (got == values[:, K + N - 1]).all())
        tap.ok(f"{short}: one head", (encoding.matrix(N, head=len(want) - 1, matrix=matrix) == got[-1]).all()
               and (encoding.lags(N, head=len(want) - 1, matrix=matrix)[1] == values[-1]).all())
        for head, one in enumerate(got):
            if np.array_equal(one, one.conj().T):
                found = szego.spectrum(spec, N, head=head, matrix=matrix).eigenvalues
                wrong = np.abs(np.linalg.eigvalsh(one) - found).max()
                tap.ok(f"{short}: eigenvalues of head {head}", wrong <= eigenvalue_bound(N, np.linalg.norm(one, 2)))
    seen = {spec.partition(":")[0] for spec in CASES} | {"random"}
    tap.ok("every encoding is tried", seen == set(encodings.names()), str(set(encodings.names()) - seen))
    path = os.path.join(folder, "kerple.npy")
    tap.ok("a SPEC that names a path", (szego.kernel(f"file:path={path}", N)["kernel_kernel"]["re"] == KERPLE).all())
    tap.refused("a table that ends", lambda: Encoding(f"learned:table={folder}/learned.npy").matrix(N + 1), "24",
                kind=szego.LibraryError)

# ---- Tables -------------------------------------------------------------------------------------


def same_as_folder(name, call, *arguments):
    """The tables of the call, to the bit, are those that the program writes."""
    with scratch() as out:
        subprocess.run([PROGRAM, "kernel", *arguments, "-q", "-o", out + "/"], check=True)
        want = szego.load(out + "/")
    got = call()
    wrong = [f"{table}.{column}" for table in want for column in want[table]
             if not np.ma.allequal(got[table][column], want[table][column])
             or (np.ma.getmaskarray(got[table][column]) != np.ma.getmaskarray(want[table][column])).any()]
    tap.ok(f"{name}: tables of the program", list(got) == list(want) and not wrong, f"{list(got)} {list(want)} {wrong}")
    tap.ok(f"{name}: words", got.docs == want.docs)
    return got


llama = os.path.join(FAMILIES, "llama")
found = same_as_folder("alibi", lambda: szego.kernel("alibi:heads=3", 40), "alibi:heads=3", "-n", "40")
tap.ok("heads follow each other", (found["kernel_kernel"]["re"] == -np.concatenate(
    [slope * np.arange(40) for slope in (2.0**-4, 2.0**-8, 2.0**-2)])).all())
found = same_as_folder("learned", lambda: szego.kernel(Encoding("learned:seed=3,dim=4"), n=12), "learned:seed=3,dim=4", "-n",
                       "12")
square = Encoding("learned:seed=3,dim=4").matrix(12, head=0)
wrong = np.abs(found["kernel_kernel"]["spread"] - [square.diagonal(-k).std() for k in range(12)]).max()
tap.ok("the spread along diagonals", wrong <= 64 * 12 * EPS * np.abs(square).max(), str(wrong))
same_as_folder("two matrices", lambda: szego.kernel("rope+absolute:dim=4"), "rope+absolute:dim=4")
same_as_folder("a checkpoint", lambda: szego.kernel(llama, 6, layers=[1], heads="0+2"), llama, "-n", "6", "--layers", "1",
               "--heads", "0+2")
whole, alone = szego.checkpoint(llama, kernel=9).tables["checkpoint_kernel"], szego.kernel(pathlib.Path(llama), 9)
tap.ok("the table of szego.checkpoint", all(np.ma.allequal(whole[name], alone["kernel_kernel"][name]) for name in whole)
       and list(whole) == list(alone["kernel_kernel"]) and len(whole["lag"]) > 0)
tap.ok("256 lags unless others are asked for", len(szego.kernel("kms:rho=0.5")["kernel_kernel"]["lag"]) == 256)

os.environ["HF_HUB_OFFLINE"] = "1"  # nobody is asked for a model

# ---- What is refused ----------------------------------------------------------------------------

for what, call, words, kind in [
        ("an unknown encoding", lambda: szego.kernel("ropee"), ["did you mean rope"], szego.ArgumentError),
        ("a path that is none", lambda: szego.kernel("./no/model"), ["no/model"], szego.LibraryError),
        ("a name of the hub", lambda: szego.kernel("no/model"), ["no/model", "HF_HUB_OFFLINE"], szego.HubError),
        ("a number", lambda: szego.kernel(3), ["a SPEC or the path"], szego.ArgumentError),
        ("layers of a SPEC", lambda: szego.kernel("rope", layers=[0]), ["layers=", "checkpoint"], szego.ArgumentError),
        ("no position", lambda: szego.kernel("rope", 0), ["n=0"], szego.ArgumentError),
        ("a model without a kernel", lambda: szego.kernel(os.path.join(FAMILIES, "bert")), ["no head has a kernel"], szego.LibraryError),
        ("a keyword", lambda: szego.kernel("rope", layer=0), ["layers"], szego.KeywordError),
        ("no head", lambda: Encoding("alibi:heads=2").matrix(4, head=2), ["0 .. 1"], szego.ArgumentError),
        ("a negative head", lambda: Encoding("alibi:heads=2").lags(4, head=-1), ["0 .. 1"], szego.ArgumentError),
        ("no matrix", lambda: Encoding("rope").lags(4, matrix=1), ["matrix 1"], szego.ArgumentError),
        ("too large a matrix", lambda: Encoding("alibi:heads=2").matrix(2**24), ["4.0 PiB", "smaller N"], szego.LibraryError),
        ("too many lags", lambda: Encoding("kms:rho=0.5").lags(2**45), ["smaller N"], szego.LibraryError)]:
    tap.refused(what, call, *words, kind=kind)
with scratch() as folder:
    os.chdir(folder)
    os.mkdir("rope")
    tap.refused("what may be both", lambda: szego.kernel("rope"), "Encoding('rope')", "Path('rope')", kind=szego.ArgumentError)
    tap.ok("an encoding that says so", len(szego.kernel(Encoding("rope"), 3)["kernel_kernel"]["lag"]) == 3)
    tap.refused("a folder that says so", lambda: szego.kernel(pathlib.Path("rope")), "no .safetensors", kind=szego.SzegoError)
    os.chdir("/")

# ---- Handles ------------------------------------------------------------------------------------

# pylint: disable=protected-access
native._forget()
counted = native._library = Counted(native.library())
szego.kernel("alibi:heads=2", 8), Encoding("learned:seed=1").matrix(8), Encoding("t5:seed=1").lags(8)
for call in (lambda: Encoding("rope").lags(4, matrix=1), lambda: szego.kernel("relative:seed=1", 2**40)):
    try:
        call()
    except szego.SzegoError:
        pass
idle = sum(map(len, native._idle.values()))
tap.ok("what is opened is closed", counted.open == idle and counted.calls > 20, f"{counted.open} {idle}")
tap.finish()
