"""The llvm dialect's memory access: loads, stores, stack slots, atomics, fences, block copies."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.floats.narrow_floats import narrowing_function
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import BF16, address_space, type_text
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.reading.literals import quoted
from flydsl.codegen.reading.op_view import fail, flag_prop, int_prop, keyword_prop, prop, text_prop

# Atomic arithmetic on bf16 where a module holds it as 16 bits: LLVM's `atomicrmw` wants a float type
#
# A loop computes in f32 and swaps the result in, if nobody was faster.


_ARITHMETIC = {
    "fadd": "fadd float {}, {}",
    "fsub": "fsub float {}, {}",
    "fmax": "call float @llvm.maxnum.f32(float {}, float {})",
    "fmin": "call float @llvm.minnum.f32(float {}, float {})",
}


def is_soft(scope: ModuleScope, operation: str, type_: str) -> bool:
    """Return whether an atomic operation on this type needs the loop."""
    return type_ == BF16 and "bf16" in scope.soft_floats and operation in _ARITHMETIC


def soft_atomic(scope: ModuleScope, operation: str, space: int = 0) -> str:
    """Return the symbol of a helper (pointer, value) -> what was there before, for memory of an address space."""
    pointer = f"ptr addrspace({space})" if space else "ptr"

    def build(symbol: str) -> str:
        narrow = narrowing_function(scope, "f32", "bf16", 0)
        return f"""\
define internal {BF16} {symbol}({pointer} %p, {BF16} %x) nounwind {{
entry:
  %x.low = zext i16 %x to i32
  %x.high = shl i32 %x.low, 16
  %x.wide = bitcast i32 %x.high to float
  %first = load atomic i16, {pointer} %p monotonic, align 2
  br label %try
try:
  %old = phi i16 [ %first, %entry ], [ %found, %try ]
  %low = zext i16 %old to i32
  %high = shl i32 %low, 16
  %wide = bitcast i32 %high to float
  %result = {_ARITHMETIC[operation].format("%wide", "%x.wide")}
  %new = call {BF16} {narrow}(float %result)
  %pair = cmpxchg {pointer} %p, i16 %old, i16 %new monotonic monotonic, align 2
  %found = extractvalue {{ i16, i1 }} %pair, 0
  %done = extractvalue {{ i16, i1 }} %pair, 1
  br i1 %done, label %end, label %try
end:
  ret {BF16} %old
}}
"""

    return scope.helper(f"fly.atomic_{operation}.bf16{f'.p{space}' if space else ''}", build)


# MLIR's AtomicOrdering numbers; 3 is LLVM's retired "consume".
ORDERINGS = ("", "unordered", "monotonic", "", "acquire", "release", "acq_rel", "seq_cst")

# MLIR's AtomicBinOp numbers.
_ATOMIC_OPS = (
    *("xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin"),
    *("fadd", "fsub", "fmax", "fmin", "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat", "fmaximum", "fminimum"),
)

# Attributes that say something about one access, as metadata: attribute name -> (metadata name, node body).
_ACCESS_METADATA: dict[str, tuple[str, str]] = {
    "nontemporal": ("nontemporal", "!{i32 1}"),
    "invariant": ("invariant.load", "!{}"),
    "rocdl.no_remote_memory": ("amdgpu.no.remote.memory", "!{}"),
    "rocdl.no_fine_grained_memory": ("amdgpu.no.fine.grained.memory", "!{}"),
    "rocdl.ignore_denormal_mode": ("amdgpu.ignore.denormal.mode", "!{}"),
}


def emit_load(emitter: FunctionEmitter, op: Operation) -> None:
    ordering = _ordering(op, "ordering")
    words = f"{'atomic ' if ordering else ''}{_volatile(op)}"
    text = f"load {words}{type_text(op.results[0].type)}, {emitter.typed(op.operands[0])}"
    emitter.define(op, text + _access_tail(emitter, op, ordering))


def emit_store(emitter: FunctionEmitter, op: Operation) -> None:
    ordering = _ordering(op, "ordering")
    words = f"{'atomic ' if ordering else ''}{_volatile(op)}"
    value, pointer = op.operands
    emitter.line(f"store {words}{emitter.typed(value)}, {emitter.typed(pointer)}{_access_tail(emitter, op, ordering)}")


def emit_alloca(emitter: FunctionEmitter, op: Operation) -> None:
    """A slot of fixed size goes to the function's entry, where a loop cannot allocate it again and again."""
    element = prop(op, "elem_type")
    if element is None:
        fail(op, "the element type is missing")
    size = op.operands[0]
    space = address_space(op.results[0].type)
    tail = _alignment(op) + (f", addrspace({space})" if space else "")
    count = emitter.operand(size)
    expression = f"alloca {type_text(element)}, {type_text(size.type)} {count}{tail}"
    if not count.isdigit():
        emitter.define(op, expression)
        return
    name = emitter.fresh(op.results[0].name_hint or "slot")
    emitter.entry_line(f"{name} = {expression}")
    emitter.bind(op.results[0], name)


def emit_atomicrmw(emitter: FunctionEmitter, op: Operation) -> None:
    """One instruction. A vector, which only some GPUs combine at once, is combined element by element."""
    pointer, value = op.operands
    scalar = emitter.scalar(value)
    if not scalar.lanes:
        emitter.bind(op.results[0], _combine(emitter, op, emitter.operand(pointer), emitter.operand(value)))
        return
    type_, result = scalar.vector_of(scalar.text), "poison"
    for lane in range(scalar.lanes):
        place = emitter.assign(f"getelementptr {scalar.text}, {emitter.typed(pointer)}, i64 {lane}")
        part = emitter.assign(f"extractelement {type_} {emitter.operand(value)}, i32 {lane}")
        found = _combine(emitter, op, place, part)
        result = emitter.assign(f"insertelement {type_} {result}, {scalar.text} {found}, i32 {lane}")
    emitter.bind(op.results[0], result)


def _combine(emitter: FunctionEmitter, op: Operation, place: str, value: str) -> str:
    """Return the name of what an atomic operation found at one element's address."""
    pointer, scalar, kind = type_text(op.operands[0].type), emitter.scalar(op.operands[1]), atomic_kind(op)
    if is_soft(emitter.scope, kind, scalar.text):
        callee = soft_atomic(emitter.scope, kind, address_space(op.operands[0].type))
        return emitter.call(scalar.text, callee, [f"{pointer} {place}", f"{scalar.text} {value}"])
    align = f", align {scalar.bits // 8}" if scalar.lanes else None
    tail = _access_tail(emitter, op, atomic_order(op), align)
    return emitter.assign(f"atomicrmw {_volatile(op)}{kind} {pointer} {place}, {scalar.text} {value}{tail}")


def emit_whole_atomicrmw(emitter: FunctionEmitter, op: Operation, notes: str) -> None:
    """One instruction for a number or a vector, with metadata after it."""
    operands = ", ".join(emitter.typed(value) for value in op.operands)
    tail = _access_tail(emitter, op, atomic_order(op))
    emitter.define(op, f"atomicrmw {_volatile(op)}{atomic_kind(op)} {operands}{tail}{notes}")


def atomic_kind(op: Operation) -> str:
    """LLVM's word for what an `llvm.atomicrmw` does."""
    return keyword_prop(op, "bin_op", _ATOMIC_OPS).lstrip("_")


def atomic_order(op: Operation) -> str:
    """LLVM's word for how an `llvm.atomicrmw` is ordered."""
    return _ordering(op, "ordering") or "monotonic"


def emit_cmpxchg(emitter: FunctionEmitter, op: Operation) -> None:
    pointer, expected, new = (emitter.typed(value) for value in op.operands)
    weak = "weak " if flag_prop(op, "weak") else ""
    orderings = f"{_ordering(op, 'success_ordering')} {_ordering(op, 'failure_ordering')}"
    tail = _access_tail(emitter, op, orderings)
    emitter.define(op, f"cmpxchg {weak}{_volatile(op)}{pointer}, {expected}, {new}{tail}")


def emit_fence(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.line(f"fence{sync_scope(op)} {_ordering(op, 'ordering')}")


def _block_transfer(callee: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        arguments = ", ".join(emitter.typed(value) for value in op.operands)
        volatile = "true" if flag_prop(op, "isVolatile") else "false"
        emitter.line(f"call void @{callee}({arguments}, i1 {volatile})")

    return emit


def emit_masked_store(emitter: FunctionEmitter, op: Operation) -> None:
    value, pointer, mask = (emitter.typed(operand) for operand in op.operands)
    align = int_prop(op, "alignment", 1)
    emitter.line(f"call void @llvm.masked.store({value}, {_aligned(pointer, align)}, {mask})")


def emit_masked_load(emitter: FunctionEmitter, op: Operation) -> None:
    pointer, mask, *rest = (emitter.typed(operand) for operand in op.operands)
    result = type_text(op.results[0].type)
    other = rest[0] if rest else f"{result} poison"
    align = int_prop(op, "alignment", 1)
    emitter.define(op, f"call {result} @llvm.masked.load({_aligned(pointer, align)}, {mask}, {other})")


def _aligned(pointer: str, align: int) -> str:
    """Return a typed pointer argument with its alignment between type and value."""
    type_, value = pointer.rsplit(" ", 1)
    return f"{type_} align {align} {value}"


def _ordering(op: Operation, name: str) -> str:
    word = keyword_prop(op, name, ORDERINGS)
    return "" if word == "not_atomic" else word


def _volatile(op: Operation) -> str:
    return "volatile " if flag_prop(op, "volatile_") else ""


def sync_scope(op: Operation) -> str:
    """Return the words that name who sees an access as one; none for the whole system."""
    scope = text_prop(op, "syncscope")
    return f' syncscope("{quoted(scope.encode())}")' if scope else ""


def _alignment(op: Operation) -> str:
    align = int_prop(op, "alignment")
    return f", align {align}" if align else ""


def _access_tail(emitter: FunctionEmitter, op: Operation, ordering: str, align: str | None = None) -> str:
    """Return what follows the operands: scope and ordering, alignment, metadata."""
    atomic = f"{sync_scope(op)} {ordering}" if ordering else ""
    notes = "".join(
        f", !{name} {emitter.scope.metadata(body)}"
        for attribute, (name, body) in _ACCESS_METADATA.items()
        if flag_prop(op, attribute)
    )
    return atomic + (_alignment(op) if align is None else align) + notes


RULES: dict[str, Rule] = {
    "llvm.load": emit_load,
    "llvm.store": emit_store,
    "llvm.alloca": emit_alloca,
    "llvm.atomicrmw": emit_atomicrmw,
    "llvm.cmpxchg": emit_cmpxchg,
    "llvm.fence": emit_fence,
    "llvm.intr.memcpy": _block_transfer("llvm.memcpy"),
    "llvm.intr.memcpy.inline": _block_transfer("llvm.memcpy.inline"),
    "llvm.intr.memmove": _block_transfer("llvm.memmove"),
    "llvm.intr.memset": _block_transfer("llvm.memset"),
    "llvm.intr.masked.store": emit_masked_store,
    "llvm.intr.masked.load": emit_masked_load,
}
