"""Tracing a jit function: run it once over SSA values, which fills a module of host functions and kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.llvm import LinkageAttr, LLVMArrayType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from flydsl.base import knobs
from flydsl.base.errors import DslNameError, DslTypeError, SourceLocation
from flydsl.base.lazy import lazy_module
from flydsl.compiler.arguments.adapting import Adapted, keyword_only
from flydsl.compiler.backends.base import backend_for
from flydsl.compiler.kernel_function import refuse_waiting
from flydsl.compiler.messages.diagnostics import explain
from flydsl.compiler.options.hints import Hints, as_mapping, math_flags
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.compiler.tracing.emitter import SHARED_ALIGN, TraceEmitter
from flydsl.dialects.fly.payload import (
    ARGUMENT_NAMES,
    COOPERATIVE,
    DEPENDENT_LAUNCH,
    DYNAMIC_SHARED,
    RESIDENT,
    SHARED_RANGE,
)
from flydsl.dialects.fly.types import type_of
from flydsl.dialects.gpu_syntax import KERNEL_MARK, LaunchFuncOp
from flydsl.dialects.gpu_syntax import FuncOp as GpuFuncOp
from flydsl.dialects.gpu_syntax import ModuleOp as GpuModuleOp
from flydsl.dialects.gpu_syntax import ReturnOp as GpuReturnOp
from flydsl.dialects.parts import ir_type
from flydsl.dialects.upstream import op_class, ops_of
from flydsl.expr.numbers.fastmath import fastmath
from flydsl.expr.trace.context import tracing
from flydsl.expr.trace.shared_ledger import SharedLedger
from flydsl.passes.shared.intrinsic_call import native_declaration
from flydsl.passes.shared.walk import SANITIZE, location_of
from flydsl.target.target import Target

if TYPE_CHECKING:
    from flydsl.compiler.running import sanitized_arrays
else:
    sanitized_arrays = lazy_module("flydsl.compiler.running.sanitized_arrays")

# Modules --------------------------------------------------------------------------------------------------------------

KERNELS = "kernels"


def types_of(descriptions: Sequence[Any]) -> list[Attribute]:
    """IR types of payloads (fly types) and MLIR text (upstream types)."""
    return [ir_type(d) if isinstance(d, str) else type_of(d) for d in descriptions]


class ModuleBuilder:
    """Adds functions to a module; counts kernels so that each gets its own symbol."""

    def __init__(self, target: Target, kernel_attributes: Mapping[str, Any] | None = None) -> None:
        self.target = target
        self.kernel_attributes = dict(kernel_attributes or {})
        """Attributes of every kernel, from the compile hints; what a kernel is given itself wins."""
        self.gpu_block = Block()
        gpu_module = GpuModuleOp.create(properties={"sym_name": StringAttr(KERNELS)}, regions=[Region(self.gpu_block)])
        self.module = ModuleOp([gpu_module], attributes={"gpu.container_module": UnitAttr()})
        self.kernel_names: list[str] = []
        self.waiting: dict[Any, SourceLocation | None] = {}
        """Kernels that were called and not yet launched, and where."""
        self.dynamic_shared: dict[str, int] = {}
        self.shared_ledgers: dict[str, SharedLedger] = {}
        self.resident: set[str] = set()
        """Kernels whose blocks wait for each other."""
        self._shared: dict[str, Operation] = {}
        self._declared: set[str] = set()

    @property
    def gpu_module_op(self) -> Operation:
        """The gpu module that holds the kernels."""
        op = self.gpu_block.parent_op()
        assert op is not None
        return op

    @property
    def gpu_module_body(self) -> Block:
        """Its body; older kernels put their shared memory there with an insertion point."""
        return self.gpu_block

    def kernel_symbol(self, function: str, name: str | None) -> str:
        if name is None:
            return f"{function}_{len(self.kernel_names)}"
        taken = sum(1 for known in self.kernel_names if known == name or known.startswith(f"{name}_"))
        return name if not taken else f"{name}_{taken}"

    @staticmethod
    def attributes(unit_attrs: Sequence[str], value_attrs: dict[str, Any]) -> dict[str, Attribute]:
        """Extra attributes of a kernel, from Python values; None leaves one out."""
        found: dict[str, Attribute] = {name: UnitAttr() for name in unit_attrs}
        found |= {name: _attribute(name, value) for name, value in value_attrs.items() if value is not None}
        return found

    def host_function(self, name: str, arguments: Sequence[Any]) -> tuple[TraceEmitter, FuncOp]:
        types = types_of(arguments)
        block = Block(arg_types=types)
        op = FuncOp.create(
            properties={"sym_name": StringAttr(name), "function_type": FunctionType.from_lists(types, [])},
            regions=[Region(block)],
        )
        self.module.body.block.add_op(op)
        emitter = TraceEmitter(block, self.target)
        emitter.builder = self
        return emitter, op

    def declare(self, symbol: str, arguments: Sequence[Attribute], result: Attribute) -> None:
        """A native function that the launcher defines."""
        if symbol in self._declared:
            return
        self._declared.add(symbol)
        self.module.body.block.add_op(native_declaration(symbol, arguments, result))

    # Shared memory -----------------------------------------------------------------------------

    def declare_shared(self, symbol: str) -> None:
        """A block of shared memory in the gpu module; empty until its size is set."""
        if symbol in self._shared:
            return
        op = op_class("llvm.mlir.global").create(
            properties={
                "sym_name": StringAttr(symbol),
                "global_type": LLVMArrayType(0, i8),
                # The launch sizes the dynamic block, which therefore belongs to nobody here.
                "linkage": LinkageAttr("external" if symbol == DYNAMIC_SHARED else "internal"),
                "addr_space": IntegerAttr(3, i32),
                "alignment": IntegerAttr(SHARED_ALIGN, i64),
            },
            regions=[Region()],
        )
        first = self.gpu_block.first_op
        if first is None:
            self.gpu_block.add_op(op)
        else:
            self.gpu_block.insert_op_before(op, first)
        self._shared[symbol] = op

    def set_shared_size(self, symbol: str, size: int) -> None:
        self._shared[symbol].properties["global_type"] = LLVMArrayType(size, i8)

    @staticmethod
    def finish_host(emitter: TraceEmitter) -> None:
        check_uses(emitter.entry)
        emitter.entry.add_op(ReturnOp.create())

    def kernel(self, symbol: str, arguments: Sequence[SSAValue], block_size: tuple[int, int, int] | None,
               attributes: dict[str, Attribute], code: CodeType | None = None) -> TraceEmitter:  # fmt: skip
        """Open a kernel whose parameters have the types of ``arguments``; its location is that of its ``code``."""
        types = [a.type for a in arguments]
        block = Block(arg_types=types)
        attrs: dict[str, Attribute] = {"sym_name": StringAttr(symbol), KERNEL_MARK: UnitAttr(), **attributes}
        if block_size is not None:
            attrs["gpu.known_block_size"] = DenseArrayBase.from_list(i32, list(block_size))
        op = GpuFuncOp.create(
            properties={"function_type": FunctionType.from_lists(types, [])},
            attributes=attrs,
            regions=[Region(block)],
        )
        if code is not None:
            op.location = FileLineColLoc(StringAttr(code.co_filename), IntAttr(code.co_firstlineno), IntAttr(1))
        self.gpu_block.add_op(op)
        self.kernel_names.append(symbol)
        emitter = TraceEmitter(block, self.target)
        emitter.builder = self
        emitter.known_block_size = block_size
        emitter.kernel_symbol = symbol
        return emitter

    @staticmethod
    def name_arguments(emitter: TraceEmitter, names: Sequence[str]) -> None:
        """Note which parameter of the source each argument of a function comes from; those after them have no name."""
        function = emitter.entry.parent_op()
        assert function is not None
        unnamed = [""] * (len(emitter.entry.args) - len(names))
        function.attributes[ARGUMENT_NAMES] = ArrayAttr([StringAttr(name) for name in [*names, *unnamed]])

    @staticmethod
    def finish_kernel(emitter: TraceEmitter) -> None:
        check_uses(emitter.entry)
        emitter.entry.add_op(GpuReturnOp.create())

    @staticmethod
    def launch(emitter: TraceEmitter, symbol: str, grid: Sequence[SSAValue], block: Sequence[SSAValue],
               smem: SSAValue | None, stream: SSAValue | None, arguments: Sequence[SSAValue],
               cluster: Sequence[SSAValue] = (), dependent: bool = False, cooperative: bool = False,
               shared_range: tuple[int, int] | None = None) -> None:  # fmt: skip
        """Add a launch; ``shared_range`` bounds what ``smem`` may be, where it is no constant."""
        marks: dict[str, Attribute] = {DEPENDENT_LAUNCH: UnitAttr()} if dependent else {}
        if shared_range is not None:
            marks[SHARED_RANGE] = StringAttr(",".join(map(str, shared_range)))
        if cooperative:
            marks[COOPERATIVE] = UnitAttr()
        if cooperative or symbol in emitter.builder.resident:
            marks[RESIDENT] = UnitAttr()
        operands = [*grid, *block, *cluster, *([smem] if smem else []), *arguments, *([stream] if stream else [])]
        given = [int(bool(cluster))] * 3
        sizes = [0, *[1] * 6, *given, int(smem is not None), len(arguments), int(stream is not None)]
        op = LaunchFuncOp.create(
            operands=operands,
            properties={
                "kernel": SymbolRefAttr(KERNELS, ArrayAttr([StringAttr(symbol)])),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, sizes),
            },
            attributes=marks,
        )
        emitter.add(op)


# Every value is used where it exists: inside the region, and the function, that made it -------
#
# The names of a traced function follow this rule by themselves. A value can still escape: kept in an object while
# a branch is traced, or captured from a jit function by a kernel. One walk over the finished body finds it.


_WORDS = {"scf.if": "`if`", "scf.for": "`for`", "scf.while": "`while`"}


def check_uses(entry: Block) -> None:
    """Raise for the first operation that uses a value from outside its scope."""
    _check_block(entry, set())


def _check_block(block: Block, visible: set[Block]) -> None:
    visible.add(block)
    for op in ops_of(block):
        for operand in op.operands:
            # Most are of operations, and asking for their class first takes no time.
            if (operand.op.parent if isinstance(operand, OpResult) else operand.owner) not in visible:
                raise _escaped(op, operand)
        for region in op.regions:
            for inner in region.blocks:
                _check_block(inner, visible)
    visible.discard(block)


def _escaped(op: Operation, value: SSAValue) -> DslNameError:
    region = _region_of(value)
    if region is None or _function_of(op) is not _function_of(region):
        return DslNameError(
            "a run-time value of another function is used here",
            hint="pass it to the kernel as an argument; a kernel sees only its own values and Python constants",
            location=location_of(op),
        )
    word = _WORDS.get(region.name, "region")
    place = location_of(region)
    where = f"the run-time {word} of line {place.line}" if place else f"a run-time {word}"
    return DslNameError(
        f"a value made inside {where} is used outside of it, through an object that kept it",
        hint="hand it out through a variable that is bound before and assigned inside",
        location=location_of(op),
    )


def _region_of(value: SSAValue) -> Operation | None:
    """Return the operation whose region a value belongs to."""
    owner = value.owner
    return owner.parent_op()


def _function_of(op: Operation) -> Operation | None:
    while op is not None and not op.name.endswith(".func"):
        op = op.parent_op()  # type: ignore[assignment]
    return op


def _attribute(name: str, value: Any) -> Attribute:
    """Return a Python value as an attribute: numbers as i32, sequences and dicts element by element."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i32)
    if isinstance(value, (list, tuple)):
        return ArrayAttr([_attribute(name, item) for item in value])
    if isinstance(value, dict):
        return DictionaryAttr({str(key): _attribute(name, item) for key, item in value.items()})
    raise DslTypeError(
        f"the attribute '{name}' is a {type(value).__name__}", hint="give a bool, int or str, or a list or dict of them"
    )


# Traces ---------------------------------------------------------------------------------------------------------------

STREAM_TYPE = "!llvm.ptr"


def trace(
    func: Callable[..., Any], arguments: Sequence[Any], target: Target, hints: Hints = ()
) -> tuple[ModuleOp, str]:
    """Return the module of a jit function for these arguments, and the format of its argument block."""
    builder, formats = traced(func, arguments, target, hints)
    return builder.module, formats


def watch_arguments(module: ModuleOp, func: Callable[..., Any], arguments: Sequence[Any]) -> None:
    """With a sanitizer on, note in the module what it checks and where the array arguments lie."""
    if knobs.SANITIZE.get():
        names = func.__code__.co_varnames[: len(arguments)]
        module.attributes[SANITIZE] = StringAttr(sanitized_arrays.settings_text(names, arguments))


def traced(
    func: Callable[..., Any], arguments: Sequence[Any], target: Target, hints: Hints = ()
) -> tuple[ModuleBuilder, str]:
    """Return the builder with the finished module, which also knows the kernels' allocations, and the argument format.

    ``arguments`` holds adapted arguments, and compile-time values as they are.
    """
    adapted = [a for a in arguments if isinstance(a, Adapted)]
    types = [t for a in adapted for t in a.argument.ir_types()]
    formats = "".join(a.argument.abi() for a in adapted)
    if not any(a.is_stream for a in adapted):
        types.append(STREAM_TYPE)
        formats += "P"
    builder = ModuleBuilder(target, backend_for(target).lower_compile_hints(as_mapping(hints)))
    emitter, _ = builder.host_function(func.__name__, types)
    values = iter(emitter.entry.args)
    names = func.__code__.co_varnames[: len(arguments)]
    owners = [n for n, a in zip(names, arguments, strict=True) if isinstance(a, Adapted) for _ in a.argument.ir_types()]
    emitter.argument_names = dict(zip(emitter.entry.args, owners, strict=False))
    builder.name_arguments(emitter, owners)
    with tracing(emitter), fastmath(math_flags(hints)):
        try:
            inside = [
                a.argument.construct([next(values) for _ in a.argument.ir_types()]) if isinstance(a, Adapted) else a
                for a in arguments
            ]
            stream = ir_type(STREAM_TYPE)
            emitter.default_stream = next(values, None) or next(v for v in emitter.entry.args if v.type == stream)
            names = keyword_only(func)
            by_position = len(inside) - len(names)
            rewritten(func)(*inside[:by_position], **dict(zip(names, inside[by_position:], strict=True)))
            refuse_waiting(builder.waiting)
        except Exception as error:
            explain(error, func)
            raise
    builder.finish_host(emitter)
    watch_arguments(builder.module, func, [a.argument if isinstance(a, Adapted) else None for a in arguments])
    return builder, formats
