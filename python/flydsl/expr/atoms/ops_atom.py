"""Verbs on atoms: making them, tiling them over threads, copying and multiplying with them."""

from __future__ import annotations

from typing import Any, overload

from flydsl.base.errors import DSLCompileError, DslTypeError, DslValueError, LayoutError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.expr.atoms.access_plan import check_sides
from flydsl.expr.atoms.atom import CopyAtom, MmaAtom, TiledCopy, TiledMma
from flydsl.expr.atoms.hardware_enums import AtomicOp, GemmTraversalOrder, MmaOperand, SyncScope
from flydsl.expr.atoms.mma_operands import check_operands, check_tileable
from flydsl.expr.enum import AtomicName
from flydsl.expr.tensors.element import element_name
from flydsl.expr.tensors.layout import Layout, Tile
from flydsl.expr.tensors.ops_layout import make_layout_tv, make_tile
from flydsl.expr.tensors.predicate import Predicate, predicate_over
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import current, is_tracing
from flydsl.expr.values.handle import Handle, apply, describe, wrap
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.known import plain
from flydsl.layout import int_tuple as it
from flydsl.layout.swizzle import linear_part
from flydsl.target.copy_ops import UniversalAtomic as UniversalAtomicOp
from flydsl.target.copy_ops import UniversalCopy as UniversalCopyOp
from flydsl.target.copy_tensor import TensorCopy
from flydsl.target.dtype import width_bits
from flydsl.target.mma_ops import UniversalFma as UniversalFmaOp

# Instructions ----------------------------------------------------------------------------------


def UniversalCopy(bits: int) -> UniversalCopyOp:
    """Plain loads and stores of ``bits`` bits, any address space to any other."""
    return UniversalCopyOp(bits)


def _copy_of(bits: int) -> Any:
    def make() -> UniversalCopyOp:
        return UniversalCopyOp(bits)

    make.__doc__ = f"A universal copy of {bits} bits."
    make.__name__ = f"UniversalCopy{bits}b"
    return make


UniversalCopy8b, UniversalCopy16b, UniversalCopy32b, UniversalCopy64b, UniversalCopy128b = map(
    _copy_of, (8, 16, 32, 64, 128)
)


def UniversalAtomic(
    op: AtomicOp | AtomicName, val_type: Any, syncscope: SyncScope | str = SyncScope.System
) -> UniversalAtomicOp:
    """Return a register value combined into memory atomically, element by element."""
    name = op if isinstance(op, str) else op.name.lower()
    elem = element_name(val_type)
    return UniversalAtomicOp(name, elem, width_bits(elem), str(syncscope) or "system")


def _atomic_of(op: AtomicOp) -> Any:
    def make(val_type: Any, syncscope: SyncScope | str = SyncScope.System) -> UniversalAtomicOp:
        return UniversalAtomic(op, val_type, syncscope)

    make.__doc__ = f"Atomic {op.name.lower()} of a register value into memory."
    make.__name__ = f"UniversalAtomic{op.name}"
    return make


UniversalAtomicAdd, UniversalAtomicMax, UniversalAtomicMin, UniversalAtomicAnd = map(_atomic_of, list(AtomicOp)[:4])
UniversalAtomicOr, UniversalAtomicInc, UniversalAtomicDec = map(_atomic_of, list(AtomicOp)[4:])


def UniversalFMA(dtype: Any) -> UniversalFmaOp:
    """Return a 1x1x1 multiply and add, unfused."""
    elem = element_name(dtype)
    return UniversalFmaOp(elem, elem, elem)


def make_copy_atom(op: Any, elem: Any) -> CopyAtom:
    """Return an atom that moves ``op.bits / bits of elem`` values at once."""
    elem = plain(elem)
    if isinstance(elem, bool) or not isinstance(elem, (int, str, type)):
        raise DslTypeError(f"the second argument must be a number type or a bit count, got {describe(elem)}")
    bits = elem if isinstance(elem, int) else width_bits(element_name(elem))
    if not hasattr(op, "tv_layouts") or not hasattr(op, "bits"):
        raise DslTypeError(
            f"the first argument must be a copy instruction, got {describe(op)}",
            hint="for example fx.UniversalCopy128b()",
        )
    if isinstance(op, TensorCopy):
        raise DslTypeError(
            "the atom of a tile copy holds the tensor's sizes", hint="make it with fx.rocdl.make_tdm_atom"
        )
    atom = pl.CopyAtom(op, bits)
    if is_tracing() and hasattr(op, "require"):
        op.require(current().target)  # an instruction the target lacks is refused here
    op.tv_layouts(bits)  # refuses a width that the values do not divide
    return wrap(atom)


def make_mma_atom(op: Any) -> MmaAtom:
    """Return a matrix atom of an operation such as `UniversalFMA(dtype)`."""
    if not hasattr(op, "shape_mnk"):
        raise DslTypeError(
            f"make_mma_atom takes a matrix instruction, got {describe(op)}",
            hint="for example fx.UniversalFMA(fx.Float32)",
        )
    if is_tracing() and hasattr(op, "require"):
        op.require(current().target)  # an instruction the target lacks is refused here, with what it has
    return wrap(pl.MmaAtom(op))


def atom_set_value(atom: Any, field: str, value: Any) -> Any:
    """Return a copy of an atom with one field of its state changed."""
    return atom.set_value(field, value)


# Tiling ----------------------------------------------------------------------------------------


def make_tiled_copy(atom: CopyAtom, layout_thr_val: Any, tile: Any) -> TiledCopy:
    """Return an atom over a tile: the layout maps (thread, value) to a column-major tile position."""
    if not isinstance(atom, CopyAtom):
        raise DslTypeError(
            f"make_tiled_copy takes a copy atom first, got {describe(atom)}", hint="make one with make_copy_atom"
        )
    if not (isinstance(layout_thr_val, Layout) and layout_thr_val.is_static):
        raise DslTypeError(f"the thread/value layout must be a static layout, got {describe(layout_thr_val)}")
    covered = tile if isinstance(tile, Tile) else make_tile(*(tile.payload if isinstance(tile, IntTuple) else tile))
    atom_values = rules.size(atom.payload.ref_tv[1])
    held = rules.size(layout_thr_val.payload[1]) if layout_thr_val.rank > 1 else 1
    if held % atom_values:
        raise LayoutError(
            f"each thread holds {held} values in {layout_thr_val}, which is no multiple of the {atom_values} that "
            f"{atom.payload.op} moves at once",
            hint="use a narrower copy or give each thread more values",
        )
    return wrap(pl.TiledCopy(atom.payload, layout_thr_val.payload, covered.payload))


def make_tiled_copy_tv(atom: CopyAtom, thr: Any, val: Any) -> TiledCopy:
    """Return a tiled copy from a thread layout and the layout of values each thread holds."""
    tile, layout = make_layout_tv(thr, val)
    return make_tiled_copy(atom, layout, tile)


def _operand_copy(atom: CopyAtom, tiled: TiledMma, layout: Layout, modes: tuple[int, int]) -> TiledCopy:
    size = tiled.tile_size_mnk.payload
    return make_tiled_copy(atom, layout, tuple(size[mode] for mode in modes))


def make_tiled_copy_A(atom: CopyAtom, tiled: TiledMma) -> TiledCopy:
    """Return a copy whose threads hold what the mma wants of A."""
    return _operand_copy(atom, tiled, tiled.tv_layout_A_tiled, (0, 2))


def make_tiled_copy_B(atom: CopyAtom, tiled: TiledMma) -> TiledCopy:
    """Return a tiled copy in the order of the B operand of a tiled mma, over a tile (N, K)."""
    return _operand_copy(atom, tiled, tiled.tv_layout_B_tiled, (1, 2))


def make_tiled_copy_C(atom: CopyAtom, tiled: TiledMma) -> TiledCopy:
    """Return a tiled copy in the order of the C operand of a tiled mma, over a tile (M, N)."""
    return _operand_copy(atom, tiled, tiled.tv_layout_C_tiled, (0, 1))


def make_tiled_mma(atom: MmaAtom, atom_layout: Any, permutation: Any = None) -> TiledMma:
    """Return a matrix atom repeated over (M, N, K) by a static layout of rank 3."""
    check_tileable(atom)
    if not (isinstance(atom_layout, Layout) and atom_layout.is_static and atom_layout.rank == 3):
        raise LayoutError(f"the atom layout must be static of rank 3 (M, N, K), got {describe(atom_layout)}",
                          hint="for example make_layout((2, 2, 1), (1, 2, 0))")  # fmt: skip
    tile = None
    if permutation is not None:
        tile = permutation if isinstance(permutation, Tile) else make_tile(*permutation)
    return wrap(pl.TiledMma(atom.payload, atom_layout.payload, None if tile is None else tile.payload))


def _letter(operand: MmaOperand | str) -> str:
    return operand.value if isinstance(operand, MmaOperand) else operand.lower()


def mma_make_fragment(operand: MmaOperand, tiled: TiledMma, tensor: Any, *, stages: int | None = None) -> Tensor:
    """Return a register tensor for one operand of a tiled mma, shaped like a thread's part of the block tensor."""
    return apply("mma.make_fragment", tiled, tensor, operand=_letter(operand), stages=stages)


def tiled_mma_partition(operand: MmaOperand, tiled: TiledMma, tensor: Any, coord: Any) -> Tensor:
    """Return the part of an operand that the thread at a coordinate (v, m, n, k) holds."""
    return apply("tiled_mma.partition", tiled, tensor, coord, operand=_letter(operand))


def tiled_mma_partition_shape(operand: MmaOperand, tiled: TiledMma, shape: Any) -> IntTuple:
    """Return the shape of a thread's part of an operand of this shape."""
    return apply("tiled_mma.partition_shape", tiled, shape, operand=_letter(operand))


def tiled_copy_partition_src(tiled: TiledCopy, tensor: Any, thread: Any) -> Tensor:
    """Return the part of a tensor that a thread reads."""
    return apply("tiled_copy.partition_src", tiled, tensor, thread)


def tiled_copy_partition_dst(tiled: TiledCopy, tensor: Any, thread: Any) -> Tensor:
    """Return the part of a tensor that a thread writes."""
    return apply("tiled_copy.partition_dst", tiled, tensor, thread)


def tiled_copy_retile(tiled: TiledCopy, tensor: Any) -> Tensor:
    """Return a fragment seen in the value order of this copy, over the same registers."""
    return apply("tiled_copy.retile", tiled, tensor)


# Execution -------------------------------------------------------------------------------------


def _with_state(atom: Any, state: dict[str, Any]) -> Any:
    base = atom.atom if isinstance(atom, TiledCopy) else atom.mma_atom if isinstance(atom, TiledMma) else atom
    return base.set_value(state) if state else base


def _memory(tensor: Any, what: str) -> Tensor:
    if not isinstance(tensor, Tensor) or not tensor.is_memory:
        raise DslTypeError(f"{what} must be a tensor over memory, got {describe(tensor)}")
    return tensor


def _in_registers(tensor: Tensor) -> bool:
    return tensor.payload.iter.space == "register"


def _check_elements(src: Tensor, dst: Tensor) -> None:
    """An atom moves bits. Registers may hold them as another type than memory does, but not those of another float."""
    if src.dtype.ir_type == dst.dtype.ir_type:
        return
    floats = src.dtype.is_float and dst.dtype.is_float
    as_bits = rules.size(src.payload) != rules.size(dst.payload) or (src.dtype.width == dst.dtype.width and not floats)
    if not as_bits or not (_in_registers(src) or _in_registers(dst)):
        raise DslTypeError(
            f"a copy does not convert: the source holds {src.dtype.__name__}, the destination {dst.dtype.__name__}",
            hint="load() the source, convert the vector with .to(dtype), and store() it",
        )


def _atom_bits(atom: CopyAtom) -> int:
    """Return the bits that one thread moves in one call."""
    return rules.size(atom.payload.ref_tv[1]) * atom.val_bits


def _is_one_call(atom: CopyAtom, registers: Tensor) -> bool:
    """Return whether the first mode of a register tensor is what one call moves."""
    layout = linear_part(registers.payload.layout)
    while layout.rank == 1 and isinstance(layout.shape, tuple):
        layout = layout[0]
    held = rules.size(layout if layout.rank == 1 else layout[0])
    return held * registers.dtype.width == _atom_bits(atom)


def _check_copy(atom: CopyAtom, src: Tensor, dst: Tensor, pred: Tensor | None) -> None:
    if src.rank != dst.rank:
        raise DSLCompileError(
            f"copy of unequal ranks: source {src.payload.layout} has rank {src.rank}, "
            f"destination {dst.payload.layout} has rank {dst.rank}",
            hint="partition or slice both the same way",
        )
    _check_elements(src, dst)
    op = atom.payload.op
    if _in_registers(src) and _in_registers(dst) and not isinstance(op, (UniversalCopyOp, UniversalAtomicOp)):
        raise DslTypeError(
            f"{op} moves between memory and registers, or two memories, and both sides are registers",
            hint="fx.copy(src, dst) without an atom moves registers",
        )
    sizes = (rules.size(src.payload), rules.size(dst.payload))
    held = atom.payload.counts
    moved = sorted((src, dst), key=_in_registers)[1]  # memory is where a call begins, registers are what it moves
    unequal = all(isinstance(n, int) for n in sizes) and sizes[0] * held[1] != sizes[1] * held[0]
    if unequal and not _is_one_call(atom, moved):
        raise DSLCompileError(
            f"copy of {sizes[0]} elements ({src.payload.layout}) into {sizes[1]} ({dst.payload.layout})"
        )
    if pred is not None and pred.rank not in (src.rank, src.rank - 1):
        raise DSLCompileError(
            f"the predicate {pred.payload.layout} has rank {pred.rank}; it must have the source's rank {src.rank} "
            f"or one less (one predicate per atom)"
        )


@overload
def copy(atom: Tensor, src: Tensor, dst: Any = None, *, pred: Any = None) -> None: ...


@overload
def copy(atom: CopyAtom | TiledCopy, src: Tensor, dst: Tensor, *, pred: Any = None, **state: Any) -> None: ...


def copy(atom: Any, src: Any, dst: Any = None, *, pred: Any = None, **state: Any) -> None:
    """``copy(src, dst, pred=None)``, or ``copy(atom, src, dst, pred=None)`` with an instruction of your choice.

    Without an atom each side is moved by the widest accesses that its layout, its alignment and the target allow,
    through registers; `copy_plan` says which. With one, the atom is repeated. Where ``pred`` is false nothing moves.
    """
    if isinstance(atom, Tensor):
        _copy_by_itself(atom, src, dst if pred is None else pred, state)
        return
    if hasattr(atom, "copy_boxes"):
        atom.copy_boxes(src, dst, pred, state)
        return
    source, target = _memory(src, "the source"), _memory(dst, "the destination")
    plain = _with_state(atom, state)
    if not isinstance(plain, CopyAtom):
        raise DslTypeError(f"copy takes a copy atom or a tiled copy, got {describe(atom)}")
    if hasattr(plain, "copy_tile"):
        _copy_tile(plain, source, target, pred)
        return
    mask = None if pred is None else _memory(pred.fragment() if isinstance(pred, Predicate) else pred, "the predicate")
    _check_copy(plain, source, target, mask)
    operands = [plain, source, target] + ([mask] if mask is not None else [])
    current().fly("copy", [o.ir_value() for o in operands])


def _copy_by_itself(source: Tensor, target: Any, pred: Any, state: dict[str, Any]) -> None:
    if state:
        raise DslTypeError(f"a copy without an atom has no field '{next(iter(state))}'", hint="name an atom first")
    check_sides(source, target)
    if pred is None:
        target.store(source.load())
        return
    mask = predicate_over(pred, source.payload)
    target.store(source.load(mask), mask)


def _copy_tile(atom: Any, source: Tensor, target: Tensor, pred: Any) -> None:
    """A copy that an engine does for a whole tile at once."""
    _check_elements(source, target)
    if pred is not None:
        raise DslValueError("a tile copy takes no predicate", hint="its extents say how much of the tensor there is")
    atom.copy_tile(source, target)


def copy_atom_call(atom: Any, src: Any, dst: Any, *, pred: Any = None) -> None:
    """One call of the atom on tensors that hold exactly its values."""
    source, target = _memory(src, "the source"), _memory(dst, "the destination")
    if hasattr(atom, "copy_tile"):
        _copy_tile(atom, source, target, pred)
        return
    _check_elements(source, target)
    operands: list[Handle] = [atom, source, target]
    held = atom.payload.counts
    for tensor, own in zip((source, target), held, strict=True):
        wanted = own if held[0] != held[1] else _atom_bits(atom) // tensor.dtype.width
        count = rules.size(tensor.payload)
        if count != wanted and (_in_registers(tensor) or source.dtype is target.dtype):
            raise DslValueError(
                f"{atom.payload.op} moves {wanted} values a call, but the tensor {tensor.payload.layout} holds {count}",
                hint="slice the tensor down to one atom, or use copy(), which loops",
            )
    if pred is not None:
        operands.append(_memory(pred, "the predicate"))
    current().fly("copy_atom_call", [o.ir_value() for o in operands])


def mma_atom_call(atom: MmaAtom, d: Any, a: Any, b: Any, c: Any, **state: Any) -> None:
    """d = a * b + c on register tensors holding exactly one atom's values each."""
    plain = _as_the_chip_runs(_with_state(atom, state))
    check_operands(plain, d, a, b, c)
    current().fly("mma_atom_call", [x.ir_value() for x in (plain, d, a, b, c)])


def _as_the_chip_runs(atom: Any) -> Any:
    """Return the atom of the instruction that the target makes of this one; see `Mfma.on`."""
    op: Any = atom.payload.op if isinstance(atom, MmaAtom) else None
    there = op.on(current().target) if hasattr(op, "on") else op
    return atom if there is op else wrap(pl.MmaAtom(there))


def gemm(atom: Any, d: Any, a: Any, b: Any, c: Any, *, traversal_order: Any = None, traversal_layout: Any = None,
         **state: Any) -> None:  # fmt: skip
    """d = a * b + c over fragments (V, M, N), (V, M, K), (V, N, K)."""
    if traversal_order is not None and traversal_layout is not None:
        raise DslValueError(
            "gemm takes traversal_order or traversal_layout, not both", hint="drop one; traversal_layout says it all"
        )
    plain = _with_state(atom, state)
    if not isinstance(plain, MmaAtom):
        raise DslTypeError(f"gemm takes a matrix atom or a tiled mma, got {describe(atom)}")
    plain = _as_the_chip_runs(plain)
    _check_gemm(d, a, b, c)
    check_operands(plain, d, a, b, c)
    operands = [plain, d, a, b, c]
    if traversal_layout is not None:
        operands.append(traversal_layout)
    current().fly("gemm", [o.ir_value() for o in operands], {"traversalOrder": _order_name(traversal_order)})


def _order_name(order: Any) -> str | None:
    """Return an order as the operation spells it; "kmn_serpentine" is KMN_Serpentine."""
    name = getattr(order, "name", order)
    if name is None:
        return None
    orders: Any = GemmTraversalOrder
    known = {member.name.lower(): member.name for member in orders}
    if not isinstance(name, str) or name.lower() not in known:
        raise DslValueError(f"no traversal order {name!r}", hint=f"the orders are {', '.join(known.values())}")
    return known[name.lower()]


def _check_gemm(d: Tensor, a: Tensor, b: Tensor, c: Tensor) -> None:
    ranks = tuple(t.rank for t in (d, a, b, c))
    if ranks not in ((1, 1, 1, 1), (3, 2, 2, 3), (3, 3, 3, 3)):
        raise DSLCompileError(
            f"gemm of ranks {ranks}: d {d.payload.layout}, a {a.payload.layout}, b {b.payload.layout}, "
            f"c {c.payload.layout}",
            hint="use fragments d, c = (V, M, N), a = (V, M, K) and b = (V, N, K)",
        )
    if ranks[0] == 1:
        return
    extents = [tuple(it.product(mode) for mode in rules.shape_of(t.payload)) for t in (d, a, b, c)]
    (_, dm, dn), ea, eb, ec = extents
    if (dm, dn) != ec[1:] or ea[1] != dm or eb[1] != dn or ea[2:] != eb[2:]:
        raise DSLCompileError(
            f"gemm extents do not match: d {d.payload.layout}, a {a.payload.layout}, b {b.payload.layout}, "
            f"c {c.payload.layout}",
            hint=_swapped(dn, ea, eb) + "d and c are (V, M, N), a is (V, M, K) and b is (V, N, K)",
        )


def _swapped(dn: Any, ea: tuple[Any, ...], eb: tuple[Any, ...]) -> str:
    """Advice for the likeliest mistake, a B that is (K, N) as in `A @ B`."""
    if len(ea) == 3 and eb[1:] == (ea[2], dn):
        return "B is taken as (N, K), and this one looks like (K, N): pass the view fx.select(B, [1, 0]); "
    return ""


__all__ = [
    "atom_set_value", "copy", "copy_atom_call", "gemm", "make_copy_atom", "make_mma_atom", "make_tiled_copy",
    "make_tiled_copy_A", "make_tiled_copy_B", "make_tiled_copy_C", "make_tiled_copy_tv", "make_tiled_mma",
    "mma_atom_call", "mma_make_fragment", "tiled_copy_partition_dst", "tiled_copy_partition_src", "tiled_copy_retile",
    "tiled_mma_partition", "tiled_mma_partition_shape", "UniversalAtomic", "UniversalAtomicAdd", "UniversalAtomicAnd",
    "UniversalAtomicDec", "UniversalAtomicInc", "UniversalAtomicMax", "UniversalAtomicMin", "UniversalAtomicOr",
    "UniversalCopy", "UniversalCopy128b", "UniversalCopy16b", "UniversalCopy32b", "UniversalCopy64b",
    "UniversalCopy8b", "UniversalFMA",
]  # fmt: skip
