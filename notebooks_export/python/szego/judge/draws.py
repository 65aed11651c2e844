"""Numbers that the program draws: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), whose numbers depend on seed,
step, purpose and index alone."""
import functools
from typing import Tuple

import numpy as np

_MULTIPLIERS, _WEYL, _ROUNDS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 10
_LOW = np.uint64(0xFFFFFFFF)
_OTHER_HEAD, _EQUAL_HEADS = 0x48454144, 0x4551484C


def uniforms(seed: int, step: int, purpose: int, count: int) -> np.ndarray:
    """The first `count` numbers of a stream, uniform on [0, 1) with 53 bits, as szgi_random_uniform gives them."""
    blocks = (count + 1) // 2
    words = [np.arange(blocks, dtype=np.uint64), *(np.full(blocks, one, np.uint64) for one in (step, purpose, 0))]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(_ROUNDS):
        even, odd = (words[2 * k] * np.uint64(_MULTIPLIERS[k]) for k in range(2))
        words = [odd >> np.uint64(32) ^ words[1] ^ np.uint64(keys[0]), odd & _LOW,
                 even >> np.uint64(32) ^ words[3] ^ np.uint64(keys[1]), even & _LOW]
        keys = [(key + weyl) & 0xFFFFFFFF for key, weyl in zip(keys, _WEYL)]
    pairs = np.stack([words[0] << np.uint64(32) | words[1], words[2] << np.uint64(32) | words[3]], axis=1)
    return (pairs.ravel()[:count] >> np.uint64(11)) * 2.0**-53


def other_head(seed: int, layer: int, heads: int, worst: int) -> int:
    """The head that a rule for the `other` one takes: drawn from seed and layer, never `worst`."""
    drawn = min(int(uniforms(seed, layer, _OTHER_HEAD, 1)[0] * (heads - 1)), heads - 2)
    return drawn if drawn < worst else drawn + 1


@functools.lru_cache(maxsize=64)
def equal_heads_uniforms(seed: int, layer: int, heads: int, trials: int) -> Tuple[np.ndarray, np.ndarray]:
    """(numbers, ascending; their places in an array of shape (heads, trials)). Runs of a seed share them."""
    drawn = uniforms(seed, layer, _EQUAL_HEADS, trials * heads).reshape(trials, heads).T.ravel()
    order = np.argsort(drawn)
    return drawn[order], order
