"""Upstream operations by name: xDSL's classes where it has them, plain ones for what it lacks. And making them quickly.

Dialects are imported when first asked for; a kernel without `math` never pays for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, IntegerAttr, IntegerType, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, OpTraits, SSAValue, SSAValues, Use
from xdsl.traits import IsTerminator, Pure

from flydsl.base.lazy import lazy_module
from flydsl.dialects.xdsl_loading import load

if TYPE_CHECKING:
    from flydsl.dialects import arith_syntax, gpu_syntax, llvm_syntax
else:
    arith_syntax = lazy_module("flydsl.dialects.arith_syntax")
    gpu_syntax = lazy_module("flydsl.dialects.gpu_syntax")
    llvm_syntax = lazy_module("flydsl.dialects.llvm_syntax")

OpT = TypeVar("OpT", bound=Operation)

_NOTHING: Mapping[str, Attribute] = {}


@cache
def _defaults(kind: type[Operation]) -> tuple[Mapping[str, Attribute], Mapping[str, Attribute]]:
    """Return the properties and the attributes that an operation has unless it is given others."""
    if not hasattr(kind, "get_irdl_definition"):
        return _NOTHING, _NOTHING
    found: Any = kind.get_irdl_definition()  # type: ignore[attr-defined]
    properties, attributes = (
        {name: of.default_value for name, of in part.items() if of.default_value is not None}
        for part in (found.properties, found.attributes)
    )
    return properties, attributes


def created(
    kind: type[OpT], operands: Sequence[SSAValue] = (), results: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None, attributes: Mapping[str, Attribute] | None = None,
    location: LocationAttr = UNKNOWN_LOC,
) -> OpT:  # fmt: skip
    """Return what `kind.create` makes of the same, in half the time; for operations without regions and successors.

    Compiling makes hundreds of operations, and half of what xDSL does for each is about parts that few of them have.
    """
    op: Any = kind.__new__(kind)
    default_properties, default_attributes = _defaults(kind)
    op._operands = values = SSAValues(operands)
    uses: list[Any] = []
    for value in values:
        uses.append(use := Use(op, len(uses)))
        first = value.first_use
        if first is not None:  # `value.add_use(use)`, for as many calls as there are operands
            use._next_use, first._prev_use = first, use
        value.first_use = use
    op._operand_uses = tuple(uses)
    op.results = SSAValues([OpResult(type_, op, index) for index, type_ in enumerate(results)])
    op.properties = {**default_properties, **properties} if properties else dict(default_properties)
    op.attributes = {**default_attributes, **attributes} if attributes else dict(default_attributes)
    op.location = location
    op._successors = op._successor_uses = op.regions = ()
    return op


def replace_uses(old: SSAValue, new: SSAValue) -> None:
    """What `old.replace_all_uses_with(new)` does, without making every operand list three times."""
    if new is old:
        return
    use: Any = old.first_use
    old.first_use = None
    while use is not None:
        op, following = use.operation, use._next_use
        operands = list(op._operands)
        operands[use.index] = new
        op._operands = SSAValues(operands)
        new.add_use(use)
        use = following
    if new.name_hint is None:
        new.name_hint = old.name_hint


def ops_of(block: Block) -> list[Operation]:
    """Return the operations of a block: `list(block.ops)`, which goes through them twice."""
    found: list[Operation] = []
    op: Any = block.first_op
    while op is not None:
        found.append(op)
        op = op._next_op
    return found


def walked(op: Operation) -> list[Operation]:
    """Return what `op.walk()` yields, in a fraction of the time: the operation, and all inside it in order."""
    found = [op]
    for region in op.regions:
        for block in region.blocks:
            for inner in ops_of(block):
                if inner.regions:
                    found += walked(inner)
                else:
                    found.append(inner)
    return found


def put_last(op: Operation, block: Block) -> None:
    """Append an operation to a block, without a search for it around there if it has no regions."""
    last, end = cast("Any", block.last_op), cast("Any", block)
    if last is None or op.regions or op.parent is not None:
        block.add_op(op)
        return
    op.parent = block
    last._insert_next_op(op)
    end._last_op = op


def put_before(op: Any, anchor: Any) -> None:
    """Insert an operation in front of another, without a search for it around there if it has no regions."""
    block: Any = anchor.parent
    if op.regions or op.parent is not None:
        block.insert_op_before(op, anchor)
        return
    op.parent = block
    if anchor._prev_op is None:
        block._first_op = op
    anchor._insert_prev_op(op)


@lru_cache(maxsize=4096)
def integer(value: int, width: int) -> IntegerAttr[Any]:
    """Return an integer attribute, made once."""
    return IntegerAttr(value, IntegerType(width))


@lru_cache(maxsize=4096)
def integers(width: int, *values: int) -> DenseArrayBase[Any]:
    """Return an array of integers as an attribute, made once."""
    return DenseArrayBase.from_list(IntegerType(width), values)


# Operations of upstream dialects that xDSL 0.74 does not define. They print in generic form,
# which mlir-opt reads. True: free of side effects.
_MISSING: dict[str, bool] = {
    "vector.from_elements": True,
    "vector.to_elements": True,
    "vector.extract_strided_slice": True,
    "vector.insert_strided_slice": True,
    "gpu.shuffle": True,
    "gpu.ballot": True,
    "gpu.printf": False,
    "gpu.binary": False,
    "llvm.fence": False,
    "llvm.atomicrmw": False,
    "llvm.cmpxchg": False,
    "llvm.addrspacecast": True,
    "llvm.mlir.poison": True,
    "llvm.switch": False,
    **{f"llvm.{name}": True for name in ("extractelement", "freeze", "fptosi", "fptoui", "uitofp")},
    **{f"math.{name}": True for name in ("isnan", "isinf", "isfinite", "isnormal", "sincos", "erfc", "clampf")},
}


class PlainOp(Operation):
    """An upstream operation known by name only."""

    traits = OpTraits(tuple)


class PlainPureOp(PlainOp):
    traits = OpTraits(lambda: (Pure(),))


class PlainTerminatorOp(PlainOp):
    traits = OpTraits(lambda: (IsTerminator(),))


_TERMINATORS = frozenset({"llvm.switch"})


# Modules of ours that give xDSL's operations upstream's syntax, by dialect; they hold the tuple named.
_RESPELT: dict[str, Callable[[], tuple[type[Operation], ...]]] = {
    "arith": lambda: arith_syntax.ARITH_OPS,
    "gpu": lambda: gpu_syntax.GPU_OPS,
    "llvm": lambda: llvm_syntax.LLVM_OPS,
}


@cache
def _dialect_ops(dialect: str) -> dict[str, type[Operation]]:
    (module,) = load(f"xdsl.dialects.{dialect}")
    found = {
        value.name: value
        for value in vars(module).values()
        # Not issubclass: an abstract class answers that by walking every subclass there is.
        if isinstance(value, type)
        and Operation in value.__mro__
        and getattr(value, "name", "").startswith(f"{dialect}.")
    }
    return found | {op.name: op for op in respelt_ops(dialect)}


def respelt_ops(dialect: str) -> tuple[type[Operation], ...]:
    """Our classes that replace xDSL's of the same name."""
    return _RESPELT[dialect]() if dialect in _RESPELT else ()


@cache
def op_class(name: str) -> type[Operation]:
    """Return the class of an upstream operation such as ``arith.addi``."""
    dialect = name.split(".", 1)[0]
    if dialect not in ("rocdl", "nvvm"):
        found = _dialect_ops(dialect).get(name)
        if found is not None:
            return found
    base: type[Operation] = PlainPureOp if _MISSING.get(name, False) else PlainOp
    base = PlainTerminatorOp if name in _TERMINATORS else base
    made = type(name.title().replace(".", "").replace("_", "") + "Op", (base,), {"name": name, "__slots__": ()})
    return cast("type[Operation]", made)


def missing_ops() -> list[type[Operation]]:
    """Return the classes to register so that a parser accepts what xDSL lacks."""
    return [op_class(name) for name in _MISSING]
