"""Colours of figures: by role, and of series apart for every kind of colour vision (Okabe and Ito 2008, moved until
all pairs, and grey, are 15 apart in CIELAB as dichromats see them). These are the colours on a light page; a page for
dark screens has others by the same names."""

SERIES = ("#0073af", "#d66000", "#009d72", "#c878ab", "#894604", "#3a49b0", "#3e3342", "#b66c3a")
SERIES_NAMES = tuple(f"c{i}" for i in range(len(SERIES)))
#: By name; what has a role means the same in every figure, and is no colour of series.
NAMED = {**dict(zip(SERIES_NAMES, SERIES)),
         "muted": "#6b717d", "fails": "#b3261e", "coupled": "#9100ff", "content": "#3c1400", "holds": "#00735a",
         "ink": "#1b1f24", "quiet": "#59636e", "grid": "#e3e6ea",
         "edge": "#7d8794", "page": "#ffffff"}
ROLES = {"coupled": "coupled", "content": "content", "holds": "holds", "fails": "fails", "unknown": "muted", "certified": "muted",
         "muted": "muted"}
DASHES = ("-", (0, (6, 3)), (0, (2, 2)), (0, (7, 3, 2, 3)))
MARKERS = "os^DvPX*"


def name(colour):
    """The name of a series' colour: of a role, or of an index."""
    return ROLES[colour] if isinstance(colour, str) else f"c{colour % len(SERIES)}"


def of(colour):
    """The colour of a series: of a role, or of an index."""
    return NAMED[name(colour)]


def dash(colour):
    return "-" if isinstance(colour, str) else DASHES[(colour // 2 + colour // len(SERIES)) % len(DASHES)]


def marker(colour):
    return "o" if isinstance(colour, str) else MARKERS[(colour + colour // len(SERIES)) % len(MARKERS)]
