"""The `flyc` API: decorators, argument adaptors, compilation."""

from __future__ import annotations

from flydsl.compiler import protocol
from flydsl.compiler.jit_argument import from_dlpack, from_torch_tensor
from flydsl.compiler.jit_argument_registry import JitArgumentRegistry
from flydsl.compiler.jit_function import JitFunction, jit
from flydsl.compiler.kernel_function import KernelFunction, kernel
from flydsl.compiler.target_choice import current_device

__all__ = [
    "JitArgumentRegistry", "JitFunction", "KernelFunction", "current_device", "from_dlpack", "from_torch_tensor", "jit",
    "kernel", "protocol",
]  # fmt: skip
