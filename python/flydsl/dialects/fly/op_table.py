"""Every fly operation as one row: its rule, its operands, its attributes and its syntax.

The general syntax is ``fly.NAME(%operands) {attributes} : (operand types) -> result types``.
``form`` lists what stands between the parentheses when that is more than the operands: ``%`` for
the operands not named otherwise, ``%0`` for one of them, ``$attr`` for an attribute written bare
and ``$attr=`` for one written with its name. ``syntax`` names the few other shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.records import dataclass
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules

Kinds = dict[str, str]


@dataclass(frozen=True)
class OpSpec:
    """One operation.

    ``takes`` is the kind of each operand (see `operand_kinds`); the last one stands for any further
    operands too, where ``operands`` allows more. ``result`` says what the rule's answer becomes:
    ``payload`` a fly (or loaded) value, ``leaf`` the integer a tuple leaf is, ``leaves`` several of
    them, ``bool`` an i1, ``explicit`` a type that the operation states because operands cannot imply
    it, ``none`` nothing. An attribute whose kind ends in ``?`` may be absent. ``effect`` marks
    operations that must not be dropped, shared or reordered. ``syntax`` is ``call`` as above,
    ``bare`` for ``fly.NAME {attributes} : type``, ``empty`` for ``fly.NAME() : type`` and ``arrow``
    for ``fly.NAME %operand : type -> type``.
    """

    name: str
    rule: Callable[..., Any] | None
    takes: tuple[str, ...]
    operands: tuple[int, int]
    result: str = "payload"
    attrs: Kinds | None = None
    form: tuple[str, ...] = ("%",)
    effect: bool = False
    syntax: str = "call"
    dialect: str = "fly"

    @property
    def full_name(self) -> str:
        return f"{self.dialect}.{self.name}"

    def kind_of_operand(self, index: int) -> str:
        return self.takes[min(index, len(self.takes) - 1)]


def _row(name: str, *takes: str, rule: Callable[..., Any] | None = None, least: int | None = None,
         most: int | None = None, **rest: Any) -> OpSpec:  # fmt: skip
    """Return a row; ``least`` and ``most`` are for operations whose number of operands varies."""
    if rule is None and rest.get("result") not in ("explicit", "none"):
        rule = rules.ALGEBRA.get(name) or getattr(rules, name)
    span = (len(takes) if least is None else least, len(takes) if most is None else most)
    return OpSpec(name, rule, takes, span, **rest)


MANY = 1 << 16
_RANGE: Kinds = {"begin": "i32", "end": "i32"}
_EXPLICIT: dict[str, Any] = {"result": "explicit"}
_EFFECT: dict[str, Any] = {"result": "none", "effect": True}

_CONSTRUCTION = (
    _row("static", syntax="bare", **_EXPLICIT),
    *(
        _row(f"make_{what}", "int", least=0, most=MANY, **_EXPLICIT)
        for what in ("int_tuple", "shape", "stride", "coord")
    ),
    _row("make_layout", "IT", "IT"),
    _row("make_layout_like", "L"),
    _row("make_ordered_layout", "IT", "IT"),
    _row("make_composed_layout", "map", "IT", "NL"),
    _row("make_identity_layout", "IT"),
    _row("make_view", "start", "NL"),
    _row("make_fragment_like", "LL", attrs={"dtype": "elem?"}, form=("%", "$dtype"), effect=True),
    _row("make_fragment_layout_like", "LL", rule=rules.fragment_layout),
    _row("make_copy_atom", attrs={"valBits": "i32?"}, syntax="bare", **_EXPLICIT),
    _row("make_mma_atom", syntax="bare", **_EXPLICIT),
    _row("make_tiled_copy", "copy atom", "L", "tile", rule=pl.TiledCopy),
    _row("make_tiled_mma", "mma atom", "L", "tile", rule=pl.TiledMma, least=2),
)

_PROJECTION = (
    _row("get_scalar", "IT", result="leaf"),
    _row("get_leaves", "IT", result="leaves", attrs={"dynamicOnly": "bool?"}),
    _row("get_shape", "LL", rule=rules.shape_of),
    _row("get_stride", "LL", rule=rules.stride_of),
    _row("get_layout", "TL"),
    _row("get_iter", "TL"),
    _row("composed_get_inner", "composed"),
    _row("composed_get_offset", "composed"),
    _row("composed_get_outer", "composed"),
)

_TUPLES = (
    *(_row(f"int_tuple_{op}", "IT", "IT") for op in ("add", "sub", "mul", "div", "mod", "product_like")),
    _row("int_tuple_product", "IT"),
    _row("int_tuple_product_each", "IT"),
    _row("shape_div", "IT", "IT"),
    _row("ceil_div", "IT", "IT"),
    _row("elem_less", "IT", "IT", result="bool"),
    _row("equal", "IT", "IT", result="bool"),
)

_STRUCTURE = (
    _row("get", "IT|LL", attrs={"mode": "i32s"}),
    _row("take", "IT|LL", attrs=_RANGE),
    _row("group", "IT|LL", attrs=_RANGE),
    _row("select", "IT|LL", attrs={"indices": "i32s"}),
    _row("append", "IT|NL", "IT|L", attrs={"n": "angle?"}),
    _row("prepend", "IT|NL", "IT|L", attrs={"n": "angle?"}),
    _row("slice", "IT|LL", "IT"),
    _row("dice", "IT|L", "IT"),
)

_ALGEBRA = (
    _row("size", "IT|LL"),
    *(_row(name, "LL") for name in ("cosize", "coshape", "coprofile")),
    *(_row(name, "NL") for name in ("right_inverse", "left_inverse")),
    _row("crd2idx", "IT", "map"),
    *(_row(name, "IT", "L") for name in ("idx2crd", "get_flat_coord", "get_1d_coord")),
    _row("coalesce", "LL", "IT", least=1),
    _row("complement", "NL", "IT", least=1),
    _row("composition", "LL", "divisor"),
    *(_row(f"{kind}_divide", "LL", "divisor") for kind in ("logical", "zipped", "tiled", "flat")),
    *(_row(f"{kind}_product", "NL", "L") for kind in ("logical", "zipped", "tiled", "flat", "blocked", "raked")),
    _row("recast_layout", "NL", attrs={"old_type_bits": "i32", "new_type_bits": "i32"}),
    _row("tile_to_shape", "NL", "IT", "IT"),
)

_OPERAND: Kinds = {"operand": "word"}
_COPY = ("copy", "memref", "memref", "memref")
_GEMM = ("mma", "memref", "memref", "memref", "memref", "L")

_TILED = (
    _row("tiled_copy.partition_src", "tiled copy", "TL", "IT", rule=rules.partition_src),
    _row("tiled_copy.partition_dst", "tiled copy", "TL", "IT", rule=rules.partition_dst),
    _row("tiled_copy.retile", "tiled copy", "TL", rule=rules.retile),
    _row("tiled_mma.partition", "tiled mma", "TL", "IT", rule=rules.mma_partition, attrs=_OPERAND,
         form=("$operand", "%")),
    _row("tiled_mma.partition_shape", "tiled mma", "IT", rule=rules.mma_partition_shape, attrs=_OPERAND,
         form=("$operand", "%")),
    _row("mma.make_fragment", "tiled mma", "TL", rule=rules.mma_make_fragment,
         attrs={"operand": "word", "stages": "i32?"}, form=("$operand", "%", "$stages="), effect=True),
    _row("atom.set_value", "atom", "any", attrs={"field": "str"}, form=("%0", "$field", "%1"), **_EXPLICIT),
    _row("copy", *_COPY, least=3, **_EFFECT),
    _row("copy_atom_call", "copy atom", *_COPY[1:], least=3, **_EFFECT),
    _row("copy_atom_call_ssa", "copy atom", "any", least=2, most=4, result="explicit", effect=True),
    _row("gemm", *_GEMM, least=5, attrs={"traversalOrder": "str?"}, **_EFFECT),
    _row("mma_atom_call", "mma atom", *_GEMM[1:5], **_EFFECT),
    _row("mma_atom_call_ssa", "mma atom", "any", "any", "any", **_EXPLICIT),
)  # fmt: skip

_MASK: Kinds = {"mask": "i32s"}

_MEMORY = (
    _row("make_ptr", "any", least=0, most=MANY, attrs={"dictAttrs": "dict?"}, result="explicit", effect=True),
    _row("get_dyn_shared", syntax="empty", **_EXPLICIT),
    _row("inttoptr", "int", **_EXPLICIT),
    _row("ptrtoint", "ptr", result="leaf"),
    _row("to_llvm_ptr", "ptr", attrs={"llvm_address_space": "i32?"}, **_EXPLICIT),
    _row("add_offset", "ptr", "IT"),
    _row("apply_swizzle", "ptr", "swizzle"),
    _row("recast_iter", "ptr", **_EXPLICIT),
    _row("decomposition", "TL"),
    _row("ptr.load", "ptr", result="explicit", effect=True),
    _row("ptr.store", "any", "ptr", **_EFFECT),
    _row("memref.alloca", "NL", least=0, result="explicit", effect=True),
    _row("memref.load", "memref", "IT", rule=rules.memref_load, effect=True),
    _row("memref.store", "any", "memref", "IT", **_EFFECT),
    _row("memref.load_vec", "TL", rule=rules.memref_load_vec, effect=True),
    _row("memref.store_vec", "any", "memref", **_EFFECT),
    _row("memref.masked_load_vec", "memref", "any", "any", attrs=_MASK, result="explicit", effect=True),
    _row("memref.masked_store_vec", "any", "memref", "any", attrs=_MASK, **_EFFECT),
    _row("print", "any", least=0, most=MANY, attrs={"format": "str?"}, form=("$format", "%"), **_EFFECT),
    _row("assume", "any", least=1, most=MANY, **_EFFECT),
    _row("require", "int", least=1, most=MANY, attrs={"message": "str"}, form=("$message", "%"), **_EFFECT),
    _row("checked", "any", **_EFFECT),
    _row("extract_aligned_pointer_as_index", "memref", syntax="arrow", **_EXPLICIT),
)

_ROCDL = (_row("get_buffer_rsrc", "ptr", dialect="fly_rocdl", **_EXPLICIT),)

OP_TABLE: dict[str, OpSpec] = {
    spec.name: spec
    for group in (_CONSTRUCTION, _PROJECTION, _TUPLES, _STRUCTURE, _ALGEBRA, _TILED, _MEMORY, _ROCDL)
    for spec in group
}
"""Operation name without the dialect prefix to its row."""
