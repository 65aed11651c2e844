#!/usr/bin/python3
"""Spectral density: errors, the resolution's bars, the middle half, and moments of heads that are multiples."""
from support import blocks, chance, drawing, drawings, np, tables, tap, typed

from szego.figures import density


def rows(head=0, error=0.0, count=64, scale=1.0, **more):
    at = scale * np.linspace(-1, 1, count)
    return [{"result": "r", "source": "kms", "head": head, "matrix": "bias", "n": 200, "lambda": float(x),
             "density": float(np.exp(-x * x)), "error": error, "cumulative": (i + 1) / count,
             "resolution": 0.01, **more}
            for i, x in enumerate(at)]


def moments(head=0, error=0.0, count=32):
    return [{"result": "r", "source": "kms", "head": head, "matrix": "bias", "n": 200, "index": k,
             "moment": float(np.cos(k)), "error": error} for k in range(count)]


def densities_have_their_errors():
    found = drawings(density.SECTION, tables(spectrum_density=rows(error=0.125)))[0]
    tap.ok("the greatest error is said", found.caption.startswith("The standard error is at most 0.125."),
           found.caption)
    line, bars = found.series()
    least = min(row["density"] for row in rows())
    tap.ok("the area has one error to either side", np.allclose(line.hi, line.y + 0.125))
    tap.ok("and ends at the least value drawn", np.allclose(line.lo, np.maximum(line.y - 0.125, least)))
    tap.ok("seven bars of the resolution", len(bars.x) == 7 and np.allclose(bars.hi - bars.lo, 0.02) and bars.flat)
    at, share = np.linspace(-1, 1, 64), (np.arange(64) + 1) / 64
    ends = [at[k] + (at[k + 1] - at[k]) * (p - share[k]) / (share[k + 1] - share[k])
            for p in (0.25, 0.75) for k in [np.flatnonzero(share <= p)[-1] if share[-1] > p else 62]]
    text = " and ".join(f"{float('%.4g' % end):g}" for end in ends)
    tap.ok("the finding tells the middle half", f"lies between {text}," in typed(found.findings[0]), found.findings[0])
    part = drawings(density.SECTION, tables(spectrum_density=rows(values_of="hermitian_part")))[0]
    tap.ok("those of the Hermitian part are named so, and no others", "kms, bias, Hermitian part, " in part.findings[0] and
           "Hermitian part" in part.title and "Hermitian" not in found.title + found.findings[0],
           f"{part.findings} {part.title}")
    exact = drawings(density.SECTION, tables(spectrum_density=rows()))[0]
    tap.ok("no error where moments are exact", exact.caption.startswith("Moments are exact") and
           exact.series()[0].lo is None)


def moments_of_multiples_are_one_line():
    found = drawings(density.SECTION, tables(spectrum_moments=moments() + moments(1) + moments(2, 0.5)))[0]
    tap.ok("heads with the same moments are named", "Not drawn: heads 1, 2, which have the values of head 0." in
           found.caption, found.caption)
    tap.ok("one line is drawn", len(found.series()) == 1)


def corners_are_survived():
    made = rows(error=float("nan"), source="$d<") + rows(1, 1e300, 1, source="one", density=0.0) + \
        rows(2, source="none", density=None, cumulative=None, resolution=None)
    found = drawings(density.SECTION, tables(spectrum_density=made))
    tap.ok("errors that are no numbers, one row, no values", len(found) == 2, str([one.title for one in found]))
    missing = blocks(density.SECTION, tables(spectrum_density=[{"source": "a", "lambda": 0.0}]))
    tap.ok("a missing column is said", any("the densities are not drawn" in one.text for one in missing
                                           if isinstance(one, drawing.Paragraph)))


densities_have_their_errors()
moments_of_multiples_are_one_line()
corners_are_survived()
tap.finish()
