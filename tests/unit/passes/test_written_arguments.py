"""Following addresses from a jit function's arguments: what is read, what is written, and what nobody can tell."""

from __future__ import annotations

import pytest

from flydsl.passes.written_arguments import written_arguments
from flydsl.tools.ir_reader import read_module

READ: dict[int, bool] = {}

# Each body gets %p and %q, pointers to global memory, and some numbers.
BODIES: dict[str, tuple[str, dict[int, bool]]] = {
    "nothing": ("", READ),
    "a load": ("%v = llvm.load %p : !llvm.ptr<1> -> f32", READ),
    "a store": ("llvm.store %x, %p : f32, !llvm.ptr<1>", {0: True}),
    "a store of what was loaded": (
        """%v = llvm.load %p : !llvm.ptr<1> -> f32
           llvm.store %v, %q : f32, !llvm.ptr<1>""",
        {2: True},
    ),
    "an offset": (
        """%a = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
           llvm.store %x, %a : f32, !llvm.ptr<1>""",
        {0: True},
    ),
    "a generic pointer": (
        """%a = "llvm.addrspacecast"(%p) : (!llvm.ptr<1>) -> !llvm.ptr
           llvm.store %x, %a : f32, !llvm.ptr""",
        {0: True},
    ),
    "an address as a number": (
        """%a = llvm.ptrtoint %p : !llvm.ptr<1> to i64
           %b = arith.addi %a, %n : i64
           %c = llvm.inttoptr %b : i64 to !llvm.ptr<1>
           llvm.store %x, %c : f32, !llvm.ptr<1>""",
        {0: True},
    ),
    "a comparison of addresses": (
        """%a = llvm.ptrtoint %p : !llvm.ptr<1> to i64
           %b = arith.cmpi eq, %a, %n : i64
           %c = arith.select %b, %n, %m : i64
           %d = llvm.inttoptr %c : i64 to !llvm.ptr<1>
           llvm.store %x, %d : f32, !llvm.ptr<1>""",
        READ,
    ),
    "either of two": (
        """%a = arith.select %flag, %p, %q : !llvm.ptr<1>
           llvm.store %x, %a : f32, !llvm.ptr<1>""",
        {0: True, 2: True},
    ),
    "a branch": (
        """%a = scf.if %flag -> (!llvm.ptr<1>) {
             scf.yield %p : !llvm.ptr<1>
           } else {
             scf.yield %q : !llvm.ptr<1>
           }
           llvm.store %x, %a : f32, !llvm.ptr<1>""",
        {0: True, 2: True},
    ),
    "a store in a branch": (
        """scf.if %flag {
             llvm.store %x, %q : f32, !llvm.ptr<1>
           }""",
        {2: True},
    ),
    "a loop that moves on": (
        """%a = scf.for %j = %lo to %hi step %step iter_args(%b = %p) -> (!llvm.ptr<1>) {
             llvm.store %x, %b : f32, !llvm.ptr<1>
             %c = llvm.getelementptr %b[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
             scf.yield %c : !llvm.ptr<1>
           }""",
        {0: True},
    ),
    "two pointers that a loop exchanges": (
        """%a, %b = scf.for %j = %lo to %hi step %step iter_args(%c = %p, %d = %q) -> (!llvm.ptr<1>, !llvm.ptr<1>) {
             llvm.store %x, %c : f32, !llvm.ptr<1>
             scf.yield %d, %c : !llvm.ptr<1>, !llvm.ptr<1>
           }""",
        {0: True, 2: True},
    ),
    "behind a loop": (
        """%a = scf.for %j = %lo to %hi step %step iter_args(%b = %p) -> (!llvm.ptr<1>) {
             scf.yield %b : !llvm.ptr<1>
           }
           llvm.store %x, %a : f32, !llvm.ptr<1>""",
        {0: True},
    ),
    "a while loop": (
        """%a = scf.while (%b = %p) : (!llvm.ptr<1>) -> !llvm.ptr<1> {
             scf.condition(%flag) %b : !llvm.ptr<1>
           } do {
           ^bb0(%c: !llvm.ptr<1>):
             llvm.store %x, %c : f32, !llvm.ptr<1>
             scf.yield %c : !llvm.ptr<1>
           }""",
        {0: True},
    ),
    "what a while loop goes on with": (
        """%a = scf.while (%b = %p) : (!llvm.ptr<1>) -> !llvm.ptr<1> {
             llvm.store %x, %b : f32, !llvm.ptr<1>
             scf.condition(%flag) %b : !llvm.ptr<1>
           } do {
           ^bb0(%c: !llvm.ptr<1>):
             scf.yield %q : !llvm.ptr<1>
           }""",
        {0: True, 2: True},
    ),
    "an atomic": (
        """%a = "llvm.atomicrmw"(%p, %x) <{bin_op = 11 : i64, ordering = 2 : i64}> : (!llvm.ptr<1>, f32) -> f32""",
        {0: True},
    ),
    "an exchange": (
        """%a = "llvm.cmpxchg"(%p, %i, %i) <{success_ordering = 2 : i64, failure_ordering = 2 : i64}>
             : (!llvm.ptr<1>, i32, i32) -> !llvm.struct<(i32, i1)>""",
        {0: True},
    ),
    "a struct": (
        """%a = llvm.mlir.undef : !llvm.struct<(ptr<1>, i32)>
           %b = llvm.insertvalue %p, %a[0] : !llvm.struct<(ptr<1>, i32)>
           %c = llvm.extractvalue %b[0] : !llvm.struct<(ptr<1>, i32)>
           llvm.store %x, %c : f32, !llvm.ptr<1>""",
        {0: True},
    ),
    # What cannot be followed ---------------------------------------------------------------------------------------
    "an address put into memory": ("llvm.store %p, %q : !llvm.ptr<1>, !llvm.ptr<1>", {0: False, 2: True}),
    "an unknown intrinsic": (
        """"llvm.call_intrinsic"(%p) <{intrin = "llvm.amdgcn.made.up", op_bundle_sizes = array<i32>,
             operandSegmentSizes = array<i32: 1, 0>}> : (!llvm.ptr<1>) -> ()""",
        {0: False},
    ),
    "inline assembly": (
        """"llvm.inline_asm"(%p) <{asm_string = "touch $0", constraints = "l", has_side_effects}>
             : (!llvm.ptr<1>) -> ()""",
        {0: False},
    ),
    "an operation of another dialect": (""""rocdl.unheard_of"(%q) : (!llvm.ptr<1>) -> ()""", {2: False}),
    "a known write after a possible one": (
        """"rocdl.unheard_of"(%p) : (!llvm.ptr<1>) -> ()
           llvm.store %x, %p : f32, !llvm.ptr<1>""",
        {0: True},
    ),
    # Instructions of targets ---------------------------------------------------------------------------------------
    "a buffer that is read": (
        """%a = "llvm.call_intrinsic"(%p, %s, %n, %i) <{intrin = "llvm.amdgcn.make.buffer.rsrc",
             op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 4, 0>}>
             : (!llvm.ptr<1>, i16, i64, i32) -> !llvm.ptr<8>
           %b = "llvm.call_intrinsic"(%a, %i, %i, %i) <{intrin = "llvm.amdgcn.raw.ptr.buffer.load.f32",
             op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 4, 0>}>
             : (!llvm.ptr<8>, i32, i32, i32) -> f32""",
        READ,
    ),
    "a buffer that is written": (
        """%a = "llvm.call_intrinsic"(%p, %s, %n, %i) <{intrin = "llvm.amdgcn.make.buffer.rsrc",
             op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 4, 0>}>
             : (!llvm.ptr<1>, i16, i64, i32) -> !llvm.ptr<8>
           "llvm.call_intrinsic"(%x, %a, %i, %i, %i) <{intrin = "llvm.amdgcn.raw.ptr.buffer.store.f32",
             op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 5, 0>}>
             : (f32, !llvm.ptr<8>, i32, i32, i32) -> ()""",
        {0: True},
    ),
    "a buffer that is exchanged": (
        """%a = "llvm.call_intrinsic"(%p, %s, %n, %i) <{intrin = "llvm.amdgcn.make.buffer.rsrc",
             op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 4, 0>}>
             : (!llvm.ptr<1>, i16, i64, i32) -> !llvm.ptr<8>
           %b = "llvm.call_intrinsic"(%i, %i, %a, %i, %i, %i) <{
             intrin = "llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32",
             op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 6, 0>}>
             : (i32, i32, !llvm.ptr<8>, i32, i32, i32) -> i32""",
        {0: True},
    ),
    "assembly that is a load": (
        """%a = "llvm.inline_asm"(%p) <{asm_string = "", constraints = "=r,l", has_side_effects}>
             {fly.ptx = "ld.global.1"} : (!llvm.ptr<1>) -> i32""",
        READ,
    ),
    "assembly that is a store": (
        """"llvm.inline_asm"(%p, %i) <{asm_string = "", constraints = "l,r", has_side_effects}>
             {fly.ptx = "st.global.1"} : (!llvm.ptr<1>, i32) -> ()""",
        {0: True},
    ),
}

MODULE = """
builtin.module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @k(%p: !llvm.ptr<1>, %sizes: !llvm.struct<(i32)>, %q: !llvm.ptr<1>) kernel {{
      %x = arith.constant 1.0 : f32
      %i = arith.constant 3 : i32
      %n = arith.constant 16 : i64
      %m = arith.constant 17 : i64
      %s = arith.constant 0 : i16
      %flag = arith.constant true
      %lo = arith.constant 0 : index
      %hi = arith.constant 8 : index
      %step = arith.constant 1 : index
      {body}
      gpu.return
    }}
  }}
  func.func @run(%a: !llvm.ptr<1>, %as: !llvm.struct<(i32)>, %b: !llvm.ptr<1>, %stream: !llvm.ptr) {{
    %c = arith.constant 1 : index
    gpu.launch_func <%stream : !llvm.ptr> @kernels::@k blocks in (%c, %c, %c) threads in (%c, %c, %c)
      args(%a : !llvm.ptr<1>, %as : !llvm.struct<(i32)>, %b : !llvm.ptr<1>)
    func.return
  }}
}}
"""


def found(text: str) -> dict[int, bool]:
    """By number of the argument block, whether the write is known."""
    return {write.leaf: write.known for write in written_arguments(read_module(text, "test.mlir"))}


@pytest.mark.parametrize("name", BODIES)
def test_what_a_kernel_writes(name: str) -> None:
    body, expected = BODIES[name]
    assert found(MODULE.format(body=body)) == expected


def test_numbers_before_an_address_are_counted() -> None:
    text = """
builtin.module {
  func.func @run(%n: i32, %s: !llvm.struct<(i64, i64, i32)>, %a: !llvm.ptr, %f: f32, %b: !llvm.ptr) {
    llvm.store %f, %b : f32, !llvm.ptr
    func.return
  }
}"""
    assert found(text) == {6: True}


def test_a_function_that_is_called_may_do_anything() -> None:
    text = """
builtin.module {
  llvm.func @somewhere(!llvm.ptr)
  func.func @run(%a: !llvm.ptr, %b: !llvm.ptr) {
    "llvm.call"(%b) <{callee = @somewhere, fastmathFlags = #llvm.fastmath<none>, CConv = #llvm.cconv<ccc>,
      op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 1, 0>, TailCallKind = #llvm.tailcallkind<none>}>
      : (!llvm.ptr) -> ()
    func.return
  }
}"""
    assert found(text) == {1: False}


def test_one_kernel_launched_with_the_tensors_exchanged() -> None:
    body = "llvm.store %x, %q : f32, !llvm.ptr<1>"
    launch = MODULE.format(body=body)
    again = launch.replace("    func.return", """
    gpu.launch_func <%stream : !llvm.ptr> @kernels::@k blocks in (%c, %c, %c) threads in (%c, %c, %c)
      args(%b : !llvm.ptr<1>, %as : !llvm.struct<(i32)>, %a : !llvm.ptr<1>)
    func.return""")  # fmt: skip
    assert found(launch) == {2: True}
    assert found(again) == {0: True, 2: True}
