"""`mfma_*` and `wmma_*`: every matrix instruction of AMD GPUs as a function of registers.

One function per instruction of the fact tables, under the names older kernels use for it: ``mfma_f32_16x16x16f16`` and
``mfma_f32_16x16x16_f16``, ``mfma_i32_16x16x32_i8`` and ``mfma_i32_16x16x32i8``, ``mfma_f32_16x16x32_fp8_fp8`` and, as
both operands are alike, ``mfma_f32_16x16x32_fp8``. A function takes its operands one by one, ``(a, b, acc)``, or as
``(result_type, [a, b, acc, …])``, in the order of the hardware's operands. Operands are vectors of a thread's values,
packed words of the same bits, or register tensors; the result is a vector of accumulators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.atoms.mma_elements import current_target
from flydsl.expr.atoms.ops_atom import make_mma_atom
from flydsl.expr.numeric import Numeric, as_numeric
from flydsl.expr.tensors.element import element_class
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import known_flag, without_result_type
from flydsl.expr.values.known import plain, shown
from flydsl.expr.values.vector_value import vector_operand
from flydsl.expr.vector import Vector
from flydsl.target.dtype import register_type, width_bits
from flydsl.target.mma_cdna import MFMA_ROWS, SCALED_FORMATS, SCALED_SHAPES, Mfma, MfmaRow, MfmaScale
from flydsl.target.mma_facts import fragment_elem
from flydsl.target.mma_rdna import SCALE_REGISTERS, WMMA_ROWS, Wmma, WmmaRow, WmmaScale

# Operands of raw matrix instructions: any value of the right number of bits, as a vector of the element wanted


def as_vector(name: str, role: str, value: Any) -> Vector:
    """Return a vector, register tensor, scalar or raw SSA value as a vector of whatever elements it has."""
    if isinstance(value, Tensor):
        return value.load()
    found = vector_operand(value)
    if isinstance(found, Vector):
        return found
    if found is None:
        raise DslTypeError(f"{name} takes {role} as a vector of registers, got {type(value).__name__}")
    number = found if isinstance(found, Numeric) else as_numeric(found)
    return Vector.from_elements([number], type(number))


def register_vector(name: str, role: str, value: Any, elem: str, count: int, *, shorten: bool = False) -> Vector:
    """``count`` elements from the bits of a value.

    With ``shorten`` a longer vector is cut: a scaled instruction is often given eight registers whatever its format.
    """
    given = as_vector(name, role, value)
    elem = register_type(fragment_elem(elem))
    wanted, held = count * width_bits(elem), given.numel * given.dtype.width
    if shorten and held > wanted and held % 32 == 0:
        words = given.bitcast(element_class("i32"))
        given, held = words.shuffle(words, range(wanted // 32)), wanted
    if held != wanted:
        raise DslValueError(
            f"{name} takes {role} as {count} values of {elem}, {wanted} bits a thread, but got {given.dtype.__name__} "
            f"x {given.numel}, {held} bits",
            hint="a thread's part of each operand fills its registers exactly; see the table of the instruction",
        )
    return given.bitcast(element_class(elem))


_FORMATS = list(SCALED_FORMATS)
_MFMA_ORDER = ("a", "b", "acc", "cbsz", "abid", "blgp")
_MFMA_SCALE_FIELDS = ("cbsz", "blgp", "opsel_a", "opsel_b")
_MFMA_SCALE_ORDER = ("a", "b", "acc", "cbsz", "blgp", "opsel_a", "scale_a", "opsel_b", "scale_b")
_WMMA_ORDER = ("a", "b", "acc")
_WMMA_SCALE_ORDER = ("a", "b", "acc", "scale_a", "scale_b")

Row = MfmaRow | WmmaRow


# Calling ---------------------------------------------------------------------------------------


def _arguments(name: str, order: Sequence[str], args: Sequence[Any]) -> dict[str, Any]:
    """Positional operands by name, given one by one or as ``(result_type, [operands])``."""
    args = without_result_type(tuple(args))
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = args[0]
    if len(args) == 2 and isinstance(args[1], (list, tuple)):
        args = args[1]
    if not 3 <= len(args) <= len(order):
        raise DslTypeError(
            f"{name} got {len(args)} operands",
            hint=f"call {name}({', '.join(order[:3])}) or {name}(result_type, [{', '.join(order)}])",
        )
    return dict(zip(order, args, strict=False))


def _constant(name: str, field: str, value: Any) -> int:
    """Return a field of the instruction's encoding: known while tracing."""
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, int):
        raise DslTypeError(f"{name}: {field} is part of the instruction and must be a Python int, got {shown(value)}")
    return found


def _issue(name: str, op: Any, given: dict[str, Any], state: dict[str, Any]) -> Vector:
    """Issue an instruction on values brought into its registers' form."""
    shorten = bool(op.state)
    elems = (op.elem_a, op.elem_b, op.elem_c)
    values = [
        register_vector(name, role, given[role], elem, tv[1].size(), shorten=shorten and role != "acc")
        for role, elem, tv in zip(("a", "b", "acc"), elems, op.tv_layouts(), strict=True)
    ]
    atom = make_mma_atom(op)
    if state:
        atom = atom.set_value(state)
    type_ = f"vector<{values[2].numel}x{values[2].dtype.ir_type}>"
    operands = [atom.ir_value(), *(value.ir_value() for value in values)]
    return Vector(current().fly("mma_atom_call_ssa", operands, None, type_), values[2].numel, values[2].dtype)


def _missing(name: str, kind: str) -> DslValueError:
    target = current_target()
    having = sorted(n for n in INTRINSICS if n.startswith(kind) and _generation_has(n, target.generation))
    hint = f"{target} has: {', '.join(having)}" if having else f"{target} has no {kind}_* instructions"
    return DslValueError(f"{target} has no {name}", hint=hint)


def _generation_has(name: str, generation: str) -> bool:
    return generation in GENERATIONS[name]


# One function per instruction ------------------------------------------------------------------


def _mfma(name: str, rows: list[MfmaRow]) -> Callable[..., Vector]:
    def call(*args: Any, cbsz: int = 0, abid: int = 0, blgp: int = 0) -> Vector:
        given = {"cbsz": cbsz, "abid": abid, "blgp": blgp, **_arguments(name, _MFMA_ORDER, args)}
        for field in ("cbsz", "abid", "blgp"):
            if _constant(name, field, given[field]):
                raise DslValueError(
                    f"{name}: {field} = {plain(given[field])} broadcasts or permutes blocks, which is not offered",
                    hint="leave it 0 and arrange the operands instead",
                )
        row = next((row for row in rows if current_target().generation in row.generations), None)
        if row is None:
            raise _missing(name, "mfma")
        return _issue(name, Mfma(*row.shape, *row.elems), given, {})

    return call


def _wmma(name: str, rows: list[WmmaRow]) -> Callable[..., Vector]:
    def call(*args: Any, sign_a: bool | None = None, sign_b: bool | None = None, clamp: bool = False) -> Vector:
        given = _arguments(name, _WMMA_ORDER, args)
        row = next((row for row in rows if row.generation == current_target().generation), None)
        if row is None:
            raise _missing(name, "wmma")
        flags = {}
        if row.elems[2] == "i32":
            signs = [
                _signed(name, role, given[role], row.elems[0]) if sign is None else known_flag(sign, f"sign_{role}")
                for role, sign in (("a", sign_a), ("b", sign_b))
            ]
            flags = {"sign_a": signs[0], "sign_b": signs[1], "clamp": known_flag(clamp, "clamp")}
        elif any(known_flag(chosen or False, "a sign or clamp") for chosen in (sign_a, sign_b, clamp)):
            raise DslValueError(f"{name}: sign_a, sign_b and clamp belong to the integer forms", hint="drop them")
        return _issue(name, Wmma(row.generation, *row.shape, *row.elems, **flags), given, {})

    return call


def _signed(name: str, role: str, value: Any, elem: str) -> bool:
    """Return whether an integer operand is signed, as its elements say; packed words say nothing and count as
    unsigned."""
    held = as_vector(name, role, value).dtype
    return held.width == width_bits(elem) and held.format.signed


def _format(name: str, field: str, value: Any) -> str:
    """Return the element type of a format code, or of an element type given as such."""
    if isinstance(value, type) and issubclass(value, Numeric):
        value = SCALED_FORMATS.get(str(value.ir_type), -1)
    code = _constant(name, field, value)
    if not 0 <= code < len(_FORMATS):
        codes = ", ".join(f"{number} {elem}" for elem, number in SCALED_FORMATS.items())
        raise DslValueError(f"{name}: {field} = {code} is no format", hint=f"formats: {codes}")
    return _FORMATS[code]


def _mfma_scale(name: str, shape: tuple[int, int, int]) -> Callable[..., Vector]:
    def call(*args: Any, **fields: Any) -> Vector:
        given = dict.fromkeys(_MFMA_SCALE_FIELDS, 0) | _arguments(name, _MFMA_SCALE_ORDER, args)
        _take(name, given, fields)
        if current_target().generation != "cdna4":
            raise _missing(name, "mfma_scale")
        a, b = _format(name, "cbsz", given["cbsz"]), _format(name, "blgp", given["blgp"])
        opsel = [_constant(name, field, given[field]) for field in ("opsel_a", "opsel_b")]
        op = MfmaScale(*shape, a, b, "f32", *opsel)
        return _issue(name, op, given, {field: given[field] for field in op.state})

    return call


_WMMA_SCALE_FIELDS: dict[str, int] = {
    "fmtA": 0, "fmtB": 0, "modC": 0, "scaleAType": 0, "fmtScaleA": 0, "scaleBType": 0, "fmtScaleB": 0,
    "reuseA": 0, "reuseB": 0,
}  # fmt: skip


def _wmma_scale(name: str, shape: tuple[int, int, int], block_size: int) -> Callable[..., Vector]:
    def call(*args: Any, **fields: Any) -> Vector:
        given: dict[str, Any] = dict(_WMMA_SCALE_FIELDS) | _arguments(name, _WMMA_SCALE_ORDER, args)
        _take(name, given, fields)
        if current_target().generation != "cdna5":
            raise _missing(name, "wmma_scale")
        for field in ("fmtScaleA", "fmtScaleB"):
            if _constant(name, field, given[field]):
                raise DslValueError(
                    f"{name}: {field} = {plain(given[field])}, but scales are E8M0 here", hint="leave it 0"
                )
        only_f4 = shape[0] == 32
        a, b = ("f4E2M1FN" if only_f4 else _format(name, field, given[field]) for field in ("fmtA", "fmtB"))
        opsel_a, opsel_b, mod_c = (_constant(name, f, given[f]) for f in ("scaleAType", "scaleBType", "modC"))
        reuse_a, reuse_b = (known_flag(given[field], field) for field in ("reuseA", "reuseB"))
        op = WmmaScale(*shape, a, b, "f32", opsel_a, opsel_b, mod_c, reuse_a, reuse_b, block_size)
        return _issue(name, op, given, {field: given[field] for field in op.state})

    return call


def _take(name: str, given: dict[str, Any], fields: dict[str, Any]) -> None:
    for field, value in fields.items():
        if field not in given and field not in ("scale_a", "scale_b"):
            raise DslTypeError(f"{name} has no '{field}'", hint=f"it has: {', '.join(given)}")
        given[field] = value
    for field in ("scale_a", "scale_b"):
        if field not in given:
            raise DslTypeError(f"{name} needs {field}", hint="four E8M0 bytes in an Int32, or eight in an Int64")


# Names -----------------------------------------------------------------------------------------


def _spellings(suffix: str) -> Iterator[str]:
    """``mfma.f32.16x16x16f16`` with and without an underscore after the shape; one format when both are the same."""
    name = suffix.replace(".", "_")
    apart = re.sub(r"(\d+x\d+x\d+)_?(?=[a-z])", r"\1_", name)
    together = re.sub(r"(\d+x\d+x\d+)_", r"\1", name)
    yield from (apart, together) if name.startswith("mfma") else (name,)
    same = re.fullmatch(r"(mfma_.*)_(fp8|bf8)_\2", apart)
    if same:
        yield f"{same[1]}_{same[2]}"


def _grouped(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Rows by the suffix of their intrinsic: one name may be an instruction of several generations."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row.suffix, []).append(row)
    return found


def _described(call: Callable[..., Vector], name: str, what: str) -> Callable[..., Vector]:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = what
    return call


def _build() -> tuple[dict[str, Callable[..., Vector]], dict[str, tuple[str, ...]]]:
    made: dict[str, Callable[..., Vector]] = {}
    generations: dict[str, tuple[str, ...]] = {}

    def add(name: str, call: Callable[..., Vector], what: str, having: Sequence[str]) -> None:
        made[name] = _described(call, name, what)
        generations[name] = tuple(having)

    for suffix, rows in _grouped(MFMA_ROWS).items():
        for name in _spellings(suffix):
            add(name, _mfma(name, rows), f"MFMA {rows[0].signature()}.", [g for row in rows for g in row.generations])
    for suffix, rows in _grouped(WMMA_ROWS).items():
        for name in _spellings(suffix):
            add(name, _wmma(name, rows), f"WMMA {rows[0].signature()}.", [row.generation for row in rows])
    for shape, suffix in SCALED_SHAPES.items():
        name = suffix.replace(".", "_")
        add(name, _mfma_scale(name, shape), f"Block-scaled MFMA of {'x'.join(map(str, shape))}.", ["cdna4"])
    for block_size, (kind, _) in SCALE_REGISTERS.items():
        for shape, tail in (((16, 16, 128), "f8f6f4"), ((32, 16, 128), "f4")):
            name = f"wmma_{kind}_f32_{'x'.join(map(str, shape))}_{tail}"
            what = f"WMMA of {'x'.join(map(str, shape))} with a scale for each {block_size} columns."
            add(name, _wmma_scale(name, shape, block_size), what, ["cdna5"])
    return made, generations


INTRINSICS, GENERATIONS = _build()
"""Name to its function, and to the generations that have it."""

globals().update(INTRINSICS)

__all__ = [*INTRINSICS]  # pyright: ignore[reportUnsupportedDunderAll]
