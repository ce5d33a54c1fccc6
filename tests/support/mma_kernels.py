"""LLVM kernels of one matrix instruction each: operands from memory, the instruction, results to memory."""

from __future__ import annotations

from typing import Any

from flydsl.target.mma_facts import Intrinsic, RegisterType, Slot
from flydsl.target.mma_warpgroup import COMMIT_GROUP, FENCE, WAIT_GROUP, InlineAsm

CALLING_CONVENTIONS = {"rocm": "amdgpu_kernel", "cuda": "ptx_kernel"}

WGMMA_DECLARATIONS = (
    f"declare void @{FENCE}()",
    f"declare void @{COMMIT_GROUP}()",
    f"declare void @{WAIT_GROUP}(i64)",
)


def module_text(ops: list[Any], backend: str) -> str:
    """One kernel ``k0``, ``k1``, … per instruction."""
    calls = [call_of(op) for op in ops]
    declarations = {call.declaration for call in calls if isinstance(call, Intrinsic)}
    if any(isinstance(call, InlineAsm) for call in calls):
        declarations |= set(WGMMA_DECLARATIONS)
    kernels = [kernel_text(f"k{i}", call, backend) for i, call in enumerate(calls)]
    return "\n".join([*sorted(declarations), *kernels])


def call_of(op: Any) -> Intrinsic | InlineAsm:
    return op.inline_asm() if hasattr(op, "inline_asm") else op.intrinsic()


def kernel_text(name: str, call: Intrinsic | InlineAsm, backend: str) -> str:
    """Every argument that is no immediate is loaded from ``%in``, every result stored to ``%out``."""
    lines = [f"define {CALLING_CONVENTIONS[backend]} void @{name}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{"]
    arguments = [_argument(lines, i, slot) for i, slot in enumerate(call.slots)]
    joined = ", ".join(arguments)
    if isinstance(call, InlineAsm):
        lines.append(f"  call void @{FENCE}()")
        lines.append(f'  %d = call {call.result_type} asm sideeffect "{call.text}", "{call.constraints}"({joined})')
        lines += [f"  call void @{COMMIT_GROUP}()", f"  call void @{WAIT_GROUP}(i64 0)"]
    else:
        lines.append(f"  %d = call {call.result_type} @{call.name}({joined})")
    _store_results(lines, call.results, call.result_type)
    return "\n".join([*lines, "  ret void", "}"])


def _argument(lines: list[str], index: int, slot: Slot) -> str:
    if slot.value is not None:
        return f"{slot.type.llvm} {slot.value}"
    lines.append(f"  %p{index} = getelementptr i8, ptr addrspace(1) %in, i64 {index * 128}")
    lines.append(f"  %a{index} = load volatile {slot.type.llvm}, ptr addrspace(1) %p{index}, align 16")
    return f"{slot.type.llvm} %a{index}"


def _store_results(lines: list[str], results: tuple[RegisterType, ...], struct: str) -> None:
    for i, type in enumerate(results):
        value = "%d"
        if len(results) > 1:
            value = f"%r{i}"
            lines.append(f"  {value} = extractvalue {struct} %d, {i}")
        lines.append(f"  %q{i} = getelementptr i8, ptr addrspace(1) %out, i64 {i * type.bits // 8}")
        lines.append(f"  store {type.llvm} {value}, ptr addrspace(1) %q{i}, align 4")


def mlir_text(ops: list[Any]) -> str:
    """The same instructions as operations of the MLIR dialect, in functions of the LLVM dialect."""
    functions = [_mlir_function(f"k{i}", op.intrinsic()) for i, op in enumerate(ops)]
    return "module {\n" + "\n".join(functions) + "\n}\n"


def _mlir_function(name: str, call: Intrinsic) -> str:
    parameters, operands, types, attributes, constants = [], [], [], [], []
    for i, slot in enumerate(call.slots):
        if slot.value is None:
            parameters.append(f"%a{i}: {slot.type.mlir}")
        elif slot.attr:
            attributes.append(f"{slot.attr} = {_attribute(slot)}")
            continue
        else:
            constants.append(f"    %a{i} = llvm.mlir.constant({slot.value} : {slot.type.mlir}) : {slot.type.mlir}")
        operands.append(f"%a{i}")
        types.append(slot.type.mlir)
    result = call.results[0].mlir
    return "\n".join([
        f"  llvm.func @{name}({', '.join(parameters)}) -> {result} {{",
        *constants,
        f'    %d = "{call.dialect_op}"({", ".join(operands)}) {{{", ".join(attributes)}}}'
        f" : ({', '.join(types)}) -> {result}",
        f"    llvm.return %d : {result}",
        "  }",
    ])  # fmt: skip


def _attribute(slot: Slot) -> str:
    if slot.type.mlir == "i1":
        return "true" if slot.value else "false"
    return f"{slot.value} : {slot.type.mlir}"
