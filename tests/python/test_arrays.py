#!/usr/bin/python3
"""Arrays of any kind go in, and leading axes come out; a spectrum is the sequence of its values. NumPy and PyTorch are the
peers. usage: test_arrays.py PROGRAM"""
import sys
import threading
import types

from peer import EPS, PACKAGE, eigenvalue_bound, package_test, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    from szego import arguments
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
try:
    import torch
except ImportError:
    torch = None
try:
    import pandas
except ImportError:
    pandas = None

tap, refused, rng = package_test(szego.ArgumentError)


def coarse(*shape):
    """Numbers of four bits, which every type below has exactly."""
    return rng.integers(-8, 8, shape) / 8.0


# ---- What is converted ---------------------------------------------------------------------------


class Foreign:
    """An array of another library, known by DLPack alone."""

    def __init__(self, array):
        self.held = array

    def __dlpack__(self, **how):
        return self.held.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


def kinds(a):
    """(name, the numbers of `a` in another form, the name of its type)."""
    yield "float32", a.astype(np.float32), "float32"
    yield "float16", a.astype(np.float16), "float16"
    yield "byte-swapped", a.astype(">f8"), "float64"
    yield "Fortran's order", np.asfortranarray(a), "float64"
    strided = np.repeat(a, 2, axis=-1)
    yield "strided", strided[..., ::2], "float64"
    yield "from the end", np.ascontiguousarray(a[..., ::-1])[..., ::-1], "float64"
    still = a.copy()
    still.flags.writeable = False
    yield "read-only", still, "float64"
    bare = np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(float).reshape(a.shape)
    yield "unaligned", bare, "float64"
    yield "integers", (8 * a).astype(np.int8), "int8"
    yield "objects", a.astype(object), None
    yield "DLPack", Foreign(a), "float64"
    yield "a list", a.tolist(), "float64"
    if torch is not None:
        base = torch.tensor(a)
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
            yield str(dtype), base.to(dtype), str(dtype)[6:]
        yield "with a gradient", base.clone().requires_grad_(), "float64"
        yield "bfloat16 with a gradient, strided", torch.tensor(strided).bfloat16().requires_grad_()[..., ::2], "bfloat16"
        yield "DLPack of a tensor", Foreign(base.float()), "float32"
    try:
        import ml_dtypes
        yield "ml_dtypes", a.astype(ml_dtypes.bfloat16), "bfloat16"
    except ImportError:
        print("# ml_dtypes is not there")


def check_kinds():
    base = coarse(6, 6)
    symmetric, q, k = base + base.T, coarse(2, 7, 4), coarse(2, 7, 4)
    for name, given, dtype in kinds(symmetric):
        scale = 8.0 if name == "integers" else 1.0
        found, want = szego.spectrum(given), szego.spectrum(scale * symmetric)
        tap.ok(f"spectrum of {name}", np.array_equal(found.values, want.values), f"{found.values} {want.values}")
        tap.ok(f"spectrum of {name}: input_dtype", found.input_dtype == dtype or dtype is None, f"{found.input_dtype}")
    for (name, given, dtype), (_, other, _) in zip(kinds(q), kinds(k)):
        scale = 64.0 if name == "integers" else 1.0
        found, want = (szego.logits(*pair, "nope", question="singular") for pair in ((given, other), (q, k)))
        tap.ok(f"logits of {name}", np.allclose(found.values, scale * want.values, rtol=8 * EPS, atol=8 * EPS)
               and (found.input_dtype == dtype or dtype is None), f"{found.values} {want.values} {found.input_dtype}")
        found, want = szego.spectra(given, question="singular"), szego.spectra(q, question="singular")
        tap.ok(f"spectra of {name}", np.allclose(found.values, scale**0.5 * want.values, rtol=8 * EPS, atol=8 * EPS)
               and (found.input_dtype == dtype or dtype is None), str(found.input_dtype))
    for name, given, _ in kinds(symmetric[0]):
        scale = 8.0 if name == "integers" else 1.0
        tap.ok(f"coefficients of {name}", np.array_equal(szego.spectrum(given, 9).values,
                                                         szego.spectrum(scale * symmetric[0], 9).values))
    hermitian = symmetric + 1j * (base - base.T)
    for name, given in (("complex64", hermitian.astype(np.complex64)), ("its transpose", hermitian.conj().T)):
        tap.ok(name, np.array_equal(szego.spectrum(given).values, szego.spectrum(hermitian).values))
    if torch is not None:
        tensor = torch.tensor(hermitian)
        tap.ok("a conjugate that is not made", np.array_equal(szego.spectrum(tensor.conj().T).values,
                                                             szego.spectrum(hermitian).values))
        refused("a tensor without numbers", lambda: szego.spectrum(torch.eye(3, device="meta")), "source")
        refused("a sparse tensor", lambda: szego.spectrum(torch.eye(3).to_sparse()), "source")


def check_exact():
    """exact=True takes what needs no copy, and lists."""
    a = coarse(4, 4)
    tap.ok("exact: float64", szego.spectrum(a, exact=True).n == 4 and szego.spectra([a.tolist()], exact=True).shape == (1,))
    for name, given, _ in kinds(a):
        if name not in ("read-only", "integers", "a list", "DLPack", "torch.float64"):
            for call in (szego.spectrum, lambda x, **how: szego.spectra([x] if isinstance(x, list) else x[None], **how),
                         lambda x, **how: szego.logits(x, x, "nope", **how), lambda x, **how: szego.factored(x, x, **how)):
                if hasattr(given, "shape"):
                    refused(f"exact: {name}", lambda call=call, given=given: call(given, exact=True))
    refused("exact says nothing of a SPEC", lambda: szego.spectrum("nope", 4, exact=True), "exact=")
    refused("exact is a flag", lambda: szego.spectrum(a, exact="no"), "exact='no'")


def check_refused():
    """What could be read in two ways, or would lose digits."""
    wide = np.eye(3, dtype=np.longdouble)
    refused("a wider type", lambda: szego.spectrum(wide), str(wide.dtype), "astype(float)")
    refused("a wider complex type", lambda: szego.spectrum(wide + 0j), "astype(float)")
    refused("a mask", lambda: szego.spectrum(np.eye(3, dtype=bool)), "bool")
    refused("a masked array", lambda: szego.spectra(np.ma.masked_less(np.ones((2, 3, 3)), 0)), "stack", "masked")
    rows = list(np.ma.masked_less(np.eye(3), 1))
    for kind, given in (("masked rows", rows), ("masked rows of stacks", [tuple(rows), [*rows]])):
        refused(kind, lambda given=given: (szego.spectrum if given is rows else szego.spectra)(given), "masked")
    held = [1.0]
    for given in (held, [held]):
        held[:] = [given]
        refused("a list that holds itself", lambda given=given: szego.spectrum(given), "source", "no array")
    refused("dates", lambda: szego.spectrum(np.zeros(3, "M8[s]")), "datetime64")
    refused("an object that is no number", lambda: szego.spectrum(np.array([[1, None], [2, 3]], object)), "source[0, 1]",
            "None")
    refused("a large integer among objects", lambda: szego.spectrum(np.array([1.5, 2**53 + 1], object)), "source[1]", "2^53")
    refused("large integers", lambda: szego.logits(np.full((3, 2), 2**60), np.ones((3, 2)), "nope"), "q:", "2^53")
    refused("complex queries", lambda: szego.logits(np.ones((3, 2), np.complex64), np.ones((3, 2)), "nope"), "q:", "real")
    refused("a sparse matrix", lambda: szego.spectrum(types.SimpleNamespace(toarray=None)), "toarray")
    for name, call in {
            "source[1, 2]": lambda bad: szego.spectrum(bad), "stack[0, 1, 2]": lambda bad: szego.spectra(bad[None]),
            "q[1, 2]": lambda bad: szego.logits(bad, np.eye(4), "nope"),
            "k[1, 2]": lambda bad: szego.contraction(np.eye(4), bad, "nope"),
            "k[1, 0, 1, 2]": lambda bad: szego.logits_statistics(np.ones((2, 1, 4, 4)), np.stack([np.eye(4), bad])[:, None],
                                                                 "nope"),
            "coupled[1, 2]": lambda bad: szego.compare(2 * np.eye(4), bad), "b[1, 2]": lambda bad: szego.factored(np.eye(4), bad)
    }.items():
        for value in (np.nan, -np.inf):
            bad = np.eye(4, dtype=np.float32)
            bad[1, 2] = value
            refused(f"{name} is {value}", lambda call=call, bad=bad: call(bad), f"{name} is {value}", "finite")
    for name, call in {"want": lambda x: szego.spectrum("nope", 4, want=x), "config": lambda x: szego.checkpoint("x", config=x),
                       "context": lambda x: szego.checkpoint("x", context=x)}.items():
        refused(f"an array for {name}", lambda call=call: call(np.eye(2)), f"{name}=array")
    if pandas is not None:
        a = coarse(3, 3)
        frame = pandas.DataFrame(a + a.T, list("abc"), list("abc"))
        tap.ok("a frame", np.array_equal(szego.spectrum(frame), szego.spectrum(a + a.T)))
        mixed = pandas.DataFrame({"a": [2, 1], "b": [1.0, 2.5]}).convert_dtypes()
        tap.ok("a frame of nullable types", np.array_equal(szego.spectrum(mixed), szego.spectrum([[2, 1], [1, 2.5]])))
        refused("labels in another order", lambda: szego.spectrum(frame.loc[list("acb")]), "labels", "frame.loc")
        lists = [pandas.Index([[1], [2], [3]][::step], dtype=object) for step in (1, -1)]
        refused("labels without a hash", lambda: szego.spectrum(pandas.DataFrame(a, *lists)), "labels")
        mixed.iloc[1, 0] = pandas.NA
        refused("a missing cell", lambda: szego.spectrum(mixed), "source[1, 0]", "<NA>")


# ---- Leading axes ----------------------------------------------------------------------------------


def check_axes():
    q, k = rng.standard_normal((2, 3, 6, 9, 4)), rng.standard_normal((2, 3, 2, 9, 4))
    whole = np.repeat(k, 3, axis=2)  # as repeat_kv of transformers: consecutive query heads share
    product = q @ whole.swapaxes(-1, -2) / 2
    want = np.linalg.svd(product, compute_uv=False)
    slack = eigenvalue_bound(9, want.max())
    found = szego.logits(q, k, "nope", question="singular")
    tap.ok("logits: shapes", found.shape == (2, 3, 6) and found.values.shape == want.shape)
    tap.close("logits: grouped keys", float(np.abs(found.values - want).max()), 0, slack)
    one = found[1, 2, 4]
    tap.ok("one of them", isinstance(one, szego.Spectrum) and one.zeros == 5
           and np.array_equal(one, found.values[1, 2, 4]) and len(one.values) == 5, repr(one))
    tap.ok("some of them", found[1].shape == (3, 6) and found[:, 0, ::-1].shape == (2, 6)
           and np.array_equal(found[:, 0, ::-1].values, found.values[:, 0, ::-1]) and found[-1, -1, -1].n == 9)
    tap.ok("a head", np.array_equal(szego.logits(q, k, "nope", question="singular", head=4).values, found.values[:, :, 4]))
    tap.close("spectra of all axes", float(np.abs(szego.spectra(product, question="singular").values - want).max()), 0, slack)
    slopes = szego.encodings.alibi(heads=6).matrix(9)
    statistics = szego.logits_statistics(q, k, "alibi:heads=6", causal=True)
    contraction = szego.contraction(q, k, "alibi:heads=6")
    full = product + slopes
    hidden = np.where(np.tri(9, dtype=bool), full, -np.inf)
    weights = np.exp(hidden - hidden.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    entropy = -np.where(weights > 0, weights * np.log(np.where(weights > 0, weights, 1)), 0).sum(-1).mean(-1)
    # Sums of nine terms of a few digits each: 10^-13 leaves room.
    tap.close("statistics by head", float(np.abs(statistics.entropy_mean - entropy).max()), 0, 1e-13)
    norm = np.linalg.norm(full, 2, axis=(-2, -1)) / np.linalg.norm(product, 2, axis=(-2, -1))
    tap.close("contraction by head", float(np.abs(contraction.norm - norm).max()), 0, 1e-12)
    none, rows = contraction[:0], szego.spectra(np.ones((2, 3, 4, 4)))[1:1]
    tap.ok("slices of nothing", none.shape == (0, 3, 6) and "0 x 3 x 6" in repr(none) and "shape" in dir(none)
           and none._repr_html_() and none.width.shape == (0, 3, 6) and "0 x 3 matrices" in repr(rows)
           and rows.values.shape == (0, 3, 4) and rows._repr_html_())
    tap.ok("a stack", contraction.shape == (2, 3, 6) and contraction[1, 2, 3].norm == contraction.norm[1, 2, 3]
           and contraction[1].shape == (3, 6) and contraction.majorised.dtype == bool and len(contraction) == 2
           and statistics.largest_query.dtype == np.int64 and contraction.coupled.toeplitzness.shape == (2, 3, 6))
    tap.ok("an axis of one comes back", szego.logits(q[0, 0, :1], k[0, 0, :1], "nope").shape == (1,)
           and isinstance(szego.logits(q[0, 0, 0], k[0, 0, 0], "nope"), szego.Spectrum))
    ends = szego.logits(q, k, "nope", question="singular", want="range")
    tap.close("ends alone", float(np.abs(ends.values - want[..., [0, -1]]).max()), 0, slack)
    a, b = q[0, 0], rng.standard_normal((6, 9, 4))
    tap.close("factors", float(np.abs(szego.factored(a, b, question="singular").values - np.linalg.svd(
        a @ b.swapaxes(-1, -2), compute_uv=False)).max()), 0, eigenvalue_bound(9, 100))
    many, one = szego.factored(a, b), szego.factored(a[0], b[0])
    tap.ok("factors: one name of the values, of one and of many", np.array_equal(many.eigenvalues, many.values)
           and np.array_equal(many[0].eigenvalues, many.eigenvalues[0]) and one.eigenvalues.shape == many.eigenvalues.shape[1:])
    refused("singular values of eigenvalues", lambda: many.singular_values, 'question="singular"', kind=szego.LibraryError)
    refused("eigenvalues of the two ends", lambda: szego.factored(a, b, want="range").eigenvalues, 'want="all"',
            kind=szego.LibraryError)
    tap.ok("factors: zeros by structure", szego.factored(a[0], b[0]).zeros == 5)
    refused("keys that do not divide", lambda: szego.logits(q, k[:, :, [0] * 4], "nope"), "divide", str(q.shape))
    refused("other batches", lambda: szego.logits(q, k[:1], "nope"), "one shape")
    refused("other tokens", lambda: szego.logits(q, k[..., :8, :], "nope"), "one shape")
    refused("heads on another axis", lambda: szego.logits(q.swapaxes(2, 3), k.swapaxes(2, 3), "alibi:heads=6"), "one shape")
    few = rng.standard_normal((2, 5, 6, 4))  # 5 tokens of 6 heads, read as 5 heads
    refused("heads on another axis, alike", lambda: szego.logits(few, few, "alibi:heads=6"), "alibi:heads=6 has 6 heads",
            "5, on the third axis")
    refused("a head that is not there", lambda: szego.contraction(q, k, "nope", head=6), "no head 6")
    refused("factors of two shapes", lambda: szego.factored(a, b[..., :3]), "one shape")


# ---- A spectrum as a sequence ----------------------------------------------------------------------


def check_sequence():
    for found, matrix in ((szego.spectrum("rope:dim=8", 40), szego.encodings.rope(dim=8).matrix(40, head=0)),
                          (szego.spectrum(np.diag([0.0, -1, 0, 2])), np.diag([0.0, -1, 0, 2]))):
        want, slack = np.linalg.eigvalsh(matrix), eigenvalue_bound(len(matrix), np.linalg.norm(matrix, 2))
        every = found.eigenvalues
        tap.close(f"{found.source}: all n", float(np.abs(every - want).max()) if every.shape == want.shape else None, 0, slack)
        tap.ok(f"{found.source}: a sequence", len(found) == found.n and list(found) == every.tolist()
               and all(found[i] == every[i] for i in range(-found.n, found.n)) and np.array_equal(np.asarray(found), every))
        for part in (slice(3), slice(-3, None), slice(None, None, -1), slice(1, 3), slice(9, 2, -3)):
            tap.ok(f"{found.source}[{part}]", np.array_equal(found[part], every[part]))
        refused("an index beyond", lambda: found[found.n], kind=IndexError)
        refused("a table", lambda: found["spectrum_summary"], "tables", kind=TypeError)
        refused("the other kind", lambda: found.singular_values, 'question="singular"', kind=szego.LibraryError)
    singular = szego.spectrum("rope:dim=8", 40, question="singular")
    tap.ok("singular values", np.array_equal(singular.singular_values, np.asarray(singular)) and singular[0] == max(singular))
    refused("eigenvalues of them", lambda: singular.eigenvalues, 'question="eigenvalues"', kind=szego.LibraryError)
    huge = szego.spectrum("rope:dim=8", 10**9)
    tap.ok("few of 10^9", len(huge) == 10**9 and np.array_equal(huge[-4:], huge.values[-4:]) and huge[5 * 10**8] == 0
           and huge[: 10**9 : 2 * 10**8].shape == (5,))
    tap.ok("what is one of 10^9", huge[-1] in huge and 0 in huge and huge[-1] / 3 not in huge and "values" not in huge
           and None not in huge and np.nan not in huge)
    few = szego.spectrum("rope:dim=8", 40)
    every, some = np.asarray(few), [None, 0, 1, 17, 39, 40, 99, -1, -3, -41]
    cuts = [slice(a, b, step) for a in some for b in some for step in (None, 1, 2, 7, 50, -1, -3, -40)]
    tap.ok("slices are NumPy's", few.zeros == 32 and all(np.array_equal(few[cut], every[cut]) for cut in cuts))
    for name, call in (("an array of 10^18", lambda: szego.spectrum("rope:dim=8", 10**18).eigenvalues),
                       ("a slice of 10^18", lambda: szego.spectrum("rope:dim=8", 10**18)[1:])):
        refused(name, call, "values and multiplicity", kind=szego.LibraryError)
    ends = szego.spectrum("kms:rho=0.5", 10**6, want="range")
    for name, call in (("an array", lambda: np.asarray(ends)), ("iteration", lambda: iter(ends)), ("an item", lambda: ends[0]),
                       ("in", lambda: 1.0 in ends),
                       ("a slice", lambda: ends[:2])):
        refused(f"{name} of two ends", call, 'want="all"', kind=szego.LibraryError)


def check_range():
    found = szego.spectrum("kms:rho=0.5", 60)
    lo, hi = found.range
    tap.ok("two ends", (lo, hi) == (found.range.min_lo, found.range.max_hi) and lo <= found[0] <= found[-1] <= hi)
    tap.ok("what lies in it", all(x in found.range for x in found) and lo in found.range and hi in found.range
           and np.nextafter(lo, -1) not in found.range and np.nextafter(hi, 9) not in found.range and np.nan not in found.range)
    for bad in ("1", None, 1j, np.ones(2)):
        refused(f"{bad!r} in a range", lambda bad=bad: bad in found.range, "a real number is needed")
    try:
        import flint
    except ImportError:
        refused("without python-flint", found.range.arb, "python-flint", kind=szego.SzegoError)
        made = []
        flint = types.ModuleType("flint")
        flint.arb = lambda x: types.SimpleNamespace(union=lambda other: made.append((x, other)) or "ball", __repr__=None, x=x)
        sys.modules["flint"] = flint
        ball = found.range.arb()
        del sys.modules["flint"]
        tap.ok("a ball of both ends", ball == "ball" and made[0][0] == lo and made[0][1].x == hi)
    else:
        ball = found.range.arb()
        tap.ok("a ball holds both ends", flint.arb(lo) in ball and flint.arb(hi) in ball
               and float(ball.rad()) <= (hi - lo) / 2 * (1 + 1e-8))


def check_no_copy():
    a = rng.standard_normal((5, 5))
    tap.ok("what serves is taken as it is", arguments.array(a, "a", 2).array is a)
    for name, given, _ in kinds(coarse(4, 4)):
        flags = arguments.array(given, "a", 2).array.flags
        tap.ok(f"{name}: aligned rows", flags.c_contiguous and flags.aligned)
        if hasattr(given, "tobytes"):
            before = given.tobytes()
            szego.spectrum(given)
            tap.ok(f"{name} is not changed", given.tobytes() == before)


def system_reads():
    """How often this process has read from a file."""
    with open("/proc/self/io", encoding="utf-8") as file:
        return int(dict(line.split(": ") for line in file)["syscr"])


def check_small():
    """Small problems ask the system for nothing: each look at the memory there is takes longer than their eigenvalues.
    They need no thread of their own either, and answer as larger ones do."""
    a, lags = np.array([[2.0, 1], [1, 3]]), np.exp(-np.arange(16.0) / 3)
    for name, call in (("2 x 2", lambda: szego.spectrum(a)), ("16 lags", lambda: szego.spectrum(lags)),
                       ("16 lags without proof", lambda: szego.spectrum(lags, certify=False)),
                       ("a stack", lambda: szego.spectra(a[None]))):
        call()
        before = system_reads()
        for _ in range(50):
            call()
        tap.ok(f"{name}: nothing is read from the system", system_reads() - before < 10, str(system_reads() - before))
    started, start = [], threading.Thread.start
    threading.Thread.start = lambda self: started.append(self) or start(self)
    szego.spectrum(a), szego.spectrum(lags), szego.spectrum(np.eye(128))
    small = len(started)
    szego.spectrum(np.eye(129)), szego.spectrum(lags, 129)
    threading.Thread.start = start
    tap.ok("small ones start no thread", (small, len(started)) == (0, 2), f"{small} {len(started)}")


check_kinds()
check_exact()
check_refused()
check_axes()
check_sequence()
check_range()
check_no_copy()
check_small()
tap.finish()
