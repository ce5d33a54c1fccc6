"""What one parameter of compiled code accepts, without the data of any call.

A form is made from the argument a function was compiled for. It tells three readers the same thing: the generated
call path (`launch_code.py`), the explanation of a call that does not fit (`numbers`), and the report that says why a
function was compiled again (`properties`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol
from weakref import ref

from flydsl.base.errors import DslTypeError, DslValueError, SourceLocation
from flydsl.base.records import dataclass, field, replace
from flydsl.compiler.arguments.adapting import adapt
from flydsl.compiler.arguments.kinds import (
    Code,
    Dynamic,
    JitArgument,
    ScalarArgument,
    StreamArgument,
    StructArgument,
    TensorArgument,
    address_of,
    check_stream_device,
    scalar_argument,
)
from flydsl.compiler.messages.shown_value import shown
from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.constexpr_key import constexpr_key
from flydsl.layout.leaf import INT32_LIMIT
from flydsl.runtime.array_view import ArrayView, is_writable
from flydsl.target.family import family_of_place

# Arrays that must not be written, passed where compiled code writes: found before anything runs ----
#
# The compiler notes in the artifact which arguments the code may write (`passes/written_arguments.py`). What is
# written has to be writable at each call: an array marked read-only belongs to somebody who relies on it, and a
# file mapped for reading would end the process.


@dataclass(frozen=True)
class Write:
    """An address among the numbers of an argument, or of a whole call, behind which the code may write."""

    number: int
    known: bool
    """Whether the code has an instruction that writes there; else the compiler could not follow the address."""
    place: SourceLocation | None


def part_of(writes: Sequence[Write], first: int, count: int) -> tuple[Write, ...]:
    """Return those among the ``count`` numbers from ``first`` on, counted from there."""
    return tuple(replace(w, number=w.number - first) for w in writes if first <= w.number < first + count)


def check_writable(argument: Any, writes: Sequence[Write]) -> None:
    """Refuse an argument with a read-only array that the code may write; ``writes`` are of this argument."""
    for write in writes:
        for name, view in _views_at(argument, write.number):
            if not is_writable(view):
                raise _refusal(name, write)


def _views_at(argument: Any, number: int) -> Iterator[tuple[str, ArrayView]]:
    """Yield the array whose address is that number of an argument, with the field of the struct that it is in."""
    if isinstance(argument, TensorArgument):
        yield "", argument.view
    elif isinstance(argument, StructArgument):
        for name, part in argument.parts.items():
            count = len(part.abi())
            if 0 <= number < count:
                yield from ((f"{name}.{inner}" if inner else name, view) for inner, view in _views_at(part, number))
            number -= count
    else:
        yield from (("", view) for view in argument.views())  # a registered type: which array it is, only it knows


def _refusal(field: str, write: Write) -> DslValueError:
    what = f"the array in field '{field}'" if field else "the array"
    if write.known:
        return DslValueError(
            f"{what} is read-only, and the code writes it",
            hint="pass an array that may be written, such as a copy: a.copy(); "
            "if it is meant to be read, do not store here",
            location=write.place,
        )
    return DslValueError(
        f"{what} is read-only, and the code may write it: here its address goes where the compiler cannot follow it",
        hint="pass an array that may be written, such as a copy: a.copy()",
        location=write.place,
    )


Place = tuple[str, int]


class Form(Protocol):
    """What a parameter accepts."""

    def numbers(self, value: Any) -> Sequence[int | float]:
        """Return the value's part of the argument block; an error says what does not fit."""
        ...

    def properties(self) -> dict[str, str]:
        """Return every property that the compiled code relies on, by name."""
        ...

    def __str__(self) -> str: ...


def place_text(place: Place) -> str:
    found = family_of_place(place[0])
    return found.spoken(place[1]) if found is not None else f"{place[0]}:{place[1]}"


@dataclass(frozen=True)
class TensorForm:
    """An array; a leaf of shape or stride is a number where the code relies on it."""

    elem: str
    align: int
    wide_shape: bool
    wide_stride: bool
    shape: Code
    stride: Code
    raw: bool
    place: Place
    writes: tuple[Write, ...] = ()
    """Not empty if the code may write the array."""

    @classmethod
    def of(cls, argument: TensorArgument, place: Place, writes: tuple[Write, ...] = ()) -> TensorForm:
        return cls(argument.view.elem, argument.align, argument.wide_shape, argument.wide_stride,
                   argument.shape_code, argument.stride_code, argument.raw, place, writes)  # fmt: skip

    @property
    def key(self) -> tuple[Any, ...]:
        """The same as that of the argument it was made from."""
        return ("tensor", self.elem, self.align, self.wide_shape, self.wide_stride, self.shape, self.stride)

    def numbers(self, value: Any) -> Sequence[int | float]:
        argument = adapt(value)
        if not isinstance(argument, TensorArgument):
            raise DslTypeError(f"the compiled code takes a tensor of {self.elem}, got {type(value).__name__}")
        view = argument.view
        self._check_kind(view)
        self._check_leaves(view.shape, self.shape, self.wide_shape, "extent")
        # The step along one element or none is never taken.
        steps = [code if n <= 1 and not isinstance(code, Dynamic) else step
                 for n, code, step in zip(view.shape, self.stride, view.strides, strict=True)]  # fmt: skip
        self._check_leaves(steps, self.stride, self.wide_stride, "stride")
        check_writable(argument, self.writes)
        shape = [n for n, code in zip(view.shape, self.shape, strict=True) if isinstance(code, Dynamic)]
        stride = [n for n, code in zip(view.strides, self.stride, strict=True) if isinstance(code, Dynamic)]
        return [view.pointer, *shape, *stride]

    def _check_kind(self, view: ArrayView) -> None:
        if view.elem != self.elem:
            raise DslTypeError(f"the code was compiled for elements of {self.elem}, the array holds {view.elem}")
        if len(view.shape) != len(self.shape):
            raise DslTypeError(
                f"the code was compiled for rank {len(self.shape)}, the array has rank {len(view.shape)}"
            )
        if not view.has_data:
            raise DslValueError("a description of an array has no data to launch with", hint="pass the array itself")
        if view.device != self.place:
            where = place_text(view.device) if view.device is not None else "nowhere"
            raise DslValueError(f"the code was compiled for {place_text(self.place)}, the array is on {where}")
        if view.pointer % self.align:
            raise DslValueError(
                f"the data at {view.pointer:#x} is not aligned to {self.align} bytes, as the code expects"
            )

    @staticmethod
    def _check_leaves(values: Sequence[int], codes: Code, wide: bool, what: str) -> None:
        for axis, (value, code) in enumerate(zip(values, codes, strict=True)):
            if not isinstance(code, Dynamic):
                if value != code:
                    raise DslValueError(f"{what} {axis} is {value}; the code was compiled for {code}")
            elif value % code.divisibility:
                raise DslValueError(f"{what} {axis} is {value}; the code expects a multiple of {code.divisibility}")
            elif not wide and not -INT32_LIMIT <= value < INT32_LIMIT:
                raise DslValueError(f"{what} {axis} is {value}; the code was compiled for 32-bit ones")

    def properties(self) -> dict[str, str]:
        return {
            "dtype": self.elem,
            "rank": str(len(self.shape)),
            "layout": "dynamic (a raw array)" if self.raw else "static (from_dlpack), but for its marks",
            "shape": _leaves(self.shape),
            "strides": _leaves(self.stride),
            "divisibility": _multiples(self.shape, self.stride),
            "alignment": f"{self.align} bytes",
            "width of extents": "64 bits" if self.wide_shape else "32 bits",
            "width of strides": "64 bits" if self.wide_stride else "32 bits",
            "place": place_text(self.place),
        }

    def __str__(self) -> str:
        shape, stride = (", ".join(map(str, codes)) for codes in (self.shape, self.stride))
        kind = "layout-dynamic" if self.raw else "static"
        return f"{self.elem} tensor ({shape}):({stride}), {kind}, {self.align}-byte aligned"


def _multiples(shape: Code, stride: Code) -> str:
    """Return what is known of extents and strides that are known at run time only."""
    leaves = [(f"extent {axis}", code) for axis, code in enumerate(shape)]
    leaves += [(f"stride {axis}", code) for axis, code in enumerate(stride)]
    known = [(name, code.divisibility) for name, code in leaves if isinstance(code, Dynamic) and code.divisibility > 1]
    return ", ".join(f"{name} a multiple of {number}" for name, number in known) or "not known"


def _leaves(codes: Code) -> str:
    return "(" + ", ".join("?" if isinstance(code, Dynamic) else str(code) for code in codes) + ")"


@dataclass(frozen=True)
class ScalarForm:
    """A parameter that accepts a number."""

    dtype: type[Numeric]
    annotated: bool
    """Whether the annotation chose the type; without one, the number's size did."""

    def numbers(self, value: Any) -> Sequence[int | float]:
        argument = scalar_argument(value, self.dtype)
        if argument is None:
            raise DslTypeError(f"the compiled code takes a number, {self.dtype}, got {type(value).__name__}")
        if argument.dtype is not self.dtype:
            raise DslTypeError(f"the code was compiled for {self.dtype}, got {argument.dtype}")
        return argument.pack()

    def properties(self) -> dict[str, str]:
        return {"type": str(self.dtype)}

    def __str__(self) -> str:
        return str(self.dtype)


@dataclass(frozen=True)
class StreamForm:
    """A parameter that accepts a stream."""

    place: Place

    def numbers(self, value: Any) -> Sequence[int | float]:
        argument = StreamArgument(value)
        check_stream_device(argument.device, *self.place)
        return argument.pack()

    def properties(self) -> dict[str, str]:
        return {"type": "stream"}

    def __str__(self) -> str:
        return "stream"


@dataclass(frozen=True)
class ConstantForm:
    """A compile-time value: part of the code, so that a call of the code ignores what stands in its place."""

    key: Any
    shown: str
    key_of: Callable[[Any], Any] = constexpr_key
    """What gives the key of a value."""

    @classmethod
    def of(cls, value: Any, key_of: Callable[[Any], Any] = constexpr_key) -> ConstantForm:
        return cls(key_of(value), shown(value), key_of)

    def numbers(self, value: Any) -> Sequence[int | float]:
        return ()

    def properties(self) -> dict[str, str]:
        return {"constexpr value": self.shown}

    def __str__(self) -> str:
        return f"Constexpr {self.shown}"


@dataclass(frozen=True)
class NoneForm:
    """None in the place of a run-time value: part of the code, which nothing else fits."""

    def numbers(self, value: Any) -> Sequence[int | float]:
        if value is not None:
            raise DslTypeError(f"the code was compiled for None, got {type(value).__name__}")
        return ()

    def properties(self) -> dict[str, str]:
        return {"type": "None"}

    def __str__(self) -> str:
        return "None"


_MOST_KNOWN = 64
_UNKNOWN: tuple[Any, Sequence[int | float]] = (None, ())


@dataclass(frozen=True)
class OtherForm:
    """Structs, raw pointers and values of registered types: adapted anew at each call, if their memory may move."""

    signature: Any
    annotation: Any
    name: str
    parts: tuple[tuple[str, Any], ...]
    place: Place
    writes: tuple[Write, ...] = ()
    known: dict[int, tuple[Any, Sequence[int | float]]] = field(default_factory=dict, compare=False, repr=False)
    """By id values whose memory never moves, and their numbers."""

    def numbers(self, value: Any) -> Sequence[int | float]:
        value_known, numbers = self.known.get(id(value), _UNKNOWN)
        if value_known is not None and value_known() is value:
            return numbers
        address = address_of(value) if self.signature[0] == "pointer" else None
        if address is not None:
            pointer = self.signature[1]
            if address % pointer.align:
                raise DslValueError(f"the pointer {address:#x} is not aligned to {pointer.align} bytes")
            return (address,)
        argument = adapt(value, self.annotation)
        if argument.signature() != self.signature:
            raise DslTypeError(f"the value of type {type(value).__name__} is not what the code was compiled for")
        for view in argument.views():
            if view.device != self.place or not view.has_data:
                raise DslValueError(f"the code was compiled for arrays on {place_text(self.place)}")
        check_writable(argument, self.writes)
        numbers = argument.pack()
        if getattr(type(value), "memory_is_fixed", False):
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            self.known[id(value)] = ref(value), numbers
        return numbers

    def properties(self) -> dict[str, str]:
        inner = {f"{what} of {field}": text for field, form in self.parts for what, text in form.properties().items()}
        return {"type": self.name, "signature": "" if inner else repr(self.signature), **inner}

    def __str__(self) -> str:
        return self.name


def form_of(argument: JitArgument, annotation: Any, place: Place, writes: tuple[Write, ...] = ()) -> Form:
    """Return the form of an adapted argument; ``writes`` are what the code may write of it."""
    if isinstance(argument, TensorArgument):
        return TensorForm.of(argument, place, writes)
    if isinstance(argument, ScalarArgument):
        return ScalarForm(argument.dtype, isinstance(annotation, type) and issubclass(annotation, Numeric))
    if isinstance(argument, StreamArgument):
        return StreamForm(place)
    parts: tuple[tuple[str, Any], ...] = ()
    name = type(argument).__name__.removesuffix("Argument").lower()
    if isinstance(argument, StructArgument):
        name = f"struct {argument.kind.__name__}"
        parts = tuple((field, form_of(part, None, place)) for field, part in argument.parts.items())
        parts += tuple((field, ConstantForm.of(value)) for field, value in argument.constants.items())
    return OtherForm(argument.signature(), annotation, name, parts, place, writes)
