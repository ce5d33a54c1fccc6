// RUN: fly-opt --keep-names --split-input-file --verify-diagnostics %s

// A wrong result type: both are printed, and where they differ.

func.func @leaf(%l: !fly.layout<12:1>, %d: !fly.layout<3:1>) {
  // expected-error@+1 {{fly.logical_divide gives !fly.layout<(3,4):(1,3)>, but the result type written is !fly.layout<(3,4):(1,4)> (leaf 1 of the stride is 3, written 4)}}
  %0 = fly.logical_divide(%l, %d) : (!fly.layout<12:1>, !fly.layout<3:1>) -> !fly.layout<(3,4):(1,4)>
  return
}

// -----

func.func @nested(%l: !fly.layout<12:1>, %d: !fly.layout<3:1>) {
  // expected-error@+1 {{but the result type written is !fly.layout<12:1> (the shape is nested as (3,4), written 12)}}
  %0 = fly.logical_divide(%l, %d) : (!fly.layout<12:1>, !fly.layout<3:1>) -> !fly.layout<12:1>
  return
}

// -----

func.func @tuple(%l: !fly.layout<(3,5):(5,1)>) {
  // expected-error@+1 {{fly.get_shape gives !fly.int_tuple<(3,5)>, but the result type written is !fly.int_tuple<(3,6)> (leaf 1 of the tuple is 5, written 6)}}
  %0 = fly.get_shape(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<(3,6)>
  return
}

// -----

func.func @rank_one_is_no_leaf(%l: !fly.layout<(3,5):(5,1)>) {
  // expected-error@+1 {{fly.size gives !fly.int_tuple<15>, but the result type written is !fly.int_tuple<(15)> (the tuple is nested as 15, written (15))}}
  %0 = fly.size(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<(15)>
  return
}

// -----

func.func @width(%m: !fly.memref<f32, global, (?,8):(8,1)>) {
  // expected-error@+1 {{(it is ?{i64 div=8}, written ?)}}
  %0 = fly.size(%m) : (!fly.memref<f32, global, (?,8):(8,1)>) -> !fly.int_tuple<?>
  return
}

// -----

func.func @space(%p: !fly.ptr<f32, global>, %l: !fly.layout<6:1>) {
  // expected-error@+1 {{(the address space is global, written shared)}}
  %0 = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<6:1>) -> !fly.memref<f32, shared, 6:1>
  return
}

// -----

func.func @alignment(%p: !fly.ptr<f32, global, align<16>>, %o: !fly.int_tuple<2>) {
  // expected-error@+1 {{(the alignment is 8, written 16)}}
  %0 = fly.add_offset(%p, %o) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<2>) -> !fly.ptr<f32, global, align<16>>
  return
}

// -----

func.func @composed(%w: !fly.swizzle<S<2,0,3>>, %o: !fly.int_tuple<0>, %l: !fly.layout<(8,8):(8,1)>) {
  // expected-error@+1 {{(leaf 0 of the stride is 8, written 1)}}
  %0 = fly.make_composed_layout(%w, %o, %l) : (!fly.swizzle<S<2,0,3>>, !fly.int_tuple<0>, !fly.layout<(8,8):(8,1)>) -> !fly.composed_layout<S<2,0,3> o 0 o (8,8):(1,8)>
  return
}

// -----

func.func @kind_of_result(%l: !fly.layout<(3,5):(5,1)>) {
  // expected-error@+1 {{fly.get_shape gives !fly.int_tuple<(3,5)>, but the result type written is !fly.layout<(3,5):(5,1)>}}
  %0 = fly.get_shape(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.layout<(3,5):(5,1)>
  return
}

// -----

// Operands of the wrong kind or number.

func.func @kind(%l: !fly.layout<12:1>, %t: !fly.int_tuple<3>) {
  // expected-error@+1 {{fly.make_layout takes an int tuple as operand 0, got !fly.layout<12:1>}}
  %0 = fly.make_layout(%l, %t) : (!fly.layout<12:1>, !fly.int_tuple<3>) -> !fly.layout<12:1>
  return
}

// -----

func.func @divisor(%l: !fly.layout<12:1>, %t: !fly.int_tuple<3>) {
  // expected-error@+1 {{fly.logical_divide takes a layout or a tile as operand 1, got !fly.int_tuple<3>}}
  %0 = fly.logical_divide(%l, %t) : (!fly.layout<12:1>, !fly.int_tuple<3>) -> !fly.layout<(3,4):(1,3)>
  return
}

// -----

func.func @not_fly(%x: f32, %l: !fly.layout<12:1>) {
  // expected-error@+1 {{fly.crd2idx takes an int tuple as operand 0, got f32}}
  %0 = fly.crd2idx(%x, %l) : (f32, !fly.layout<12:1>) -> !fly.int_tuple<3>
  return
}

// -----

func.func @count(%l: !fly.layout<12:1>) {
  // expected-error@+1 {{fly.composition takes 2 operands, got 1: (!fly.layout<12:1>)}}
  %0 = fly.composition(%l) : (!fly.layout<12:1>) -> !fly.layout<12:1>
  return
}

// -----

func.func @optional(%l: !fly.layout<12:1>, %t: !fly.int_tuple<3>) {
  // expected-error@+1 {{fly.coalesce takes 1 to 2 operands, got 3}}
  %0 = fly.coalesce(%l, %t, %t) : (!fly.layout<12:1>, !fly.int_tuple<3>, !fly.int_tuple<3>) -> !fly.layout<12:1>
  return
}

// -----

// Attributes.

func.func @missing_attribute(%t: !fly.int_tuple<(2,3)>) {
  // expected-error@+1 {{fly.get needs the attribute 'mode', an array of integers}}
  %0 = fly.get(%t) : (!fly.int_tuple<(2,3)>) -> !fly.int_tuple<2>
  return
}

// -----

func.func @wrong_attribute(%t: !fly.int_tuple<(2,3)>) {
  // expected-error@+1 {{fly.get: the attribute 'mode' must be an array of integers, array<i32: …>, got 1 : i32}}
  %0 = fly.get(%t) {mode = 1 : i32} : (!fly.int_tuple<(2,3)>) -> !fly.int_tuple<2>
  return
}

// -----

func.func @no_such_operand(%tm: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, <(4,4,1):(1,4,0)>>, %s: !fly.int_tuple<(8,8)>) {
  // expected-error@+1 {{fly.tiled_mma.partition_shape: the operand is one of a, b, c, d, not 'x'}}
  %1 = fly.tiled_mma.partition_shape(x, %tm, %s) : (!fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, <(4,4,1):(1,4,0)>>, !fly.int_tuple<(8,8)>) -> !fly.int_tuple<(1,2,2)>
  return
}

// -----

func.func @mode_out_of_range(%t: !fly.int_tuple<(2,3)>) {
  // expected-error@+1 {{fly.get: mode 5 of (2,3), which has 2}}
  %0 = fly.get(%t) {mode = array<i32: 5>} : (!fly.int_tuple<(2,3)>) -> !fly.int_tuple<2>
  return
}

// -----

// What the algebra refuses.

func.func @profile(%c: !fly.int_tuple<(1,2,3)>, %l: !fly.layout<(3,5):(5,1)>) {
  // expected-error@+1 {{fly.crd2idx: profile mismatch: coordinate (1,2,3) does not fit the layout (3,5):(5,1)}}
  %0 = fly.crd2idx(%c, %l) : (!fly.int_tuple<(1,2,3)>, !fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<7>
  return
}

// -----

func.func @congruence(%s: !fly.int_tuple<(3,5)>, %d: !fly.int_tuple<1>) {
  // expected-error@+1 {{fly.make_layout: shape (3,5) and stride 1 have different nesting}}
  %0 = fly.make_layout(%s, %d) : (!fly.int_tuple<(3,5)>, !fly.int_tuple<1>) -> !fly.layout<(3,5):(1,3)>
  return
}

// -----

func.func @scalar(%t: !fly.int_tuple<(?,4)>) {
  // expected-error@+1 {{fly.get_scalar: get_scalar needs a tuple with one leaf, got (?,4)}}
  %0 = fly.get_scalar(%t) : (!fly.int_tuple<(?,4)>) -> i32
  return
}

// -----

func.func @basis(%t: !fly.int_tuple<1E0>) {
  // expected-error@+1 {{fly.get_scalar: the leaf 1E0 is no integer}}
  %0 = fly.get_scalar(%t) : (!fly.int_tuple<1E0>) -> i32
  return
}

// -----

func.func @fragment(%m: !fly.memref<f32, global, ?:1>) {
  // expected-error@+1 {{a register fragment needs a static shape, but this one is ?:1}}
  %0 = fly.make_fragment_like(%m) : (!fly.memref<f32, global, ?:1>) -> !fly.memref<f32, register, 4:1>
  return
}

// -----

// Operations that state their result.

func.func @static() {
  // expected-error@+1 {{fly.static: !fly.layout<?:1> has parts known only at run time}}
  %0 = fly.static : !fly.layout<?:1>
  return
}

// -----

func.func @static_of_upstream() {
  // expected-error@+1 {{fly.static: states a value of a fly type, not of i32}}
  %0 = fly.static : i32
  return
}

// -----

func.func @leaves(%i: i32) {
  // expected-error@+1 {{fly.make_coord: the run-time leaves of !fly.int_tuple<(?,?{i64})> take (i32, i64), but the operands are (i32)}}
  %0 = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,?{i64})>
  return
}

// -----

func.func @leaf_kind(%i: index) {
  // expected-error@+1 {{fly.make_coord takes an integer as operand 0, got index}}
  %0 = fly.make_coord(%i) : (index) -> !fly.int_tuple<?{i64}>
  return
}

// -----

func.func @val_bits() {
  // expected-error@+1 {{fly.make_copy_atom: valBits is 16, but the atom !fly.copy_atom<!fly.universal_copy<128>, 32> moves values of 32 bits}}
  %0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  return
}

// -----

func.func @set_value(%a: !fly.copy_atom<!fly.universal_copy<128>, 32>, %n: i32) {
  // expected-error@+1 {{fly.atom.set_value: an atom keeps its type}}
  %2 = fly.atom.set_value(%a, "soffset", %n) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, i32) -> !fly.copy_atom<!fly.universal_copy<64>, 32>
  return
}

// -----

func.func @element(%p: !fly.ptr<f32, global>) {
  // expected-error@+1 {{fly.ptr.load: a pointer to f32 gives and takes f32 or vectors of it, not vector<4xf16>}}
  %0 = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> vector<4xf16>
  return
}

// -----

func.func @store_vec(%v: vector<4xf32>, %m: !fly.memref<f32, global, 8:1>) {
  // expected-error@+1 {{fly.memref.store_vec: the tensor 8:1 of f32 holds vector<8xf32>, the value is vector<4xf32>}}
  fly.memref.store_vec(%v, %m) : (vector<4xf32>, !fly.memref<f32, global, 8:1>) -> ()
  return
}

// -----

func.func @store(%v: f16, %m: !fly.memref<f32, global, 8:1>, %c: !fly.int_tuple<1>) {
  // expected-error@+1 {{fly.memref.store: the tensor holds f32, the value is f16}}
  fly.memref.store(%v, %m, %c) : (f16, !fly.memref<f32, global, 8:1>, !fly.int_tuple<1>) -> ()
  return
}

// -----

func.func @alloca() {
  // expected-error@+1 {{fly.memref.alloca: registers are allocated for a static layout, not ?:1}}
  %0 = fly.memref.alloca() : () -> !fly.memref<f32, register, ?:1>
  return
}

// -----

func.func @register_address(%i: i64) {
  // expected-error@+1 {{fly.inttoptr: a register has no address}}
  %0 = fly.inttoptr(%i) : (i64) -> !fly.ptr<f32, register>
  return
}

// -----

func.func @shared() {
  // expected-error@+1 {{fly.get_dyn_shared: dynamic shared memory is in the shared space, not !fly.ptr<i8, global>}}
  %0 = fly.get_dyn_shared() : !fly.ptr<i8, global>
  return
}

// -----

func.func @recast(%p: !fly.ptr<i8, shared>) {
  // expected-error@+1 {{fly.recast_iter: the address space stays: shared became global}}
  %0 = fly.recast_iter(%p) : (!fly.ptr<i8, shared>) -> !fly.ptr<i8, global>
  return
}

// -----

// Copies and products.

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>
func.func @copy_ranks(%a: !atom, %s: !fly.memref<f32, global, (4,2):(1,4)>, %d: !fly.memref<f32, register, 8:1>) {
  // expected-error@+1 {{fly.copy: the ranks differ: source (4,2):(1,4), destination 8:1}}
  fly.copy(%a, %s, %d) : (!atom, !fly.memref<f32, global, (4,2):(1,4)>, !fly.memref<f32, register, 8:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>
func.func @copy_converts(%a: !atom, %s: !fly.memref<f32, global, 4:1>, %d: !fly.memref<i32, shared, 4:1>) {
  // expected-error@+1 {{fly.copy: a copy does not convert: the source holds f32, the destination i32}}
  fly.copy(%a, %s, %d) : (!atom, !fly.memref<f32, global, 4:1>, !fly.memref<i32, shared, 4:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>
func.func @predicate(%a: !atom, %s: !fly.memref<f32, global, (1,4):(0,1)>, %d: !fly.memref<f32, register, (1,4):(0,1)>, %p: !fly.memref<i8, register, 4:1>) {
  // expected-error@+1 {{fly.copy: the predicate holds i1, not i8}}
  fly.copy(%a, %s, %d, %p) : (!atom, !fly.memref<f32, global, (1,4):(0,1)>, !fly.memref<f32, register, (1,4):(0,1)>, !fly.memref<i8, register, 4:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>
func.func @predicate_rank(%a: !atom, %s: !fly.memref<f32, global, (1,4):(0,1)>, %d: !fly.memref<f32, register, (1,4):(0,1)>, %p: !fly.memref<i1, register, (1,2,2):(0,1,2)>) {
  // expected-error@+1 {{fly.copy: the predicate has neither the source's rank nor one less}}
  fly.copy(%a, %s, %d, %p) : (!atom, !fly.memref<f32, global, (1,4):(0,1)>, !fly.memref<f32, register, (1,4):(0,1)>, !fly.memref<i1, register, (1,2,2):(0,1,2)>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>
func.func @copy_ssa(%a: !atom, %s: !fly.memref<f32, global, 1:0>) {
  // expected-error@+1 {{fly.copy_atom_call_ssa: either (memref) -> vector or (vector, memref) -> (), got (memref, memref)}}
  fly.copy_atom_call_ssa(%a, %s, %s) : (!atom, !fly.memref<f32, global, 1:0>, !fly.memref<f32, global, 1:0>) -> ()
  return
}

// -----

!mma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
func.func @gemm_ranks(%m: !mma, %d: !fly.memref<f32, register, (1,2,2):(0,1,2)>, %a: !fly.memref<f32, register, 2:1>) {
  // expected-error@+1 {{fly.gemm: fragments are d, c (V,M,N), a (V,M,K) and b (V,N,K), got d (1,2,2):(0,1,2), a 2:1, b 2:1, c (1,2,2):(0,1,2)}}
  fly.gemm(%m, %d, %a, %a, %d) : (!mma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, 2:1>, !fly.memref<f32, register, 2:1>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  return
}

// -----

!mma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
func.func @gemm_order(%m: !mma, %d: !fly.memref<f32, register, (1,2,2):(0,1,2)>) {
  // expected-error@+1 {{fly.gemm: no traversal order 'NNN'}}
  fly.gemm(%m, %d, %d, %d, %d) {traversalOrder = "NNN"} : (!mma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  return
}

// -----

func.func @results(%t: !fly.int_tuple<(?,4,?)>) {
  // expected-error@+1 {{fly.get_leaves has 2 results, but 1 are written}}
  %0 = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(?,4,?)>) -> i32
  return
}

// -----

func.func @descriptor(%p: !fly.ptr<f32, global>) {
  // expected-error@+1 {{fly_rocdl.get_buffer_rsrc: a buffer descriptor is in the space #fly_rocdl.buffer_desc, not global}}
  %0 = fly_rocdl.get_buffer_rsrc(%p) : (!fly.ptr<f32, global>) -> !llvm.ptr<8>
  return
}

// -----

func.func @mask_of_nothing(%v: vector<4xf32>, %m: !fly.memref<f32, global, 4:1>, %flags: vector<2xi1>) {
  // expected-error@+1 {{fly.memref.masked_store_vec: the mask [0, 0, 1, 2] names predicates that vector<2xi1> does not have}}
  fly.memref.masked_store_vec(%v, %m, %flags) {mask = array<i32: 0, 0, 1, 2>} : (vector<4xf32>, !fly.memref<f32, global, 4:1>, vector<2xi1>) -> ()
  return
}

// -----

func.func @registers_without_end() {
  // expected-error @+1 {{allocSize is a number of elements, not -9223372036854775808 : i64}}
  %0 = fly.make_ptr() {dictAttrs = {allocSize = 9223372036854775808 : i64}} : () -> !fly.ptr<f32, register>
  return
}
