"""Every subject, in the order of a page: positional heads, of a checkpoint and of captured logits; ranges; encodings,
what is proved of them, more of a checkpoint, logits, training; then what is left."""
import importlib

MODULES = ("positional", "lagshare", "ranges", "spectrum", "extremes", "density", "symbol", "kernel", "claims", "toeplitzness",
           "circuits", "rotary", "diff", "contraction", "softmax", "monitor", "table1", "curves", "ablation", "sweep",
           "switches", "mechanism", "by_step", "relations", "lengths")


def modules():
    """The modules of subjects, in order."""
    for name in MODULES:
        yield importlib.import_module(f".{name}", __package__)


def sections_of(module):
    """The sections of one module."""
    return getattr(module, "SECTIONS", None) or (module.SECTION,)


def sections():
    """The sections of every subject."""
    return [section for module in modules() for section in sections_of(module)]

