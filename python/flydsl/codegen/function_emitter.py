"""One function's LLVM text, op by op.

An op is looked up by name in a table of rules; a rule writes lines and says under which text its
results are known from then on. Constants write nothing: their text is the literal itself.

A backend may drive this by hand: pre-set ``names`` for block arguments, write its own loops with
``start_block`` and ``line``, and call ``emit_op`` for the ops in between. Emitting the same region
twice is fine, since labels and names are fresh each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_types import Scalar, scalar_of, type_text
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.reading.op_view import fail, op_name
from flydsl.dialects.upstream import ops_of

Rule = Callable[["FunctionEmitter", Operation], None]

ENTRY_LABEL = "entry"


class FunctionEmitter:
    """Lines, value names and the current block of a function being written."""

    subprogram = ""
    """The function's debug scope, where it has one."""

    def __init__(self, scope: ModuleScope, rules: Mapping[str, Rule]) -> None:
        self.scope = scope
        self.rules = rules
        self.names: dict[SSAValue, str] = {}
        self.lines: list[str] = []
        self.entry_lines: list[str] = []
        self.current_label = ENTRY_LABEL
        self._count = 0
        self._labels: dict[Block, str] = {}
        self._incoming: dict[Block, list[tuple[str, list[str]]]] = {}

    # Names and operands.

    def fresh(self, hint: str = "v") -> str:
        """Return a new value name."""
        self._count += 1
        return f"%{hint}.{self._count}"

    def fresh_label(self, hint: str) -> str:
        """Return a new block label (without the leading ``%``)."""
        self._count += 1
        return f"{hint}.{self._count}"

    def operand(self, value: SSAValue) -> str:
        """Return the text of a value: its name, or its literal."""
        found = self.names.get(value)
        if found is None:
            owner = value.owner
            if isinstance(owner, Operation):
                fail(owner, "its result is used before it was emitted")
            raise LoweringError(f"block argument of type '{value.type}' has no name in the emitted function")
        return found

    def typed(self, value: SSAValue) -> str:
        """Type and text of a value, as an argument is written."""
        return f"{type_text(value.type)} {self.operand(value)}"

    def bind(self, value: SSAValue, text: str) -> None:
        """From now on ``value`` is written as ``text``."""
        self.names[value] = text

    # Instructions.

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def assign(self, expression: str, hint: str = "v") -> str:
        """Write ``%new = expression`` and return the new name."""
        name = self.fresh(hint)
        self.lines.append(f"  {name} = {expression}")
        return name

    def define(self, op: Operation, expression: str, result: int = 0) -> None:
        """Write an instruction whose value is the op's result."""
        value = op.results[result]
        self.names[value] = self.assign(expression, value.name_hint or "v")

    def call(self, result_type: str, callee: str, arguments: Sequence[str], flags: str = "") -> str:
        """A call that returns a value; arguments are written with their types."""
        return self.assign(f"call {flags}{result_type} {callee}({', '.join(arguments)})")

    def entry_line(self, text: str) -> None:
        """A line at the top of the function, for fixed-size stack slots: LLVM keeps those out of loops."""
        self.entry_lines.append(f"  {text}")

    # Blocks.

    def start_block(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.current_label = label

    def branch(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def branch_if(self, condition: str, then_label: str, else_label: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{then_label}, label %{else_label}")

    def reserve_line(self) -> int:
        """Return a line to be filled in later: a phi is written before its last predecessor is known."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill_phi(self, slot: int, name: str, type_: str, incoming: Sequence[tuple[str, str]]) -> None:
        """Complete a reserved phi; ``incoming`` pairs a value text with a block label."""
        pairs = ", ".join(f"[ {text}, %{label} ]" for text, label in incoming)
        self.lines[slot] = f"  {name} = phi {type_} {pairs}"

    def phi(self, value: SSAValue, incoming: Sequence[tuple[str, str]]) -> None:
        """A phi at the current place, all of whose predecessors are known."""
        name = self.fresh(value.name_hint or "v")
        self.fill_phi(self.reserve_line(), name, type_text(value.type), incoming)
        self.names[value] = name

    # Ops, blocks, regions.

    def emit_op(self, op: Operation) -> None:
        """Write one op by its rule."""
        name = op.name
        rule = self.rules.get(name)
        if rule is None:
            rule = self.rules.get(op_name(op))
            if rule is None:
                fail(op, "no rule turns this op into LLVM IR")
        rule(self, op)

    def emit_block_body(self, block: Block) -> Operation:
        """Write every op of a block but its terminator, which is returned for the caller to interpret."""
        last = block.last_op
        if last is None:
            raise LoweringError("a block without a terminator cannot be emitted")
        for op in ops_of(block):
            if op is last:
                break
            self.emit_op(op)
        return last

    def emit_region(self, region: Region) -> None:
        """Write all reachable blocks of a region, starting in the current block.

        Blocks come in reverse post-order, in which a value's definition precedes its uses however the
        region lists its blocks.
        """
        blocks = _reverse_postorder(region.blocks[0])
        self._labels[blocks[0]] = self.current_label
        for block in blocks[1:]:
            self._labels[block] = self.fresh_label("bb")
            self._incoming[block] = []
        slots: list[tuple[Block, int, int]] = []
        for block in blocks:
            if block is not blocks[0]:
                self.start_block(self._labels[block])
                for position, argument in enumerate(block.args):
                    slots.append((block, position, self.reserve_line()))
                    self.names[argument] = self.fresh(argument.name_hint or "v")
            self.emit_op(self.emit_block_body(block))
        for block, position, slot in slots:
            argument = block.args[position]
            incoming = [(texts[position], label) for label, texts in self._incoming[block]]
            self.fill_phi(slot, self.names[argument], type_text(argument.type), incoming)

    def edge(self, target: Block, arguments: Sequence[SSAValue], source: str | None = None) -> str:
        """Note a branch to ``target`` that passes ``arguments``; returns the label to branch to."""
        texts = [self.operand(value) for value in arguments]
        self._incoming[target].append((source or self.current_label, texts))
        return self._labels[target]

    def body_text(self) -> str:
        """Return the function's body, without the braces."""
        return "\n".join([f"{ENTRY_LABEL}:", *self.entry_lines, *self.lines])

    def scalar(self, value: SSAValue) -> Scalar:
        return scalar_of(value.type)

    def type(self, value: SSAValue | Attribute) -> str:
        return type_text(value.type if isinstance(value, SSAValue) else value)


def _reverse_postorder(entry: Block) -> list[Block]:
    """Reachable blocks, each before the blocks it dominates. Iterative: unrolled kernels are deep.

    The last successor is followed first, so that a loop's body comes before what follows the loop.
    """
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, reversed(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        following = next((candidate for candidate in rest if candidate not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, reversed(_successors(following))))
    order.reverse()
    return order


def _successors(block: Block) -> Sequence[Block]:
    return block.last_op.successors if block.last_op is not None else ()
