"""Arguments of a jit call, under the path that kernels written for the original use."""

from __future__ import annotations

from flydsl.compiler.arguments.adapting import adapt, convert_to_jit_arguments
from flydsl.compiler.arguments.kinds import (
    JitArgument,
    PointerArgument,
    ScalarArgument,
    StreamArgument,
    from_c_void_p,
    stream_handle,
)
from flydsl.compiler.arguments.tensor_adaptor import DLTensorAdaptor, TensorAdaptor, from_dlpack, from_torch_tensor
from flydsl.compiler.arguments.tensor_argument import ANY, Dynamic, TensorArgument

__all__ = [
    "ANY", "DLTensorAdaptor", "Dynamic", "JitArgument", "PointerArgument", "ScalarArgument", "StreamArgument",
    "TensorAdaptor", "TensorArgument", "adapt", "convert_to_jit_arguments", "from_c_void_p", "from_dlpack",
    "from_torch_tensor", "stream_handle",
]  # fmt: skip
