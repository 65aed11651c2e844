"""Colours of figures: by role, and of series apart for every kind of colour vision (Okabe and Ito 2008, moved until
all pairs, and grey, are 15 apart in CIELAB as dichromats see them), each with a contrast of 3 to 1 at least with the
page. This is where a colour is written: Matplotlib has the light ones, and a page has both by their names."""

SERIES = ("#0073af", "#d66000", "#009d72", "#c878ab", "#894604", "#3a49b0", "#3e3342", "#b66c3a")
DARK_SERIES = ("#55acec", "#e47327", "#38d99e", "#e38fc1", "#f4e846", "#3f81cf", "#efeff3", "#9a6f3a")
SERIES_NAMES = tuple(f"c{i}" for i in range(len(SERIES)))
#: By name; what has a role means the same in every figure, and is no colour of series.
NAMED = {**dict(zip(SERIES_NAMES, SERIES)),
         "muted": "#6b717d", "fails": "#b3261e", "coupled": "#9100ff", "content": "#3c1400", "holds": "#00735a",
         "certified": "#733c73", "ink": "#1b1f24", "quiet": "#59636e", "grid": "#e3e6ea", "edge": "#7d8794",
         "page": "#ffffff"}
#: The same names on a dark page.
DARK = {**dict(zip(SERIES_NAMES, DARK_SERIES)),
        "muted": "#7d8893", "fails": "#ff8a80", "coupled": "#9b64ff", "content": "#b4ff87", "holds": "#38d99e",
        "certified": "#a54b9b", "ink": "#e6e9ed", "quiet": "#9aa5b1", "grid": "#2b323a", "edge": "#7d8794",
        "page": "#15181c"}
ROLES = {"coupled": "coupled", "content": "content", "holds": "holds", "fails": "fails", "certified": "certified",
         "unknown": "muted", "muted": "muted"}
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
