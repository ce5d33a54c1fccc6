"""Values printed under the names that upstream's printer gives them, whatever the input called them.

    %arg0, %arg1 ...          arguments of functions and of the blocks inside them
    %c4_i32, %c4, %true       integer constants; %cst for every other one
    %thread_id_x              positions in the grid
    %0, %1 ...                everything else; the results of one operation are %0#0, %0#1

A name that is taken gets the first free one of ``_0``, ``_1`` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.printer import Printer

from flydsl.dialects.upstream_syntax import StructType, printer_of, struct_text

_POSITIONS = ("thread_id", "block_id", "block_dim", "grid_dim", "cluster_id", "cluster_dim")


def _constant_name(value: object) -> str:
    if not isinstance(value, IntegerAttr):
        return "cst"
    type_, number = value.type, value.value.data
    if isinstance(type_, IndexType):
        return f"c{number}"
    if isinstance(type_, IntegerType) and type_.width.data == 1:
        return "true" if number else "false"
    return f"c{number}_{type_}"


def suggested_name(value: SSAValue) -> str:
    """Return the name that upstream suggests for a value, or nothing where it is numbered."""
    if not isinstance(value, OpResult):
        return ""
    op = value.op
    if op.name == "arith.constant":
        return _constant_name(op.properties.get("value"))
    dialect, _, name = op.name.partition(".")
    if dialect == "gpu" and name in _POSITIONS:
        dimension = getattr(op.properties.get("dimension"), "data", None)
        return f"{name}_{getattr(dimension, 'value', dimension)}"
    return ""


def _is_plain(attribute: Attribute) -> bool:
    """Return an integer whose type goes without saying in a list."""
    return isinstance(attribute, IntegerAttr) and attribute.type == i64


class MlirPrinter(Printer):
    """A printer that names values as upstream does, and writes operations in its words."""

    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, StructType):
            self.print_string(struct_text(attribute))
        elif isinstance(attribute, ArrayAttr) and attribute.data and all(map(_is_plain, attribute.data)):
            self.print_string(f"[{', '.join(str(number.value.data) for number in attribute.data)}]")
        else:
            super().print_attribute(attribute)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        super().print_attr_dict({name: attr_dict[name] for name in sorted(attr_dict)})

    def print_op(self, op: Operation) -> None:
        rest = None if self.print_generic_format else printer_of(op)
        if rest is None:
            self._print_in_scope(op)
            return
        self._print_results(op)
        self.print_string(op.name)
        rest(op, self)
        if self.print_debuginfo:
            self.print_string(" ")
            self.print_attribute(op.location)

    def print_ssa_value(self, value: SSAValue) -> str:
        if value not in self._ssa_values:
            self._ssa_values[value] = self._new_name(value)
        name = self._ssa_values[value]
        self.print_string(f"%{name}")
        return name

    def _print_in_scope(self, op: Operation) -> None:
        if op.name != "llvm.func":  # whose values xDSL does not take for its own
            super().print_op(op)
            return
        self.enter_scope()
        super().print_op(op)
        self.exit_scope()

    def _print_results(self, op: Operation) -> None:
        if len(op.results) < 2:
            super()._print_results(op)
            return
        name = self._get_new_valid_name_id()
        for index, result in enumerate(op.results):
            self._ssa_values[result] = f"{name}#{index}"
        self.print_string(f"%{name}:{len(op.results)} = ")

    def _new_name(self, value: SSAValue) -> str:
        if isinstance(value, BlockArgument):
            return f"arg{self._counted('arg')}"
        wanted = suggested_name(value)
        if not wanted:
            return self._get_new_valid_name_id()
        taken = self._counted(wanted)
        return f"{wanted}_{taken - 1}" if taken else wanted

    def _counted(self, name: str) -> int:
        """Return how often a name was asked for in this scope."""
        found = self.ssa_names.get(name, 0)
        self.ssa_names[name] = found + 1
        return found
