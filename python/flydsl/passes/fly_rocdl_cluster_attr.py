"""fly-rocdl-cluster-attr: a kernel's cluster size becomes a function attribute that LLVM reads.

The attribute ``fly.cluster`` of a kernel says how many workgroups form a cluster along each axis.

    llvm.func @k() attributes {fly.cluster = "2,1,1"}
 -> llvm.func @k() attributes {passthrough = [["amdgpu-cluster-dims", "2,1,1"]]}
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation

from flydsl.dialects.fly.payload import CLUSTER
from flydsl.passes.shared.walk import functions

LLVM_CLUSTER = "amdgpu-cluster-dims"
"""LLVM's name for the kernel's attribute."""


def fly_rocdl_cluster_attr(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        sizes = function.attributes.pop(CLUSTER, None)
        if not isinstance(sizes, StringAttr):
            continue
        before = function.properties.get("passthrough")
        entries: list[Attribute] = list(before) if isinstance(before, ArrayAttr) else []
        entries.append(ArrayAttr([StringAttr(LLVM_CLUSTER), sizes]))
        function.properties["passthrough"] = ArrayAttr(entries)
