"""How arrays of NumPy come to a GPU, and back."""

from __future__ import annotations

from typing import Any

import ml_dtypes

BY_BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""Types that NumPy and torch do not know of each other -> integers that both know."""


def on_gpu(torch: Any, x: Any) -> Any:
    """Return an array of NumPy as a tensor."""
    if (bits := BY_BITS.get(x.dtype.name)) is not None:
        return torch.from_numpy(x.view(bits)).view(getattr(torch, x.dtype.name)).cuda()
    return torch.from_numpy(x).cuda()


def from_gpu(torch: Any, x: Any) -> Any:
    """Return a tensor as an array of NumPy."""
    name = str(x.dtype).removeprefix("torch.")
    if (bits := BY_BITS.get(name)) is not None:
        return x.cpu().view(getattr(torch, bits)).numpy().view(getattr(ml_dtypes, name))
    return x.cpu().numpy()
