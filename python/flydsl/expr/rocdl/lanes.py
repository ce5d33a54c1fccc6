"""Operations between the lanes of an AMD wave.

Values of any width that is a multiple of 32 bits, and single 8- and 16-bit numbers, are moved word by word. The
older form with the result type first (``readfirstlane(T.i32, x)``) is accepted too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr import gpu
from flydsl.expr.numeric import Boolean, Int32, Int64, Numeric, as_numeric
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import (
    call,
    constant,
    flag,
    operands_of,
    raw,
    require,
    without_result_type,
    words_of,
    wrapped,
)
from flydsl.expr.values.known import plain, shown
from flydsl.target.dpp import dpp_control

_RDNA = ("rdna3", "rdna4", "cdna5")


def _by_word(value: Any, move: Callable[[Value], Value]) -> Any:
    words, rebuild = words_of(value)
    return rebuild([move(word) for word in words])


def _of_any_type(value: Any, move: Callable[[Value], Value]) -> Any:
    """Return a move that takes 32-bit numbers as they are, so that no conversion stands between it and their
    register."""
    number = as_numeric(value) if isinstance(value, (bool, int, float)) else value
    if isinstance(number, Numeric) and number.dtype.width == 32:
        return wrapped(move(number.ir_value()), number)
    return _by_word(value, move)


def readlane(*args: Any, **named: Any) -> Any:
    """``readlane(src, lane)``: the value that a lane holds, given to all; ``lane`` is the same in the whole wave.

    Inside a branch, both operands from before it: what the lane held there, whether it takes the branch or not.
    Otherwise a lane that is not in the branch gives zero.
    """
    value, lane = operands_of("readlane", ("src", "lane"), args, named)
    target = require("readlane", "rocm")
    chosen = Int32(lane)

    def move(word: Value, by_all: bool) -> Value:
        kind = current().type_name(word)
        found = call("llvm.amdgcn.readlane", [word, chosen.ir_value()], kind)
        if by_all:
            return found
        zero = current().constant(kind, 0.0 if kind == "f32" else 0)
        return current().op("arith.select", [_is_on(chosen, target.wave_size), found, zero], kind)

    # LLVM may move what computes the value into the branch, where a lane outside of it does not compute it.
    return current().before_branches(
        [raw(value), chosen.ir_value()], lambda by_all: _of_any_type(value, lambda word: move(word, by_all))
    )


def _is_on(lane: Int32, wave: int) -> Value:
    """Return whether a lane of this wave is active here."""
    active = ballot(True)
    inside = (lane & (wave - 1)).to(type(active))
    return ((active >> inside) & 1 != 0).ir_value()


def readfirstlane(*args: Any, **named: Any) -> Any:
    """``readfirstlane(src)``: the value of the lowest active lane, given to all."""
    (value,) = operands_of("readfirstlane", ("src",), args, named)
    require("readfirstlane", "rocm")
    return _of_any_type(value, lambda word: call("llvm.amdgcn.readfirstlane", [word], current().type_name(word)))


def ds_bpermute(*args: Any, **named: Any) -> Any:
    """``ds_bpermute(index, src)``: the value of the lane whose number times four is ``index``."""
    index, value = operands_of("ds_bpermute", ("index", "src"), args, named)
    require("ds_bpermute", "rocm")
    place = Int32(index).ir_value()
    return _by_word(value, lambda w: call("llvm.amdgcn.ds.bpermute", [place, w], "i32"))


def ds_permute(*args: Any, **named: Any) -> Any:
    """``ds_permute(index, src)``: send the value to the lane whose number times four is ``index``."""
    index, value = operands_of("ds_permute", ("index", "src"), args, named)
    require("ds_permute", "rocm")
    place = Int32(index).ir_value()
    return _by_word(value, lambda w: call("llvm.amdgcn.ds.permute", [place, w], "i32"))


def ds_swizzle(*args: Any, **named: Any) -> Any:
    """``ds_swizzle(src, offset)``: lanes exchange by a fixed pattern of the instruction's encoding."""
    value, pattern = operands_of("ds_swizzle", ("src", "offset"), args, named)
    require("ds_swizzle", "rocm")
    code = constant("i32", pattern, "the swizzle pattern", 0, 0xFFFF)
    return _by_word(value, lambda w: call("llvm.amdgcn.ds.swizzle", [w, code], "i32"))


def update_dpp(*args: Any, row_mask: int = 15, bank_mask: int = 15, bound_ctrl: bool = False, **named: Any) -> Any:
    """``update_dpp(old, src, control)``: another lane's value by a DPP control; ``old``, None for zero, where none
    is read.

    ``bound_ctrl`` gives zero instead of ``old`` where the source lane does not exist. Lanes of rows and banks that
    the masks leave out keep ``old``. The masks and the flag may also follow the control as plain arguments.
    """
    args = without_result_type(args)
    if len(args) == 6:
        args, row_mask, bank_mask, bound_ctrl = args[:3], *args[3:]
    old, value, control = operands_of("update_dpp", ("old", "src", "control"), args, named)
    target = require("DPP", "rocm")
    code = constant("i32", control, "the DPP control", 0, 0x1FF)
    dpp_control(plain(control), target)
    rows, banks = (constant("i32", mask, "a DPP mask", 0, 15) for mask in (row_mask, bank_mask))
    words, rebuild = words_of(value)
    before = [Int32(0).ir_value()] * len(words) if old is None else words_of(old)[0]
    if len(before) != len(words):
        raise DslTypeError(f"update_dpp takes two values of the same size, got {shown(old)} and {shown(value)}")
    name = "llvm.amdgcn.update.dpp"
    bound = flag(bound_ctrl, "bound_ctrl")
    return rebuild([call(name, [o, w, code, rows, banks, bound], "i32") for o, w in zip(before, words, strict=True)])


def mov_dpp(value: Any, control: int, row_mask: int = 15, bank_mask: int = 15, bound_ctrl: bool = True) -> Any:
    """Another lane's value by a DPP control; zero where there is none."""
    return update_dpp(None, value, control, row_mask=row_mask, bank_mask=bank_mask, bound_ctrl=bound_ctrl)


def permlane16(value: Any, low: Any, high: Any, *, across: bool = False) -> Any:
    """Return each lane of a row of 16 picks a lane of its row by a nibble of {high, low}; of the other row if
    ``across``."""
    require("permlane16", "rocm", _RDNA)
    picks = [Int32(x).ir_value() for x in (low, high)]
    name = f"llvm.amdgcn.permlane{'x' if across else ''}16"
    return _by_word(value, lambda w: call(name, [w, w, *picks, flag(False), flag(False)], "i32"))


def _swap(name: str, first: Any, second: Any) -> tuple[Any, Any]:
    """Return two registers that exchange part of their lanes, word by word."""
    before, rebuild_first = words_of(first)
    after, rebuild_second = words_of(second)
    if len(before) != len(after):
        raise DslTypeError(f"{name} exchanges values of the same size")
    changed = []
    for a, b in zip(before, after, strict=True):
        pair = call(
            f"llvm.amdgcn.{name.replace('_', '.')}", [a, b, flag(False), flag(False)], "!llvm.struct<(i32, i32)>"
        )
        changed.append([current().op("llvm.extractvalue", [pair], "i32", {"position": [i]}) for i in range(2)])
    return rebuild_first([pair[0] for pair in changed]), rebuild_second([pair[1] for pair in changed])


def _swap_call(name: str, args: tuple[Any, ...]) -> Any:
    """``name(first, second)`` gives both; with the struct's type first and two flags last, the struct itself."""
    if len(args) == 5:
        words = [Int32(value).ir_value() for value in args[1:3]]
        flags = [flag(value, "a flag of the swap") for value in args[3:]]
        return call(f"llvm.amdgcn.{name.replace('_', '.')}", [*words, *flags], str(args[0]))
    return _swap(name, *operands_of(name, ("first", "second"), args, {}))


def permlane16_swap(*args: Any) -> Any:
    """gfx950, gfx1250: ``permlane16_swap(first, second)``: the odd rows of 16 lanes of ``first`` and the even rows of
    ``second`` change places."""
    require("permlane16_swap", "rocm", ("cdna4", "cdna5"))
    return _swap_call("permlane16_swap", args)


def permlane32_swap(*args: Any) -> Any:
    """gfx950: ``permlane32_swap(first, second)``: the upper 32 lanes of ``first`` and the lower 32 of ``second`` change
    places. ``permlane32_swap(struct type, old, src, fi, bound_ctrl)`` gives them as a raw struct of two i32."""
    require("permlane32_swap", "rocm", ("cdna4",))
    return _swap_call("permlane32_swap", args)


def ballot(*args: Any, **named: Any) -> Any:
    """``ballot(pred)``: one bit per lane of the wave."""
    (predicate,) = operands_of("ballot", ("pred",), args, named)
    target = require("ballot", "rocm")
    kind = Int64 if target.wave_size == 64 else Int32
    return kind(call("llvm.amdgcn.ballot", [Boolean(predicate).ir_value()], str(kind.ir_type)))


def mbcnt(mask: Any, base: Any = 0) -> Int32:
    """Return how many bits of a wave-wide mask belong to lanes below this one, plus ``base``."""
    target = require("mbcnt", "rocm")
    if target.wave_size == 32:
        return Int32(call("llvm.amdgcn.mbcnt.lo", [Int32(mask).ir_value(), Int32(base).ir_value()], "i32"))
    wide = Int64(mask)
    low, high = Int32(wide), Int32(wide >> 32)
    below = call("llvm.amdgcn.mbcnt.lo", [low.ir_value(), Int32(base).ir_value()], "i32")
    return Int32(call("llvm.amdgcn.mbcnt.hi", [high.ir_value(), below], "i32"))


def perm_b32(*args: Any, **named: Any) -> Any:
    """``perm_b32(high, low, selector)``: four bytes picked from eight by the selector's bytes."""
    high, low, selector = operands_of("perm_b32", ("high", "low", "selector"), args, named)
    require("perm_b32", "rocm")
    return wrapped(call("llvm.amdgcn.perm", [Int32(x).ir_value() for x in (high, low, selector)], "i32"))


def wave_id() -> Int32:
    """Return the number of this thread's wave in its workgroup, the same for the whole wave."""
    require("wave_id", "rocm")
    thread, extent = gpu.thread_idx, gpu.block_dim
    number = thread.x + extent.x * (thread.y + extent.y * thread.z)
    return readfirstlane(number // current().target.wave_size)


__all__ = [
    "ballot", "ds_bpermute", "ds_permute", "ds_swizzle", "mbcnt", "mov_dpp", "perm_b32", "permlane16",
    "permlane16_swap", "permlane32_swap", "readfirstlane", "readlane", "update_dpp", "wave_id",
]  # fmt: skip
