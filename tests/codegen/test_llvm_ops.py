"""The llvm dialect: memory, addresses, aggregates, atomics, asm, globals, calls, intrinsics."""

from __future__ import annotations

import ctypes
import platform
import re

import numpy as np
import pytest

from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_build import parse_and_verify
from tests.codegen.mlir_run import build, call, llvm_text


def function(body: str, arguments: str = "%p: !llvm.ptr, %q: !llvm.ptr") -> str:
    return f"func.func @f({arguments}) {{\n{body}\nfunc.return\n}}"


def checked(text: str) -> str:
    """The LLVM text, after LLVM has accepted it."""
    result = llvm_text(text)
    parse_and_verify(result)
    return result


@pytest.mark.parametrize("type_", ["i32", "f16", "bf16", "vector<4xf32>", "vector<8xf8E4M3FN>", "!llvm.ptr"])
def test_load_and_store_move_bytes(type_: str) -> None:
    body = f"""
      %0 = llvm.load %p {{alignment = 1 : i64}} : !llvm.ptr -> {type_}
      llvm.store %0, %q {{alignment = 1 : i64}} : {type_}, !llvm.ptr"""
    size = {"i32": 4, "f16": 2, "bf16": 2, "vector<4xf32>": 16}.get(type_, 8)
    source = np.random.default_rng(1).integers(0, 256, 32).astype(np.uint8)
    out = np.zeros(32, np.uint8)
    call(build(function(body)), "f", source, out)
    np.testing.assert_array_equal(out[:size], source[:size])
    assert not out[size:].any()


def test_access_attributes_reach_the_text() -> None:
    body = """
      %0 = "llvm.load"(%p) <{alignment = 16 : i64, nontemporal, ordering = 0 : i64}> : (!llvm.ptr) -> vector<4xf32>
      %1 = "llvm.load"(%p) <{alignment = 4 : i64, volatile_, invariant}> : (!llvm.ptr) -> i32
      %2 = "llvm.load"(%p) <{alignment = 4 : i64, ordering = 4 : i64, syncscope = "agent"}> : (!llvm.ptr) -> i32
      "llvm.store"(%0, %q) <{alignment = 32 : i64, nontemporal}> : (vector<4xf32>, !llvm.ptr) -> ()
      "llvm.store"(%1, %q) <{alignment = 4 : i64, ordering = 5 : i64}> : (i32, !llvm.ptr) -> ()"""
    text = checked(function(body))
    assert "load <4 x float>, ptr %p.1, align 16, !nontemporal !0" in text
    assert "load volatile i32, ptr %p.1, align 4, !invariant.load !1" in text
    assert 'load atomic i32, ptr %p.1 syncscope("agent") acquire, align 4' in text
    assert "align 32, !nontemporal !0" in text
    assert "store atomic i32 %v.4, ptr %q.2 release, align 4" in text
    assert text.count("!0 = ") == 1


def test_address_arithmetic() -> None:
    body = """
      %0 = llvm.getelementptr inbounds %p[%i, 1, 2]
           : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i32, !llvm.array<4 x i16>)>
      %1 = llvm.ptrtoint %0 : !llvm.ptr to i64
      llvm.store %1, %q : i64, !llvm.ptr"""
    text = function(body, "%p: !llvm.ptr, %q: !llvm.ptr, %i: i64")
    assert re.search(r"getelementptr inbounds \{ i32, \[4 x i16\] \}, ptr %p.1, i64 %i.3, i32 1, i32 2", checked(text))
    out, base = np.zeros(1, np.int64), np.zeros(64, np.uint8)
    call(build(text), "f", base, out, 3)
    assert out[0] - base.ctypes.data == 3 * 12 + 4 + 2 * 2


def test_no_wrap_flags_of_addresses() -> None:
    for bits, words in ((0, ""), (2, "nusw "), (3, "inbounds "), (5, "inbounds nuw ")):
        body = f"""
          %0 = "llvm.getelementptr"(%p) <{{elem_type = i8, noWrapFlags = {bits} : i32,
               rawConstantIndices = array<i32: 4>}}> : (!llvm.ptr) -> !llvm.ptr"""
        assert f"getelementptr {words}i8, ptr" in checked(function(body))


def test_pointers_and_integers() -> None:
    body = """
      %0 = llvm.ptrtoint %p : !llvm.ptr to i64
      %8 = arith.constant 8 : i64
      %1 = arith.addi %0, %8 : i64
      %2 = llvm.inttoptr %1 : i64 to !llvm.ptr
      %3 = llvm.load %2 : !llvm.ptr -> i64
      llvm.store %3, %q : i64, !llvm.ptr"""
    out = np.zeros(1, np.int64)
    call(build(function(body)), "f", np.array([5, 77]), out)
    assert out[0] == 77


def test_address_spaces() -> None:
    text = """
    llvm.func @f(%p: !llvm.ptr<1>) {
      %0 = "llvm.addrspacecast"(%p) : (!llvm.ptr<1>) -> !llvm.ptr
      %1 = llvm.load %0 : !llvm.ptr -> i32
      llvm.return
    }"""
    assert "addrspacecast ptr addrspace(1) %p.1 to ptr" in checked(text)


def test_stack_slots_of_fixed_size_stand_at_the_entry() -> None:
    body = """
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %9 = arith.constant 9 : index
      %four = arith.constant 4 : i64
      scf.for %i = %0 to %9 step %1 {
        %slot = llvm.alloca %four x i64 {alignment = 16 : i64} : (i64) -> !llvm.ptr
        %v = arith.index_cast %i : index to i64
        llvm.store %v, %slot : i64, !llvm.ptr
        %w = llvm.load %slot : !llvm.ptr -> i64
        llvm.store %w, %p : i64, !llvm.ptr
      }"""
    text = checked(function(body))
    assert re.search(r"entry:\n  %slot\.\d+ = alloca i64, i64 4, align 16\n", text)
    out = np.zeros(1, np.int64)
    call(build(function(body)), "f", out, out)
    assert out[0] == 8


def test_stack_slot_of_run_time_size() -> None:
    body = "%0 = llvm.alloca %n x i32 : (i64) -> !llvm.ptr"
    assert "alloca i32, i64 %n.2" in checked(function(body, "%p: !llvm.ptr, %n: i64"))


def test_aggregates() -> None:
    pair = "!llvm.struct<(i64, !llvm.array<2 x i64>)>"
    body = f"""
      %u = llvm.mlir.undef : {pair}
      %a = arith.constant 11 : i64
      %b = arith.constant 22 : i64
      %0 = llvm.insertvalue %a, %u[0] : {pair}
      %1 = llvm.insertvalue %b, %0[1, 1] : {pair}
      %2 = llvm.extractvalue %1[1, 1] : {pair}
      %3 = llvm.extractvalue %1[0] : {pair}
      %4 = arith.addi %2, %3 : i64
      llvm.store %4, %p : i64, !llvm.ptr"""
    out = np.zeros(1, np.int64)
    call(build(function(body)), "f", out, out)
    assert out[0] == 33


def test_constants_of_the_llvm_dialect() -> None:
    body = """
      %0 = llvm.mlir.constant(5 : i64) : i64
      %1 = llvm.mlir.constant(dense<[1, 2]> : vector<2xi32>) : vector<2xi32>
      %2 = "llvm.mlir.zero"() : () -> !llvm.ptr
      %3 = "llvm.mlir.poison"() : () -> i64
      %4 = llvm.ptrtoint %2 : !llvm.ptr to i64
      %5 = arith.addi %0, %4 : i64
      llvm.store %5, %p : i64, !llvm.ptr
      llvm.store %1, %q : vector<2xi32>, !llvm.ptr"""
    first, second = np.full(1, -1), np.zeros(2, np.int32)
    call(build(function(body)), "f", first, second)
    assert first[0] == 5
    np.testing.assert_array_equal(second, [1, 2])


@pytest.mark.parametrize(
    ("number", "name", "start", "operand", "want"),
    [(0, "xchg", 5, 9, 9), (1, "add", 5, 9, 14), (2, "sub", 5, 9, -4), (3, "and", 6, 3, 2), (5, "or", 6, 3, 7),
     (6, "xor", 6, 3, 5), (7, "max", -6, 3, 3), (8, "min", -6, 3, -6), (9, "umax", -6, 3, -6), (10, "umin", -6, 3, 3)],
)  # fmt: skip
def test_atomic_updates(number: int, name: str, start: int, operand: int, want: int) -> None:
    body = f"""
      %v = arith.constant {operand} : i64
      %0 = "llvm.atomicrmw"(%p, %v) <{{bin_op = {number} : i64, ordering = 7 : i64}}> : (!llvm.ptr, i64) -> i64
      llvm.store %0, %q : i64, !llvm.ptr"""
    assert f"atomicrmw {name} ptr" in checked(function(body))
    memory, old = np.array([start]), np.zeros(1, np.int64)
    call(build(function(body)), "f", memory, old)
    assert (memory[0], old[0]) == (want, start)


def test_atomic_float_add_and_scopes() -> None:
    body = """
      %v = arith.constant 0.5 : f32
      %0 = "llvm.atomicrmw"(%p, %v) <{bin_op = 11 : i64, ordering = 2 : i64, syncscope = "agent", alignment = 4 : i64}>
           {rocdl.no_fine_grained_memory} : (!llvm.ptr, f32) -> f32
      "llvm.fence"() <{ordering = 5 : i64, syncscope = "workgroup"}> : () -> ()
      "llvm.fence"() <{ordering = 7 : i64}> : () -> ()"""
    text = checked(function(body))
    assert (
        'atomicrmw fadd ptr %p.1, float 0x3FE0000000000000 syncscope("agent") monotonic, align 4, !amdgpu.no.fine'
        in text
    )
    assert 'fence syncscope("workgroup") release' in text
    assert "fence seq_cst" in text
    memory = np.array([1.25], np.float32)
    call(build(function(body)), "f", memory, memory)
    assert memory[0] == 1.75


def test_compare_and_exchange() -> None:
    body = """
      %e = llvm.load %q : !llvm.ptr -> i64
      %n = arith.constant 9 : i64
      %0 = "llvm.cmpxchg"(%p, %e, %n) <{success_ordering = 6 : i64, failure_ordering = 2 : i64}>
           : (!llvm.ptr, i64, i64) -> !llvm.struct<(i64, i1)>
      %1 = llvm.extractvalue %0[1] : !llvm.struct<(i64, i1)>
      %2 = arith.extui %1 : i1 to i64
      llvm.store %2, %q : i64, !llvm.ptr"""
    loaded = build(function(body))
    for guess, success, after in ((5, 1, 9), (6, 0, 5)):
        memory, flag = np.array([5]), np.array([guess])
        call(loaded, "f", memory, flag)
        assert (flag[0], memory[0]) == (success, after)


@pytest.mark.skipif(platform.machine() not in ("aarch64", "x86_64"), reason="asm of this processor is not written here")
def test_inline_assembly() -> None:
    code, constraints = {
        "aarch64": ("add $0, $1, #2", "=r,r"),
        "x86_64": ("leaq 2($1), $0", "=r,r"),
    }[platform.machine()]
    body = f"""
      %0 = llvm.load %p : !llvm.ptr -> i64
      %1 = llvm.inline_asm has_side_effects "{code}", "{constraints}" %0 : (i64) -> i64
      llvm.store %1, %q : i64, !llvm.ptr"""
    assert "asm sideeffect" in llvm_text(function(body))
    out = np.zeros(1, np.int64)
    call(build(function(body)), "f", np.array([40]), out)
    assert out[0] == 42


def test_intrinsics_by_name_need_no_suffix() -> None:
    body = """
      %0 = llvm.load %p : !llvm.ptr -> vector<4xf32>
      %1 = llvm.call_intrinsic "llvm.fma"(%0, %0, %0) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %2 = llvm.call_intrinsic "llvm.fabs.v4f32"(%1) : (vector<4xf32>) -> vector<4xf32>
      %3 = "llvm.intr.sqrt"(%2) : (vector<4xf32>) -> vector<4xf32>
      llvm.store %3, %q : vector<4xf32>, !llvm.ptr"""
    source = np.array([1, 2, 3, 4], np.float32)
    out = np.zeros(4, np.float32)
    call(build(function(body)), "f", source, out)
    np.testing.assert_array_equal(out, np.sqrt(source * source + source))


def test_arithmetic_of_the_llvm_dialect() -> None:
    body = """
      %a = llvm.load %p : !llvm.ptr -> i64
      %0 = llvm.add %a, %a : i64
      %1 = llvm.mul %0, %a overflow<nsw> : i64
      %2 = llvm.icmp "sgt" %1, %a : i64
      %3 = "llvm.select"(%2, %1, %a) : (i1, i64, i64) -> i64
      %4 = llvm.trunc %3 : i64 to i32
      %5 = llvm.sext %4 : i32 to i64
      %6 = llvm.sitofp %5 : i64 to f64
      %7 = llvm.fadd %6, %6 : f64
      %8 = llvm.fcmp "ogt" %7, %6 : f64
      %9 = llvm.zext %8 : i1 to i64
      %10 = "llvm.fptosi"(%7) : (f64) -> i64
      %11 = llvm.sub %10, %9 : i64
      llvm.store %11, %q : i64, !llvm.ptr"""
    out = np.zeros(1, np.int64)
    call(build(function(body)), "f", np.array([3]), out)
    assert out[0] == 35


def test_flagged_and_reducing_intrinsics() -> None:
    body = """
      %a = llvm.load %p : !llvm.ptr -> i64
      %0 = "llvm.intr.ctlz"(%a) <{is_zero_poison = false}> : (i64) -> i64
      %1 = "llvm.intr.abs"(%a) <{is_int_min_poison = false}> : (i64) -> i64
      %v = llvm.load %p : !llvm.ptr -> vector<2xi64>
      %2 = "llvm.intr.vector.reduce.add"(%v) : (vector<2xi64>) -> i64
      %3 = "llvm.intr.smax"(%0, %1) : (i64, i64) -> i64
      %4 = arith.addi %2, %3 : i64
      llvm.store %4, %q : i64, !llvm.ptr"""
    out = np.zeros(1, np.int64)
    call(build(function(body)), "f", np.array([-100, 1]), out)
    assert out[0] == -99 + 100


def test_block_copies_and_masked_access() -> None:
    body = """
      %n = arith.constant 16 : i64
      "llvm.intr.memcpy"(%q, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      %m = arith.constant dense<[true, false, true, false]> : vector<4xi1>
      %z = arith.constant dense<-1> : vector<4xi32>
      %0 = "llvm.intr.masked.load"(%p, %m, %z) <{alignment = 4 : i32}>
           : (!llvm.ptr, vector<4xi1>, vector<4xi32>) -> vector<4xi32>
      "llvm.intr.masked.store"(%z, %q, %m) <{alignment = 4 : i32}> : (vector<4xi32>, !llvm.ptr, vector<4xi1>) -> ()
      llvm.store %0, %p {alignment = 4 : i64} : vector<4xi32>, !llvm.ptr"""
    source, out = np.array([1, 2, 3, 4], np.int32), np.zeros(4, np.int32)
    call(build(function(body)), "f", source, out)
    np.testing.assert_array_equal(out, [-1, 2, -1, 4])
    np.testing.assert_array_equal(source, [1, -1, 3, -1])


def test_globals() -> None:
    text = """
    llvm.mlir.global internal constant @table(dense<[10, 20, 30]> : tensor<3xi64>) : !llvm.array<3 x i64>
    llvm.mlir.global internal @state(7 : i64) {alignment = 16 : i64} : i64
    llvm.mlir.global internal @scratch() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<128 x i8>
    llvm.mlir.global external @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
    llvm.mlir.global private constant @name("hi\\00") : !llvm.array<3 x i8>
    func.func @f(%p: !llvm.ptr, %i: i64) {
      %t = llvm.mlir.addressof @table : !llvm.ptr
      %0 = llvm.getelementptr %t[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<3 x i64>
      %1 = llvm.load %0 : !llvm.ptr -> i64
      %s = llvm.mlir.addressof @state : !llvm.ptr
      %2 = llvm.load %s : !llvm.ptr -> i64
      %3 = arith.addi %1, %2 : i64
      llvm.store %3, %s : i64, !llvm.ptr
      llvm.store %3, %p : i64, !llvm.ptr
      func.return
    }"""
    result = checked(text)
    assert "@scratch = internal addrspace(3) global [128 x i8] poison, align 64" in result
    assert "@dynamic = external addrspace(3) global [0 x i8]" in result
    out, loaded = np.zeros(1, np.int64), build(text)
    call(loaded, "f", out, 2)
    assert out[0] == 37
    call(loaded, "f", out, 0)
    assert out[0] == 47


def test_calls_to_the_c_library_and_through_pointers() -> None:
    text = """
    llvm.func @labs(i64) -> i64
    llvm.func internal @twice(%x: i64) -> i64 {
      %0 = llvm.add %x, %x : i64
      llvm.return %0 : i64
    }
    func.func @f(%p: !llvm.ptr) {
      %a = llvm.load %p : !llvm.ptr -> i64
      %0 = llvm.call @labs(%a) : (i64) -> i64
      %t = llvm.mlir.addressof @twice : !llvm.ptr
      %1 = "llvm.call"(%t, %0) <{operandSegmentSizes = array<i32: 2, 0>}> : (!llvm.ptr, i64) -> i64
      llvm.store %1, %p : i64, !llvm.ptr
      func.return
    }"""
    out = np.array([-21])
    call(build(text), "f", out)
    assert out[0] == 42


def test_variadic_call() -> None:
    text = """
    llvm.func @snprintf(!llvm.ptr, i64, !llvm.ptr, ...) -> i32
    llvm.mlir.global private constant @format("<%d>\\00") : !llvm.array<5 x i8>
    func.func @f(%p: !llvm.ptr, %n: i64) {
      %0 = llvm.mlir.addressof @format : !llvm.ptr
      %1 = arith.constant 16 : i64
      %2 = "llvm.call"(%p, %1, %0, %n) <{callee = @snprintf, operandSegmentSizes = array<i32: 4, 0>,
           var_callee_type = !llvm.func<i32 (!llvm.ptr, i64, !llvm.ptr, ...)>}>
           : (!llvm.ptr, i64, !llvm.ptr, i64) -> i32
      func.return
    }"""
    out = np.zeros(16, np.uint8)
    call(build(text), "f", out, 42)
    assert bytes(out).split(b"\0")[0] == b"<42>"


def test_function_attributes() -> None:
    text = """
    llvm.func @k(%p: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64, llvm.readonly}, %n: i32)
        attributes {rocdl.kernel, rocdl.flat_work_group_size = "1,256", rocdl.waves_per_eu = 2 : i32,
                    rocdl.reqd_work_group_size = array<i32: 64, 1, 1>,
                    passthrough = ["mustprogress", ["amdgpu-agpr-alloc", "0"]]} {
      llvm.return
    }"""
    result = checked(text)
    assert "define amdgpu_kernel void @k(ptr addrspace(1) noalias readonly align 16 %p.1, i32 %n.2)" in result
    for part in ('"amdgpu-flat-work-group-size"="1,256"', '"amdgpu-waves-per-eu"="2"', '"amdgpu-agpr-alloc"="0"'):
        assert part in result
    assert "mustprogress" in result and "!reqd_work_group_size" in result


def test_unknown_intrinsic_is_refused_with_its_line() -> None:
    body = '%0 = llvm.call_intrinsic "llvm.no.such.thing"() : () -> i32'
    with pytest.raises(LoweringError, match=r"line \d+: .*llvm.no.such.thing(.|\n)*call i32 @llvm.no.such.thing"):
        parse_and_verify(llvm_text(function(body)))


def test_assert_stops_only_when_false() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %k = arith.cmpi sgt, %n, %0 : i64
      cf.assert %k, "positive"
      func.return %n : i64
    }"""
    loaded = build(text)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(loaded.address("f"))(3) == 3
