"""Converting operations to the llvm dialect with the rules that write LLVM text.

A rule is run on one operation; the lines it writes are read back as operations in its place. What stage B's passes
leave and what the short way writes are therefore the same instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Block, Operation, Region, SSAValue

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.module_emitter import DEFAULT_RULES
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.reading.function_reader import read_extras
from flydsl.codegen.reading.instruction_reader import read_line
from flydsl.codegen.reading.line_reader import LineReader
from flydsl.codegen.reading.op_view import op_name
from flydsl.codegen.rules import rules_arith, rules_cast, rules_math, rules_vector
from flydsl.passes.shared.llvm_conversion import cast_before, llvm_type, remove, replace_result, uncast
from flydsl.passes.shared.walk import functions

_CONSTANTS = frozenset(
    {"arith.constant", "llvm.mlir.constant", "llvm.mlir.undef", "llvm.mlir.poison", "llvm.mlir.zero", "ub.poison"}
)
"""Operations a rule sees as literals, also after they were converted: some rules choose by them."""


class _OneOperation(FunctionEmitter):
    """Writes one operation's lines; values from outside get names that the reader resolves."""

    def __init__(self, scope: ModuleScope, rules: Mapping[str, Rule], reader: LineReader, op: Operation) -> None:
        super().__init__(scope, rules)
        self.reader = reader
        self.op = op

    def operand(self, value: SSAValue) -> str:
        found = self.names.get(value)
        if found is None:
            found = self.names[value] = self._outside(value)
        return found

    def _outside(self, value: SSAValue) -> str:
        source = uncast(value)
        owner = source.owner
        if isinstance(owner, Operation) and owner.name in _CONSTANTS:
            DEFAULT_RULES[owner.name](self, owner)
            return self.names[owner.results[0]]
        name = self.fresh("in")
        self.reader.values[name] = cast_before(value, llvm_type(value.type), self.op)
        return name


class RuleConversion:
    """Converts the operations of functions by a table of rules; ``dialect_ops`` names intrinsics that have an op."""

    def __init__(self, triple: str = "", dialect_ops: Mapping[str, str] | None = None) -> None:
        self.scope = ModuleScope(triple)
        self.dialect_ops = dialect_ops

    def convert(self, function: Operation, rules: Mapping[str, Rule]) -> None:
        """Convert every operation of a function that has a rule."""
        reader = LineReader(self.dialect_ops)
        reader.entry = function.regions[0].blocks[0]
        for op in [op for op in _inside(function.regions[0]) if op_name(op) in rules]:
            self._convert_one(op, rules, reader)
        reader.drop_unused_constants()

    def _convert_one(self, op: Operation, rules: Mapping[str, Rule], reader: LineReader) -> None:
        emitter = _OneOperation(self.scope, rules, reader, op)
        rules[op_name(op)](emitter, op)
        for line in emitter.entry_lines:
            reader.anchor = reader.first_after_constants()
            read_line(reader, line)
        reader.anchor = op
        for line in emitter.lines:
            read_line(reader, line)
        for result in op.results:
            replace_result(result, reader.named(emitter.operand(result), llvm_type(result.type)), op)
        remove(op)
        reader.values.clear()

    def add_extras(self, container: Operation) -> None:
        """Put the functions and globals that rules asked for into the module around the functions."""
        block: Block = container.regions[0].blocks[0]
        present = {getattr(op.properties.get("sym_name"), "data", None) for op in block.ops}
        extras = [op for name, op in read_extras(self.scope).items() if name not in present]
        if block.first_op is None:
            block.add_ops(extras)
        else:
            block.insert_ops_before(extras, block.first_op)


def _inside(region: Region) -> list[Operation]:
    """Return every operation, inner regions included, before what contains it."""
    return [op for block in region.blocks for op in block.walk()]


def convert_dialect(module: Operation, rules: Mapping[str, Rule], accepts: Callable[[str], bool]) -> None:
    """Convert one dialect's operations in every function outside gpu modules, and in those of a gpu module given."""
    chosen = {name: rule for name, rule in rules.items() if accepts(name)}
    conversion = RuleConversion()
    for function in functions(module):
        conversion.convert(function, chosen)
    container = module if module.name in ("builtin.module", "gpu.module") else module.parent_op()
    if container is not None:
        conversion.add_extras(container)


# convert-arith-to-llvm: arithmetic, comparisons, conversions and constants become the llvm dialect's
#
# Floats below 16 bits are integers in LLVM; conversions from and to them are private functions added to the
# module.
#
#     %s = arith.addi %a, %b : index    ->    %s = llvm.add %a, %b : i64


def convert_arith_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_dialect(module, {**rules_arith.RULES, **rules_cast.RULES}, lambda name: name.startswith("arith."))


# convert-math-to-llvm: mathematical functions become LLVM's intrinsics, or calls of the C library where it has
# none
#
# %r = math.exp2 %x : f32    ->    %r = llvm.intr.exp2(%x) : (f32) -> f32


def convert_math_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_dialect(module, rules_math.RULES, lambda name: name.startswith("math."))


# convert-vector-to-llvm: operations on vectors become the llvm dialect's, vectors of any rank flat ones
#
# vector.extract %v[1] : f32 from vector<4xf32>    ->    llvm.extractelement %v[%c1 : i64] : vector<4xf32>


def convert_vector_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_dialect(module, rules_vector.RULES, lambda name: name.startswith(("vector.", "ub.")))
