#!/usr/bin/python3
"""Ranges of all encodings: certified ends rounded outwards, what is drawn, and what is named when it is not."""
import decimal
import fractions

from support import blocks, chance, drawing, drawings, np, tables, tap, typed

from szego.figures import ranges, words

FAMILY = "t5:heads=8,seed=4,buckets=32,distance=128,bidirectional=1,case="


def row(source, lo, hi, certified=None, **more):
    ends = {"symbol_min_lo": certified[0], "symbol_max_hi": certified[1],
            "bound_of": "eigenvalues"} if certified else {}
    return {"result": "r", "source": source, "head": 0, "matrix": "bias", "n": 64, "lambda_min": lo, "lambda_max": hi,
            "sigma_min": 0.5, "sigma_max": 9.5, **{"symbol_min_lo": None, "symbol_max_hi": None, "bound_of": None,
                                                   "theorem": "none"}, **ends, **more}


def only(made):
    found = drawings(ranges.SECTION, made)
    return found[0] if len(found) == 1 else None


def grid(made):
    return next(one for one in blocks(ranges.SECTION, made) if isinstance(one, drawing.Grid))


def ends_are_rounded_outwards():
    wrong = []
    values = [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, 1.7976931348623157e308, 9.9999999, 99995.0, -99995.0, 0.00099999]
    values += [chance.choice([-1, 1]) * chance.random() * 10.0**chance.randrange(-300, 300) for _ in range(3000)]
    for value in values:
        for digits in (2, 4, 6):
            for text, way in ((words.lower(value, digits), -1), (words.upper(value, digits), 1)):
                text = typed(text)
                read = float(text)
                unit = decimal.Decimal(10) ** (decimal.Decimal(value).adjusted() - digits + 1) if value else 0
                inner = (read - value) * way < 0 if np.isinf(read) else (
                    fractions.Fraction(text) - fractions.Fraction(repr(value))) * way < 0
                far = np.isfinite(read) and abs(decimal.Decimal(text) - decimal.Decimal(repr(value))) > unit
                if inner or read * way < value * way or far:
                    wrong.append((value, digits, text))
    tap.ok("certified ends are never on the inner side, nor a unit of the last digit away", not wrong, str(wrong[:4]))
    cells = grid(tables(spectrum_summary=[row("rope:dim=8", 0.0, 1.0, (-11.98687789891602, 127.96419621488457))])).cells
    tap.ok("the table's are rounded outwards, with the exact ones behind them",
           cells[0][4] == ("−11.99 to 128", "−11.98687789891602 to 127.96419621488457"), str(cells[0]))


def what_is_positive_is_not_0():
    made = tables(spectrum_summary=[row("rope:dim=8", 0.0, 40.0, (-1.0, 50.0), lambda_min_lo=1e-280),
                                    row("nope", 0.0, 0.0, (0.0, 0.0), lambda_min_lo=0.0)])
    cells = {cell[0]: cell[3][0] for cell in grid(made).cells}
    tap.ok("an eigenvalue that is 0 to rounding and proved to be positive", cells ==
           {"rope:dim=8": "a positive number below rounding to 40", "nope": "0 to 0"}, str(cells))


def what_is_not_proved_is_0():
    def cell(*made):
        return grid(tables(spectrum_summary=list(made))).cells[0][3][0]

    made = row("alibi", 0.0, 40.0, lambda_min_lo=1e-280)
    told = [cell(made, {**made, "head": 1}), cell(made, {**made, "head": 1, "lambda_min_lo": None}),
            cell({**made, "lambda_min": -1.0}), cell({**made, "lambda_min": None, "lambda_max": None, "sigma_min": 0.0})]
    tap.ok("every head is proved; other ends are numbers, and those of singular values", told == [
        "a positive number below rounding to 40", "0 to 40", "\N{MINUS SIGN}1 to 40", "singular values 0 to 9.5"], str(told))


def counts_are_those_of_the_rows():
    made, within = [], 0
    for k in range(12):
        lo, hi = chance.uniform(-9, 0), chance.uniform(1, 9)
        outside = chance.random() < 0.4
        within += not outside
        made.append(row(f"alibi:case={k}", lo, hi, (lo - 1, hi + (-0.5 if outside else 0.5))))
    found = only(tables(spectrum_summary=made))
    text = f"{within} of the 12 spectra lie in their certified ranges." if within < 12 else "All 12 spectra"
    tap.ok("certified ranges that hold are counted", found.caption.startswith(text), found.caption)
    found = only(tables(spectrum_summary=[row("a", 0, 1, (0, 1)), row("b", 0, 1, (0, 2)), row("c", 0, 1)]))
    tap.ok("those without one are not among all", found.caption == "All 2 spectra that have a certified range lie in it.",
           found.caption)
    made += [row("broad", -90.0, 2.0, (-91, 3)), row("high", 50.0, 60.0, (49, 61))]
    found = only(tables(spectrum_summary=made))
    wide = max(made, key=lambda one: one["lambda_max"] - one["lambda_min"])
    said = [*found.findings, *(one.text for one in blocks(ranges.SECTION, tables(spectrum_summary=made))
                               if isinstance(one, drawing.Finding))]
    tap.ok("a finding names the widest spectrum", wide["source"] in said[1], str(said))
    made[0]["theorem"] = made[3]["theorem"] = "szego"
    made.append(row("free", 0.0, 1.0))
    said = only(tables(spectrum_summary=made)).findings
    tap.ok("the first counts theorems and ranges", said ==
           ["A limit theorem applies to 2 of the 15 spectra; 14 have a certified range."], str(said))


def heads_share_a_row():
    made = [row("alibi:heads=3", -2.0, 1.0, (-3, 3)), row("alibi:heads=3", -1.0, 5.0, (-3, 6), head=1),
            row("alibi:heads=3", None, None, (-9, 9), head=2, sigma_min=None, sigma_max=None)]
    cells = grid(tables(spectrum_summary=made)).cells[0]
    tap.ok("one head without eigenvalues: singular values of all", cells[3][0] == "singular values 0.5 to 9.5 (2 of 3 heads)",
           str(cells))
    tap.ok("a range of some heads is that of no row", cells[4] == "2 of 3 heads only", str(cells))
    found = only(tables(spectrum_summary=made))
    tap.ok("nor is it drawn", [one.name for one in found.series()] == ["computed values"], str(found.series()))
    cells = grid(tables(spectrum_summary=made[:2])).cells[0]
    tap.ok("the range over the heads", (cells[1], cells[3][0], cells[4][0]) == ("2", "−2 to 5", "−3 to 6"), str(cells))
    part = row("file", 0, 1, (0, 2), bound_of="toeplitz_part")
    tap.ok("the symbol of the Toeplitz part bounds nothing",
           grid(tables(spectrum_summary=[part])).cells[0][4] == "none")
    unsaid = {**row("file", 0, 1, (0, 2)), "bound_of": None}
    tap.ok("nor does a range of what is not stated",
           grid(tables(spectrum_summary=[unsaid])).cells[0][4] == "none")


def small_ranges_are_seen():
    found = only(tables(spectrum_summary=[row("a", -1e5, 7e4), row("b", -2e5, 1e5), row("rope", -12.0, 128.0)]))
    tap.ok("beside great ones, on an axis that says how it is scaled", found.x.kind == "symlog" and
           found.x.linear == 100 and found.x.label == "eigenvalue (logarithmic beyond ±100)", str(found.x))
    found = only(tables(spectrum_summary=[row("a", -3.0, 2.0), row("b", None, None)]))
    tap.ok("title and axis name what is drawn", found.title == "ranges of eigenvalues and singular values" and
           found.x.label == "eigenvalue or singular value", f"{found.title} {found.x.label}")


def flat_ranges_go_first():
    made = [row("nope", 0.0, 0.0)] + [row(f"{FAMILY}{k}", -1.0 - k, 1.0 + k) for k in range(ranges.MOST)]
    found = only(tables(spectrum_summary=made))
    names = found.y.names
    tap.ok("NoPE's point is not drawn while another encoding would be left out",
           len(names) == ranges.MOST and not any("nope" in name for name in names), str(names[:3]))
    tap.ok("and the caption names it", "Not drawn, but in the table: nope." in found.caption, found.caption)
    tap.ok("labels that are cut still differ", len(set(names)) == len(names), str(names[:3]))
    shown = words.apart(names, 40)
    tap.ok("also where a figure cuts them", len(set(shown)) == len(names) and max(map(len, shown)) <= 48,
           str(shown[:3]))
    tap.ok("the table has every row", len(grid(tables(spectrum_summary=made)).cells) == ranges.MOST + 1)


def corners_are_survived():
    made = [row("$x_1$<b>&", 1e300, 1.5e300, (0, 1.7e308)), row("inf", float("-inf"), float("inf")),
            row("none", None, None, sigma_min=None, sigma_max=None), row("minus", -1e-300, 0.0)]
    found = only(tables(spectrum_summary=made))
    tap.ok("hostile names, huge and missing values are drawn or named", found is not None and
           "Not computed: " in found.caption and "none" in found.caption, str(found and found.caption))
    missing = blocks(ranges.SECTION, tables(spectrum_summary=[{"source": "a", "lambda_min": 0.0}]))
    tap.ok("a missing column is said", any(isinstance(one, drawing.Paragraph) and "lambda_max" in one.text
                                          for one in missing))


ends_are_rounded_outwards()
what_is_positive_is_not_0()
what_is_not_proved_is_0()
counts_are_those_of_the_rows()
heads_share_a_row()
small_ranges_are_seen()
flat_ranges_go_first()
corners_are_survived()
tap.finish()
