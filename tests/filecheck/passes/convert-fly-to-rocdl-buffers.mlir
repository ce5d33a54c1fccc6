// RUN: fly-opt --keep-names --as-compiled --convert-fly-to-rocdl %s | FileCheck %s
// RUN: fly-opt --keep-names --as-compiled --convert-fly-to-rocdl %s | mlir-opt

// A buffer pointer is a descriptor and a byte offset; the scalar offset counts elements, the last operand is the cache's.
// CHECK-LABEL: func.func @copies(
// CHECK: [[TWO:%[0-9]+]] = arith.constant 2 : i32
// CHECK: [[RSRC:%[0-9]+]] = llvm.call_intrinsic "llvm.amdgcn.make.buffer.rsrc"(%p, %stride, %n, %flags) : (!llvm.ptr<1>, i16, i64, i32) -> !llvm.ptr<8>
// CHECK: [[OFFSET:%[0-9]+]] = arith.addi
// CHECK: [[SCALAR:%[0-9]+]] = arith.trunci
// CHECK: [[RAW:%[0-9]+]] = llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"([[RSRC]], [[OFFSET]], [[SCALAR]], [[TWO]]) : (!llvm.ptr<8>, i32, i32, i32) -> vector<4xi32>
// CHECK: %v = vector.bitcast [[RAW]] : vector<4xi32> to vector<4xf32>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.store"({{%[0-9]+}}, [[RSRC]], [[OFFSET]], {{%[0-9]+}}, [[TWO]])
func.func @copies(%p: !fly.ptr<f32, global, align<16>>, %n: i64, %i: i32, %s: i32) {
  %stride = arith.constant 0 : i16
  %flags = arith.constant 159744 : i32
  %b = fly.make_ptr(%p, %stride, %n, %flags) : (!fly.ptr<f32, global, align<16>>, i16, i64, i32) -> !fly.ptr<f32, #fly_rocdl.buffer_desc, align<16>>
  %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?{div=4}>
  %q = fly.add_offset(%b, %o) : (!fly.ptr<f32, #fly_rocdl.buffer_desc, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f32, #fly_rocdl.buffer_desc, align<16>>
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%q, %l) : (!fly.ptr<f32, #fly_rocdl.buffer_desc, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, #fly_rocdl.buffer_desc, 4:1, align<16>>
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128, cache = 2>, 32>
  %as = fly.atom.set_value(%a, "soffset", %s) : (!fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128, cache = 2>, 32>, i32) -> !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128, cache = 2>, 32>
  %v = fly.copy_atom_call_ssa(%as, %m) : (!fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128, cache = 2>, 32>, !fly.memref<f32, #fly_rocdl.buffer_desc, 4:1, align<16>>) -> vector<4xf32>
  fly.copy_atom_call_ssa(%a, %v, %m) : (!fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128, cache = 2>, 32>, vector<4xf32>, !fly.memref<f32, #fly_rocdl.buffer_desc, 4:1, align<16>>) -> ()
  return
}

// A copy into LDS goes to the address of the wave's first lane. Marks become waits for the copies before them: the first
// wait leaves the copy behind the first mark outstanding (vmcnt 1), the second one nothing (vmcnt 0).
// CHECK-LABEL: func.func @into_lds(
// CHECK: [[NONE:%[0-9]+]] = arith.constant 3952 : i32
// CHECK: [[ONE:%[0-9]+]] = arith.constant 3953 : i32
// CHECK: [[FIRST:%[0-9]+]] = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"
// CHECK: [[BASE:%[0-9]+]] = llvm.inttoptr [[FIRST]] : i32 to !llvm.ptr<3>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load.lds"({{%[0-9]+}}, [[BASE]],
// CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load.lds"
// CHECK-NOT: asyncmark
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"([[ONE]])
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"([[NONE]])
func.func @into_lds(%b: !fly.ptr<i32, #fly_rocdl.buffer_desc>, %s: !fly.ptr<i32, shared>) {
  %l = fly.static : !fly.layout<1:0>
  %m = fly.make_view(%b, %l) : (!fly.ptr<i32, #fly_rocdl.buffer_desc>, !fly.layout<1:0>) -> !fly.memref<i32, #fly_rocdl.buffer_desc, 1:0>
  %d = fly.make_view(%s, %l) : (!fly.ptr<i32, shared>, !fly.layout<1:0>) -> !fly.memref<i32, shared, 1:0>
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<32>, 32>
  fly.copy_atom_call_ssa(%a, %m, %d) : (!fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<32>, 32>, !fly.memref<i32, #fly_rocdl.buffer_desc, 1:0>, !fly.memref<i32, shared, 1:0>) -> ()
  llvm.call_intrinsic "llvm.amdgcn.asyncmark"() : () -> ()
  fly.copy_atom_call_ssa(%a, %m, %d) : (!fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<32>, 32>, !fly.memref<i32, #fly_rocdl.buffer_desc, 1:0>, !fly.memref<i32, shared, 1:0>) -> ()
  llvm.call_intrinsic "llvm.amdgcn.asyncmark"() : () -> ()
  %one = arith.constant 1 : i16
  %zero = arith.constant 0 : i16
  llvm.call_intrinsic "llvm.amdgcn.wait.asyncmark"(%one) : (i16) -> ()
  llvm.call_intrinsic "llvm.amdgcn.wait.asyncmark"(%zero) : (i16) -> ()
  return
}

// CHECK-LABEL: func.func @combine(
// CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.fadd"({{.*}}) : (vector<2xf16>, !llvm.ptr<8>, i32, i32, i32) -> vector<2xf16>
func.func @combine(%b: !fly.ptr<f16, #fly_rocdl.buffer_desc>, %v: vector<2xf16>) {
  %l = fly.static : !fly.layout<2:1>
  %m = fly.make_view(%b, %l) : (!fly.ptr<f16, #fly_rocdl.buffer_desc>, !fly.layout<2:1>) -> !fly.memref<f16, #fly_rocdl.buffer_desc, 2:1>
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.cdna3.buffer_atomic<pk_add, f16>, 16>
  fly.copy_atom_call_ssa(%a, %v, %m) : (!fly.copy_atom<!fly_rocdl.cdna3.buffer_atomic<pk_add, f16>, 16>, vector<2xf16>, !fly.memref<f16, #fly_rocdl.buffer_desc, 2:1>) -> ()
  return
}

// CHECK-LABEL: func.func @transposed(
// CHECK: llvm.call_intrinsic "llvm.amdgcn.ds.read.tr16.b64"(%s) : (!llvm.ptr<3>) -> vector<4xi16>
func.func @transposed(%s: !fly.ptr<f16, shared, align<8>>) -> vector<4xf16> {
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%s, %l) : (!fly.ptr<f16, shared, align<8>>, !fly.layout<4:1>) -> !fly.memref<f16, shared, 4:1, align<8>>
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>, 16>
  %v = fly.copy_atom_call_ssa(%a, %m) : (!fly.copy_atom<!fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>, 16>, !fly.memref<f16, shared, 4:1, align<8>>) -> vector<4xf16>
  return %v : vector<4xf16>
}
