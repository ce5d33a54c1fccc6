"""Conversions of fp8 and fp4 by a GPU's instructions, here models of them, equal those by integers in every bit.

A model rounds in-range numbers as the manuals say and is as wrong as may be elsewhere: overflow, infinity and NaN give
a code of their own, or the largest number, and a NaN has odd bits. What the helpers make of it must not depend on it.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.codegen.floats.float_formats import FORMATS
from flydsl.codegen.floats.narrow_floats import narrowing_function, widening_function
from flydsl.codegen.llvm_build import emit_object
from flydsl.codegen.module_scope import ModuleScope
from flydsl.runtime.object_code import load_object
from flydsl.target.narrow_conversions import PackedConversion, narrow_conversions
from flydsl.target.target import parse_target
from tests.codegen.mlir_run import call
from tests.codegen.test_narrow_floats import codes, f32_samples
from tests.unit.nvvm.running import ptx
from tests.unit.rocdl.device_code import assembly

ARCHES = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
CASES = [(arch, elem) for arch in ARCHES for elem in narrow_conversions(parse_target(arch).generation)]
ELSEWHERE = {"wrong": "i8 85", "saturating": "i8 %sat"}
"""What a model gives for overflow, infinity and NaN."""

EIGHT_BITS = """
define private i8 @model.code(float %x) {{
  %right = call i8 {narrow}(float %x)
  %sat = call i8 {saturate}(float %x)
  %magnitude = and i8 %right, 127
  %past = icmp ugt i8 %magnitude, {largest}
  %nan = icmp eq i8 %right, {nan}
  %special = or i1 %past, %nan
  %code = select i1 %special, {elsewhere}, i8 %right
  ret i8 %code
}}
define private float @model.number(i8 %code) {{
  %right = call float {widen}(i8 %code)
  %nan = fcmp uno float %right, %right
  %number = select i1 %nan, float 0x7FF0001000000000, float %right
  ret float %number
}}
define private i16 @model.pair(float %high, float %low) {{
  %a = call i8 @model.code(float %low)
  %b = call i8 @model.code(float %high)
  %aw = zext i8 %a to i16
  %bw = zext i8 %b to i16
  %bs = shl i16 %bw, 8
  %both = or i16 %aw, %bs
  ret i16 %both
}}
define private i32 @model.half(float %low, float %high, i32 %old, i1 %upper) {{
  %both = call i16 @model.pair(float %high, float %low)
  %wide = zext i16 %both to i32
  %moved = shl i32 %wide, 16
  %lower = and i32 %old, 65535
  %in.upper = or i32 %lower, %moved
  %rest = and i32 %old, -65536
  %in.lower = or i32 %rest, %wide
  %word = select i1 %upper, i32 %in.upper, i32 %in.lower
  ret i32 %word
}}
define private <2 x float> @model.of_half(i32 %word, i1 %upper) {{
  %shift = select i1 %upper, i32 16, i32 0
  %moved = lshr i32 %word, %shift
  %a = trunc i32 %moved to i8
  %high = lshr i32 %moved, 8
  %b = trunc i32 %high to i8
  %x = call float @model.number(i8 %a)
  %y = call float @model.number(i8 %b)
  %one = insertelement <2 x float> poison, float %x, i32 0
  %both = insertelement <2 x float> %one, float %y, i32 1
  ret <2 x float> %both
}}
define private <2 x half> @model.of_pair(i16 %word) {{
  %wide = zext i16 %word to i32
  %both = call <2 x float> @model.of_half(i32 %wide, i1 false)
  %halves = fptrunc <2 x float> %both to <2 x half>
  ret <2 x half> %halves
}}
"""

FOUR_BITS = """
define private i32 @model.code(float %x, float %scale) {{
  %right = call i4 {narrow}(float %x)
  %size = call float @llvm.fabs.f32(float %x)
  %inside = fcmp ole float %size, 6.0
  %plain = fcmp oeq float %scale, 1.0
  %good = and i1 %inside, %plain
  %code = select i1 %good, i4 %right, i4 5
  %wide = zext i4 %code to i32
  ret i32 %wide
}}
define private float @model.number(i32 %word, i32 %place) {{
  %shift = mul i32 %place, 4
  %moved = lshr i32 %word, %shift
  %code = trunc i32 %moved to i4
  %number = call float {widen}(i4 %code)
  ret float %number
}}
define private i32 @model.byte(i32 %old, float %low, float %high, float %scale, i32 %place) {{
  %a = call i32 @model.code(float %low, float %scale)
  %b = call i32 @model.code(float %high, float %scale)
  %bs = shl i32 %b, 4
  %both = or i32 %a, %bs
  %shift = mul i32 %place, 8
  %moved = shl i32 %both, %shift
  %hole = shl i32 255, %shift
  %mask = xor i32 %hole, -1
  %rest = and i32 %old, %mask
  %word = or i32 %rest, %moved
  ret i32 %word
}}
define private <2 x float> @model.of_byte(i32 %word, float %scale, i32 %place) {{
  %first = mul i32 %place, 2
  %second = add i32 %first, 1
  %x = call float @model.number(i32 %word, i32 %first)
  %y = call float @model.number(i32 %word, i32 %second)
  %one = insertelement <2 x float> poison, float %x, i32 0
  %both = insertelement <2 x float> %one, float %y, i32 1
  ret <2 x float> %both
}}
"""


def registers_of_eight() -> str:
    """The models that take a whole register: made of those that take a byte."""
    fill, read = ["  %w0 = add i32 0, 0"], []
    for place in range(4):
        for lane in (2 * place, 2 * place + 1):
            fill.append(f"  %x{lane} = extractelement <8 x float> %x, i32 {lane}")
        two = f"float %x{2 * place}, float %x{2 * place + 1}, float %scale, i32 {place}"
        fill.append(f"  %w{place + 1} = call i32 @model.byte(i32 %w{place}, {two})")
    vector = "poison"
    for lane in range(8):
        read.append(f"  %x{lane} = call float @model.number(i32 %word, i32 {lane})")
        read.append(f"  %v{lane} = insertelement <8 x float> {vector}, float %x{lane}, i32 {lane}")
        vector = f"%v{lane}"
    head, tail = "define private i32 @model.whole(<8 x float> %x, float %scale) {", "  ret i32 %w4\n}"
    wide = "define private <8 x float> @model.of_whole(i32 %word, i32 %scale, i32 %part) {"
    return "\n".join([head, *fill, tail, wide, *read, f"  ret <8 x float> {vector}\n}}"])


LOOP = """
define void @f(ptr %p, ptr %q, i64 %n) {{
entry:
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ %next, %turn ]
  %from = getelementptr [{lanes} x {source}], ptr %p, i64 %i
  %x = load {loaded}, ptr %from, align 1
  %in = {take}
  %y = call {given} {symbol}({taken} %in)
  %out = {give}
  %to = getelementptr [{lanes} x {dest}], ptr %q, i64 %i
  store {stored} %out, ptr %to, align 1
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %turn, label %end
end:
  ret void
}}
"""


def models(elem: str, elsewhere: str) -> str:
    """The instructions' models, over the helpers by integers."""
    soft, fmt = ModuleScope(), FORMATS[elem]
    narrow, widen = narrowing_function(soft, "f32", elem, 0), widening_function(soft, elem, 0)
    if fmt.bits == 4:
        text = FOUR_BITS.format(narrow=narrow, widen=widen) + registers_of_eight()
    else:
        text = EIGHT_BITS.format(
            narrow=narrow, saturate=narrowing_function(soft, "f32", elem, 0, saturate=True), widen=widen,
            largest=fmt.largest, nan=-128 if fmt.fnuz else fmt.nan, elsewhere=ELSEWHERE[elsewhere],
        )  # fmt: skip
    return "\n".join([text, *soft.helper_texts()]).replace("@fly.", "@soft.")


def loop(symbol: str, bits: int, narrows: bool, lanes: int) -> str:
    """A function that converts an array by a helper; a code takes a byte of it."""

    def of(element: str) -> str:
        return f"<{lanes} x {element}>" if lanes else element

    def sized(text: str, before: str, after: str) -> str:
        opcode = "freeze" if before == after else "zext" if narrows else "trunc"
        return f"{opcode} {of(before)} {text}" + ("" if before == after else f" to {of(after)}")

    code = f"i{bits}"
    source, dest = ("float", "i8") if narrows else ("i8", "float")
    taken, given = ("float", code) if narrows else (code, "float")
    return LOOP.format(
        lanes=max(lanes, 1), symbol=symbol, source=source, dest=dest, loaded=of(source), stored=of(dest),
        taken=of(taken), given=of(given), take=sized("%x", source, taken), give=sized("%y", given, dest),
    )  # fmt: skip


def converted(
    elem: str, conversion: PackedConversion, narrows: bool, lanes: int, elsewhere: str, values: np.ndarray
) -> np.ndarray:
    """Values converted by the helper for a GPU, whose instructions are models."""
    scope = ModuleScope()
    scope.narrow_conversions = {elem: conversion}
    symbol = narrowing_function(scope, "f32", elem, lanes) if narrows else widening_function(scope, elem, lanes)
    text = scope.text() + models(elem, elsewhere) + loop(symbol, FORMATS[elem].bits, narrows, lanes)
    for name, model in ((conversion.narrow, conversion.form), (conversion.widen, f"of_{conversion.form}")):
        text = text.replace(f"@{name}(", f"@model.{model}(")
    assert "@llvm.amdgcn" not in text and "@llvm.nvvm" not in text
    out = np.zeros(values.size, np.uint8 if narrows else np.uint32)
    call(load_object(emit_object(text)), "f", values, out, values.size // max(lanes, 1))
    return out


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.parametrize(("arch", "elem"), CASES)
def test_narrowing_is_that_of_the_format(arch: str, elem: str, elsewhere: str) -> None:
    pair = narrow_conversions(parse_target(arch).generation)[elem]
    values = f32_samples(elem)
    values = np.ascontiguousarray(values[: values.size // 24 * 24])
    want = values.astype(codes(elem).dtype).view(np.uint8)
    for lanes in (0, 2, 3, 8):
        got = converted(elem, pair, True, lanes, elsewhere, values)
        np.testing.assert_array_equal(got, want, err_msg=f"{lanes} lanes")


@pytest.mark.parametrize(("arch", "elem"), CASES)
def test_widening_is_that_of_the_format(arch: str, elem: str) -> None:
    pair = narrow_conversions(parse_target(arch).generation)[elem]
    values = np.tile(np.arange(1 << FORMATS[elem].bits, dtype=np.uint8), 3)
    want = values.view(codes(elem).dtype).astype(np.float32).view(np.uint32)
    for lanes in (0, 2, 3, 8):
        got = converted(elem, pair, False, lanes, "wrong", values)
        np.testing.assert_array_equal(got, want, err_msg=f"{lanes} lanes")


DTYPES = {"f8E4M3FN": fx.Float8E4M3FN, "f8E5M2": fx.Float8E5M2,
          "f8E4M3FNUZ": fx.Float8E4M3FNUZ, "f8E5M2FNUZ": fx.Float8E5M2FNUZ,
          "f4E2M1FN": fx.Float4E2M1FN}  # fmt: skip


@pytest.mark.parametrize(("arch", "elem"), CASES)
def test_the_instruction_is_there(arch: str, elem: str) -> None:
    dtype = DTYPES[elem]
    count = 8 * 8 // dtype.width  # eight bytes of codes

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        out[t, None].store(x[t, None].load().to(dtype).bitcast(fx.Uint8))
        x[t, None].store(out[t + 64, None].load().bitcast(dtype).to(fx.Float32))

    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=64)

    arrays = (np.zeros((64, count), np.float32), np.zeros((128, 8), np.uint8))
    arguments = tuple(flyc.from_dlpack(array, assumed_align=8) for array in arrays)
    if arch == "sm_90a":
        name = "e4m3x2" if "E4M3" in elem else "e5m2x2"
        text = ptx(run, arguments)
        assert f"cvt.rn.satfinite.{name}.f32" in text and f"cvt.rn.f16x2.{name}" in text
        return
    name = "fp4" if dtype.width == 4 else "fp8" if "E4M3" in elem else "bf8"
    text = assembly(run, arguments, arch)
    assert re.search(rf"v_cvt_(scalef32_)?pk8?_{name}_f32", text)
    assert re.search(rf"v_cvt_(scale_|scalef32_)?pk8?_f32_{name}", text)


@pytest.mark.parametrize(("arch", "name"), [("gfx950", "v_cvt_pk_bf16_f32"), ("gfx1250", "v_cvt_pk_bf16_f32"),
                                            ("sm_90a", "cvt.rn.bf16x2.f32")])  # fmt: skip
def test_two_bf16_are_one_instruction(arch: str, name: str) -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        out[t, None].store(x[t, None].load().to(fx.BFloat16).bitcast(fx.Uint16))

    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=64)

    arrays = (np.zeros((64, 2), np.float32), np.zeros((64, 2), np.uint16))
    arguments = tuple(flyc.from_dlpack(array, assumed_align=4) for array in arrays)
    assert name in (ptx(run, arguments) if arch == "sm_90a" else assembly(run, arguments, arch))
