"""Every fly operation as one row: its rule, its operands, its attributes and its syntax.

The general syntax is ``fly.NAME(%operands) {attributes} : (operand types) -> result types``.
``form`` lists what stands between the parentheses when that is more than the operands: ``%`` for
the operands not named otherwise, ``%0`` for one of them, ``$attr`` for an attribute written bare
and ``$attr=`` for one written with its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flydsl.dialects.fly import rules

Kinds = dict[str, str]


@dataclass(frozen=True)
class OpSpec:
    """One operation.

    ``result`` says what the rule's answer becomes: ``payload`` a fly (or loaded) value, ``leaf``
    the integer a tuple leaf is, ``leaves`` several of them, ``bool`` an i1, ``explicit`` a type
    that the operation states because operands cannot imply it, ``none`` nothing.
    ``effect`` marks operations that must not be dropped, shared or reordered.
    """

    name: str
    rule: Callable[..., Any] | None
    operands: tuple[int, int]
    result: str = "payload"
    attrs: Kinds | None = None
    form: tuple[str, ...] = ("%",)
    effect: bool = False

    @property
    def full_name(self) -> str:
        return f"fly.{self.name}"


def _row(name: str, operands: int | tuple[int, int], rule: Callable[..., Any] | None = None, **rest: Any) -> OpSpec:
    span = operands if isinstance(operands, tuple) else (operands, operands)
    if rule is None and rest.get("result") not in ("explicit", "none"):
        rule = rules.ALGEBRA.get(name) or getattr(rules, name)
    return OpSpec(name, rule, span, **rest)


_MANY = 1 << 16
_RANGE: Kinds = {"begin": "i32", "end": "i32"}
_EXPLICIT: dict[str, Any] = {"result": "explicit"}
_EFFECT: dict[str, Any] = {"result": "none", "effect": True}

_CONSTRUCTION = (
    _row("static", 0, **_EXPLICIT),
    *(_row(f"make_{what}", (0, _MANY), **_EXPLICIT) for what in ("int_tuple", "shape", "stride", "coord")),
    _row("make_layout", 2),
    _row("make_layout_like", 1),
    _row("make_ordered_layout", 2),
    _row("make_composed_layout", 3),
    _row("make_identity_layout", 1),
    _row("make_view", 2),
    _row(
        "make_fragment_like",
        1,
        rules.make_fragment_like,
        attrs={"dtype": "elem"},
        form=("%", "$dtype"),
        effect=True,
    ),
    _row("make_fragment_layout_like", 1, rules.fragment_layout),
    _row("make_copy_atom", 0, attrs={"valBits": "i32"}, **_EXPLICIT),
    _row("make_mma_atom", 0, **_EXPLICIT),
    _row("make_tiled_copy", 3, rules.pl.TiledCopy),
    _row("make_tiled_mma", (2, 3), rules.pl.TiledMma),
)

_PROJECTION = (
    _row("get_scalar", 1, result="leaf"),
    _row("get_leaves", 1, result="leaves", attrs={"dynamicOnly": "bool"}),
    _row("get_shape", 1, rules.shape_of),
    _row("get_stride", 1, rules.stride_of),
    _row("get_layout", 1),
    _row("get_iter", 1),
    _row("composed_get_inner", 1),
    _row("composed_get_offset", 1),
    _row("composed_get_outer", 1),
)

_TUPLES = (
    *(_row(f"int_tuple_{op}", 2) for op in ("add", "sub", "mul", "div", "mod", "product_like")),
    _row("int_tuple_product", 1),
    _row("int_tuple_product_each", 1),
    _row("shape_div", 2),
    _row("ceil_div", 2),
    _row("elem_less", 2, result="bool"),
    _row("equal", 2, result="bool"),
)

_STRUCTURE = (
    _row("get", 1, attrs={"mode": "i32s"}),
    _row("take", 1, attrs=_RANGE),
    _row("group", 1, attrs=_RANGE),
    _row("select", 1, attrs={"indices": "i32s"}),
    _row("append", 2, attrs={"n": "angle"}),
    _row("prepend", 2, attrs={"n": "angle"}),
    _row("slice", 2),
    _row("dice", 2),
)

_ALGEBRA = (
    *(_row(name, 1) for name in ("size", "cosize", "coshape", "coprofile", "right_inverse", "left_inverse")),
    *(_row(name, 2) for name in ("crd2idx", "idx2crd", "get_flat_coord", "get_1d_coord", "composition")),
    _row("coalesce", (1, 2)),
    _row("complement", (1, 2)),
    *(_row(f"{kind}_divide", 2) for kind in ("logical", "zipped", "tiled", "flat")),
    *(_row(f"{kind}_product", 2) for kind in ("logical", "zipped", "tiled", "flat", "blocked", "raked")),
    _row("recast_layout", 1, attrs={"old_type_bits": "i32", "new_type_bits": "i32"}),
    _row("tile_to_shape", 3),
)

_OPERAND: Kinds = {"operand": "word"}

_TILED = (
    _row("tiled_copy.partition_src", 3, rules.partition_src),
    _row("tiled_copy.partition_dst", 3, rules.partition_dst),
    _row("tiled_copy.retile", 2, rules.retile),
    _row("tiled_mma.partition", 3, rules.mma_partition, attrs=_OPERAND, form=("$operand", "%")),
    _row("tiled_mma.partition_shape", 2, rules.mma_partition_shape, attrs=_OPERAND, form=("$operand", "%")),
    _row(
        "mma.make_fragment",
        2,
        rules.mma_make_fragment,
        attrs={"operand": "word", "stages": "i32"},
        form=("$operand", "%", "$stages="),
        effect=True,
    ),
    _row("atom.set_value", 2, attrs={"field": "str"}, form=("%0", "$field", "%1"), **_EXPLICIT),
    _row("copy", (3, 4), **_EFFECT),
    _row("copy_atom_call", (3, 4), **_EFFECT),
    _row("copy_atom_call_ssa", (2, 4), result="explicit", effect=True),
    _row("gemm", (5, 6), attrs={"traversalOrder": "str"}, **_EFFECT),
    _row("mma_atom_call", 5, **_EFFECT),
    _row("mma_atom_call_ssa", 4, result="explicit"),
)

_MEMORY = (
    _row("make_ptr", (0, _MANY), attrs={"dictAttrs": "any"}, result="explicit", effect=True),
    _row("get_dyn_shared", 0, **_EXPLICIT),
    _row("inttoptr", 1, **_EXPLICIT),
    _row("ptrtoint", 1, result="leaf"),
    _row("to_llvm_ptr", 1, attrs={"llvm_address_space": "i32"}, **_EXPLICIT),
    _row("add_offset", 2),
    _row("apply_swizzle", 2),
    _row("recast_iter", 1, **_EXPLICIT),
    _row("decomposition", 1),
    _row("ptr.load", 1, result="explicit", effect=True),
    _row("ptr.store", 2, **_EFFECT),
    _row("memref.alloca", (0, 1), result="explicit", effect=True),
    _row("memref.load", 2, rules.memref_load, effect=True),
    _row("memref.store", 3, **_EFFECT),
    _row("memref.load_vec", 1, rules.memref_load_vec, effect=True),
    _row("memref.store_vec", 2, **_EFFECT),
    _row("print", (0, _MANY), attrs={"format": "str"}, **_EFFECT),
    _row("assume", (1, _MANY), **_EFFECT),
    _row("extract_aligned_pointer_as_index", 1, **_EXPLICIT),
)

OP_TABLE: dict[str, OpSpec] = {
    spec.name: spec
    for group in (_CONSTRUCTION, _PROJECTION, _TUPLES, _STRUCTURE, _ALGEBRA, _TILED, _MEMORY)
    for spec in group
}
"""Operation name without the dialect prefix to its row."""
