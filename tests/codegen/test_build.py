"""LLVM behind the text: every target, errors with their line, loading code, threads."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite.binding.targets import FeatureMap

from flydsl.base.elf_object import read_object
from flydsl.base.errors import LoweringError
from flydsl.codegen import llvm_build
from flydsl.codegen.llvm_build import (
    AMDGPU_TRIPLE,
    NVPTX_TRIPLE,
    data_layout,
    emit_assembly,
    emit_object,
    host_triple,
    optimised_text,
    parse_and_verify,
)
from flydsl.runtime.object_code import add_symbol, load_object
from tests.codegen.mlir_run import DTYPES, X86, build, call, llvm_text

GPUS = [
    (AMDGPU_TRIPLE, "gfx90a"),
    (AMDGPU_TRIPLE, "gfx942"),
    (AMDGPU_TRIPLE, "gfx950"),
    (AMDGPU_TRIPLE, "gfx1100"),
    (AMDGPU_TRIPLE, "gfx1201"),
    (NVPTX_TRIPLE, "sm_80"),
    (NVPTX_TRIPLE, "sm_90a"),
]

# One kernel with bf16 arithmetic, all narrow conversions, a reduction and a loop.
KERNEL = """
llvm.func @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %n: i64) attributes {{{mark}}} {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %z = arith.constant dense<0.0> : vector<8xbf16>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (vector<8xbf16>) : i64 {{
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<8xbf16>
    %x = llvm.load %at {{alignment = 16 : i64}} : !llvm.ptr<1> -> vector<8xbf16>
    %y = "arith.mulf"(%x, %x) : (vector<8xbf16>, vector<8xbf16>) -> vector<8xbf16>
    %b = "arith.addf"(%a, %y) : (vector<8xbf16>, vector<8xbf16>) -> vector<8xbf16>
    scf.yield %b : vector<8xbf16>
  }}
  %w = "arith.extf"(%s) : (vector<8xbf16>) -> vector<8xf32>
{conversions}
  %r = "vector.reduction"(%w) <{{kind = #vector.kind<add>, fastmath = #arith.fastmath<none>}}> : (vector<8xf32>) -> f32
  llvm.store %r, %q : f32, !llvm.ptr<1>
  llvm.return
}}"""
CONVERSION = """
  %d{i} = "arith.truncf"(%w) : (vector<8xf32>) -> vector<8x{name}>
  %o{i} = llvm.getelementptr %q[{offset}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %d{i}, %o{i} {{alignment = 1 : i64}} : vector<8x{name}>, !llvm.ptr<1>
  %u{i} = "arith.extf"(%d{i}) : (vector<8x{name}>) -> vector<8xf32>
  %v{i} = llvm.getelementptr %q[{after}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %u{i}, %v{i} {{alignment = 1 : i64}} : vector<8xf32>, !llvm.ptr<1>"""


def kernel(mark: str) -> str:
    narrow = [name for name in DTYPES if name.startswith(("f8", "f6", "f4"))]
    conversions = "".join(
        CONVERSION.format(i=i, name=name, offset=64 * i + 64, after=64 * i + 80) for i, name in enumerate(narrow)
    )
    return KERNEL.format(mark=mark, conversions=conversions)


@pytest.mark.parametrize(("triple", "cpu"), GPUS, ids=[cpu for _, cpu in GPUS])
def test_bf16_and_narrow_floats_compile_for_gpus(triple: str, cpu: str) -> None:
    mark = "rocdl.kernel" if triple == AMDGPU_TRIPLE else "nvvm.kernel"
    assembly = emit_assembly(llvm_text(kernel(mark), triple), triple, cpu)
    assert (".amdhsa_kernel k" if triple == AMDGPU_TRIPLE else ".visible .entry k(") in assembly
    if cpu == "gfx942":  # `test_code_objects.py` has those of the others
        assert emit_object(llvm_text(kernel(mark), triple), triple, cpu)[:4] == b"\x7fELF"


@pytest.mark.parametrize(("triple", "cpu"), [(X86, "x86-64-v3"), ("aarch64-unknown-linux-gnu", "neoverse-n1")])
def test_hosts_need_no_helper_library(triple: str, cpu: str) -> None:
    """A Python process holds libm but not compiler-rt: no conversion may become a call."""
    symbols = read_object(emit_object(llvm_text(kernel(""), triple), triple, cpu)).symbols
    assert {symbol.name for symbol in symbols if symbol.binding and not symbol.section} == set()
    assert {symbol.name for symbol in symbols if symbol.binding and symbol.section} == {"k"}


SIXTEEN_BITS = """
define void @f(<2 x i32> %x, ptr %q) {
  %bytes = trunc <2 x i32> %x to <2 x i8>
  %half = bitcast <2 x i8> %bytes to i16
  %word = zext i16 %half to i32
  store i32 %word, ptr %q
  ret void
}
"""


def test_what_llvm_writes_wrong_code_for_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With AVX-512 LLVM stores two bytes that are none of the value's."""
    features = FeatureMap({"avx2": True, "avx512f": True, "avx512vl": True, "avx512fp16": True, "f16c": True})
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: "emeraldrapids")
    cpu, text = llvm_build.host_cpu.__wrapped__()
    assert "+avx2" in text and "+f16c" in text and "+avx512" not in text
    assert "vpmovdb" in emit_assembly(SIXTEEN_BITS, X86, cpu, "", 2)
    assert "vpmovdb" not in emit_assembly(SIXTEEN_BITS, X86, cpu, text, 2)


BLEND = """
define <8 x i16> @f(<8 x i16> %x, <8 x i16> %y) noinline optnone {
  %odd = shufflevector <8 x i16> %x, <8 x i16> %y, <8 x i32> <i32 0, i32 9, i32 2, i32 11, i32 4, i32 13, i32 6, i32 15>
  ret <8 x i16> %odd
}
"""


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_function_that_is_not_optimised_does_not_end_the_process(level: int) -> None:
    """LLVM would abort at the mask of this blend, as it did at a LayerNorm's gradient of 19,563 columns."""
    assert "vpblendw\t$170," in emit_assembly(BLEND, X86, "x86-64-v3", "", level)
    assert emit_object(BLEND, X86, "x86-64-v3", "", level)[:4] == b"\x7fELF"


def test_lds_globals_compile_for_both_vendors() -> None:
    text = """
    llvm.mlir.global internal @lds() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<1024 x i8>
    llvm.func @k(%p: !llvm.ptr<1>, %n: i64) attributes {{{mark}}} {{
      %0 = llvm.mlir.addressof @lds : !llvm.ptr<3>
      %1 = llvm.getelementptr %0[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i64
      llvm.store %n, %1 : i64, !llvm.ptr<3>
      %2 = llvm.load %0 : !llvm.ptr<3> -> i64
      llvm.store %2, %p : i64, !llvm.ptr<1>
      llvm.return
    }}"""
    amd = emit_assembly(llvm_text(text.format(mark="rocdl.kernel"), AMDGPU_TRIPLE), AMDGPU_TRIPLE, "gfx942")
    assert ".amdhsa_group_segment_fixed_size 1024" in amd
    nvidia = emit_assembly(llvm_text(text.format(mark="nvvm.kernel"), NVPTX_TRIPLE), NVPTX_TRIPLE, "sm_90")
    assert ".shared .align 16 .b8 lds[1024]" in nvidia


def test_unreadable_text_shows_its_line() -> None:
    with pytest.raises(LoweringError, match=r"line 2: .*\n    %1 = add i32 %0, float 1"):
        parse_and_verify("define void @f(i32 %0) {\n  %1 = add i32 %0, float 1\n  ret void\n}")


def test_a_module_llvm_refuses() -> None:
    with pytest.raises(LoweringError, match=r"LLVM refuses the generated module: .*domin"):
        parse_and_verify("define i32 @f(i32 %a) {\n  %1 = add i32 %2, 1\n  %2 = add i32 %a, 1\n  ret i32 %1\n}")


def test_unknown_triple_is_refused() -> None:
    with pytest.raises(LoweringError, match="LLVM has no target 'nonsense-triple'"):
        emit_object("", "nonsense-triple")


@pytest.mark.parametrize("level", [0, 2])
def test_what_nobody_calls_is_dropped(level: int) -> None:
    code = ["define internal i32 @unused() { ret i32 1 }", "define i32 @used() { ret i32 2 }"]
    names = [symbol.name for symbol in read_object(emit_object("\n".join(code), level=level)).symbols]
    assert "used" in names and "unused" not in names


@pytest.mark.parametrize(("triple", "cpu", "calls"), [("", "", True), (AMDGPU_TRIPLE, "gfx942", False)])
def test_level_0_inlines_for_gpus_alone(triple: str, cpu: str, calls: bool) -> None:
    """Copies of a formula take LLVM longer than the calls of it, and no GPU has calls to speak of."""
    text = (
        "define internal float @twice(float %x) alwaysinline {\n  %y = fadd float %x, %x\n  ret float %y\n}\n"
        "define float @f(float %x) {\n  %y = call float @twice(float %x)\n  ret float %y\n}\n"
    )
    assert ("call float @twice" in llvm_build.optimised_text(text, triple, cpu, level=0)) is calls


def test_optimisation_vectorises_and_inlines() -> None:
    text = """
    func.func @f(%p: !llvm.ptr {llvm.noalias}, %q: !llvm.ptr {llvm.noalias}, %n: index) {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      scf.for %i = %0 to %n step %1 {
        %a = llvm.getelementptr %p["%i"] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      }
      func.return
    }"""
    text = text.replace('"%i"', "%k").replace("%a = ", "%k = arith.index_cast %i : index to i64\n        %a = ")
    text = text.replace(
        "!llvm.ptr, f32\n",
        """!llvm.ptr, f32
        %x = llvm.load %a : !llvm.ptr -> f32
        %y = "arith.truncf"(%x) : (f32) -> f8E4M3FN
        %b = llvm.getelementptr %q[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        llvm.store %y, %b : f8E4M3FN, !llvm.ptr\n""",
    )
    result = optimised_text(llvm_text(text), level=2)
    assert "vector.body" in result
    assert "fly.f32_to" not in result


def test_plain_accesses_have_the_alignment_of_the_target() -> None:
    """LLVM's default layout would align an i64 to 4 bytes, and LDS access of the kind is then split in two."""
    text = llvm_text(
        "func.func @f(%p: !llvm.ptr) -> i64 { %0 = llvm.load %p : !llvm.ptr -> i64\n func.return %0 : i64 }"
    )
    assert "load i64, ptr %p.1, align 8" in optimised_text(text)


def test_missing_symbols_are_an_error_and_can_be_added() -> None:
    text = """
    func.func private @fly_test_outside(i64) -> i64
    func.func @f(%a: i64) -> i64 {
      %0 = func.call @fly_test_outside(%a) : (i64) -> i64
      func.return %0 : i64
    }"""
    data = emit_object(llvm_text(text))
    with pytest.raises(LoweringError, match="fly_test_outside"):
        load_object(data)
    function_type = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    double = function_type(lambda value: 2 * value)
    add_symbol("fly_test_outside", ctypes.cast(double, ctypes.c_void_p).value or 0)
    loaded = load_object(data)
    assert function_type(loaded.address("f"))(21) == 42
    assert loaded.names == {"f"}
    with pytest.raises(LoweringError, match="defines no 'g'"):
        loaded.address("g")


def test_not_an_object() -> None:
    with pytest.raises(LoweringError, match="no 64-bit little-endian ELF"):
        load_object(b"not an object at all")


def test_data_layouts_differ_by_target() -> None:
    assert "p3:32:32" in data_layout(AMDGPU_TRIPLE, "gfx942")
    assert data_layout(NVPTX_TRIPLE, "sm_90") != data_layout(host_triple())


def test_many_threads_compile_and_run() -> None:
    def job(number: int) -> int:
        text = f"""
        func.func @f(%p: !llvm.ptr) {{
          %0 = arith.constant {number} : i64
          llvm.store %0, %p : i64, !llvm.ptr
          func.return
        }}"""
        out = np.zeros(1, np.int64)
        call(build(text), "f", out)
        return int(out[0])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(job, range(40))) == list(range(40))
