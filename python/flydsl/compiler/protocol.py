"""The protocols of values and arguments, under the path that kernels written for the original use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.expr.memory.storable import Storable, dsl_align_of, dsl_size_of, peek_from_ptr, poke_into_ptr
from flydsl.expr.trace import protocol
from flydsl.expr.trace.host_argument import JitArgument, c_abi_spec, cache_signature, get_ir_types
from flydsl.expr.trace.protocol import DslType, extract_to_ir_values


def construct_from_ir_values(dsl_type: Any, args: Any, values: Sequence[Any]) -> Any:
    """Return the value built like ``args`` from SSA values; with no ``args``, the ``dsl_type`` of them."""
    if args is None:
        return dsl_type.__construct_from_ir_values__(list(values))
    return protocol.construct_from_ir_values(args, iter(values))


__all__ = [
    "DslType", "JitArgument", "Storable", "c_abi_spec", "cache_signature", "construct_from_ir_values", "dsl_align_of",
    "dsl_size_of", "extract_to_ir_values", "get_ir_types", "peek_from_ptr", "poke_into_ptr",
]  # fmt: skip
