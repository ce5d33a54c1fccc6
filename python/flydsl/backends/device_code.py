"""The kernels of a module as LLVM text for a GPU, straight from the end of stage A."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr
from xdsl.ir import Operation

from flydsl.backends.launcher import is_parameter_block
from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import ModuleScope, symbol_text
from flydsl.codegen.rules.rules_llvm import call_intrinsic, emit_call_intrinsic
from flydsl.dialects.fly.payload_text import parse_instruction
from flydsl.dialects.upstream import walked
from flydsl.passes.shared.matrix_atoms import INSTRUCTION
from flydsl.passes.shared.walk import members
from flydsl.target.mma_facts import Intrinsic
from flydsl.target.narrow_conversions import narrow_conversions
from flydsl.target.tensor_map import MAP_ALIGN, MAP_BYTES

# Matrix operations as calls of LLVM intrinsics, whatever dialect operation carries them -------


def instruction_of(op: Operation) -> object | None:
    """Return the matrix instruction an operation is, if it is one."""
    text = op.attributes.get(INSTRUCTION)
    return parse_instruction(text.data) if isinstance(text, StringAttr) else None


def _call(emitter: FunctionEmitter, op: Operation) -> None:
    call: Intrinsic = instruction_of(op).intrinsic()  # type: ignore[union-attr]
    values = iter(op.operands)
    arguments = []
    for slot in call.slots:
        if slot.attr:
            arguments.append(f"{slot.type.llvm} {slot.value}")
        elif slot.value is not None:
            next(values)
            arguments.append(f"{slot.type.llvm} {slot.value}")
        else:
            arguments.append(emitter.typed(next(values)))
    emitter.define(op, f"call {call.result_type} @{call.name}({', '.join(arguments)})")


def _call_or(default: Rule) -> Rule:
    return lambda emitter, op: (_call if INSTRUCTION in op.attributes else default)(emitter, op)


def matrix_rules(module: Operation) -> dict[str, Rule]:
    """Return a rule for every operation of the module that is a matrix instruction; inline assembly says all by
    itself."""
    names = {op.name for op in walked(module) if INSTRUCTION in op.attributes} - {"llvm.inline_asm"}
    return {name: _call_or(emit_call_intrinsic) if name == "llvm.call_intrinsic" else _call for name in names}


@dataclass(frozen=True)
class DeviceCode:
    """What differs between GPU families when a kernel is written as LLVM text or in the llvm dialect."""

    triple: str
    data_layout: str
    convention: str
    rules: Mapping[str, Rule]
    line_tables: bool = False
    generation: str = ""
    kernel_mark: ClassVar[str] = ""
    block_size_mark: ClassVar[str] = ""
    """Attributes that upstream puts on a kernel of the family, and on one whose block size is known."""
    cluster_pass: ClassVar[bool] = False
    """Whether a pass of the family turns the cluster size into a function attribute."""
    dialect_ops: ClassVar[Mapping[str, str]] = {}
    """Intrinsics that are operations of the family's dialect, by name."""

    def attributes(self, op: Operation) -> str:
        """Return the function attributes of a kernel as LLVM text."""
        raise NotImplementedError

    def attachments(self, op: Operation, scope: ModuleScope) -> str:
        """Metadata of a kernel, with a space in front."""
        return ""

    def finish(self, scope: ModuleScope) -> None:
        """Add what the module as a whole says."""

    def emitter(self, module: Operation) -> ModuleEmitter:
        """Return an empty module of this family that knows the operations of ``module``."""
        rules = {**self.rules, **_dialect_rules(type(self)), **matrix_rules(module)}
        found = ModuleEmitter(self.triple, self.data_layout, rules, line_tables=self.line_tables)
        found.scope.narrow_conversions = narrow_conversions(self.generation)
        return found


@cache
def _dialect_rules(family: type[DeviceCode]) -> Mapping[str, Rule]:
    """Return the operations of a family's dialect, each a call of its intrinsic."""
    return {op: _intrinsic(name) for name, op in family.dialect_ops.items()}


def _intrinsic(name: str) -> Rule:
    return lambda emitter, op: call_intrinsic(emitter, op, name)


def block_size(op: Operation) -> list[int] | None:
    """Return the block extents a kernel was compiled for, if they are known."""
    known = op.attributes.get("gpu.known_block_size")
    return [int(n) for n in known.get_values()] if isinstance(known, DenseArrayBase) else None


def int_attribute(op: Operation, *names: str) -> int:
    """Return the first of these attributes of a kernel that is set, or 0."""
    found = (op.attributes[name] for name in names if name in op.attributes)
    return next((attr.value.data for attr in found if isinstance(attr, IntegerAttr)), 0)


_FLUSH = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"'
_NO_SPECIALS = ('"no-infs-fp-math"="true"', '"no-nans-fp-math"="true"', '"no-signed-zeros-fp-math"="true"')
_FLOAT_MODES: dict[str, tuple[str, ...]] = {
    "fly.flush_denormals": (_FLUSH,),
    "fly.fast_fp_math": (_FLUSH, *_NO_SPECIALS),
    "fly.unsafe_fp_math": ('"unsafe-fp-math"="true"',),
}


def float_modes(op: Operation) -> list[str]:
    """Function attributes of the float modes a kernel asks for: flushed denormals, no special values, rewriting."""
    words = [word for name, found in _FLOAT_MODES.items() if int_attribute(op, name) for word in found]
    return list(dict.fromkeys(words))


def kernel_functions(module: Operation) -> list[Operation]:
    """Return the kernels of all gpu modules."""
    return [op for op in members(module) if op.name == "gpu.func"]


def emit_kernels(module: Operation, code: DeviceCode) -> str:
    """LLVM text of every kernel and shared global of a module after stage A."""
    emitter = code.emitter(module)
    for op in members(module):
        if op.name == "llvm.mlir.global":
            emitter.emit_global(op)
    for op in kernel_functions(module):
        _emit_kernel(emitter, op, code)
    code.finish(emitter.scope)
    return emitter.text()


def emit_llvm_kernels(module: Operation, code: DeviceCode) -> str:
    """LLVM text of a gpu module that stage B has converted to the llvm dialect."""
    emitter = code.emitter(module)
    emitter.emit_module(module)
    code.finish(emitter.scope)
    return emitter.text()


def kernel_rules(op: Operation) -> dict[str, Rule]:
    """Return the rules that depend on the kernel: a known block size is a constant."""
    sizes = block_size(op)
    return {} if sizes is None else {"gpu.block_dim": _known_block_dim(sizes)}


def _emit_kernel(emitter: ModuleEmitter, op: Operation, code: DeviceCode) -> None:
    body = emitter.new_function(op)
    body.rules = {**body.rules, **kernel_rules(op), "gpu.return": lambda e, _: e.line("ret void")}
    block = op.regions[0].blocks[0]
    parameters = []
    for argument in block.args:
        name = body.fresh("arg")
        if is_parameter_block(argument.type):
            # A tensor map is read where the launch put it: by value, never copied to local memory.
            parameters.append(f'ptr byval([{MAP_BYTES} x i8]) align {MAP_ALIGN} "nvvm.grid_constant" {name}')
            name = body.assign(f"addrspacecast ptr {name} to {type_text(argument.type)}")
        else:
            parameters.append(f"{type_text(argument.type)} {name}")
        body.bind(argument, name)
    body.emit_region(op.regions[0])
    symbol = op.attributes["sym_name"].data  # type: ignore[union-attr]
    signature = f"{symbol_text(symbol)}({', '.join(parameters)})"
    tail = code.attachments(op, emitter.scope)
    emitter.add_function(symbol, f"define {code.convention} void {signature} {code.attributes(op)}{tail}", body)


def _known_block_dim(sizes: list[int]) -> Rule:
    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
        emitter.bind(op.results[0], str(sizes["xyz".index(axis)]))

    return rule


def index_reader(callees: str) -> Rule:
    """Return a rule that reads an index register by an intrinsic with the axis in its name, widened to i64."""

    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
        raw = emitter.assign(f"call i32 @{callees.format(axis=axis)}()")
        emitter.bind(op.results[0], emitter.assign(f"zext i32 {raw} to i64"))

    return rule
