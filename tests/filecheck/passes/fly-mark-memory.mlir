// RUN: fly-opt --keep-names --fly-mark-memory %s | FileCheck %s

// A view of shared memory starts at a pointer of its own that carries the layout; other views stay.
// CHECK-LABEL: func.func @views(
// CHECK: %[[Q:.*]] = fly.recast_iter(%s) {fly.mark = "{{.*layout.*\(4,8\):\(8,1\).*f32.*}}"}
// CHECK-NEXT: fly.make_view(%[[Q]], %l)
// CHECK-NEXT: fly.make_view(%g, %l)
func.func @views(%s: !fly.ptr<f32, shared>, %g: !fly.ptr<f32, global>) {
  %l = fly.static : !fly.layout<(4,8):(8,1)>
  %a = fly.make_view(%s, %l) : (!fly.ptr<f32, shared>, !fly.layout<(4,8):(8,1)>) -> !fly.memref<f32, shared, (4,8):(8,1)>
  %b = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<(4,8):(8,1)>) -> !fly.memref<f32, global, (4,8):(8,1)>
  return
}

// Registers are marked where they stand.
// CHECK-LABEL: func.func @registers(
// CHECK: fly.memref.alloca() {fly.mark = "{{.*}}6:1{{.*}}f16{{.*}}"}
func.func @registers() {
  %r = fly.memref.alloca() : () -> !fly.memref<f16, register, 6:1>
  return
}
