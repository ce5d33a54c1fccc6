"""wgmma atoms: operands in shared memory become descriptors, the product inline PTX."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, VectorType, i32, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.upstream import op_class
from flydsl.passes.shared.intrinsic_call import asm_properties, atom_state
from flydsl.passes.shared.matrix_atoms import INSTRUCTION, as_registers, from_registers, register_attr
from flydsl.passes.shared.memory_conversion import MemoryConversion
from flydsl.passes.shared.shared_place import BLOCK_ALIGN, constant_moves, known_start
from flydsl.target.dtype import storage_bytes
from flydsl.target.mma_warpgroup import Wgmma, encode_descriptor
from flydsl.target.wgmma_operand import check_start, tile_strides

_ADDRESS_BITS = 0x3FFFF
_ADDRESS_SHIFT = 4
_ADDRESS_UNIT = 1 << _ADDRESS_SHIFT
"""Descriptors count bytes of an address by sixteens."""


def _descriptor(conv: MemoryConversion, view: SSAValue, major: str, name: str) -> SSAValue:
    """Return the 64-bit descriptor of a tile: fixed strides and swizzle, the address of its first element."""
    if isinstance(view.type, VectorType):  # what does not lie in shared memory was read into registers
        raise LoweringError(
            f"wgmma reads {name} from shared memory, and it was given a tile elsewhere",
            hint="copy the tile to shared memory" + (", or use a_source='register'" if name == "A" else ""),
        )
    pointer, info, layout = conv.view(view)
    if info.space != "shared":
        raise LoweringError(f"wgmma reads {name} from shared memory, and it lies in {info.space} memory")
    strides = tile_strides(layout, storage_bytes(info.elem), info.swizzle, major)
    place = known_start(pointer, BLOCK_ALIGN)
    if place is not None:
        check_start(place, strides.mode, name)
    fixed = encode_descriptor(0, strides.leading, strides.stride, strides.mode)
    at = conv.at
    base, moved = constant_moves(pointer, _ADDRESS_UNIT)
    raw = at.op("llvm.ptrtoint", [base], [i32])
    inside = at.op("arith.andi", [raw, at.constant("i32", _ADDRESS_BITS)], [i32])
    short = at.op("arith.shrui", [inside, at.constant("i32", _ADDRESS_SHIFT)], [i32])
    # Products of one tile differ by constants: what they share is computed once, and each adds its own. It is added to
    # the whole: then ptxas adds in uniform registers, where of two words put together it keeps every sum, or spills it.
    low = at.op("arith.ori", [short, at.constant("i32", _signed(fixed & 0xFFFFFFFF, 32))], [i32])
    wide = at.op("arith.extui", [low], [i64])
    whole = at.op("arith.ori", [wide, at.constant("i64", _signed(fixed >> 32 << 32, 64))], [i64])
    return at.op("arith.addi", [whole, at.constant("i64", moved >> _ADDRESS_SHIFT)], [i64]) if moved else whole


def _signed(word: int, bits: int) -> int:
    return word - (1 << bits) if word >> (bits - 1) else word


def lower_wgmma(conv: MemoryConversion, op: FlyOp, instruction: Wgmma) -> None:
    """One asynchronous product of a warpgroup."""
    atom, a, b, c = op.operands
    asm = instruction.inline_asm()
    given: dict[str, list[SSAValue]] = {"b": [_descriptor(conv, b, instruction.major_b, "B")]}
    slots = {role: [s for s in asm.slots if s.role == role] for role in ("a", "c")}
    if instruction.a_source == "shared":
        given["a"] = [_descriptor(conv, a, instruction.major_a, "A")]
    else:
        given["a"] = as_registers(conv, a, slots["a"])
    given["c"] = as_registers(conv, c, slots["c"])
    given["scale_d"] = [atom_state(atom).get("scale_d") or conv.at.constant("i32", 1)]
    values = [given[slot.role][slot.part] for slot in asm.slots]
    kinds: list[Attribute] = [register_attr(r) for r in asm.results]
    several = len(kinds) > 1
    made = op_class("llvm.inline_asm").create(
        operands=values,
        result_types=[LLVMStructType.from_type_list(kinds)] if several else kinds,
        properties=asm_properties(asm.text, asm.constraints),
        attributes={INSTRUCTION: StringAttr(str(instruction))},
    )
    conv.at.add(made)
    op.results[0].replace_all_uses_with(from_registers(conv, made.results[0], kinds, op.results[0].type))
