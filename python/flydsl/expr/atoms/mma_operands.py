"""What a matrix atom demands of the tensors it multiplies, checked while tracing."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import rules
from flydsl.expr.atoms.atom import MmaAtom
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.handle import describe
from flydsl.layout import structure
from flydsl.layout.swizzle import linear_part
from flydsl.target.dtype import is_float, register_type, width_bits
from flydsl.target.mma_facts import FNUZ_TWINS, fragment_elem


def check_tileable(atom: Any) -> None:
    """Refuse what cannot be laid over (M, N, K): no matrix atom at all, or one that makes several products at once."""
    if not isinstance(atom, MmaAtom):
        raise DslTypeError(
            f"make_tiled_mma takes a matrix atom, got {describe(atom)}", hint="make one with make_mma_atom(op)"
        )
    op = atom.payload.op
    if not atom.is_static:
        raise DslValueError(
            f"a tiled mma does not keep the state that was set on {op}",
            hint="give it where the product is made: fx.gemm(tiled, d, a, b, c, " + f"{op.state[0]}=...)",
        )
    blocks = getattr(op, "blocks", 1)
    if blocks > 1:
        raise DslValueError(
            f"{op} multiplies {blocks} independent blocks at once, which no tiling over (M, N, K) describes",
            hint="call it with mma_atom_call on register tensors of one thread's values, or tile an instruction of "
            "one block",
        )


def check_operands(atom: MmaAtom, d: Any, a: Any, b: Any, c: Any) -> None:
    """Refuse operands of other element types than the instruction's, or with other than one atom's values."""
    op = atom.payload.op
    if not hasattr(op, "intrinsic"):
        return
    elem_a, elem_b, elem_c = (register_type(fragment_elem(elem)) for elem in op.elem_types)
    sides = (("d", d, elem_c, "c"), ("a", a, elem_a, "a"), ("b", b, elem_b, "b"), ("c", c, elem_c, "c"))
    for name, tensor, elem, operand in sides:
        if not isinstance(tensor, Tensor) or not tensor.is_memory:
            raise DslTypeError(f"{name} must be a register tensor, got {describe(tensor)}")
        held = register_type(tensor.payload.iter.elem)
        if held != elem and not _same_bits(held, elem):
            raise DslTypeError(
                f"{op} takes {name} of {elem}, but this tensor holds {held}",
                hint="make the fragment with make_fragment_A/B/C, or store the converted vector into one",
            )
        bits = rules.size(atom.payload.operand_tv(operand)[1]) * width_bits(elem)
        _check_count(op, name, tensor, bits // width_bits(held))


def _same_bits(held: str, elem: str) -> bool:
    """Return whether registers of one type may be read as another: packed words, and bytes whose format the chip
    decides."""
    if width_bits(held) == width_bits(elem):
        return not is_float(held) or {held, elem} in ({*pair} for pair in FNUZ_TWINS.items())
    return not is_float(held) and width_bits(elem) < width_bits(held)


def _check_count(op: Any, name: str, tensor: Tensor, wanted: int) -> None:
    layout = linear_part(tensor.payload.layout)
    values = rules.size(layout if tensor.rank == 1 else structure.get(layout, 0))
    if isinstance(values, int) and values != wanted:
        raise DslValueError(
            f"a thread holds {wanted} values of {name} in {op}, but this tensor's are {tensor.payload.layout}, "
            f"{values} of them",
            hint="make the fragment with make_fragment_A/B/C; the value mode comes first",
        )
