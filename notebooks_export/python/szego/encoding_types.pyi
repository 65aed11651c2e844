# Made by tools/encoding-types.
from typing import Literal, Optional, Sequence, Union, overload

from .choices import Integer, Path
from .encodings import Encoding

def nope() -> Encoding: ...
def absolute(*, dim: Optional[Integer] = ...,
    base: Optional[float] = ...) -> Encoding: ...
def learned(*, dim: Optional[Integer] = ...,
    table: Optional[Path] = ...,
    seed: Optional[Integer] = ...,
    std: Optional[float] = ...) -> Encoding: ...
def random(*, dim: Optional[Integer] = ...,
    table: Optional[Path] = ...,
    seed: Optional[Integer] = ...,
    std: Optional[float] = ...) -> Encoding: ...
def relative(*, heads: Optional[Integer] = ...,
    table: Optional[Path] = ...,
    seed: Optional[Integer] = ...,
    std: Optional[float] = ...) -> Encoding: ...
def t5(*, buckets: Optional[Integer] = ...,
    max_distance: Optional[Integer] = ...,
    direction: Optional[Literal["bidirectional", "causal"]] = ...,
    heads: Optional[Integer] = ...,
    table: Optional[Path] = ...,
    seed: Optional[Integer] = ...,
    std: Optional[float] = ...) -> Encoding: ...
def alibi(*, heads: Optional[Integer] = ...,
    slopes: Optional[Literal["published", "exp"]] = ...,
    bias_max: Optional[float] = ...) -> Encoding: ...
def rope(*, dim: Optional[Integer] = ...,
    rotary: Optional[Integer] = ...,
    heads: Optional[Integer] = ...,
    rotate: Optional[Union[str, Sequence[int]]] = ...,
    bands: Optional[Literal["shared", "heads"]] = ...,
    band_shift: Optional[Integer] = ...,
    theta: Optional[float] = ...,
    base: Optional[float] = ...,
    pairing: Optional[Literal["interleaved", "half"]] = ...,
    scaling: Optional[Literal["none", "linear", "ntk", "dynamic", "yarn", "llama3", "proportional"]] = ...,
    factor: Optional[float] = ...,
    original: Optional[float] = ...,
    length: Optional[float] = ...,
    low: Optional[float] = ...,
    high: Optional[float] = ...,
    beta_fast: Optional[float] = ...,
    beta_slow: Optional[float] = ...,
    attention_factor: Optional[float] = ...) -> Encoding: ...
def rope_absolute(*, dim: Optional[Integer] = ...,
    rotary: Optional[Integer] = ...,
    heads: Optional[Integer] = ...,
    rotate: Optional[Union[str, Sequence[int]]] = ...,
    input: Optional[Integer] = ...,
    base: Optional[float] = ...,
    pairing: Optional[Literal["interleaved", "half"]] = ...,
    scaling: Optional[Literal["none", "linear", "ntk", "dynamic", "yarn", "llama3", "proportional"]] = ...,
    factor: Optional[float] = ...,
    original: Optional[float] = ...,
    length: Optional[float] = ...,
    low: Optional[float] = ...,
    high: Optional[float] = ...,
    beta_fast: Optional[float] = ...,
    beta_slow: Optional[float] = ...,
    attention_factor: Optional[float] = ...) -> Encoding: ...
def rope_bias(*, dim: Optional[Integer] = ...,
    base: Optional[float] = ...,
    scale: Optional[float] = ...,
    heads: Optional[Integer] = ...) -> Encoding: ...
def mla(*, content: Optional[Integer] = ...,
    rope: Optional[Integer] = ...,
    heads: Optional[Integer] = ...,
    base: Optional[float] = ...,
    pairing: Optional[Literal["interleaved", "half"]] = ...,
    scaling: Optional[Literal["none", "linear", "ntk", "dynamic", "yarn", "llama3", "proportional"]] = ...,
    factor: Optional[float] = ...,
    original: Optional[float] = ...,
    length: Optional[float] = ...,
    low: Optional[float] = ...,
    high: Optional[float] = ...,
    beta_fast: Optional[float] = ...,
    beta_slow: Optional[float] = ...,
    attention_factor: Optional[float] = ...) -> Encoding: ...
def kms(*, rho: float) -> Encoding: ...
def file(*, path: Path,
    lags: Optional[Literal["hermitian", "full"]] = ...) -> Encoding: ...

# szego.rope: by a model, or by keys.
@overload
def _rope(*, like: object, layer: Optional[Integer] = ...) -> Encoding: ...
@overload
def _rope(*, dim: Optional[Integer] = ...,
    rotary: Optional[Integer] = ...,
    heads: Optional[Integer] = ...,
    rotate: Optional[Union[str, Sequence[int]]] = ...,
    bands: Optional[Literal["shared", "heads"]] = ...,
    band_shift: Optional[Integer] = ...,
    theta: Optional[float] = ...,
    base: Optional[float] = ...,
    pairing: Optional[Literal["interleaved", "half"]] = ...,
    scaling: Optional[Literal["none", "linear", "ntk", "dynamic", "yarn", "llama3", "proportional"]] = ...,
    factor: Optional[float] = ...,
    original: Optional[float] = ...,
    length: Optional[float] = ...,
    low: Optional[float] = ...,
    high: Optional[float] = ...,
    beta_fast: Optional[float] = ...,
    beta_slow: Optional[float] = ...,
    attention_factor: Optional[float] = ...) -> Encoding: ...
