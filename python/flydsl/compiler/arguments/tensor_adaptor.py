"""Tensors that say more or less than an array: `from_dlpack` and its marks, and descriptions without data.

The layout of the former is static, leaf by leaf, until it is marked dynamic; the latter serve to compile ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.arguments.kinds import ANY, Code, Dynamic, TensorArgument
from flydsl.compiler.messages.diagnostics import located
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.element import element_name
from flydsl.runtime import array_view
from flydsl.runtime.array_view import ArrayView
from flydsl.target import family
from flydsl.target.dtype import storage_bytes


class TensorAdaptor:
    """A tensor whose layout the compiled code may rely on, leaf by leaf; see `from_dlpack`.

    It holds one argument that never changes; a mark puts another in its place. So one adaptor may be passed to any
    number of functions, from any thread. Each call reads the array anew and checks it against the marks.
    """

    @located
    def __init__(self, source: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False) -> None:
        self.source = source
        view = array_view.of(source)
        if view is None:
            raise DslTypeError(
                f"{type(source).__name__} is no array", hint="pass a NumPy or torch array, or anything with __dlpack__"
            )
        if not view.shape:
            raise DslTypeError("a tensor argument needs at least one dimension", hint="reshape it to (1,)")
        if assumed_align is not None:
            _check_alignment(view, assumed_align)
        self._align = assumed_align
        self._wide_stride = not use_32bit_stride
        self._view = view
        self._take(self._argument(view.shape, view.strides))

    def _take(self, argument: TensorArgument) -> None:
        self.adapted = argument
        self.key = argument.key
        """What the cached paths compare; the rest they read from the source."""

    def _argument(self, shape: Sequence[int | Dynamic], stride: Sequence[int | Dynamic]) -> TensorArgument:
        return TensorArgument(self._view, tuple(shape), tuple(stride), align=self._align, wide_stride=self._wide_stride)

    @located
    def mark_layout_dynamic(self, leading_dim: int | None = None, divisibility: int = 1) -> TensorAdaptor:
        """Every extent and every stride but the leading one's 1 becomes dynamic."""
        strides = self._view.strides
        rank = len(strides)
        if leading_dim is None:
            lead = next((i for i, step in enumerate(strides) if step == 1), None)
        else:
            lead = self._axes(leading_dim)[0]
        if lead is None or strides[lead] != 1:
            raise DslValueError(
                f"the leading dimension must have stride 1, the strides are {strides}",
                hint="name it with leading_dim=, or keep the strides static",
            )
        step = Dynamic(divisibility)
        self._check_divides([(i, divisibility) for i in range(rank) if i != lead], strides, "stride")
        self._take(self._argument([ANY] * rank, [1 if i == lead else step for i in range(rank)]))
        return self

    @located
    def mark_shape_dynamic(self, dims: int | Sequence[int], divisibility: int | Sequence[int] = 1) -> TensorAdaptor:
        """Treat the chosen extents as numbers that are known only at run time."""
        current = self.adapted
        extents = self._marked(current.shape_code, dims, divisibility, self._view.shape, "extent")
        self._take(self._argument(extents, current.stride_code))
        return self

    @located
    def mark_stride_dynamic(self, dims: int | Sequence[int], divisibility: int | Sequence[int] = 1) -> TensorAdaptor:
        """Treat the chosen strides as numbers that are known only at run time."""
        current = self.adapted
        steps = self._marked(current.stride_code, dims, divisibility, self._view.strides, "stride")
        self._take(self._argument(current.shape_code, steps))
        return self

    def _marked(self, code: Code, dims: int | Sequence[int], divisibility: int | Sequence[int],
                values: Sequence[int], what: str) -> Code:  # fmt: skip
        axes = self._axes(dims)
        divs = [divisibility] * len(axes) if isinstance(divisibility, int) else list(divisibility)
        if len(divs) != len(axes):
            raise DslValueError(f"{len(axes)} dimensions but {len(divs)} divisibilities")
        chosen = list(zip(axes, divs, strict=True))
        self._check_divides(chosen, values, what)
        marks = {axis: Dynamic(div) for axis, div in chosen}
        return tuple(marks.get(axis, leaf) for axis, leaf in enumerate(code))

    def _axes(self, dims: int | Sequence[int]) -> list[int]:
        rank = len(self._view.shape)
        axes = [dims] if isinstance(dims, int) else list(dims)
        for axis in axes:
            if type(axis) is not int:
                raise DslTypeError(f"a dimension is an int, got {axis!r}")
            if not -rank <= axis < rank:
                raise DslValueError(f"dimension {axis} of a tensor of rank {rank}")
        return [axis % rank for axis in axes]

    @staticmethod
    def _check_divides(chosen: list[tuple[int, int]], values: Sequence[int], what: str) -> None:
        for axis, div in chosen:
            Dynamic(div)
            if values[axis] % div:
                raise DslValueError(f"{what} {values[axis]} of dimension {axis} is not divisible by {div}")

    def argument(self) -> TensorArgument:
        """Return the argument for the array as it is now: its owner may have given it other memory since it was
        wrapped."""
        known, view = self.adapted, array_view.of(self.source)
        if view is not None and _without_owner(view) == _without_owner(known.view):
            return known
        return self._followed(view, known)

    def _followed(self, view: ArrayView | None, known: TensorArgument) -> TensorArgument:
        """Return the same argument over an array that has changed, if it still is what the marks say."""
        old = known.view
        if view is None or view.elem != old.elem or len(view.shape) != len(old.shape):
            raise _changed("its elements or its rank are others")
        for what, numbers, codes in (
            ("extent", view.shape, known.shape_code),
            ("stride", view.strides, known.stride_code),
        ):
            for axis, (number, code) in enumerate(zip(numbers, codes, strict=True)):
                if not isinstance(code, Dynamic) and number != code:
                    raise _changed(f"{what} {axis} is {number} and was {code}")
                if isinstance(code, Dynamic) and number % code.divisibility:
                    raise _changed(f"{what} {axis} is {number} and was a multiple of {code.divisibility}")
        if self._align is not None:
            _check_alignment(view, self._align)
        self._view = view
        self._take(self._argument(known.shape_code, known.stride_code))
        return self.adapted

    def __repr__(self) -> str:
        return f"<tensor argument {self.adapted.payload()}>"


def _without_owner(view: ArrayView) -> tuple[Any, ...]:
    return view._replace(owner=None)


def _changed(how: str) -> DslValueError:
    return DslValueError(
        f"the array is not what it was when it was wrapped: {how}",
        hint="wrap it anew with flyc.from_dlpack, or mark what changes as dynamic",
    )


def _check_alignment(view: ArrayView, assumed: int) -> None:
    size = storage_bytes(view.elem)
    if type(assumed) is not int:
        raise DslTypeError(f"assumed_align must be an int, got {assumed!r}")
    if assumed < 1 or assumed & (assumed - 1):
        raise DslValueError(f"assumed_align must be a power of two, got {assumed}")
    if assumed < size:
        raise DslValueError(f"assumed_align={assumed} is no multiple of the {size}-byte element")
    if view.pointer % assumed:
        raise DslValueError(f"the data is at {view.pointer:#x}, which is not aligned to assumed_align={assumed}")


DLTensorAdaptor = TensorAdaptor


def from_dlpack(tensor: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False) -> TensorAdaptor:
    """Return a tensor argument of static layout; the ``mark_*`` methods make chosen parts dynamic."""
    return TensorAdaptor(tensor, assumed_align=assumed_align, use_32bit_stride=use_32bit_stride)


def from_torch_tensor(
    tensor: Any, *, assumed_align: int | None = None, use_32bit_stride: bool = False
) -> TensorAdaptor:
    """Return the same for a torch tensor."""
    return from_dlpack(tensor, assumed_align=assumed_align, use_32bit_stride=use_32bit_stride)


# Descriptions ---------------------------------------------------------------------------------------------------------


class TensorSpec(array_view.ArrayDescription):
    """Shape, element type and place of an array that need not exist: ``flyc.TensorSpec((8, 64), fx.Float16)``.

    ``dtype`` is an `fx` number type, or the element type of NumPy or torch, or its name. ``strides`` count elements;
    without them the array is row-major. ``device`` is ``"host"``, ``"cuda"``, ``"cuda:1"`` or ``"rocm"``; without it,
    the device new work goes to.
    """

    __slots__ = ("dtype",)

    def __init__(
        self, shape: Sequence[int], dtype: Any, *, strides: Sequence[int] | None = None, device: str | None = None
    ) -> None:
        self.shape = _extents(shape, "shape")
        if any(extent < 0 for extent in self.shape):
            raise DslValueError(f"the shape {self.shape} has a negative extent")
        self.dtype = dtype
        self.elem = _element(dtype)
        self.strides = array_view.row_major(self.shape) if strides is None else _extents(strides, "strides")
        if len(self.strides) != len(self.shape):
            raise DslValueError(f"the shape {self.shape} and the strides {self.strides} differ in rank")
        self.device = _place(device)

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.elem})"


def _extents(values: Sequence[int], what: str) -> tuple[int, ...]:
    if isinstance(values, int) or not all(type(value) is int for value in values):
        raise DslTypeError(f"{what} must be a tuple of ints, got {values!r}")
    return tuple(values)


def _element(dtype: Any) -> str:
    if isinstance(dtype, type) and issubclass(dtype, Numeric):
        return array_view.in_arrays(element_name(dtype))
    text = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    return array_view.array_element(text.removeprefix("torch."))


def _place(device: str | None) -> tuple[str, int] | None:
    if device is None:
        return None
    kind, _, index = str(device).partition(":")
    found = family.family_of_place(kind)
    if found is None or (index and not index.isdigit()):
        raise DslValueError(f"unknown device {device!r}", hint='write "host", "cuda", "cuda:1" or "rocm"')
    return array_view.HOST if found.virtual else (found.name, int(index or 0))
