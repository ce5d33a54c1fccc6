"""The kernels of a module as LLVM text for a GPU, straight from the end of stage A."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from flydsl.backends.matrix_calls import matrix_rules
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import symbol_text


@dataclass(frozen=True)
class DeviceCode:
    """What differs between GPU families when a kernel is written as LLVM text."""

    triple: str
    data_layout: str
    convention: str
    rules: Mapping[str, Rule]

    def attributes(self, op: Operation) -> str:
        raise NotImplementedError


def block_size(op: Operation) -> list[int] | None:
    """The block extents a kernel was compiled for, if they are known."""
    known = op.attributes.get("gpu.known_block_size")
    return [int(n) for n in known.get_values()] if isinstance(known, DenseArrayBase) else None


def kernel_functions(module: Operation) -> list[Operation]:
    """The kernels of all gpu modules."""
    return [op for op in module.walk() if op.name == "gpu.func"]


def emit_kernels(module: Operation, code: DeviceCode) -> str:
    """LLVM text of every kernel and shared global of a module."""
    emitter = ModuleEmitter(code.triple, code.data_layout, {**code.rules, **matrix_rules(module)})
    for op in module.walk():
        if op.name == "llvm.mlir.global":
            emitter.emit_global(op)
    for op in kernel_functions(module):
        _emit_kernel(emitter, op, code)
    return emitter.text()


def _emit_kernel(emitter: ModuleEmitter, op: Operation, code: DeviceCode) -> None:
    body = emitter.new_function()
    sizes = block_size(op)
    if sizes is not None:
        body.rules = {**body.rules, "gpu.block_dim": _known_block_dim(sizes)}
    body.rules = {**body.rules, "gpu.return": lambda e, _: e.line("ret void")}
    block = op.regions[0].blocks[0]
    parameters = []
    for argument in block.args:
        name = body.fresh("arg")
        body.bind(argument, name)
        parameters.append(f"{type_text(argument.type)} {name}")
    body.emit_region(op.regions[0])
    symbol = op.attributes["sym_name"].data  # type: ignore[union-attr]
    head = f"define {code.convention} void {symbol_text(symbol)}({', '.join(parameters)}) {code.attributes(op)}"
    emitter.add_function(symbol, head, body)


def _known_block_dim(sizes: list[int]) -> Rule:
    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
        emitter.bind(op.results[0], str(sizes["xyz".index(axis)]))

    return rule


def index_reader(callees: str) -> Rule:
    """A rule that reads an index register by an intrinsic with the axis in its name, widened to i64."""

    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
        raw = emitter.assign(f"call i32 @{callees.format(axis=axis)}()")
        emitter.bind(op.results[0], emitter.assign(f"zext i32 {raw} to i64"))

    return rule
