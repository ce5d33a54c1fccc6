"""convert-gpu-to-nvvm: kernels become functions of the llvm and nvvm dialects for NVIDIA GPUs.

Input: kernels of upstream dialects without `scf`. Everything in a gpu module is converted, as upstream's pass of that
name does. Run convert-scf-to-cf before.

    gpu.func @k(%p: !llvm.ptr<1>) kernel { %t = gpu.thread_id x … }
 -> llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} { %t = nvvm.read.ptx.sreg.tid.x : i32 … }
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.cuda.compile import cuda_code
from flydsl.backends.lowering.kernel_conversion import convert_kernels
from flydsl.target.target import parse_target


def convert_gpu_to_nvvm(module: Operation, chip: str = "sm_90a") -> None:
    """Run the pass on a module."""
    convert_kernels(module, cuda_code(parse_target(chip)))
