"""Intrinsics of NVIDIA GPUs that upstream's nvvm dialect has an operation for, without attributes of its own."""

from __future__ import annotations

NVVM_OPS: dict[str, str] = {
    **{
        f"llvm.nvvm.read.ptx.sreg.{register}.{axis}": f"nvvm.read.ptx.sreg.{register}.{axis}"
        for register in ("tid", "ntid", "ctaid", "nctaid")
        for axis in "xyz"
    },
    "llvm.nvvm.read.ptx.sreg.laneid": "nvvm.read.ptx.sreg.laneid",
}
"""LLVM's name to the operation's."""
