"""Atomic operations as PTX: LLVM 22 drops the scope and the order of those that NVIDIA GPUs have instructions for."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import text_prop
from flydsl.codegen.rules.rules_llvm_memory import atomic_kind, atomic_order, emit_atomicrmw, sync_scope

_SCOPES = {"block": "cta", "cluster": "cluster", "device": "gpu", "": "sys"}
_ORDERS = {"monotonic": "relaxed", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel"}
_SPACES = {"ptr addrspace(1)": ".global", "ptr addrspace(3)": ".shared", "ptr": ""}
_NAMES = {
    "add": {"i32": "add.u32", "i64": "add.u64"},
    "max": {"i32": "max.s32", "i64": "max.s64"}, "min": {"i32": "min.s32", "i64": "min.s64"},
    "umax": {"i32": "max.u32", "i64": "max.u64"}, "umin": {"i32": "min.u32", "i64": "min.u64"},
    "and": {"i32": "and.b32", "i64": "and.b64"}, "or": {"i32": "or.b32", "i64": "or.b64"},
    "xor": {"i32": "xor.b32", "i64": "xor.b64"}, "xchg": {"i32": "exch.b32", "i64": "exch.b64"},
    "uinc_wrap": {"i32": "inc.u32"}, "udec_wrap": {"i32": "dec.u32"},
    "fadd": {"f32": "add.f32", "f64": "add.f64", "f16": "add.noftz.f16", "2xf16": "add.noftz.f16x2"},
}  # fmt: skip
"""LLVM's operation, type and PTX's name for them ("PTX ISA 8.8", 9.7.13, `atom` and `red`); others are loops of cas."""
_BF16_NAMES = {"bf16": "add.noftz.bf16", "2xbf16": "add.noftz.bf16x2"}
_REGISTERS = {16: ("i16", "h"), 32: ("i32", "r"), 64: ("i64", "l")}
"""Bits -> LLVM's type and the letter of an assembly operand."""


def atomic_rule(has_bf16: bool) -> Rule:
    """Return the rule of `llvm.atomicrmw` for a target that does, or does not, add bf16 in memory."""

    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        scalar, kind = emitter.scalar(op.operands[1]), atomic_kind(op)
        names = _NAMES.get(kind, {}) | (_BF16_NAMES if has_bf16 and kind == "fadd" else {})
        name = names.get(f"{scalar.lanes}x{scalar.name}" if scalar.lanes else scalar.name)
        if name is None:
            emit_atomicrmw(emitter, op)
        else:
            _emit(emitter, op, name)

    return rule


def _emit(emitter: FunctionEmitter, op: Operation, name: str) -> None:
    """`atom`, or `red` where nobody asks what was there and the order allows it."""
    order = atomic_order(op)
    if order == "seq_cst":
        emitter.line(f"fence{sync_scope(op)} seq_cst")
        order = "acq_rel"
    pointer, type_ = type_text(op.operands[0].type), type_text(op.operands[1].type)
    scalar = emitter.scalar(op.operands[1])
    bits, letter = _REGISTERS[scalar.bits * max(scalar.lanes, 1)]
    address, place = emitter.typed(op.operands[0]), "l"
    if pointer == "ptr addrspace(3)":
        address, place = f"i32 {emitter.assign(f'ptrtoint {address} to i32')}", "r"
    data = emitter.typed(op.operands[1])
    data = data if type_ == bits else f"{bits} {emitter.assign(f'bitcast {data} to {bits}')}"
    what = f"{_ORDERS[order]}.{_SCOPES[text_prop(op, 'syncscope')]}{_SPACES[pointer]}.{name}"
    if not op.results[0].uses and order in ("monotonic", "release") and not name.startswith("exch"):
        text = f'asm sideeffect "red.{what} [$0], $1;", "{place},{letter},~{{memory}}"'
        emitter.line(f"call void {text}({address}, {data})")
        return
    text = f'asm sideeffect "atom.{what} $0, [$1], $2;", "={letter},{place},{letter},~{{memory}}"'
    found = emitter.assign(f"call {bits} {text}({address}, {data})")
    emitter.bind(op.results[0], found if type_ == bits else emitter.assign(f"bitcast {bits} {found} to {type_}"))
