"""Which keys a query sees, of the mask that an attention is handed."""
from typing import Any, Optional

import numpy as np

from .capture_families import CaptureError
from .interface import Attention

#: Masks that are added: below this an entry hides a key. BERT of old versions adds -10000.
_HIDDEN = -9999.0


def described(call: Attention, n: int) -> str:
    """`all`, `causal`, `window W` (|i - j| < W), `causal, window W`, `causal, chunks of C`, or `other`, of the first n tokens
    of the first sequence. The first queries, and others over the whole length, tell. A window that is longer than the
    sequence is the one that the call names. Raises CaptureError where the mask adds numbers to logits."""
    rows = np.unique(np.concatenate([np.arange(min(n, 64)), np.linspace(0, n - 1, 64).astype(int)]))
    lag = rows[:, None] - np.arange(n)
    seen = _visible(call, rows, n)
    if seen is None:
        return "other"
    causal = not seen[lag < 0].any()
    prefix = "causal, " if causal else ""
    whole = lag >= 0 if causal else np.ones(lag.shape, bool)
    if np.array_equal(seen, whole):
        return f"{prefix}window {call.window}" if call.window else "causal" if causal else "all"
    width = int(np.abs(lag)[seen].max(initial=0)) + 1
    if np.array_equal(seen, whole & (np.abs(lag) < width)):
        return f"{prefix}window {width}"
    chunk = int(np.gcd.reduce(seen.argmax(1)))
    if chunk and np.array_equal(seen, whole & (rows[:, None] // chunk == np.arange(n) // chunk)):
        return f"{prefix}chunks of {chunk}"
    return "other"


def _visible(call: Attention, rows: np.ndarray, n: int) -> Optional[np.ndarray]:
    """[rows, n]. None: heads differ, or the mask is of another kind."""
    import torch  # pylint: disable=import-outside-toplevel
    mask: Any = call.mask
    if mask is None or getattr(mask, "ndim", 0) == 2:
        lag = rows[:, None] - np.arange(n)
        seen = lag >= 0 if call.causal is not False else np.ones(lag.shape, bool)
        return seen & (np.abs(lag) < call.window) if call.window else seen
    at = torch.as_tensor(rows, device=call.query.device)
    if hasattr(mask, "mask_mod"):
        keys, zero = torch.arange(n, device=at.device), torch.zeros((), dtype=torch.long, device=at.device)
        found = torch.vmap(lambda i: torch.vmap(lambda j: mask.mask_mod(zero, zero, i, j))(keys))(at)
        return found.cpu().numpy()
    if not isinstance(mask, torch.Tensor):
        return None
    if mask.dtype != torch.bool:
        if bool(((mask != 0) & (mask > _HIDDEN)).any()):
            raise CaptureError(f"{call.name}: its mask adds numbers to the logits: they are no product q . k")
        mask = mask == 0
    mask = mask[0][..., :n]
    mask = mask.expand(*mask.shape[:-2], max(n, mask.shape[-2]), n)[..., at, :].reshape(-1, len(rows), n)
    return None if bool((mask != mask[:1]).any()) else mask[0].cpu().numpy()
