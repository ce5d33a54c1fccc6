"""New tensors of torch without a call of Python: torch's C functions for compiled models, which cost a fifth.

The functions are those of `torch/csrc/inductor/aoti_torch/c/shim.h`. What makes an object of Python of a tensor is a
C++ function, whose name tells its parameter; it is used if a tensor that was made by it is seen to be right.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from flydsl.base.records import dataclass

_WRAPS = ("_Z16THPVariable_WrapRKN2at10TensorBaseE", "_Z16THPVariable_WrapN2at10TensorBaseE")
"""`THPVariable_Wrap(const at::TensorBase &)`, or of a value, which is passed by its address too."""


@dataclass(frozen=True)
class TorchTensors:
    """Torch's libraries, and the address of the function that makes an object of a tensor."""

    library: Any
    wrap: int

    def address(self, name: str) -> int:
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0

    def number(self, what: str, value: Any) -> int:
        """Return what torch's C functions call an element type or a type of device."""
        return getattr(self.library, f"aoti_torch_{what}_{str(value).removeprefix('torch.')}")()


@cache
def new_tensors() -> TorchTensors | None:
    """Return the functions, or None where this torch does not have them as we know them."""
    torch = sys.modules["torch"]
    folder = Path(torch.__path__[0]) / "lib"
    try:
        library, python = (ctypes.CDLL(str(folder / f"libtorch_{name}.so")) for name in ("cpu", "python"))
        name = next(name for name in _WRAPS if hasattr(python, name))
        found = TorchTensors(library, ctypes.cast(getattr(python, name), ctypes.c_void_p).value or 0)
        return found if _is_right(torch, found) else None
    except (OSError, AttributeError, StopIteration):
        return None


def _is_right(torch: Any, found: TorchTensors) -> bool:
    """Return whether a tensor made by the functions is what it should be."""
    pair, library = ctypes.c_int64 * 2, found.library
    made, address = ctypes.c_void_p(), ctypes.c_void_p()
    shape, strides = pair(2, 3), pair(3, 1)
    dtype, device = found.number("dtype", torch.bfloat16), found.number("device_type", "cpu")
    if library.aoti_torch_empty_strided(ctypes.c_int64(2), shape, strides, dtype, device, 0, ctypes.byref(made)):
        return False
    library.aoti_torch_get_data_ptr(made, ctypes.byref(address))
    tensor = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(found.wrap)(made)
    library.aoti_torch_delete_tensor_object(made)
    facts = (type(tensor), tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device.type, tensor.data_ptr())
    wanted = (torch.Tensor, (2, 3), (3, 1), torch.bfloat16, "cpu", address.value)
    return facts == wanted and float(tensor.fill_(1).sum()) == 6


@cache
def maker_of(kind: str) -> Callable[..., Any] | None:
    """Return a function of (shape, strides, type) for tensors on the current device of a kind, or None."""
    torch = sys.modules["torch"]
    try:
        maker = getattr(torch._C._dynamo.guards, f"_empty_strided_{kind}")
        made = maker((2, 3), (3, 1), torch.bfloat16)
    except (AttributeError, RuntimeError):
        return None
    facts = (type(made), tuple(made.shape), made.stride(), made.dtype, made.device.type)
    return maker if facts == (torch.Tensor, (2, 3), (3, 1), torch.bfloat16, kind) else None
