"""The emitter that tracing writes through: operations with their source line, shared constants.

Operations are made with `Operation.create` and cached attributes, because tracing is the hot
path of compilation. Constants and static layouts go to the top of the function, once each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntAttr, IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from flydsl.base.errors import DslRuntimeError, SourceLocation
from flydsl.dialects.fly.op_table import OP_TABLE
from flydsl.dialects.fly.ops import OP_CLASSES, infer_types, to_attr
from flydsl.dialects.fly.payload import DYNAMIC_SHARED, Pointer
from flydsl.dialects.fly.types import type_of
from flydsl.dialects.parts import (
    DEFAULTS,
    attribute,
    current_location,
    default_properties,
    ir_type,
    make_constant,
    type_text,
    user_frame,
)
from flydsl.dialects.upstream import created, integers, op_class, ops_of, put_last
from flydsl.passes.shared.intrinsic_call import PTX_NAME, asm_properties, call_properties, native_call
from flydsl.passes.shared.known_bits import known_twos
from flydsl.passes.shared.walk import MARK
from flydsl.target.copy_nvvm import under_policy
from flydsl.target.ptx import PTX_OPS
from flydsl.target.target import Target

T = TypeVar("T")


SHARED_ALIGN = 1024
SHARED_POINTER = LLVMPointerType(IntAttr(3))


class TraceEmitter:
    """Builds the body of one function; see `flydsl.expr.trace.context.Emitter` for the contract."""

    def __init__(self, entry: Block, target: Target) -> None:
        self.entry = entry
        self.block = entry
        self.target = target
        self.builder: Any = None
        self.known_block_size: tuple[int, int, int] | None = None
        self.kernel_symbol: str | None = None
        self.argument_names: dict[SSAValue, str] = {}
        self.shared_allocator: Any = None
        self.own_shared_allocator: Any = None
        """For what fx.coop needs where the kernel has made no SharedAllocator yet."""
        self.default_stream: Any = None
        self._outer_blocks: list[tuple[Block, bool]] = []
        """The blocks around the one being built, and of each whether all threads are in what follows it."""
        self._constants: dict[Any, SSAValue] = {}
        self._last_constant: Operation | None = None

    # Emission ----------------------------------------------------------------------------------

    def add(self, op: Operation) -> Operation:
        """Append an operation at the insertion point, tagged with the user's line."""
        location = current_location()
        if location is not None:
            op.location = location
        put_last(op, self.block)
        return op

    def op(
        self,
        name: str,
        operands: Sequence[Any],
        result: str | Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Any:
        if self.kernel_symbol is None and name.startswith("gpu."):
            self.require_kernel(name.removeprefix("gpu."))
        defaults = DEFAULTS.get(name)
        if defaults is None:
            defaults = DEFAULTS[name] = default_properties(name)
        properties = dict(defaults)
        if attrs:
            for key, value in attrs.items():
                if value is not None:
                    properties[key] = attribute(name, key, value)
        several = not isinstance(result, (str, type(None)))
        types = () if result is None else [ir_type(t) for t in ((result,) if isinstance(result, str) else result)]
        op = self.add(created(op_class(name), operands, types, properties))
        if several:
            return tuple(op.results)
        return op.results[0] if types else None

    def require_kernel(self, what: str) -> None:
        """Refuse what only a GPU can do in the jit function, which runs on the host."""
        if self.kernel_symbol is None:
            raise DslRuntimeError(
                f"{what} belongs to a kernel, and none is being traced here",
                hint="move it into a function decorated with @flyc.kernel; a jit function runs on the host",
            )

    def intrinsic(self, name: str, operands: Sequence[Any], result: str | None = None) -> Any:
        self.require_kernel(name.removeprefix("llvm."))
        types = [] if result is None else [ir_type(result)]
        properties = call_properties(name, len(operands))
        op = self.add(created(op_class("llvm.call_intrinsic"), operands, types, properties))
        return op.results[0] if types else None

    def ptx(self, name: str, operands: Sequence[Any], literals: Sequence[int] = (), l2: str | None = None) -> Any:
        instruction = PTX_OPS[name]
        types = [] if instruction.result is None else [ir_type(instruction.result)]
        text = under_policy(instruction.asm(tuple(literals)), l2, instruction.tail)
        return self._asm(name, operands, types, text, instruction.clobbers)

    def tied(self, name: str, text: str, values: Sequence[Any]) -> Sequence[Any]:
        """Return an instruction that many registers pass through unchanged, so that nothing moves across it."""
        kinds = {type_: {"f32": "=f", "i32": "=r"}[str(type_)] for type_ in {v.type for v in values}}
        outputs = [kinds[v.type] for v in values]
        constraints = ",".join([*outputs, *(str(i) for i in range(len(values))), "~{memory}"])
        struct = LLVMStructType.from_type_list([v.type for v in values])
        result = self._asm(name, values, [struct], text, constraints)
        kind = op_class("llvm.extractvalue")
        return [self.add(created(kind, [result], [v.type], {"position": integers(64, i)})).results[0]
                for i, v in enumerate(values)]  # fmt: skip

    def _asm(self, name: str, operands: Sequence[Any], types: Sequence[Attribute], text: str, constraints: str) -> Any:
        """Inline assembly; ``fly.ptx`` says which instruction it is, for back ends that run it some other way."""
        self.require_kernel(name)
        properties, mark = asm_properties(text, constraints), {PTX_NAME: StringAttr(name)}
        op = created(op_class("llvm.inline_asm"), operands, types, properties, mark)
        self.add(op)
        return op.results[0] if types else None

    def call(self, symbol: str, operands: Sequence[Any], result: str, marks: Mapping[str, str] | None = None) -> Any:
        """A call of a native function that the launcher provides, with text attributes; declared in the module once."""
        type_ = ir_type(result)
        self.builder.declare(symbol, [o.type for o in operands], type_)
        op = native_call(symbol, operands, type_, dict(marks or {}))
        self.add(op)
        return op.results[0]

    def argument_name(self, value: Any) -> str | None:
        """Return the parameter of the jit function that a value is, or is a part of; None if it has another origin."""
        while isinstance(value.owner, Operation) and value.owner.operands:
            value = value.owner.operands[0]
        return self.argument_names.get(value)

    def fly(
        self, name: str, operands: Sequence[Any], attrs: Mapping[str, Any] | None = None, result: Any = None
    ) -> Any:
        spec = OP_TABLE[name]
        if result is not None:
            types: Sequence[Attribute] = [ir_type(result) if isinstance(result, str) else type_of(result)]
        elif spec.result == "explicit":
            types = []
        else:
            types = infer_types(spec, [o.type for o in operands], attrs or {})
        stored = {
            key: to_attr((spec.attrs or {})[key], value) for key, value in (attrs or {}).items() if value is not None
        }
        op = self.add(created(OP_CLASSES[name], operands, types, attributes=stored))
        return None if not op.results else op.results[0] if len(op.results) == 1 else tuple(op.results)

    # Constants ---------------------------------------------------------------------------------

    def _at_top(self, op: Operation) -> SSAValue:
        if self._last_constant is not None:
            self.entry.insert_op_after(op, self._last_constant)
        elif self.entry.first_op is not None:
            self.entry.insert_op_before(op, self.entry.first_op)
        else:
            self.entry.add_op(op)
        self._last_constant = op
        return op.results[0]

    def constant(self, type: str, value: int | float) -> Any:
        key = (type, repr(value))
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._at_top(make_constant(ir_type(type), value))
        return found

    def static(self, payload: Any) -> Any:
        type_ = type_of(payload)
        found = self._constants.get(type_)
        if found is None:
            found = self._constants[type_] = self._at_top(created(OP_CLASSES["static"], (), [type_]))
        return found

    def shared_memory(self, symbol: str) -> Any:
        """Return the start of a named block of shared memory, as a byte pointer; its size may be set later."""
        key = ("shared", symbol)
        found = self._constants.get(key)
        if found is None:
            self.builder.declare_shared(symbol)
            address = op_class("llvm.mlir.addressof").create(
                result_types=[SHARED_POINTER], properties={"global_name": SymbolRefAttr(symbol)}
            )
            self._at_top(address)
            pointer = OP_CLASSES["make_ptr"].create(
                operands=address.results, result_types=[type_of(Pointer("i8", "shared", SHARED_ALIGN))]
            )
            found = self._constants[key] = self._at_top(pointer)
        return found

    def marked_pointer(self, pointer: Any, mark: str) -> Any:
        """Return the same pointer as a value of its own, which carries a mark through the passes."""
        same = OP_CLASSES["recast_iter"].create(
            operands=[pointer], result_types=[pointer.type], attributes={MARK: StringAttr(mark)}
        )
        maker = pointer.owner
        if isinstance(maker, Operation) and maker.parent is not None:
            same.location = maker.location
            maker.parent.insert_op_after(same, maker)
            if maker is self._last_constant:
                self._last_constant = same
            return same.results[0]
        return self.add(same).results[0]

    def declare_dynamic_shared(self) -> None:
        self.builder.declare_shared(DYNAMIC_SHARED)

    def narrowed(self, count: SSAValue) -> SSAValue:
        """Return an i64 as an i32; what does not fit becomes the nearest that does."""
        for op, bound in (("arith.minsi", 2**31 - 1), ("arith.maxsi", -(2**31))):
            count = self.op(op, [count, self.constant("i64", bound)], "i64")
        return self.op("arith.trunci", [count], "i32")

    def require_residence(self) -> None:
        self.builder.resident.add(self.kernel_symbol)

    def known_number(self, value: Any) -> int | float | None:
        constant = value.owner if isinstance(value, SSAValue) else None
        if not isinstance(constant, ConstantOp) or not isinstance(constant.value, (IntegerAttr, FloatAttr)):
            return None
        return constant.value.value.data

    def known_difference(self, first: Any, second: Any) -> int | None:
        (base, start), (other, end) = (self._base_and_offset(value) for value in (first, second))
        return end - start if base is other else None

    def _base_and_offset(self, value: SSAValue) -> tuple[SSAValue, int]:
        """Return a value as another one plus a known number."""
        offset = 0
        while isinstance(value.owner, AddiOp):
            left, right = value.owner.operands
            known = self.known_number(right)
            if not isinstance(known, int):
                left, known = right, self.known_number(left)
            if not isinstance(known, int):
                break
            value, offset = left, offset + known
        return value, offset

    def known_divisor(self, value: Any) -> int:
        return 1 << known_twos(value)

    def views_argument(self, value: Any) -> bool:
        while isinstance(made := value.owner, Operation) and made.operands and made.name != "fly.make_view":
            value = made.operands[0]
        return isinstance(value, BlockArgument)

    def type_name(self, value: Any) -> str:
        return type_text(value.type)

    def here(self) -> SourceLocation | None:
        """Return the user's line being traced."""
        frame = user_frame()
        if frame is None:
            return None
        return SourceLocation(frame.f_code.co_filename, frame.f_lineno or 0, function=frame.f_code.co_name)

    # Regions -----------------------------------------------------------------------------------

    def _block(
        self, arg_types: Sequence[Attribute], build: Callable[[Sequence[SSAValue]], T], by_all: bool = False
    ) -> tuple[Block, T]:
        """Return a new block with what ``build`` emits, and what it returns; ``by_all`` if no thread is left out of
        it."""
        block, outer = Block(arg_types=arg_types), self.block
        self._outer_blocks.append((outer, by_all))
        self.block = block
        try:
            return block, build(block.args)
        finally:
            self.block = outer
            self._outer_blocks.pop()

    def enter_block(self, block: Block) -> None:
        """Build into a block of an operation that is there already, until `leave_block`."""
        self._outer_blocks.append((self.block, False))
        self.block = block

    def leave_block(self, outer: Block) -> None:
        self._outer_blocks.pop()
        self.block = outer

    def before_branches(self, values: Sequence[Any], build: Callable[[bool], T]) -> T:
        owners = [value.owner for value in values]
        homes = {owner if isinstance(owner, Block) else owner.parent for owner in owners}
        here, around = self.block, self._outer_blocks
        # What is around the block being built is not closed yet, so its end is the place before the branch.
        depth = len(around)
        while depth and self.block not in homes:
            depth -= 1
            self.block = around[depth][0]
        self._outer_blocks = around[:depth]
        try:
            return build(all(by_all for _, by_all in self._outer_blocks))
        finally:
            self.block, self._outer_blocks = here, around

    @staticmethod
    def _end(block: Block, terminator: type[Operation], values: Sequence[Any]) -> None:
        op = created(terminator, values)
        op.location = current_location() or op.location
        block.add_op(op)

    def if_(self, cond: Any, then: Callable[[], None], orelse: Callable[[], None],
            merge: Callable[[], tuple[Sequence[Any], Sequence[Any]]]) -> Sequence[Any]:  # fmt: skip
        blocks = [self._block((), lambda _, build=build: build())[0] for build in (then, orelse)]
        yields = merge()
        has_else = bool(yields[0]) or blocks[1].first_op is not None
        for block, values in zip(blocks, yields, strict=True):
            self._end(block, YieldOp, values)
        regions = [Region(blocks[0]), Region(blocks[1]) if has_else else Region()]
        op = IfOp.create(operands=[cond], result_types=[v.type for v in yields[0]], regions=regions)
        return self.add(op).results

    def for_(self, start: Any, stop: Any, step: Any, inits: Sequence[Any],
             body: Callable[[Any, Sequence[Any]], Sequence[Any]]) -> Sequence[Any]:  # fmt: skip
        types = [start.type, *(v.type for v in inits)]
        known = all(self.known_number(bound) is not None for bound in (start, stop, step))
        block, results = self._block(types, lambda args: body(args[0], args[1:]), by_all=known)
        self._end(block, YieldOp, results)
        op = ForOp.create(operands=[start, stop, step, *inits], result_types=types[1:], regions=[Region(block)])
        return self.add(op).results

    def while_(self, inits: Sequence[Any], condition: Callable[[Sequence[Any]], tuple[Any, Sequence[Any]]],
               body: Callable[[Sequence[Any]], Sequence[Any]]) -> Sequence[Any]:  # fmt: skip
        before, (holds, passed) = self._block([v.type for v in inits], condition)
        self._end(before, ConditionOp, [holds, *passed])
        types = [v.type for v in passed]
        after, results = self._block(types, body)
        self._end(after, YieldOp, results)
        regions = [Region(before), Region(after)]
        return self.add(WhileOp.create(operands=inits, result_types=types, regions=regions)).results

    def speculate(self, build: Callable[[], T], keep: Callable[[T], bool]) -> T:
        block, result = self._block((), lambda _: build(), by_all=True)
        kept = keep(result)
        for op in ops_of(block):
            op.detach()
            if kept:
                self.block.add_op(op)
            else:
                op.erase(safe_erase=False)
        return result
