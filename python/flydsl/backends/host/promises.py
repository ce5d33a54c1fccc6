"""What accesses promise of their addresses: relaxed for the host, and held to where a GPU would end the kernel.

A wide access says how its address is aligned. The host reads any address, so a broken promise would go unseen; on an
NVIDIA GPU it is an error, and so it is on its virtual form. Most promises depend on the base of the array alone: the
access then only notes what was found out at the start of the kernel, which LLVM moves out of the loop over threads.
Others are arithmetic on the address, without a branch. The end of the loop looks at the outcome.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, VectorType, i64
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.passes.shared.shared_place import known_base

PROMISED = "fly.promised_alignment"
"""Attribute of an access: what the kernel says of its address, whatever the host needs."""
WIDEST_ACCESS = 16
"""Bytes of the widest access that hardware has; no other alignment can stop it."""
_PLACES = {"llvm.load": 0, "llvm.store": 1}


def relax_alignment(module: Operation) -> None:
    """Accesses are only as aligned as their elements: a promise broken by the user must not crash the host."""
    for op in module.walk():
        if op.name in _PLACES:
            size = _element_bytes(op)
            given = op.properties.get("alignment")
            if isinstance(given, IntegerAttr):
                op.properties["alignment"] = IntegerAttr(min(given.value.data, size), i64)
                op.attributes[PROMISED] = given


def _element_bytes(op: Operation) -> int:
    type_ = op.results[0].type if op.results else op.operands[0].type
    return getattr(type_.element_type if isinstance(type_, VectorType) else type_, "size", 8)


def hold_to_promises(wg: Workgroup) -> None:
    """Have wide accesses of a kernel checked that is about to be emitted."""
    plain = dict(wg.body.rules)

    def checked(name: str, place: int) -> Rule:
        def rule(emitter: FunctionEmitter, op: Operation) -> None:
            promised = op.attributes.get(PROMISED)
            bytes_ = min(promised.value.data, WIDEST_ACCESS) if isinstance(promised, IntegerAttr) else 0
            if bytes_ > _element_bytes(op):
                _hold(wg, op, op.operands[place], bytes_)
            plain[name](emitter, op)

        return rule

    wg.body.rules = {**plain, **{name: checked(name, place) for name, place in _PLACES.items()}}


def _hold(wg: Workgroup, op: Operation, pointer: SSAValue, alignment: int) -> None:
    found = known_base(pointer, alignment)
    if found is None or found[1]:
        wg.note_aligned(op, wg.body.typed(pointer), alignment)
    elif found[0] in wg.block.args:
        wg.note_base_aligned(op, found[0], alignment)
