"""Scalars of NumPy and ml_dtypes, which are numbers and not arrays: what an array's ``a[0]`` or ``a.sum()`` gives."""

from __future__ import annotations

import sys
from typing import Any


def is_numpy_scalar(value: Any) -> bool:
    """Whether this is one; while nobody has imported NumPy, nothing is."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def python_value(value: Any) -> Any:
    """The Python value in a NumPy scalar, also in tuples and lists of them; everything else as it is."""
    if type(value) in (tuple, list):
        items = [python_value(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else type(value)(items)
    return value.item() if is_numpy_scalar(value) else value
