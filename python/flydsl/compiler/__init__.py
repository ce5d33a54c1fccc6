"""The `flyc` API: decorators, argument adaptors, compilation."""

from __future__ import annotations

from flydsl.base.collector import making_what_stays
from flydsl.base.lazy import lazy_face

with making_what_stays():
    from flydsl.compiler import protocol
    from flydsl.compiler.arguments.adapting import JitArgumentRegistry
    from flydsl.compiler.arguments.kinds import from_c_void_p
    from flydsl.compiler.arguments.tensor_adaptor import TensorSpec, from_dlpack, from_torch_tensor
    from flydsl.compiler.backends import BaseBackend, GPUTarget, compile_backend_name, get_backend, register_backend
    from flydsl.compiler.backends.base import current_device
    from flydsl.compiler.jit_function import JitFunction, jit
    from flydsl.compiler.kernel_function import KernelFunction, kernel
    from flydsl.compiler.options.hints import sanitize
    from flydsl.compiler.outlets.compiled_function import CompiledFunction, compile
    from flydsl.compiler.outlets.export import export
    from flydsl.compiler.outlets.lds_report import LdsReport, lds_report
    from flydsl.compiler.outlets.torch_op import torch_op
    from flydsl.runtime.host_pool import time_limit

__all__ = [
    "BaseBackend", "CompiledFunction", "GPUTarget", "JitArgumentRegistry", "JitFunction", "KernelFunction",
    "LdsReport", "TensorSpec", "compile", "compile_backend_name", "current_device", "export", "from_c_void_p",
    "from_dlpack", "from_torch_tensor", "get_backend", "jit", "kernel", "lds_report", "protocol", "register_backend",
    "sanitize", "time_limit", "torch_op",
]  # fmt: skip

# Loaded when first used: most programs are one rank.
__getattr__ = lazy_face(__name__, {}, _RANKS := {
    "Rank": "flydsl.compiler.ranks.rank", "process_rank": "flydsl.compiler.ranks.process_ranks",
    "virtual_ranks": "flydsl.compiler.ranks.virtual_ranks",
    "device_ranks": "flydsl.compiler.ranks.device_ranks",
})  # fmt: skip
