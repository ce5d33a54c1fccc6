"""AMD's arithmetic instructions that a lane does for itself: fast functions, byte permutes, conversions.

Approximate functions (`fast_functions`) are within the hardware's error bounds.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, thread
from flydsl.backends.host.intrinsics.fast_functions import FAST, formula
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.floats.narrow_floats import narrowing_function, widening_function
from flydsl.codegen.llvm_types import BF16, type_text


def _fraction(wg: Workgroup, type_: str, xs: list[str]) -> str:
    """Return what is above the integer below; it stays less than 1 where it would be rounded to that."""
    below = wg.body.assign(f"call {type_} @llvm.floor({type_} {xs[0]})")
    rest = wg.body.assign(f"fsub {type_} {xs[0]}, {below}")
    most = {"half": "0xH3BFF", "float": "0x3FEFFFFFE0000000", "double": "0x3FEFFFFFFFFFFFFF"}[type_]
    return f"select i1 {wg.body.assign(f'fcmp oeq {type_} {rest}, 1.0')}, {type_} {most}, {type_} {rest}"


def _median(wg: Workgroup, type_: str, xs: list[str]) -> str:
    """Return the middle of three, max(min(a, b), min(max(a, b), c)); beside a NaN the least."""
    a, b, c = xs
    body = wg.body
    low = body.assign(f"call {type_} @llvm.minnum({type_} {a}, {type_} {b})")
    high = body.assign(f"call {type_} @llvm.maxnum({type_} {a}, {type_} {b})")
    capped = body.assign(f"call {type_} @llvm.minnum({type_} {high}, {type_} {c})")
    middle = body.assign(f"call {type_} @llvm.maxnum({type_} {low}, {type_} {capped})")
    least = body.assign(f"call {type_} @llvm.minnum({type_} {low}, {type_} {c})")
    odd = [body.assign(f"fcmp uno {type_} {x}, {y}") for x, y in ((a, b), (c, c))]
    return f"select i1 {body.assign(f'or i1 {odd[0]}, {odd[1]}')}, {type_} {least}, {type_} {middle}"


# Bytes -----------------------------------------------------------------------------------------


def _perm(wg: Workgroup, op: Operation) -> None:
    """Each selector byte picks a byte of {high, low}: 0 to 7 by number, 8 to 11 a sign, 12 zero, above 0xff."""
    body = wg.body
    high, low, selector = (body.operand(x) for x in op.operands)
    wide = [body.assign(f"zext i32 {x} to i64") for x in (high, low)]
    both = body.assign(f"or i64 {body.assign(f'shl i64 {wide[0]}, 32')}, {wide[1]}")
    result = "0"
    for index in range(4):
        shifted = body.assign(f"lshr i32 {selector}, {8 * index}")
        pick = body.assign(f"and i64 {body.assign(f'zext i32 {shifted} to i64')}, 255")
        place = body.assign(f"and i64 {body.assign(f'shl i64 {pick}, 3')}, 56")
        plain = body.assign(f"and i64 {body.assign(f'lshr i64 {both}, {place}')}, 255")
        odd = body.assign(f"or i64 {body.assign(f'shl i64 {pick}, 4')}, 15")
        sign_place = body.assign(f"and i64 {odd}, 63")
        sign = body.assign(f"and i64 {body.assign(f'lshr i64 {both}, {sign_place}')}, 1")
        filled = body.assign(f"mul i64 {sign}, 255")
        value = body.assign(f"select i1 {body.assign(f'icmp ult i64 {pick}, 8')}, i64 {plain}, i64 {filled}")
        value = body.assign(f"select i1 {body.assign(f'icmp eq i64 {pick}, 12')}, i64 0, i64 {value}")
        value = body.assign(f"select i1 {body.assign(f'icmp ugt i64 {pick}, 12')}, i64 255, i64 {value}")
        narrow = body.assign(f"shl i32 {body.assign(f'trunc i64 {value} to i32')}, {8 * index}")
        result = body.assign(f"or i32 {result}, {narrow}")
    body.bind(op.results[0], result)


# Conversions -----------------------------------------------------------------------------------


_OCP = {"fp8": "f8E4M3FN", "bf8": "f8E5M2"}
_FNUZ = {"fp8": "f8E4M3FNUZ", "bf8": "f8E5M2FNUZ"}


def _eight_bit(wg: Workgroup, name: str) -> str:
    """fp8 and bf8 of the target: FNUZ encodings on gfx942, OCP on later ones."""
    return _FNUZ[name] if wg.target.fnuz else _OCP[name]


def _pack_eight_bit(name: str) -> Behaviour:
    """Return two f32 into the low or high half of a register that keeps its other half."""

    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        a, b, old = (body.operand(x) for x in op.operands[:3])
        narrow = narrowing_function(body.scope, "f32", _eight_bit(wg, name), 0)
        codes = [body.assign(f"zext i8 {body.assign(f'call i8 {narrow}(float {x})')} to i32") for x in (a, b)]
        pair = body.assign(f"or i32 {codes[0]}, {body.assign(f'shl i32 {codes[1]}, 8')}")
        if immediate(op, 3):
            kept, moved = body.assign(f"and i32 {old}, 65535"), body.assign(f"shl i32 {pair}, 16")
        else:
            kept, moved = body.assign(f"and i32 {old}, -65536"), pair
        body.bind(op.results[0], body.assign(f"or i32 {kept}, {moved}"))

    return run


def _unpack_eight_bit(name: str) -> Behaviour:
    """Return the two bytes of the low or high half of a register as two f32."""

    def run(wg: Workgroup, op: Operation) -> None:
        body, first = wg.body, 16 * immediate(op, 1)
        found = [_byte_as_f32(wg, name, body.operand(op.operands[0]), first + 8 * i) for i in range(2)]
        pair = body.assign(f"insertelement <2 x float> poison, float {found[0]}, i32 0")
        body.bind(op.results[0], body.assign(f"insertelement <2 x float> {pair}, float {found[1]}, i32 1"))

    return run


def _eight_bit_to_f32(name: str) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        wg.body.bind(op.results[0], _byte_as_f32(wg, name, wg.body.operand(op.operands[0]), 8 * immediate(op, 1)))

    return run


def _byte_as_f32(wg: Workgroup, name: str, word: str, place: int) -> str:
    body = wg.body
    byte = body.assign(f"trunc i32 {body.assign(f'lshr i32 {word}, {place}')} to i8")
    return body.assign(f"call float {widening_function(body.scope, _eight_bit(wg, name), 0)}(i8 {byte})")


def _pack_half_toward_zero(wg: Workgroup, op: Operation) -> None:
    """Two f32 as two f16, rounded toward zero."""
    body = wg.body
    narrow = narrowing_function(body.scope, "f32", "f16", 0, "toward_zero")
    halves = [body.assign(f"call half {narrow}(float {body.operand(x)})") for x in op.operands]
    pair = body.assign(f"insertelement <2 x half> poison, half {halves[0]}, i32 0")
    body.bind(op.results[0], body.assign(f"insertelement <2 x half> {pair}, half {halves[1]}, i32 1"))


def _stochastic_bf16(wg: Workgroup, op: Operation) -> None:
    """f32 to bf16 by adding 16 random bits to what is cut off; NaN and infinity stay."""
    body = wg.body
    old, x, seed = (body.operand(value) for value in op.operands[:3])
    bits = body.assign(f"bitcast float {x} to i32")
    moved = body.assign(f"add i32 {bits}, {body.assign(f'and i32 {seed}, 65535')}")
    special = body.assign(f"icmp uge i32 {body.assign(f'and i32 {bits}, 2147483647')}, 2139095040")
    is_nan = body.assign(f"fcmp uno float {x}, 0.0")
    kept = body.assign(f"select i1 {is_nan}, i32 {body.assign(f'or i32 {bits}, 4194304')}, i32 {bits}")
    chosen = body.assign(f"select i1 {special}, i32 {kept}, i32 {moved}")
    half = body.assign(f"trunc i32 {body.assign(f'lshr i32 {chosen}, 16')} to i16")
    value = body.assign(f"bitcast i16 {half} to {BF16}")
    type_ = type_text(op.results[0].type)
    body.bind(op.results[0], body.assign(f"insertelement {type_} {old}, {BF16} {value}, i32 {immediate(op, 3)}"))


def _offset_nibble(wg: Workgroup, op: Operation) -> None:
    """cvt_off_f32_i4: the signed low four bits over 16, from -0.5 to 0.4375."""
    body = wg.body
    moved = body.assign(f"shl i32 {body.operand(op.operands[0])}, 28")
    number = body.assign(f"sitofp i32 {body.assign(f'ashr i32 {moved}, 28')} to float")
    body.bind(op.results[0], body.assign(f"fmul float {number}, 0.0625"))


_FAST = {"exp2": "exp2", "log": "log2", "sqrt": "sqrt", "rcp": "rcp", "rsq": "rsqrt"}
_FORMULAS: dict[str, Behaviour] = {
    **{amd: FAST[name] for amd, name in _FAST.items()},
    "fract": formula(_fraction),
    "fmed3": formula(_median),
    "perm": _perm,
    "cvt.pkrtz": _pack_half_toward_zero,
    "cvt.off.f32.i4": _offset_nibble,
    "cvt.sr.bf16.f32": _stochastic_bf16,
    **{f"cvt.pk.{name}.f32": _pack_eight_bit(name) for name in ("fp8", "bf8")},
    **{f"cvt.pk.f32.{name}": _unpack_eight_bit(name) for name in ("fp8", "bf8")},
    **{f"cvt.f32.{name}": _eight_bit_to_f32(name) for name in ("fp8", "bf8")},
}

ENTRIES: dict[str, HostIntrinsic] = {f"llvm.amdgcn.{name}": thread(run, pure=True) for name, run in _FORMULAS.items()}
