"""Matrix instructions from the parameters of their type text, vendor by vendor.

A builder gets the shape, the element types and the remaining ``name = value`` parameters as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import VerifyError
from flydsl.target.mma_cdna import Mfma, MfmaScale
from flydsl.target.mma_instruction import Elems, Shape
from flydsl.target.mma_nvidia import MmaSync
from flydsl.target.mma_rdna import DIALECT_NAMES, Wmma, WmmaScale
from flydsl.target.mma_warpgroup import M as WGMMA_ROWS
from flydsl.target.mma_warpgroup import Wgmma

Builder = Callable[[Shape, Elems, list[str]], Any]
_WORDS = ("a", "majorA", "majorB")
"""Parameters whose values are words."""


def _fields(rest: list[str], names: dict[str, str]) -> dict[str, Any]:
    """``["opselA = 0", …]`` as keyword arguments; ``names`` maps the text's names to a record's."""
    found: dict[str, Any] = {}
    for item in rest:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name not in names:
            raise VerifyError(f"unexpected parameter '{item}'", hint="parameters: " + (", ".join(names) or "none"))
        found[names[name]] = _value(name, value)
    return found


def _value(name: str, text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if not text.isdecimal() and name not in _WORDS:
        raise VerifyError(f"{name} is a number, true or false, not '{text}'")
    return int(text) if text.isdecimal() else text


def _mfma(shape: Shape, elems: Elems, rest: list[str]) -> Mfma:
    return Mfma(*shape, *elems, **_fields(rest, {}))


def _mfma_scale(shape: Shape, elems: Elems, rest: list[str]) -> MfmaScale:
    return MfmaScale(*shape, *elems, **_fields(rest, {"opselA": "opsel_a", "opselB": "opsel_b"}))


_SIGNLESS = {f"{sign}i{bits}": f"i{bits}" for sign in "us" for bits in (4, 8)}
"""Signs that FlyDSL's texts give with the types too; the parameters say them."""


def _wmma(generation: str) -> Builder:
    names = {"signA": "sign_a", "signB": "sign_b", "clamp": "clamp"}

    def build(shape: Shape, elems: Elems, rest: list[str]) -> Wmma:
        a, b, c = (_SIGNLESS.get(elem, elem) for elem in elems)
        return Wmma(generation, *shape, a, b, c, **_fields(rest, names))

    return build


def _wmma_scale(shape: Shape, elems: Elems, rest: list[str]) -> WmmaScale:
    names = {
        "opselA": "opsel_a", "opselB": "opsel_b", "modC": "mod_c",
        "reuseA": "reuse_a", "reuseB": "reuse_b", "blockSize": "block_size",
    }  # fmt: skip
    return WmmaScale(*shape, *elems, **_fields(rest, names))


def _mma_sync(shape: Shape, elems: Elems, rest: list[str]) -> MmaSync:
    return MmaSync(*shape, *elems, **_fields(rest, {}))


def _wgmma(shape: Shape, elems: Elems, rest: list[str]) -> Wgmma:
    if shape[0] != WGMMA_ROWS:
        raise VerifyError(f"a warpgroup multiplies {WGMMA_ROWS} rows, got {shape[0]}")
    return Wgmma(*shape[1:], *elems, **_fields(rest, {"a": "a_source", "majorA": "major_a", "majorB": "major_b"}))


MMA_BUILDERS: dict[str, Builder] = {
    "fly_rocdl.cdna3.mfma": _mfma,
    "fly_rocdl.cdna4.mfma_scale": _mfma_scale,
    **{f"fly_rocdl.{name}.wmma": _wmma(generation) for generation, name in DIALECT_NAMES.items()},
    "fly_rocdl.gfx1250.wmma_scale": _wmma_scale,
    "fly_nvvm.sm80.mma_sync": _mma_sync,
    "fly_nvvm.sm90.wgmma": _wgmma,
}
"""Type name to the builder of its instruction."""
