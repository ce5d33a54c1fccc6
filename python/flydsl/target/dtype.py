"""Element types by their MLIR name: width and kind, for code that sees no IR and no `fx` class."""

from __future__ import annotations

from functools import cache

from flydsl.base.errors import DslTypeError

FLOAT_WIDTHS: dict[str, int] = {
    "f64": 64,
    "f32": 32,
    "f16": 16,
    "bf16": 16,
    "f8E5M2": 8,
    "f8E4M3FN": 8,
    "f8E4M3FNUZ": 8,
    "f8E5M2FNUZ": 8,
    "f8E4M3B11FNUZ": 8,
    "f8E4M3": 8,
    "f8E8M0FNU": 8,
    "f6E2M3FN": 6,
    "f6E3M2FN": 6,
    "f4E2M1FN": 4,
}


def width_bits(name: str) -> int:
    """Bits of one element of the named type: ``f32`` is 32, ``i1`` is 1, ``index`` is 64."""
    if name in FLOAT_WIDTHS:
        return FLOAT_WIDTHS[name]
    if name == "index":
        return 64
    digits = name.removeprefix("u")
    if digits.startswith("i") and digits[1:].isdigit():
        return int(digits[1:])
    raise DslTypeError(f"'{name}' is no element type", hint="use a float or integer type such as f32, bf16 or i8")


@cache
def storage_bytes(name: str) -> int:
    """Bytes one element occupies in memory; sub-byte types are addressed as whole bytes."""
    return max((width_bits(name) + 7) // 8, 1)


def register_type(name: str) -> str:
    """Return the type an element has in a register: integers lose the sign that memory remembers."""
    return name[1:] if name.startswith("ui") else name


def is_float(name: str) -> bool:
    return name in FLOAT_WIDTHS
