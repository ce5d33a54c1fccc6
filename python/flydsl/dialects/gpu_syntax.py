"""The gpu operations we emit, with upstream's textual syntax: xDSL prints and reads them generically.

Each class is xDSL's own operation with `print` and `parse` added, so whoever asks for xDSL's class
finds these too. A kernel is marked as upstream marks it, by the attribute ``gpu.kernel``.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import gpu
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, IndexType, SymbolRefAttr, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface

KERNEL_MARK = "gpu.kernel"
TARGETS = "targets"
_KNOWN_SIZES = ("known_block_size", "known_grid_size")


class ModuleOp(gpu.ModuleOp):
    """``gpu.module @name [#rocdl.target<chip = "gfx942">] { … }``; the targets are optional."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if TARGETS in self.attributes:
            printer.print_string(" ")
            printer.print_attribute(self.attributes[TARGETS])
        printer.print_op_attributes(self.attributes, reserved_attr_names=(TARGETS,), print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> ModuleOp:
        name = parser.parse_symbol_name()
        targets = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
        extra = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region()
        if not body.blocks:
            body = Region(Block())
        attributes: dict[str, Attribute] = dict(extra.data) if extra else {}
        if targets is not None:
            attributes[TARGETS] = ArrayAttr(targets)
        return cls.create(properties={"sym_name": name}, attributes=attributes, regions=[body])


class BinaryOp(Operation):
    """``gpu.binary @name [#gpu.object<…>]``: what a gpu.module became, which xDSL lacks."""

    name = "gpu.binary"
    traits = OpTraits(lambda: (SymbolOpInterface(),))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.properties["sym_name"].data)  # type: ignore[union-attr]
        printer.print_string(" ")
        printer.print_attribute(self.properties["objects"])
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> BinaryOp:
        name = parser.parse_symbol_name()
        objects = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
        extra = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            properties={"sym_name": name, "objects": ArrayAttr(objects)}, attributes=dict(extra.data) if extra else {}
        )


class FuncOp(gpu.FuncOp):
    """``gpu.func @name(%a: f32) kernel attributes {…} { … }``"""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.blocks[0].args, printer.print_block_argument)
        if self.function_type.outputs.data:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.function_type.outputs.data, printer.print_attribute)
        if KERNEL_MARK in self.attributes or self.kernel is not None:
            printer.print_string(" kernel")
        shown = {k.removeprefix("gpu.") if k[4:] in _KNOWN_SIZES else k: v for k, v in self.attributes.items()}
        printer.print_op_attributes(shown, reserved_attr_names=("sym_name", KERNEL_MARK), print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        outputs: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            found = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            outputs = list(found) if found is not None else [parser.parse_type()]
        attributes: dict[str, Attribute] = {"sym_name": name}
        if parser.parse_optional_keyword("kernel") is not None:
            attributes[KERNEL_MARK] = UnitAttr()
        extra = parser.parse_optional_attr_dict_with_keyword()
        for key, value in (extra.data if extra else {}).items():
            attributes[f"gpu.{key}" if key in _KNOWN_SIZES else key] = value
        body = parser.parse_region(arguments)
        type_ = FunctionType.from_lists([a.type for a in arguments], outputs)
        return cls.create(properties={"function_type": type_}, attributes=attributes, regions=[body])


class ReturnOp(gpu.ReturnOp):
    """``gpu.return %a : f32``"""

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list([o.type for o in self.operands], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> ReturnOp:
        attributes = parser.parse_optional_attr_dict()
        at = parser.pos
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        operands: list[SSAValue] = []
        if unresolved:
            parser.parse_punctuation(":")
            types = [parser.parse_type()]
            while parser.parse_optional_punctuation(",") is not None:
                types.append(parser.parse_type())
            operands = list(parser.resolve_operands(unresolved, types, at))
        return cls.create(operands=operands, attributes=attributes)


class BarrierOp(gpu.BarrierOp):
    """``gpu.barrier``"""

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        return cls.create(attributes=parser.parse_optional_attr_dict())


class _DimensionSyntax(Operation):
    """``gpu.thread_id x``"""

    def print(self, printer: Printer) -> None:
        dimension = self.properties["dimension"]
        assert isinstance(dimension, gpu.DimensionAttr)
        printer.print_string(f" {dimension.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        dimension = gpu.DimensionAttr(parser.parse_str_enum(gpu.DimensionEnum))
        return cls.create(
            properties={"dimension": dimension},
            attributes=parser.parse_optional_attr_dict(),
            result_types=[IndexType()],
        )


class ThreadIdOp(_DimensionSyntax, gpu.ThreadIdOp):
    pass


class BlockIdOp(_DimensionSyntax, gpu.BlockIdOp):
    pass


class BlockDimOp(_DimensionSyntax, gpu.BlockDimOp):
    pass


class GridDimOp(_DimensionSyntax, gpu.GridDimOp):
    pass


class GlobalIdOp(_DimensionSyntax, gpu.GlobalIdOp):
    pass


# Launches --------------------------------------------------------------------------------------

_ASYNC, _GRID, _BLOCK, _CLUSTER, _SHARED, _ARGUMENTS, _STREAM = range(7)
_SEGMENTS = (1, 3, 3, 3, 1, 1, 1)
"""How many entries of operandSegmentSizes each group of operands has."""


class LaunchFuncOp(gpu.LaunchFuncOp):
    """``gpu.launch_func <%stream : T> @m::@k blocks in (…) threads in (…) args(%a : T)``"""

    def groups(self) -> list[list[SSAValue]]:
        """Return the operands by what they say, in the order of the operation."""
        sizes = self.properties["operandSegmentSizes"]
        assert isinstance(sizes, DenseArrayBase)
        counts, operands = iter(sizes.get_values()), iter(self.operands)
        return [[next(operands) for _ in range(sum(int(next(counts)) for _ in range(n)))] for n in _SEGMENTS]

    def print(self, printer: Printer) -> None:
        groups = self.groups()
        assert not groups[_ASYNC], "launches carry a stream, not tokens"
        if groups[_STREAM]:
            printer.print_string(" <")
            _print_typed(printer, groups[_STREAM][0])
            printer.print_string(">")
        printer.print_string(" ")
        printer.print_attribute(self.kernel)
        for word, group in (("clusters", _CLUSTER), ("blocks", _GRID), ("threads", _BLOCK)):
            if groups[group]:
                printer.print_string(f" {word} in (")
                printer.print_list(groups[group], printer.print_ssa_value)
                printer.print_string(")")
        if not isinstance(groups[_GRID][0].type, IndexType):
            printer.print_string(" : ")
            printer.print_attribute(groups[_GRID][0].type)
        if groups[_SHARED]:
            printer.print_string(" dynamic_shared_memory_size ")
            printer.print_ssa_value(groups[_SHARED][0])
        if groups[_ARGUMENTS]:
            printer.print_string(" args(")
            printer.print_list(groups[_ARGUMENTS], lambda value: _print_typed(printer, value))
            printer.print_string(")")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> LaunchFuncOp:
        stream = _parse_stream(parser)
        kernel = parser.parse_attribute()
        if not isinstance(kernel, SymbolRefAttr):
            parser.raise_error("a launch names its kernel: @module::@kernel")
        sizes = {word: _parse_sizes(parser, word) for word in ("clusters", "blocks", "threads")}
        if len(sizes["blocks"]) != 3 or len(sizes["threads"]) != 3 or len(sizes["clusters"]) not in (0, 3):
            parser.raise_error("a launch states three sizes each for blocks and threads, and for clusters if any")
        kind = parser.parse_type() if parser.parse_optional_punctuation(":") is not None else IndexType()
        shared: list[SSAValue] = []
        if parser.parse_optional_keyword("dynamic_shared_memory_size") is not None:
            shared = [parser.resolve_operand(parser.parse_unresolved_operand(), i32)]
        arguments: list[SSAValue] = []
        if parser.parse_optional_keyword("args") is not None:
            arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_typed(parser))
        grid, block, cluster = (
            [parser.resolve_operand(size, kind) for size in sizes[word]] for word in ("blocks", "threads", "clusters")
        )
        one_if_cluster = [1 if cluster else 0] * 3
        counts = [0, 1, 1, 1, 1, 1, 1, *one_if_cluster, len(shared), len(arguments), len(stream)]
        return cls.create(
            operands=[*grid, *block, *cluster, *shared, *arguments, *stream],
            properties={"kernel": kernel, "operandSegmentSizes": DenseArrayBase.from_list(i32, counts)},
            attributes=parser.parse_optional_attr_dict(),
        )


def _print_typed(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def _parse_typed(parser: Parser) -> SSAValue:
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(operand, parser.parse_type())


def _parse_stream(parser: Parser) -> list[SSAValue]:
    if parser.parse_optional_punctuation("<") is None:
        return []
    stream = _parse_typed(parser)
    parser.parse_punctuation(">")
    return [stream]


def _parse_sizes(parser: Parser, word: str) -> list[UnresolvedOperand]:
    if parser.parse_optional_keyword(word) is None:
        return []
    parser.parse_keyword("in")
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)


GPU_OPS: tuple[type[Operation], ...] = (
    ModuleOp,
    BinaryOp,
    FuncOp,
    ReturnOp,
    BarrierOp,
    ThreadIdOp,
    BlockIdOp,
    BlockDimOp,
    GridDimOp,
    GlobalIdOp,
    LaunchFuncOp,
)
"""The classes that replace xDSL's of the same name."""
