"""gpu-to-llvm: launches take operands of LLVM types.

The launch itself stays: how a device launches is the business of whoever translates the module.

    gpu.launch_func @m::@k blocks in (%g, %one, %one) threads in (%b, %one, %one)    // of index
 -> gpu.launch_func @m::@k blocks in (…) threads in (…) : i64
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.dialects.upstream import walked
from flydsl.passes.shared.llvm_conversion import cast_before, llvm_type
from flydsl.passes.shared.walk import functions


def gpu_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        for op in walked(function):
            if op.name == "gpu.launch_func":
                op.operands = [cast_before(value, llvm_type(value.type), op) for value in op.operands]
