"""Parsing the text of payloads that are more than a layout: pointers, tensors, atoms, tiled ops.

Layout text itself is parsed by `flydsl.layout.text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flydsl.base.errors import VerifyError
from flydsl.base.lazy import lazy_module
from flydsl.dialects.fly import payload as pl
from flydsl.layout.int_tuple import to_text as int_tuple_text
from flydsl.layout.tensor import Tensor
from flydsl.layout.text import (
    parse_composed,
    parse_coord_swizzle,
    parse_int_tuple,
    parse_layout,
    parse_swizzle,
    parse_tile,
)
from flydsl.target.copy_ops import CopyOp, UniversalAtomic, UniversalCopy
from flydsl.target.dtype import width_bits
from flydsl.target.mma_ops import MmaOp, UniversalFma

if TYPE_CHECKING:
    from flydsl.dialects.fly import copy_text, mma_text
else:
    copy_text = lazy_module("flydsl.dialects.fly.copy_text")
    mma_text = lazy_module("flydsl.dialects.fly.mma_text")


__all__ = [
    "INSTRUCTION_PARSERS",
    "int_tuple_text",
    "parse_composed",
    "parse_coord_swizzle",
    "parse_coord_tensor",
    "parse_copy_atom",
    "parse_instruction",
    "parse_int_tuple",
    "parse_layout",
    "parse_memref",
    "parse_mma_atom",
    "parse_pointer",
    "parse_swizzle",
    "parse_tile",
    "parse_tiled_copy",
    "parse_tiled_mma",
]

_OPEN, _CLOSE = "(<[{", ")>]}"


def split_top(body: str, separator: str = ",") -> list[str]:
    """Split at separators outside any bracket; the ``>`` of an arrow closes nothing."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(body):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and not (char == ">" and body[at - 1] == "-"):
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(body[start:at].strip())
            start = at + 1
    parts.append(body[start:].strip())
    return parts


def _pointer(elem: str, space: str, extras: list[str]) -> pl.Pointer:
    align, swizzle = 0, None
    for extra in extras:
        if match := re.fullmatch(r"align<\s*(\d+)\s*>", extra):
            align = int(match[1])
        elif extra.startswith("S<"):
            swizzle = parse_swizzle(extra)
        else:
            raise VerifyError(f"expected 'align<N>' or a swizzle, got '{extra}'")
    return pl.Pointer(elem, space, align, swizzle)


def parse_pointer(body: str) -> pl.Pointer:
    elem, space, *extras = _at_least(split_top(body), 2, "an element type and an address space")
    return _pointer(elem, space, extras)


def parse_memref(body: str) -> Tensor:
    elem, space, layout, *extras = _at_least(split_top(body), 3, "an element type, an address space and a layout")
    return Tensor(_pointer(elem, space, extras), _any_layout(layout))


def parse_coord_tensor(body: str) -> Tensor:
    base, layout = _exactly(split_top(body), 2, "a base coordinate and a layout")
    return Tensor(parse_int_tuple(base), _any_layout(layout))


def _any_layout(body: str) -> Any:
    return parse_composed(body) if "o" in body else parse_layout(body)


def parse_copy_atom(body: str) -> pl.CopyAtom:
    op, bits = _exactly(split_top(body), 2, "a copy instruction and the bits of a value")
    atom = pl.CopyAtom(_of_kind(parse_instruction(op), CopyOp, op, "copy"), _integer(bits))
    atom.op.tv_layouts(atom.val_bits)  # refuses a width that the values do not divide
    return atom


def parse_mma_atom(body: str) -> pl.MmaAtom:
    return pl.MmaAtom(_of_kind(parse_instruction(body), MmaOp, body, "matrix"))


def _inside(body: str, prefix: str) -> str:
    if not (body.startswith(prefix + "<") and body.endswith(">")):
        raise VerifyError(f"expected '{prefix}<...>', got '{body}'")
    return body[len(prefix) + 1 : -1]


def parse_tiled_copy(body: str) -> pl.TiledCopy:
    atom, layout, tile = _exactly(split_top(body), 3, "an atom, a layout and a tile")
    return pl.TiledCopy(
        parse_copy_atom(_inside(atom, "!fly.copy_atom")),
        parse_layout(_inside(layout, "")),
        parse_tile(_inside(tile, "")),
    )


def parse_tiled_mma(body: str) -> pl.TiledMma:
    atom, layout, *tile = _at_least(split_top(body), 2, "an atom and a layout, then perhaps a tile")
    return pl.TiledMma(
        parse_mma_atom(_inside(atom, "!fly.mma_atom")),
        parse_layout(_inside(layout, "")),
        parse_tile(_inside(tile[0], "")) if tile else None,
    )


def _at_least(parts: list[str], count: int, what: str) -> list[str]:
    if len(parts) < count:
        raise VerifyError(f"expected {what}")
    return parts


def _exactly(parts: list[str], count: int, what: str) -> list[str]:
    if len(parts) != count:
        raise VerifyError(f"expected {what}")
    return parts


def _integer(body: str) -> int:
    if not body.strip().isdecimal():
        raise VerifyError(f"expected a number, got '{body.strip()}'")
    return int(body)


def _of_kind(instruction: Any, kind: type, text: str, what: str) -> Any:
    if not isinstance(instruction, kind):
        raise VerifyError(f"'{text}' is no {what} instruction")
    return instruction


def _universal_copy(body: str) -> UniversalCopy:
    return UniversalCopy(_integer(body))


def _universal_atomic(body: str) -> UniversalAtomic:
    op, elem, *rest = _at_least(split_top(body), 2, "an operation and an element type")
    scope = "system"
    if rest:
        match = re.fullmatch(r"scope\s*=\s*([\w-]+)", rest[0])
        if match is None or len(rest) > 1:
            raise VerifyError(f"expected 'scope = NAME', got '{', '.join(rest)}'")
        scope = match[1]
    return UniversalAtomic(op, elem, width_bits(elem), scope)


def mma_signature(body: str) -> tuple[tuple[int, int, int], tuple[str, str, str], list[str]]:
    """``16x16x16, (f16, f16) -> f32, …`` as shape, element types and the remaining parameters."""
    shape, types, *rest = _at_least(split_top(body), 2, "a shape MxNxK and element types")
    m, n, k = (_integer(x) for x in _exactly(shape.split("x"), 3, "a shape MxNxK"))
    match = re.fullmatch(r"\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*->\s*(\w+)", types)
    if match is None:
        raise VerifyError(f"expected '(A, B) -> C' element types, got '{types}'")
    return (m, n, k), (match[1], match[2], match[3]), rest


def _universal_fma(body: str) -> UniversalFma:
    shape, elems, rest = mma_signature(body)
    if shape != (1, 1, 1) or rest:
        raise VerifyError(f"a universal fma is 1x1x1 and has no parameters, got '{body}'")
    for elem in elems:
        width_bits(elem)
    return UniversalFma(*elems)


MATRIX_INSTRUCTIONS = (
    "fly_rocdl.cdna3.mfma",
    "fly_rocdl.cdna4.mfma_scale",
    "fly_rocdl.gfx11.wmma",
    "fly_rocdl.gfx120x.wmma",
    "fly_rocdl.gfx1250.wmma",
    "fly_rocdl.gfx1250.wmma_scale",
    "fly_nvvm.sm80.mma_sync",
    "fly_nvvm.sm90.wgmma",
)
"""Types that `mma_text` builds; it and the vendors' tables are loaded when the first one is read."""


def _matrix_instruction(name: str) -> Callable[[str], Any]:
    def parse(body: str) -> Any:
        return mma_text.MMA_BUILDERS[name](*mma_signature(body))

    return parse


COPY_INSTRUCTIONS = (
    "fly_rocdl.cdna3.buffer_copy",
    "fly_rocdl.cdna3.buffer_copy_lds",
    "fly_rocdl.cdna3.buffer_atomic",
    "fly_rocdl.cdna4.buffer_load_async_lds",
    "fly_rocdl.cdna4.global_load_async_lds",
    "fly_rocdl.cdna4.lds_read_trans",
    "fly_rocdl.gfx1250.lds_read_trans",
    "fly_rocdl.gfx1250.tdm",
    "fly_nvvm.sm80.cached_copy",
    "fly_nvvm.sm80.cp_async",
    "fly_nvvm.ldmatrix",
    "fly_nvvm.stmatrix",
)
"""Types that `copy_text` builds, loaded when the first one is read."""


def _copy_instruction(name: str) -> Callable[[str], Any]:
    return lambda body: copy_text.COPY_PARSERS[name](body)


INSTRUCTION_PARSERS: dict[str, Callable[[str], Any]] = {
    "fly.universal_copy": _universal_copy,
    "fly.universal_atomic": _universal_atomic,
    "fly.universal_fma": _universal_fma,
    **{name: _matrix_instruction(name) for name in MATRIX_INSTRUCTIONS},
    **{name: _copy_instruction(name) for name in COPY_INSTRUCTIONS},
}
"""Type name to parser of its parameters. Vendor dialects add their instructions here."""


def parse_instruction(text: str) -> Any:
    """Return an instruction from its type text, such as ``!fly.universal_copy<128>``."""
    match = re.fullmatch(r"!([\w.]+)<(.*)>", text.strip(), re.DOTALL)
    if match is None or match[1] not in INSTRUCTION_PARSERS:
        raise VerifyError(f"'{text}' names no known instruction", hint="known: " + ", ".join(INSTRUCTION_PARSERS))
    return INSTRUCTION_PARSERS[match[1]](match[2])
