"""fly-layout-lowering as the original has it: constants are `make_int_tuple`, and fly values may be left over.

A function may take tensors and return any fly value. A vector is read and written in chunks, one for each run of the
first mode of stride 1, column by column of the other modes:

    %v = fly.memref.load_vec(%m)  ->  %p = fly.add_offset(%base, %k)
                                      %x = fly.ptr.load(%p) -> vector<4xf32>
                                      %v = vector.insert_strided_slice %x, %before {offsets = [4], strides = [1]}
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, IntegerAttr, VectorType, i64
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from flydsl.base.records import dataclass
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp, to_attr
from flydsl.dialects.fly.payload import is_static_payload
from flydsl.dialects.fly.types import FlyType, IntTupleType, MemRefType, element_type, type_of
from flydsl.dialects.upstream import integers
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.tensor import Tensor
from flydsl.passes import layout_lowering as compiled
from flydsl.passes.canonicalize import drop_dead
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.launch_conditions import check_at_launch
from flydsl.passes.shared.layout_walk import Handler, LayoutLowering
from flydsl.passes.shared.ssa_leaf import SsaInt, SsaPointer
from flydsl.passes.shared.vector_access import load_elements, store_elements
from flydsl.passes.shared.walk import function_bodies


class _Inserter(Inserter):
    """Writes static tuples and layouts as the original does, in front of what needs them."""

    def static(self, payload: object) -> SSAValue:
        type_ = type_of(payload)
        if isinstance(type_, IntTupleType):
            return self.fly("make_int_tuple", [], [type_])
        if isinstance(payload, Layout):
            return self.fly("make_layout", [self.static(payload.shape), self.static(payload.stride)], [type_])
        return self.fly("static", [], [type_])


class _Lowering(LayoutLowering):
    def __init__(self, entry: Block, handlers: Mapping[str, Handler], otherwise: Handler) -> None:
        super().__init__(entry, handlers, otherwise)
        self.at = _Inserter(entry)

    def payload(self, value: SSAValue) -> Any:
        type_ = value.type
        if value in self.known or not isinstance(type_, MemRefType):
            return super().payload(value)
        found = self.at.remembered(("from outside", value))
        if found is None:
            pointer = self.at.fly("get_iter", [value], [type_of(type_.data.iter)])
            layout = self._layout_of(value, type_.data.layout)
            tensor = Tensor(SsaPointer(self.at, pointer, type_.data.iter), layout)
            found = self.at.remember(("from outside", value), tensor)
        return found

    def _layout_of(self, value: SSAValue, layout: object) -> Any:
        """Return the layout of a tensor from outside; its run-time leaves are asked for."""
        if is_static_payload(layout) or not isinstance(layout, Layout):
            return layout
        return Layout(self._leaves(value, "get_shape", layout.shape), self._leaves(value, "get_stride", layout.stride))

    def _leaves(self, value: SSAValue, projection: str, payload: object) -> Any:
        if is_static_payload(payload):
            return payload
        part = self.at.fly(projection, [value], [type_of(payload)])
        leaves = [leaf for leaf in it.leaves(payload) if isinstance(leaf, DynInt)]
        op = OP_CLASSES["get_leaves"].create(
            operands=[part],
            result_types=[element_type(f"i{leaf.width}") for leaf in leaves],
            attributes={"dynamicOnly": to_attr("bool", True)},
        )
        given = iter(self.at.add(op).results)

        def fill(leaf: object) -> object:
            return SsaInt(self.at, next(given), leaf.width, leaf.div) if isinstance(leaf, DynInt) else leaf

        return it.map_leaves(fill, payload)

    def _hand_on_pointers(self, op: Operation) -> None:
        """Whatever else an operation is given is made anew of what it was lowered to."""
        for index, operand in enumerate(op.operands):
            if not isinstance(operand.type, FlyType) or not isinstance(operand.owner, FlyOp):
                continue
            payload = self.known.get(operand)
            if payload is not None and operand.owner in self.done:
                self.at.anchor = op
                op.operands[index] = self._made_anew(payload, operand.type)
        super()._hand_on_pointers(op)

    def _made_anew(self, payload: object, type_: FlyType[Any]) -> SSAValue:
        if isinstance(payload, Tensor) and isinstance(payload.iter, SsaPointer):
            layout = self._made_anew(payload.layout, type_of(type_.data.layout))
            return self.at.fly("make_view", [payload.iter.value(), layout], [type_])
        if isinstance(payload, SsaPointer):
            return payload.value()
        if is_static_payload(type_.data):
            return self.at.static(type_.data)
        return self._rebuilt(payload, type_)


# Vectors ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chunks:
    """How a tensor of static layout is cut: its modes, which of them has stride 1, and where each chunk begins."""

    modes: tuple[tuple[int, int], ...]
    run: int | None

    @property
    def width(self) -> int:
        return 1 if self.run is None else self.modes[self.run][0]

    @property
    def order(self) -> list[int]:
        """The modes in the order in which chunks hold them, fastest first."""
        rest = [i for i in range(len(self.modes)) if i != self.run]
        return rest if self.run is None else [self.run, *rest]

    @property
    def offsets(self) -> list[int]:
        rest = [self.modes[i] for i in self.order if i != self.run]
        slowest_first = product(*(range(extent) for extent, _ in reversed(rest)))
        strides = [stride for _, stride in reversed(rest)]
        return [sum(i * d for i, d in zip(at, strides, strict=True)) for at in slowest_first]

    def shape(self, order: list[int]) -> list[int]:
        """Return a vector of these modes, the slowest first."""
        return [self.modes[i][0] for i in reversed(order)]


def _chunks(tensor: Tensor) -> _Chunks | None:
    """Return how to cut a tensor; None where the original's way does not apply and the compiler's own is taken."""
    layout = tensor.layout
    if not isinstance(tensor.iter, SsaPointer) or not isinstance(layout, Layout) or not is_static_payload(layout):
        return None
    shape, stride = it.leaves(layout.shape), it.leaves(layout.stride)
    if any(isinstance(leaf, Basis) for leaf in stride):
        return None
    modes = tuple(zip(shape, stride, strict=True))
    return _Chunks(modes, next((i for i, (extent, step) in enumerate(modes) if step == 1 and extent > 1), None))


def _place(low: LayoutLowering, pointer: SsaPointer, offset: int) -> SSAValue:
    moved = type_of(pointer.info.add_offset(offset))
    return low.at.fly("add_offset", [pointer.value(), low.at.static(offset)], [moved])


def _slice_attributes(offset: int, size: int | None = None) -> dict[str, Attribute]:
    numbers = {"offsets": offset, "strides": 1} | ({} if size is None else {"sizes": size})
    return {name: ArrayAttr([IntegerAttr(number, i64)]) for name, number in numbers.items()}


def _reordered(low: LayoutLowering, value: SSAValue, cut: _Chunks, back: bool) -> SSAValue:
    """Return the elements from the order of the chunks to that of the modes, or back."""
    natural = list(range(len(cut.modes)))
    if cut.order == natural or cut.run is None:
        return value
    source, target = (natural, cut.order) if back else (cut.order, natural)
    kind: Any = value.type
    elem = kind.element_type
    at = low.at
    whole = at.op("vector.shape_cast", [value], [VectorType(elem, cut.shape(source))])
    places = [list(reversed(source)).index(mode) for mode in reversed(target)]
    turned = at.op(
        "vector.transpose",
        [whole],
        [VectorType(elem, cut.shape(target))],
        {"permutation": integers(64, *places)},
    )
    return at.op("vector.shape_cast", [turned], [kind])


def _load_vec(low: LayoutLowering, op: FlyOp) -> None:
    tensor = low.payload(op.operands[0])
    kind: Any = op.results[0].type
    if not isinstance(tensor.iter, SsaPointer) and is_static_payload(tensor):
        leaves = [getattr(leaf, "value", leaf) for leaf in rules.coordinate_leaves(tensor, rules.size(tensor))]
        constant = DenseIntOrFPElementsAttr.from_list(kind, leaves)
        low.replace(op, low.at.add(ConstantOp.create(result_types=[kind], properties={"value": constant})).results[0])
        return
    cut = _chunks(tensor)
    if cut is None:
        if isinstance(tensor.iter, SsaPointer):
            low.replace(op, load_elements(low.at, tensor))
        else:
            compiled.HANDLERS["memref.load_vec"](low, op)
        return
    offsets = cut.offsets
    if len(offsets) == 1 and cut.run is not None:
        low.replace(op, low.at.fly("ptr.load", [tensor.iter.value()], [kind]))
        return
    value = low.at.add(PoisonOp(kind)).results[0]
    for index, offset in enumerate(offsets):
        place = _place(low, tensor.iter, offset)
        if cut.run is None:
            part = low.at.fly("ptr.load", [place], [kind.element_type])
            position = {"static_position": integers(64, index)}
            value = low.at.op("vector.insert", [part, value], [kind], position)
        else:
            part = low.at.fly("ptr.load", [place], [VectorType(kind.element_type, [cut.width])])
            where = _slice_attributes(index * cut.width)
            value = low.at.op("vector.insert_strided_slice", [part, value], [kind], where)
    low.replace(op, _reordered(low, value, cut, back=False))


def _store_vec(low: LayoutLowering, op: FlyOp) -> None:
    value, tensor = op.operands[0], low.payload(op.operands[1])
    cut = _chunks(tensor)
    if cut is None:
        store_elements(low.at, value, tensor)
    elif len(cut.offsets) == 1 and cut.run is not None:
        low.at.fly("ptr.store", [value, tensor.iter.value()])
    else:
        kind: Any = value.type
        value = _reordered(low, value, cut, back=True)
        for index, offset in enumerate(cut.offsets):
            if cut.run is None:
                position = {"static_position": integers(64, index)}
                part = low.at.op("vector.extract", [value], [kind.element_type], position)
            else:
                where = _slice_attributes(index * cut.width, cut.width)
                piece = VectorType(kind.element_type, [cut.width])
                part = low.at.op("vector.extract_strided_slice", [value], [piece], where)
            low.at.fly("ptr.store", [part, _place(low, tensor.iter, offset)])
    low.replace(op)


HANDLERS = {**compiled.HANDLERS, "memref.load_vec": _load_vec, "memref.store_vec": _store_vec}


def lower_function(function: Operation) -> None:
    """Run the lowering on a function."""
    body = function.regions[0]
    _Lowering(body.blocks[0], HANDLERS, compiled.by_rule).run(body)
    drop_dead(body)


def lower_layouts(module: Operation) -> None:
    """Run the lowering on every function of a module."""
    for body in function_bodies(module):
        _Lowering(body.blocks[0], HANDLERS, compiled.by_rule).run(body)
    check_at_launch(module)
    for body in function_bodies(module):
        drop_dead(body)
