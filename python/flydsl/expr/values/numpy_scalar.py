"""Scalars of NumPy and ml_dtypes, which are numbers and not arrays: what an array's ``a[0]`` or ``a.sum()`` gives.

Their types and those of torch name the same numbers as ours do; nothing here imports any of these libraries.
"""

from __future__ import annotations

import sys
from typing import Any

from flydsl.base.attributes import is_numpy_scalar
from flydsl.expr.numbers.numeric_types import NumberFormat


def python_value(value: Any) -> Any:
    """Return the Python value in a NumPy scalar, also in tuples and lists of them; everything else as it is."""
    if type(value) in (tuple, list):
        items = [python_value(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else type(value)(items)
    return value.item() if is_numpy_scalar(value) else value


def names_dtype(fmt: NumberFormat | None, dtype: Any) -> bool:
    """Return whether this is a dtype of NumPy, ml_dtypes or torch (or a scalar class of theirs) for a format of
    ours."""
    if fmt is None or fmt.numpy_name is None or fmt.is_index:
        return False
    numpy = sys.modules.get("numpy")
    if isinstance(dtype, type):
        if numpy is None or not issubclass(dtype, numpy.generic) or dtype.__subclasses__():  # a family has no dtype
            return False
        return numpy.dtype(dtype).name == fmt.numpy_name
    if numpy is not None and isinstance(dtype, numpy.dtype):
        return dtype.name == fmt.numpy_name
    return type(dtype).__module__ == "torch" and str(dtype) == f"torch.{fmt.numpy_name}"
