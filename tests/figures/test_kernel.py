#!/usr/bin/python3
"""Values of encodings by lag, and kernels of heads, against the rows."""
from support import drawings, np, tables, tap

from szego.figures import kernel

KEY = {"result": "r", "source": "made", "matrix": "bias", "n": 20}
MODEL = {"result": "r", "source": "models/tiny/model.safetensors"}


def entries(value, lags=range(20), number=0, im=None, spread=None, **more):
    return [{**KEY, "head": number, "lag": lag, "re": value(lag), "im": im(lag) if im else None, "spread": spread, **more}
            for lag in lags]


def head(layer, number, kind="self", lags=range(-30, 31)):
    other = "mean" if kind == "self" else "self"
    return [{**MODEL, "layer": layer, "head": number, "lag": lag, kind: number + np.cos(lag), f"{kind}_low": -0.5,
             f"{kind}_high": 0.5 + number, other: None, f"{other}_low": None, f"{other}_high": None} for lag in lags]


def drawn(*rows):
    return drawings(kernel.SECTION, tables(kernel_kernel=[row for part in rows for row in part]))


def heads_that_are_multiples_are_left_out():
    (one,) = drawn(entries(lambda lag: -lag / 2), entries(lambda lag: -lag / 8, number=1), entries(lambda lag: (-0.5)**lag, number=2))
    series = one.series()
    tap.ok("a line a head, and multiples are said", [of.name for of in series] == ["head 0", "head 2"] and
           series[0].y.tolist() == [-lag / 2 for lag in range(20)] and "Not drawn: head 1, which is 0.25 times head 0." in one.caption,
           one.caption)
    tap.ok("the ends are those of the rows", one.caption.startswith(
        "Values from \N{MINUS SIGN}9.5 (lag 19) to 1 (lag 0). Lag \N{MINUS SIGN}k has the value of lag k."), one.caption)


def spread_and_imaginary_parts():
    (one,) = drawn(entries(float, range(-19, 20), spread=0.25))
    (line,) = one.series()
    tap.ok("spread is an area", line.area and np.allclose(line.hi - line.y, 0.25) and np.allclose(line.y - line.lo, 0.25) and
           "not Toeplitz" in one.caption and "earlier keys" in one.caption, one.caption)
    (one,) = drawn(entries(float, im=lambda lag: 3.0 * lag))
    tap.ok("an imaginary part is a line", [of.name for of in one.series()] == ["real part", "imaginary part"] and
           one.series()[1].y.tolist() == [3.0 * lag for lag in range(20)] and "conjugate" in one.caption, one.caption)


def heads_have_panels_beside_chance():
    one, other = drawn(head(0, 0, "mean"), head(0, 0), head(3, 1), entries(float))[1:]
    tap.ok("a figure a kernel", [of.title for of in (one, other)] == ["tiny: mean kernel, layer 0 head 0", "tiny: self kernel"],
           str([one.title, other.title]))
    tap.ok("a panel a head", [panel.name for panel in other.panels] == ["layer 0 head 0", "layer 3 head 1"])
    band, line = other.panels[1].series
    tap.ok("the line is the rows, the band chance", np.allclose(line.y, 1 + np.cos(line.x)) and len(line.x) == 61 and
           set(band.lo) == {-0.5} and set(band.hi) == {1.5} and band.is_band and band.colour == "muted" and line.lo is None)
    tap.ok("lags of both signs, on a logarithmic axis", other.x.kind == "symlog" and "earlier keys" in other.caption)
    (alone,) = drawn(head(0, 2, lags=range(5)))
    tap.ok("few lags are on a linear axis", alone.x.kind != "symlog" and "scales of their own" not in alone.caption)


heads_that_are_multiples_are_left_out()
spread_and_imaginary_parts()
heads_have_panels_beside_chance()
tap.finish()
