"""convert-gpu-to-rocdl: kernels become functions of the llvm and rocdl dialects for AMD GPUs.

Input: kernels of upstream dialects without `scf`. Everything in a gpu module is converted, as upstream's pass of that
name does, so nothing of arith, vector, math, cf or gpu is left in it. Run convert-scf-to-cf before.

    gpu.func @k(%p: !llvm.ptr<1>) kernel { %t = gpu.thread_id x … }
 -> llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} { %t = rocdl.workitem.id.x : i32 … }
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.lowering.kernel_conversion import convert_kernels
from flydsl.backends.rocm.compile import rocm_code
from flydsl.target.target import DEFAULT_ARCH, parse_target


def convert_gpu_to_rocdl(module: Operation, chip: str = DEFAULT_ARCH) -> None:
    """Run the pass on a module."""
    convert_kernels(module, rocm_code(parse_target(chip)))
