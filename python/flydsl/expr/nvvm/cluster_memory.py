"""Distributed shared memory: reading and writing the shared memory of another block of the cluster."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.context import Value
from flydsl.expr.numeric import Float32, Int32, Numeric
from flydsl.expr.nvvm.barriers import issue, shared_address
from flydsl.expr.ops_layout import get_iter
from flydsl.expr.pointer import Pointer
from flydsl.expr.tensor import Tensor

_FORMS = {Float32: "f32", Int32: "b32"}


def _remote(place: Any, block: Any) -> Value:
    """The address of the same place in another block's shared memory."""
    return issue("mapa", [shared_address(place, "the place"), Int32(block).ir_value()])


def _kind(place: Any) -> type[Numeric]:
    pointer = get_iter(place) if isinstance(place, Tensor) else place
    if not isinstance(pointer, Pointer) or pointer.dtype not in _FORMS:
        raise DslTypeError(f"blocks of a cluster exchange Float32 and Int32, got {place!r}", hint="recast the pointer")
    return pointer.dtype


def cluster_load(place: Any, block: Any) -> Any:
    """The number that block ``block`` of the cluster has at this place of its shared memory."""
    kind = _kind(place)
    return kind(issue(f"ld.cluster.{_FORMS[kind]}", [_remote(place, block)]))


def cluster_store(value: Any, place: Any, block: Any) -> None:
    """Write a number to this place of the shared memory of block ``block`` of the cluster."""
    kind = _kind(place)
    issue(f"st.cluster.{_FORMS[kind]}", [_remote(place, block), kind(value).ir_value()])


__all__ = ["cluster_load", "cluster_store"]
