"""NVIDIA's fast functions on the host, conversions, and reductions over a warp."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, meeting, thread
from flydsl.backends.host.intrinsics.fast_functions import FAST
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.floats.narrow_floats import narrowing_function, widening_function


def _redux(combine: str, start: int) -> Behaviour:
    """Combine the active lanes' integers; ``combine`` is an instruction or an intrinsic of two i32."""

    def run(wg: Workgroup, op: Operation) -> None:
        body, value, result = wg.body, op.operands[0], op.results[0]
        total = body.fresh("total")
        body.entry_line(f"{total} = alloca i32, align 4")

        def each() -> None:
            before = body.assign(f"load i32, ptr {total}")
            one = wg.value(value)
            called = f"call i32 @llvm.{combine}.i32(i32 {before}, i32 {one})"
            after = body.assign(called if combine.endswith(("min", "max")) else f"{combine} i32 {before}, {one}")
            body.line(f"store i32 {after}, ptr {total}")

        wg.by_wave(
            lambda: body.line(f"store i32 {start}, ptr {total}"),
            each,
            lambda: wg.slots.store(result, body.assign(f"load i32, ptr {total}"), wg.thread_number),
        )

    return run


def _pair_of_e4m3(wg: Workgroup, op: Operation) -> None:
    """The first of two f32 in the upper byte, or the second of a vector of f16; overflow stays at the largest."""
    body, numbers = wg.body, [wg.body.operand(x) for x in op.operands]
    function = narrowing_function(body.scope, "f32", "f8E4M3FN", 0, saturate=True)
    if len(numbers) == 1:
        both = body.assign(f"fpext <2 x half> {numbers[0]} to <2 x float>")
        numbers = [body.assign(f"extractelement <2 x float> {both}, i32 {place}") for place in (1, 0)]
    high, low = (body.assign(f"call i8 {function}(float {x})") for x in numbers)
    high, low = (body.assign(f"zext i8 {x} to i16") for x in (high, low))
    body.bind(op.results[0], body.assign(f"or i16 {body.assign(f'shl i16 {high}, 8')}, {low}"))


def _pair_of_f16(elem: str) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        body, pair = wg.body, "poison"
        function, codes = widening_function(body.scope, elem, 0), body.operand(op.operands[0])
        for place in range(2):
            code = body.assign(f"trunc i16 {body.assign(f'lshr i16 {codes}, {8 * place}')} to i8")
            number = body.assign(f"fptrunc float {body.assign(f'call float {function}(i8 {code})')} to half")
            pair = body.assign(f"insertelement <2 x half> {pair}, half {number}, i32 {place}")
        body.bind(op.results[0], pair)

    return run


_REDUX = {"add": ("add", 0), "and": ("and", -1), "or": ("or", 0), "xor": ("xor", 0), "min": ("smin", 2**31 - 1),
          "max": ("smax", -(2**31)), "umin": ("umin", -1), "umax": ("umax", 0)}  # fmt: skip

_FAST = {"ex2": "exp2", "lg2": "log2", "rcp": "rcp", "rsqrt": "rsqrt"}

ENTRIES: dict[str, HostIntrinsic] = {
    **{f"llvm.nvvm.{nvidia}.approx.ftz.f": thread(FAST[name], pure=True) for nvidia, name in _FAST.items()},
    "llvm.nvvm.ff.to.e4m3x2.rn": thread(_pair_of_e4m3, pure=True),
    "llvm.nvvm.f16x2.to.e4m3x2.rn": thread(_pair_of_e4m3, pure=True),
    "llvm.nvvm.e4m3x2.to.f16x2.rn": thread(_pair_of_f16("f8E4M3FN"), pure=True),
    "llvm.nvvm.e5m2x2.to.f16x2.rn": thread(_pair_of_f16("f8E5M2"), pure=True),
    **{f"llvm.nvvm.redux.sync.{name}": meeting(_redux(*how)) for name, how in _REDUX.items()},
}
