"""GPU operations as NVVM intrinsics in LLVM text."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from flydsl.backends.device_code import index_reader
from flydsl.backends.gpu_math import from_words, math_rules, to_words
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.literals import quoted

_SREG = "llvm.nvvm.read.ptx.sreg"
_STEPS = {"xor": "xor", "up": "sub", "down": "add"}


def _barrier(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.line("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")


def _lane(emitter: FunctionEmitter, op: Operation) -> None:
    raw = emitter.assign(f"call i32 @{_SREG}.laneid()")
    emitter.bind(op.results[0], emitter.assign(f"zext i32 {raw} to i64"))


def _shuffle(emitter: FunctionEmitter, op: Operation) -> None:
    """One `shfl.sync` per 32-bit word; the control word confines it to segments of ``width`` lanes.

    A source outside the segment is the lane itself. The instruction has other ideas about it, but where the lane is
    known to be inside, `xor` by less than the width, it is left to itself.
    """
    _, offset, width = (emitter.operand(value) for value in op.operands)
    mode = op.properties["mode"].data.value  # type: ignore[union-attr]
    if mode == "xor" and offset.isdigit() and width.isdigit() and int(offset) < int(width):
        kind, source, valid = "bfly", offset, "true"
    else:
        kind, (source, valid) = "idx", _source_lane(emitter, mode, offset, width)
    segment = emitter.assign(f"shl i32 {emitter.assign(f'sub i32 32, {width}')}, 8")
    control = emitter.assign(f"or i32 {segment}, 31")
    moved = [
        emitter.assign(f"call i32 @llvm.nvvm.shfl.sync.{kind}.i32(i32 -1, i32 {word}, i32 {source}, i32 {control})")
        for word in to_words(emitter, op)
    ]
    emitter.bind(op.results[0], from_words(emitter, moved, op))
    emitter.bind(op.results[1], valid)


def _source_lane(emitter: FunctionEmitter, mode: str, offset: str, width: str) -> tuple[str, str]:
    """Return the place in its segment that a lane reads, its own where the asked one is outside, and whether it is
    inside."""
    lane = emitter.assign(f"call i32 @{_SREG}.laneid()")
    own = emitter.assign(f"and i32 {lane}, {emitter.assign(f'sub i32 {width}, 1')}")
    asked = offset if mode == "idx" else emitter.assign(f"{_STEPS[mode]} i32 {own}, {offset}")
    valid = emitter.assign(f"icmp ult i32 {asked}, {width}")
    return emitter.assign(f"select i1 {valid}, i32 {asked}, i32 {own}"), valid


def _ballot(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.define(op, f"call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 {emitter.operand(op.operands[0])})")


def _alloca(emitter: FunctionEmitter, op: Operation) -> None:
    """Local memory is allocated in the generic space and seen in its own."""
    slot = emitter.fresh("reg")
    elem = type_text(op.properties["elem_type"])
    align = op.properties.get("alignment")
    wide = f", align {align.value.data}" if isinstance(align, IntegerAttr) else ""
    emitter.entry_line(f"{slot} = alloca {elem}, i64 {emitter.operand(op.operands[0])}{wide}")
    wanted = type_text(op.results[0].type)
    emitter.bind(op.results[0], slot if wanted == "ptr" else emitter.assign(f"addrspacecast ptr {slot} to {wanted}"))


def _printf(emitter: FunctionEmitter, op: Operation) -> None:
    """`vprintf` with the arguments in a block of 8-byte fields; the driver prints when the stream is waited for."""
    text = op.properties["format"].data.encode() + b"\0"  # type: ignore[union-attr]
    name = f"fly.text.{emitter.scope.text_number(text)}"
    emitter.scope.add_global(name, f'private addrspace(1) constant [{len(text)} x i8] c"{quoted(text)}"')
    emitter.scope.declare("vprintf", "i32", ["ptr", "ptr"])
    block = "null"
    if op.operands:
        block = emitter.fresh("print")
        emitter.entry_line(f"{block} = alloca [{len(op.operands)} x i64], align 8")
    for index, value in enumerate(op.operands):
        place = emitter.assign(f"getelementptr i64, ptr {block}, i64 {index}")
        emitter.line(f"store {emitter.typed(value)}, ptr {place}, align 8")
    text_pointer = emitter.assign(f"addrspacecast ptr addrspace(1) @{name} to ptr")
    emitter.assign(f"call i32 @vprintf(ptr {text_pointer}, ptr {block})")


CUDA_RULES: dict[str, Rule] = {
    **math_rules("NVIDIA"),
    "gpu.thread_id": index_reader(f"{_SREG}.tid.{{axis}}"),
    "gpu.block_id": index_reader(f"{_SREG}.ctaid.{{axis}}"),
    "gpu.block_dim": index_reader(f"{_SREG}.ntid.{{axis}}"),
    "gpu.grid_dim": index_reader(f"{_SREG}.nctaid.{{axis}}"),
    "gpu.lane_id": _lane,
    "gpu.barrier": _barrier,
    "gpu.shuffle": _shuffle,
    "gpu.ballot": _ballot,
    "gpu.printf": _printf,
    "llvm.alloca": _alloca,
}
