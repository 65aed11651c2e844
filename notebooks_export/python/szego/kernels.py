"""What an encoding, or a head of a checkpoint, does with the lag: values by lag, as tables."""
import ctypes
import os
from typing import Any, Mapping, Optional

from . import layout, models, native
from .arguments import integer, keywords, spec as as_spec
from .checkpoints import Choice, Numbers, analysed, numbers
from .choices import Integer, StackName
from .encodings import Encoding, names
from .errors import ArgumentError
from .native_tables import results
from .tables import Results, Table

_LAGS = 256  # of the command


@keywords
def kernel(source: Any, n: Optional[Integer] = None, *, layers: Numbers = None, heads: Numbers = None, config: Any = None,
           stack: Optional[StackName] = None,
           prefix: Optional[str] = None, settings: Optional[Mapping[str, object]] = None, seed: int = 0,
           threads: Optional[int] = None, revision: Optional[str] = None,
           adapter: Any = None) -> Results[Table]:
    """Values by lag, the position of the query less that of the key: the tables of `szego kernel`.

        szego.kernel("alibi:heads=4")["kernel_kernel"]["re"]            # head after head, lags 0 .. 255
        szego.kernel("rope:dim=64", 512)["kernel_extrema"]
        szego.kernel("path/to/model/", layers=[0])["kernel_kernel"]     # heads of a checkpoint

    source: a SPEC (a str, or an Encoding), or the path of a checkpoint: a model folder, a safetensors or GGUF file, an
        index of shards, or a model of the hub, "ORG/NAME"; or a model in memory, as szego.checkpoint takes it. A str
        that begins with an encoding's name is a SPEC; if a file has that name too it is refused: pass Encoding(source),
        or pathlib.Path(source).
    n: of an encoding, positions: the lags are below n in size. Of a checkpoint: every lag below n in size, and 16 in each
        doubling beyond them; both signs where queries see later keys. None: 256.
    layers, heads, config, stack, prefix, settings, revision, adapter: of a checkpoint, as in szego.checkpoint.
    seed: of random draws.

    An encoding has the tables kernel_kernel and kernel_extrema: a symmetric or Hermitian matrix lists lags 0 .. n-1, others
    both signs; no mask is applied. Of a matrix that is not Toeplitz, re is the mean along the diagonal and spread its
    standard deviation. Arrays by head: Encoding.lags. A checkpoint has the table checkpoint_kernel under the name
    kernel_kernel, without the cost of spectra, and kernel_notes. szego.plot.kernel draws both.
    LibraryError: nothing in it depends on the lag, a table of fewer than n rows or lags, memory.
    """
    n = _LAGS if n is None else integer(n, "n", 1)
    choice = Choice(config, prefix, stack, settings, revision, adapter)
    if not _is_spec(source):
        options = layout.CheckpointOptions(layers=numbers(layers, "layers"), heads=numbers(heads, "heads"), kernel=n,
                                           seed=integer(seed, "seed", 0), kernel_only=True)
        return analysed(source, choice, options, lambda facts, found: results(
            "kernel", {"kernel": found.kernel, "notes": found.notes}), threads)
    for name, given in {"layers": layers, "heads": heads, **choice._asdict()}.items():
        if given is not None:
            raise ArgumentError(f"{name}= belongs to a checkpoint, and {source} is an encoding: leave it out",
                                "SZG_EINVAL")
    return native.run(lambda context: _of_encoding(context, source, n), threads)


def _is_spec(source) -> bool:
    if isinstance(source, Encoding):
        return True
    if models.is_model(source):
        return False
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise ArgumentError(f"source={source!r}: a SPEC or the path of a checkpoint, or a model in memory, is needed",
                            "SZG_EINVAL")
    if not isinstance(source, str):
        return False
    named, there = source.partition(":")[0] in names(), os.path.exists(source)
    if named and there:
        raise ArgumentError(f"{source!r} is an encoding, and a file or folder here: pass szego.Encoding({source!r}), or "
                            f"pathlib.Path({source!r})", "SZG_EINVAL")
    weights = source.endswith((".safetensors", ".gguf", ".json"))
    return named or not (there or os.sep in source or weights)


def _of_encoding(context, spec: str, n: int) -> Results:
    library = native.library()
    with native.handle(context, "szg_encoding_parse", "szg_encoding_close", as_spec(spec)) as opened, native.filled(
            context, "szg_kernel_tables_open", "szg_kernel_tables_close", layout.KernelTables()) as tables:
        for head in range(library.szg_encoding_heads(opened)):
            for matrix in range(library.szg_encoding_matrices(opened)):
                context.call("szg_kernel_tables_add", ctypes.byref(tables), opened, head, matrix, n)
        return results("kernel", {"kernel": tables.kernel, "extrema": tables.extrema})
