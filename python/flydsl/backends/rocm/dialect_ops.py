"""Intrinsics of AMD GPUs that upstream's rocdl dialect has an operation for, without attributes of its own."""

from __future__ import annotations

ROCDL_OPS: dict[str, str] = {
    **{
        f"llvm.amdgcn.{kind}.id.{axis}": f"rocdl.{kind}.id.{axis}"
        for kind in ("workitem", "workgroup")
        for axis in "xyz"
    },
    "llvm.amdgcn.s.barrier": "rocdl.s.barrier",
    "llvm.amdgcn.mbcnt.lo": "rocdl.mbcnt.lo",
    "llvm.amdgcn.mbcnt.hi": "rocdl.mbcnt.hi",
    "llvm.amdgcn.ds.bpermute": "rocdl.ds_bpermute",
}
"""LLVM's name to the operation's."""
