"""Arguments of a jit call, under the path that kernels written for the original use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flydsl.compiler.arguments.adapting import JitArgumentRegistry, adapt, convert_to_jit_arguments
from flydsl.compiler.arguments.kinds import (
    ANY,
    Dynamic,
    JitArgument,
    PointerArgument,
    ScalarArgument,
    StreamArgument,
    TensorArgument,
    from_c_void_p,
    stream_handle,
)
from flydsl.compiler.arguments.tensor_adaptor import (
    DLTensorAdaptor,
    TensorAdaptor,
    TensorSpec,
    from_dlpack,
    from_torch_tensor,
)

TorchTensorJitArg = DLTensorJitArg = TensorAdaptor
PointerJitArg = PointerArgument
MemRefSpec = TensorSpec


def resolve_signature(func: Callable[..., Any]) -> Any:
    """Return the `inspect.Signature` of a function, with annotations written as text evaluated where they can be."""
    try:
        return inspect.signature(func, eval_str=True)
    except NameError:
        return inspect.signature(func)


__all__ = [
    "ANY", "DLTensorAdaptor", "DLTensorJitArg", "Dynamic", "JitArgument", "JitArgumentRegistry", "MemRefSpec",
    "PointerArgument", "PointerJitArg", "ScalarArgument", "StreamArgument", "TensorAdaptor", "TensorArgument",
    "TorchTensorJitArg", "adapt", "convert_to_jit_arguments", "from_c_void_p", "from_dlpack", "from_torch_tensor",
    "resolve_signature", "stream_handle",
]  # fmt: skip
