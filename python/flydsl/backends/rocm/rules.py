"""GPU operations as AMDGPU intrinsics in LLVM text."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.device_code import index_reader
from flydsl.backends.gpu_math import from_words, math_rules, to_words
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import fail, text_prop
from flydsl.codegen.rules.rules_llvm_memory import emit_whole_atomicrmw

# Byte offsets in the implicit argument block (LLVM AMDGPU usage, code object version 5).
_BLOCK_COUNT = {"x": 0, "y": 4, "z": 8}
_GROUP_SIZE = {"x": 12, "y": 14, "z": 16}


def _implicit(offsets: dict[str, int], type_: str) -> Rule:
    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
        base = emitter.assign("call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()")
        place = emitter.assign(f"getelementptr i8, ptr addrspace(4) {base}, i64 {offsets[axis]}")
        raw = emitter.assign(f"load {type_}, ptr addrspace(4) {place}, align 2")
        emitter.bind(op.results[0], emitter.assign(f"zext {type_} {raw} to i64"))

    return rule


def _barrier(emitter: FunctionEmitter, op: Operation) -> None:
    """Memory of the workgroup is ordered around the barrier."""
    emitter.line('fence syncscope("workgroup") release')
    emitter.line("call void @llvm.amdgcn.s.barrier()")
    emitter.line('fence syncscope("workgroup") acquire')


def _lane_number(emitter: FunctionEmitter) -> str:
    low = emitter.assign("call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)")
    return emitter.assign(f"call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 {low})")


def _lane(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.bind(op.results[0], emitter.assign(f"zext i32 {_lane_number(emitter)} to i64"))


def _shuffle(emitter: FunctionEmitter, op: Operation) -> None:
    """Through `ds_bpermute`, word by word; a lane outside the segment reads itself."""
    _, offset, width = (emitter.operand(o) for o in op.operands)
    mode = op.properties["mode"].data.value  # type: ignore[union-attr]
    lane = _lane_number(emitter)
    low = emitter.assign(f"sub i32 {width}, 1")
    inside = emitter.assign(f"and i32 {lane}, {low}")
    first = emitter.assign(f"sub i32 {lane}, {inside}")
    source = offset if mode == "idx" else emitter.assign(f"{_STEPS[mode]} i32 {inside}, {offset}")
    valid = emitter.assign(f"icmp ult i32 {source}, {width}")
    chosen = emitter.assign(f"select i1 {valid}, i32 {source}, i32 {inside}")
    place = emitter.assign(f"shl i32 {emitter.assign(f'add i32 {first}, {chosen}')}, 2")
    moved = [emitter.assign(f"call i32 @llvm.amdgcn.ds.bpermute(i32 {place}, i32 {w})") for w in to_words(emitter, op)]
    emitter.bind(op.results[0], from_words(emitter, moved, op))
    emitter.bind(op.results[1], valid)


_STEPS = {"xor": "xor", "up": "sub", "down": "add"}


def _ballot(emitter: FunctionEmitter, op: Operation) -> None:
    type_ = type_text(op.results[0].type)
    emitter.define(op, f"call {type_} @llvm.amdgcn.ballot.{type_}(i1 {emitter.operand(op.operands[0])})")


# Without these LLVM takes the memory for that of another device or the host, where the bus has few atomics, and
# writes loops of compare-and-swap (LLVM AMDGPU usage, "Metadata").
_OWN_MEMORY = ("amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory", "amdgpu.ignore.denormal.mode")


def _atomicrmw(emitter: FunctionEmitter, op: Operation) -> None:
    """A scope short of the system promises memory of this device, where atomics are instructions."""
    node = emitter.scope.metadata("!{}")
    is_own = bool(text_prop(op, "syncscope"))
    emit_whole_atomicrmw(emitter, op, "".join(f", !{name} {node}" for name in _OWN_MEMORY) if is_own else "")


def _printf(emitter: FunctionEmitter, op: Operation) -> None:
    fail(
        op,
        "printing needs a service of the ROCm runtime that this package does not use",
        hint="run the kernel on the host device, the virtual GPU of the same target, where printf works",
    )


ROCM_RULES: dict[str, Rule] = {
    **math_rules("AMD"),
    "gpu.thread_id": index_reader("llvm.amdgcn.workitem.id.{axis}"),
    "gpu.block_id": index_reader("llvm.amdgcn.workgroup.id.{axis}"),
    "gpu.block_dim": _implicit(_GROUP_SIZE, "i16"),
    "gpu.grid_dim": _implicit(_BLOCK_COUNT, "i32"),
    "gpu.lane_id": _lane,
    "gpu.barrier": _barrier,
    "gpu.shuffle": _shuffle,
    "gpu.ballot": _ballot,
    "gpu.printf": _printf,
    "llvm.atomicrmw": _atomicrmw,
}
