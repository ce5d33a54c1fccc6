"""Tensors: an iterator and a layout. Memory tensors iterate a pointer, coordinate tensors a tuple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.payload import Pointer as PointerPayload
from flydsl.dialects.fly.payload import VectorValue
from flydsl.expr.atoms.hardware_enums import AddressSpace
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.coordinate_check import refuse_outside, watch_modes
from flydsl.expr.tensors.element import element_class
from flydsl.expr.tensors.predicate import predicate_over
from flydsl.expr.tensors.tensor_slice import has_slice, sliced
from flydsl.expr.trace.context import current
from flydsl.expr.values.foreign import refuse
from flydsl.expr.values.handle import Handle, apply, handle_for
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.vector_value import vector_operand
from flydsl.expr.vector import Vector
from flydsl.layout import int_tuple as it
from flydsl.layout.swizzle import ComposedLayout, kept_together
from flydsl.layout.tensor import Tensor as TensorPayload
from flydsl.target.dtype import storage_bytes


@handle_for(TensorPayload)
class Tensor(Handle):
    """A view of memory, or of a coordinate space, through a layout.

    ``t[coord]`` loads one element (or gives one coordinate); ``None`` or ``:`` in the coordinate keeps that
    mode and gives a view, ``a:b`` part of it. ``t[coord] = value`` stores.
    """

    __slots__ = ()
    kind: ClassVar[str] = "tensor"

    @property
    def is_memory(self) -> bool:
        """Whether the elements are in memory or registers, rather than coordinates."""
        return isinstance(self.payload.iter, PointerPayload)

    def _pointer(self, what: str) -> PointerPayload:
        if not self.is_memory:
            raise DslTypeError(f"a coordinate tensor has no {what}: {self}", hint="only tensors over memory do")
        return self.payload.iter

    @property
    def dtype(self) -> type[Numeric]:
        """The number type of the elements."""
        return element_class(self._pointer("element type").elem)

    element_type = dtype
    value_type = dtype

    @property
    def address_space(self) -> Any:
        """The memory it lies in."""
        return AddressSpace.named(self._pointer("address space").space)

    memspace = address_space

    @property
    def alignment(self) -> int:
        """The alignment of its start, in bytes."""
        return self._pointer("alignment").align

    def aligned(self, alignment: int) -> Tensor:
        """Return the same tensor, whose start the caller knows to be a multiple of so many bytes."""
        self._pointer("alignment")
        return apply("make_view", apply("get_iter", self).aligned(alignment), apply("get_layout", self))

    @property
    def layout(self) -> Any:
        """The layout."""
        return apply("get_layout", self)

    @property
    def shape(self) -> IntTuple:
        """The shape."""
        return apply("get_shape", self)

    @property
    def stride(self) -> IntTuple:
        """The strides."""
        return apply("get_stride", self)

    @property
    def rank(self) -> int:
        """The number of modes."""
        return it.rank(rules.shape_of(self.payload))

    @property
    def leading_dim(self) -> int | None:
        """The first mode of static stride 1."""
        stride = rules.stride_of(self.payload)
        modes = stride if isinstance(stride, tuple) else (stride,)
        return next((i for i, mode in enumerate(modes) if mode == 1), None)

    @property
    def T(self) -> Tensor:
        """The view with its modes in reverse order."""
        return apply("select", self, indices=tuple(range(self.rank))[::-1]) if self.rank > 1 else self

    def __getitem__(self, coord: Any) -> Any:
        if has_slice(coord):
            return sliced(self, coord)
        crd = IntTuple.from_python(coord, "make_coord")
        if it.has_none(crd.payload):
            return self._slice(crd)
        if self.is_memory:
            return self._load_element(crd)
        return apply("int_tuple_add", apply("get_iter", self), apply("crd2idx", crd, apply("get_layout", self)))

    def _slice(self, crd: IntTuple) -> Tensor:
        if self.is_memory:  # behind its end a view of memory may be read with a predicate
            refuse_outside(self.payload, crd.payload, behind=self.payload.iter.space == "register")
        return apply("slice", self, crd)

    def _check_element(self, crd: IntTuple) -> None:
        """A wrong coordinate is the user's error here, not later."""
        rules.memref_load(self.payload, crd.payload)
        refuse_outside(self.payload, crd.payload)
        watch_modes(self, crd)

    def _load_element(self, crd: IntTuple) -> Numeric:
        self._check_element(crd)
        return self.dtype(current().fly("memref.load", [self.ir_value(), crd.ir_value()]))

    def __setitem__(self, coord: Any, value: Any) -> None:
        if has_slice(coord):
            sliced(self, coord).store(value)
            return
        crd = IntTuple.from_python(coord, "make_coord")
        if it.has_none(crd.payload):
            self._slice(crd).store(value)
            return
        self._check_element(crd)
        current().fly("memref.store", [self.dtype(value).ir_value(), self.ir_value(), crd.ir_value()])

    # What Python would do by itself with a value that has elements: never what was meant

    def __iter__(self) -> NoReturn:
        raise DslTypeError(
            f"a loop cannot go through the elements of {self}: how often it turns is known when the kernel runs",
            hint="write `for i in range(t.shape[0])` and t[i]; the vector t.load() of a small tile has elements",
        )

    def __bool__(self) -> NoReturn:
        raise DslTypeError(
            f"a tensor is neither true nor false: {self}",
            hint="ask for an element, t[i] > 0, or, where it may be missing, whether it is there: t is not None",
        )

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (int, float, Numeric, Vector)):
            raise DslTypeError(
                f"a tensor is a place in memory, not a value to compare: {self}",
                hint="compare elements, t[i] == x, or the vector of a small tile, t.load() == x",
            )
        return Handle.__eq__(self, other)

    __hash__ = Handle.__hash__

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("NumPy", "np", "array")

    def load(self, mask: Any = None, other: Any = 0) -> Vector:
        """Return all elements as a vector, in column-major order of the coordinates, by the widest accesses that are
        legal.

        Where ``mask`` is false nothing is read and the element is ``other``, a number or a vector. A mask is one truth
        value, one per element, or a predicate of ``fx.inside``.
        """
        count = rules.memref_load_vec(self.payload).count
        shape = rules.shape_of(self.payload)
        if mask is None or mask is True:
            value = current().fly("memref.load_vec", [self.ir_value()])
            return Vector(value, shape, self.dtype if self.is_memory else None)
        predicate = predicate_over(mask, self.payload)
        rest = vector_operand(other)
        rest = rest.to(self.dtype) if isinstance(rest, Vector) else Vector.filled(count, other, self.dtype)
        self._check_count(rest, count)
        operands = [self.ir_value(), predicate.flags.ir_value(), rest.ir_value()]
        result = VectorValue(count, self.payload.iter.elem)
        return Vector(current().fly("memref.masked_load_vec", operands, {"mask": predicate.picks}, result), shape,
                      self.dtype)  # fmt: skip

    def _check_count(self, vector: Vector, count: int) -> None:
        if vector.numel != count:
            raise DslTypeError(
                f"a vector of {vector.numel} elements does not fill the tensor {self.payload.layout} of {count}",
                hint="store a vector with one value per element",
            )

    def __dsl_place__(self, indices: Sequence[Any]) -> Any:
        """Return the pointer to one element, from which those along the last mode follow in memory."""
        pointer, index = self._pointer("memory"), tuple(indices) if len(indices) != 1 else indices[0]
        coord = IntTuple.from_python(index, "make_coord")
        rules.memref_load(self.payload, coord.payload)
        stride = None if isinstance(self.payload.layout, ComposedLayout) else rules.stride_of(self.payload)
        last = stride[-1] if isinstance(stride, tuple) else stride
        if last != 1 or pointer.swizzle is not None:
            raise DslTypeError(
                f"a vector is moved along the last mode, and the elements of {self} do not follow each other there",
                hint="take the view t[..., None] and use its load() and store(vector)",
            )
        return apply("get_iter", self) + apply("crd2idx", coord, apply("get_layout", self))

    def store(self, vector: Any, mask: Any = None) -> None:
        """Write a vector of as many elements as the tensor has, converted to its element type.

        Where ``mask`` is false memory stays as it is; it is what it is for `load`.
        """
        count = rules.memref_load_vec(self.payload).count
        if isinstance(vector, Tensor):
            raise DslTypeError(
                f"a tensor is a place in memory, not a vector to store: {vector}",
                hint="store what it holds, t[0:4] = u[4:8].load(), or copy: fx.copy(u[4:8], t[0:4])",
            )
        found = vector_operand(vector)
        vector = found if isinstance(found, Vector) else Vector.filled(count, vector, self.dtype)
        self._check_count(vector, count)
        operands = [vector.to(self.dtype).ir_value(), self.ir_value()]
        if mask is None or mask is True:
            current().fly("memref.store_vec", operands)
            return
        predicate = predicate_over(mask, self.payload)
        current().fly("memref.masked_store_vec", [*operands, predicate.flags.ir_value()], {"mask": predicate.picks})

    def fill(self, value: Any) -> None:
        """Set every element."""
        count = rules.memref_load_vec(self.payload).count
        self.store(Vector.filled(count, self.dtype(value), self.dtype))

    def __str__(self) -> str:
        if self.is_memory:
            pointer = self.payload.iter
            return f"Tensor({pointer.elem}, {pointer.space}, {self.payload.layout})"
        return f"CoordTensor({it.to_text(self.payload.iter)}, {self.payload.layout})"


def pointer_of(place: Any, together: int = 1, *, plain: str = "") -> Any:
    """Return where a view or an array begins: the address of its first element. Anything else, a pointer above all, as
    it is.

    What moves ``together`` bytes from there on is refused where a composed layout takes them apart. ``plain`` names who
    would not follow a pointer's swizzle, and so takes no pointer that has one.
    """
    place = getattr(place, "__dsl_ssa__", place)
    if isinstance(place, Tensor):
        _check_together(place, together)
        place = apply("get_iter", apply("decomposition", place) if _is_composed(place) else place)
    pointer = getattr(place, "ptr", place)
    swizzle = getattr(getattr(pointer, "payload", None), "swizzle", None)
    if plain and swizzle is not None:
        raise DslTypeError(
            f"{plain} takes plain addresses, and the pointer's are permuted by {swizzle}",
            hint="swizzle the offset and pass a plain pointer, or a view of a composed layout over one",
        )
    return pointer


def _is_composed(view: Tensor) -> bool:
    return isinstance(view.payload.layout, ComposedLayout)


def _check_together(view: Tensor, size: int) -> None:
    if size > 1 and view.is_memory:
        kept = kept_together(view.payload.layout) * storage_bytes(view.payload.iter.elem)
        if kept < size:
            raise DslTypeError(
                f"{size} bytes are moved from the start of {view}, and its layout keeps {kept} together",
                hint="use a swizzle whose base leaves the bits inside of what is moved alone",
            )
