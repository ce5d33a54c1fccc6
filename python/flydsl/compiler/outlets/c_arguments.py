"""The arguments of a jit function as a C programmer sees them: types, checks, and the numbers they are packed into.

A tensor is a struct of pointer, extents and strides, whole even where the compiled code has some of them built in: the
launcher compares those and refuses others. Numbers go by value, a struct becomes a C struct, and a value of a type that
the user registered becomes the numbers of its own description.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flydsl.base.errors import UnsupportedError
from flydsl.base.records import dataclass, field
from flydsl.compiler.arguments.kinds import (
    Dynamic,
    JitArgument,
    PointerArgument,
    ScalarArgument,
    StreamArgument,
    StructArgument,
    TensorArgument,
)
from flydsl.layout.leaf import INT32_LIMIT

FORMAT_TYPES = {
    "?": "bool", "b": "int8_t", "B": "uint8_t", "h": "int16_t", "H": "uint16_t", "i": "int32_t", "I": "uint32_t",
    "q": "int64_t", "Q": "uint64_t", "f": "float", "d": "double", "e": "uint16_t", "P": "void *",
}  # fmt: skip
"""`struct` format characters as C types; a half is passed as its bits."""

ELEMENT_TYPES = {
    "f64": "double", "f32": "float", "f16": "uint16_t", "bf16": "uint16_t", "i1": "bool",
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Elements of tensors as C types; those that C has no type for are passed as their bits."""

_WORDS = """
alignas alignof and asm assert auto bool break case catch char class const constexpr continue default delete do double
else enum errno export extern false float for friend goto if inline int linux long mutable namespace new not nullptr
operator or private protected public register restrict return short signed sizeof static stderr stdin stdout struct
switch template this thread_local throw true try typedef typeof typeid typename union unix unsigned using virtual void
volatile while xor EOF I INFINITY NAN NULL
"""
_RESERVED = frozenset(_WORDS.split())
"""Words that C, C++ or their headers have taken."""


def _c_element(elem: str) -> str:
    return ELEMENT_TYPES.get(elem, "uint8_t")


def c_name(name: str, taken: set[str] | None = None) -> str:
    """Return a C identifier as close to a Python name as can be, unlike those already taken."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name).lstrip("_") or "unnamed"  # C keeps names with a leading _ to itself
    if found[0].isdigit():
        found = f"n{found}"
    while found in _RESERVED or (taken is not None and found in taken):
        found += "_"
    if taken is not None:
        taken.add(found)
    return found


@dataclass(frozen=True)
class Slot:
    """One number of the argument block: its format character and the C expression that gives it."""

    form: str
    expression: str

    @property
    def c_type(self) -> str:
        return FORMAT_TYPES[self.form]


@dataclass(frozen=True)
class Check:
    """What the launcher refuses: a C condition, and a message with at most one `printf` place, for a C value."""

    condition: str
    message: str
    value: str


@dataclass(frozen=True)
class CArgument:
    """One argument of the C function."""

    python_name: str
    name: str
    c_type: str
    notes: tuple[str, ...]
    slots: tuple[Slot, ...]
    description: dict[str, Any]
    checks: tuple[Check, ...] = ()
    typedefs: dict[str, str] = field(default_factory=dict)
    """Name of each C type it needs -> its definition, in order."""


def declaration(c_type: str, name: str) -> str:
    """Return a C declaration: a pointer's star sits at the name."""
    return f"{c_type}{name}" if c_type.endswith("*") else f"{c_type} {name}"


def comment(lines: Iterable[str]) -> str:
    """Return a C comment that nothing inside can end, nor seem to begin anew."""
    body = "\n * ".join(line.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ") for line in lines)
    return f"/* {body} */"


@dataclass(frozen=True)
class _Place:
    """Where an argument stands: in Python's words, its C expression, and the prefix of types made for it."""

    python_name: str
    name: str
    expression: str
    prefix: str


def c_argument(argument: JitArgument, python_name: str, name: str, prefix: str) -> CArgument:
    """Return how an adapted argument is passed in C."""
    return _describe(argument, _Place(python_name, name, name, prefix))


def _describe(argument: Any, place: _Place) -> CArgument:
    for kind, make in _MAKERS:
        if isinstance(argument, kind):
            return make(argument, place)
    return _numbers(argument, place)


# Tensors ---------------------------------------------------------------------------------------


def _tensor(argument: TensorArgument, place: _Place) -> CArgument:
    elem, rank = argument.view.elem, len(argument.shape_code)
    c_elem = _c_element(elem)
    type_name = f"fly_tensor_{rank}d_{elem.lower()}"
    leaves = [
        *_leaves(place.expression, "extent", "shape", argument.shape_code, argument.wide_shape),
        *_leaves(place.expression, "stride", "strides", argument.stride_code, argument.wide_stride),
    ]
    return CArgument(
        python_name=place.python_name,
        name=place.name,
        c_type=type_name,
        notes=_tensor_notes(argument),
        slots=(Slot("P", f"{place.expression}.data"), *(leaf.slot for leaf in leaves if leaf.slot)),
        checks=(
            *(check for leaf in leaves for check in leaf.checks(place.python_name)),
            *_pointer_checks(argument, place, rank),
        ),
        typedefs={type_name: _tensor_type(type_name, f"{rank}d_{elem.lower()}", c_elem, rank)},
        description={
            "kind": "tensor",
            "element": elem,
            "shape": [_leaf_description(code, argument.wide_shape) for code in argument.shape_code],
            "strides": [_leaf_description(code, argument.wide_stride) for code in argument.stride_code],
            "alignment": argument.align,
        },
    )


@dataclass(frozen=True)
class _Leaf:
    """One extent or stride: its C expression, and what the compiled code relies on."""

    what: str
    axis: int
    expression: str
    code: Any
    wide: bool

    @property
    def slot(self) -> Slot | None:
        if not isinstance(self.code, Dynamic):
            return None
        return Slot("q", self.expression) if self.wide else Slot("i", f"(int32_t){self.expression}")

    def checks(self, argument: str) -> list[Check]:
        text, value = f"argument '{argument}': {self.what} {self.axis} is %lld, ", self.expression
        if not isinstance(self.code, Dynamic):
            return [Check(f"{value} != {self.code}", f"{text}and this code was made for {self.code}", value)]
        found = []
        if self.what == "extent":
            found.append(Check(f"{value} < 0", f"{text}which is negative", value))
        if not self.wide:
            limit = f"{value} >= {INT32_LIMIT}" + (f" || {value} < -{INT32_LIMIT}" if self.what == "stride" else "")
            found.append(Check(limit, f"{text}and this code was made for 32-bit {self.what}s", value))
        if self.code.divisibility > 1:
            divisor = self.code.divisibility
            found.append(Check(f"{value} % {divisor} != 0", f"{text}which is no multiple of {divisor}", value))
        return found


def _leaves(expression: str, what: str, member: str, codes: Sequence[Any], wide: bool) -> list[_Leaf]:
    return [_Leaf(what, axis, f"{expression}.{member}[{axis}]", code, wide) for axis, code in enumerate(codes)]


def _pointer_checks(argument: TensorArgument, place: _Place, rank: int) -> list[Check]:
    pointer = f"{place.expression}.data"
    some = " && ".join(f"{place.expression}.shape[{axis}] > 0" for axis in range(rank))
    return _address_checks(place.python_name, pointer, f"{pointer} == NULL && {some}", argument.align)


def _address_checks(who: str, pointer: str, is_missing: str, align: int) -> list[Check]:
    value = f"(uintptr_t){pointer}"
    found = [Check(is_missing, f"argument '{who}': the data pointer is null", value)]
    if align > 1:
        message = f"argument '{who}': the data at 0x%llx is not aligned to {align} bytes"
        found.append(Check(f"{value} % {align} != 0", message, value))
    return found


def _leaf_text(code: Any) -> str:
    if not isinstance(code, Dynamic):
        return str(code)
    return "any" if code.divisibility == 1 else f"any multiple of {code.divisibility}"


def _leaf_description(code: Any, wide: bool) -> dict[str, Any]:
    if not isinstance(code, Dynamic):
        return {"static": code}
    return {"runtime": "int64" if wide else "int32", "divisibility": code.divisibility}


def _tensor_notes(argument: TensorArgument) -> tuple[str, ...]:
    shape = ", ".join(map(_leaf_text, argument.shape_code))
    strides = ", ".join(map(_leaf_text, argument.stride_code))
    elem = argument.view.elem
    bits = "" if elem in ELEMENT_TYPES and elem not in ("f16", "bf16") else ", passed as its bits"
    return (
        f"tensor of {elem}{bits}; shape ({shape}), strides ({strides})",
        f"data aligned to {argument.align} bytes; extents and strides count elements"
        + ("" if argument.wide_shape else f"; extents below {INT32_LIMIT}"),
    )


def _tensor_type(name: str, suffix: str, c_elem: str, rank: int) -> str:
    extents = ", ".join(f"int64_t extent{axis}" for axis in range(rank))
    lines = [
        "typedef struct {",
        f"    {c_elem} *data;",
        f"    int64_t shape[{rank}];",
        f"    int64_t strides[{rank}]; /* in elements */",
        f"}} {name};",
        "",
        f"/* A {name} whose last dimension is the contiguous one. */",
        f"static inline {name} fly_row_major_{suffix}({c_elem} *data, {extents}) {{",
        f"    {name} tensor;",
        "    tensor.data = data;",
        *(f"    tensor.shape[{axis}] = extent{axis};" for axis in range(rank)),
        f"    tensor.strides[{rank - 1}] = 1;",
        *(
            f"    tensor.strides[{axis}] = tensor.strides[{axis + 1}] * extent{axis + 1};"
            for axis in reversed(range(rank - 1))
        ),
        "    return tensor;",
        "}",
    ]
    return "\n".join(lines)


# Everything else -------------------------------------------------------------------------------


def _scalar(argument: ScalarArgument, place: _Place) -> CArgument:
    form = argument.abi()
    note = f"{argument.dtype}" + (", passed as its bits" if argument.dtype.is_float and form not in "fd" else "")
    description = {"kind": "scalar", "type": str(argument.dtype.ir_type)}
    slots = (Slot(form, place.expression),)
    return CArgument(place.python_name, place.name, FORMAT_TYPES[form], (note,), slots, description)


def _pointer(argument: PointerArgument, place: _Place) -> CArgument:
    payload, missing = argument.payload, f"{place.expression} == NULL"
    return CArgument(
        python_name=place.python_name,
        name=place.name,
        c_type=f"{_c_element(payload.elem)} *",
        notes=(f"address of {payload.elem} elements, aligned to {payload.align} bytes",),
        slots=(Slot("P", place.expression),),
        checks=tuple(_address_checks(place.python_name, place.expression, missing, payload.align)),
        description={"kind": "pointer", "element": payload.elem, "alignment": payload.align},
    )


def _stream(argument: StreamArgument | None, place: _Place) -> CArgument:
    note = "the device's stream handle, or NULL; the host device ignores it"
    slots = (Slot("P", place.expression),)
    return CArgument(place.python_name, place.name, "void *", (note,), slots, {"kind": "stream"})


def hidden_stream(name: str) -> CArgument:
    """Return the stream of a function that names none in its own parameters."""
    return _stream(None, _Place("", name, name, ""))


def _struct(argument: StructArgument, place: _Place) -> CArgument:
    type_name, taken = f"{place.prefix}_{place.name}", set[str]()
    parts: list[CArgument] = []
    for field_name, part in argument.parts.items():
        inner = c_name(field_name, taken)
        where = _Place(f"{place.python_name}.{field_name}", inner, f"{place.expression}.{inner}", type_name)
        parts.append(_describe(part, where))
    constants = {name: repr(value) for name, value in argument.constants.items()}
    fields = [line for part in parts for line in (*_comments(part), f"    {declaration(part.c_type, part.name)};")]
    definition = "\n".join(["typedef struct {", *(fields or ["    char empty;"]), f"}} {type_name};"])
    return CArgument(
        python_name=place.python_name,
        name=place.name,
        c_type=type_name,
        notes=(
            f"struct {argument.kind.__name__}",
            *(f"its {name} is {value} (compiled in)" for name, value in constants.items()),
        ),
        slots=tuple(slot for part in parts for slot in part.slots),
        checks=tuple(check for part in parts for check in part.checks),
        typedefs={name: text for part in parts for name, text in part.typedefs.items()} | {type_name: definition},
        description={
            "kind": "struct",
            "fields": [{"name": p.python_name.rpartition(".")[2], "c_type": p.c_type, **p.description} for p in parts],
            "constants": constants,
        },
    )


def _comments(part: CArgument) -> list[str]:
    return [f"    {comment([note])}" for note in part.notes]


def _numbers(argument: JitArgument, place: _Place) -> CArgument:
    """Return a value of a registered type: the numbers of its own description."""
    forms = argument.abi()
    unknown = sorted(set(forms) - set(FORMAT_TYPES))
    if unknown:
        raise UnsupportedError(
            f"argument '{place.python_name}' cannot be exported: C has no type for the format {unknown[0]!r}",
            hint=f"its __c_abi_spec__ may use {' '.join(FORMAT_TYPES)}",
        )
    notes = ("a value of a registered type, as the numbers of its description",)
    description: dict[str, Any] = {"kind": "registered", "formats": forms}
    if len(forms) == 1:
        slots = (Slot(forms, place.expression),)
        return CArgument(place.python_name, place.name, FORMAT_TYPES[forms], notes, slots, description)
    type_name = f"{place.prefix}_{place.name}"
    fields = [f"    {declaration(FORMAT_TYPES[form], f'number{i}')};" for i, form in enumerate(forms)]
    definition = "\n".join(["typedef struct {", *(fields or ["    char empty;"]), f"}} {type_name};"])
    slots = tuple(Slot(form, f"{place.expression}.number{i}") for i, form in enumerate(forms))
    return CArgument(
        place.python_name, place.name, type_name, notes, slots, description, typedefs={type_name: definition}
    )


_MAKERS: tuple[tuple[type, Callable[[Any, _Place], CArgument]], ...] = (
    (TensorArgument, _tensor),
    (ScalarArgument, _scalar),
    (StreamArgument, _stream),
    (StructArgument, _struct),
    (PointerArgument, _pointer),
)
