// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Operations that choose, group, add and slice modes.

func.func @modes(%t: !fly.int_tuple<(2,3,4)>, %l: !fly.layout<(2,(3,4)):(1,(2,6))>, %e: !fly.int_tuple<4>, %el: !fly.layout<5:0>,
                 %m: !fly.memref<f32, global, (8,4):(4,1)>, %pair: !fly.int_tuple<(2,3)>) {
  // CHECK: %0 = fly.get(%t) {mode = array<i32: 1>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<3>
  %0 = fly.get(%t) {mode = array<i32: 1>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<3>
  // CHECK: %1 = fly.get(%l) {mode = array<i32: 1, 0>} : (!fly.layout<(2,(3,4)):(1,(2,6))>) -> !fly.layout<3:2>
  %1 = fly.get(%l) {mode = array<i32: 1, 0>} : (!fly.layout<(2,(3,4)):(1,(2,6))>) -> !fly.layout<3:2>
  // CHECK: %2 = fly.take(%t) {begin = 0 : i32, end = 2 : i32} : {{.*}} -> !fly.int_tuple<(2,3)>
  %2 = fly.take(%t) {begin = 0 : i32, end = 2 : i32} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<(2,3)>
  // CHECK: %3 = fly.take(%t) {begin = 2 : i32, end = 3 : i32} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<4>
  %3 = fly.take(%t) {begin = 2 : i32, end = 3 : i32} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<4>
  // CHECK: %4 = fly.group(%t) {begin = 1 : i32, end = 3 : i32} : {{.*}} -> !fly.int_tuple<(2,(3,4))>
  %4 = fly.group(%t) {begin = 1 : i32, end = 3 : i32} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<(2,(3,4))>
  // CHECK: %5 = fly.group(%m) {begin = 0 : i32, end = 2 : i32} : {{.*}} -> !fly.memref<f32, global, ((8,4)):((4,1))>
  %5 = fly.group(%m) {begin = 0 : i32, end = 2 : i32} : (!fly.memref<f32, global, (8,4):(4,1)>) -> !fly.memref<f32, global, ((8,4)):((4,1))>
  // CHECK: %6 = fly.select(%t) {indices = array<i32: 2, 0>} : {{.*}} -> !fly.int_tuple<(4,2)>
  %6 = fly.select(%t) {indices = array<i32: 2, 0>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<(4,2)>
  // CHECK: %7 = fly.append(%pair, %e) : (!fly.int_tuple<(2,3)>, !fly.int_tuple<4>) -> !fly.int_tuple<(2,3,4)>
  %7 = fly.append(%pair, %e) : (!fly.int_tuple<(2,3)>, !fly.int_tuple<4>) -> !fly.int_tuple<(2,3,4)>
  // CHECK: %8 = fly.append<4>(%pair, %e) : {{.*}} -> !fly.int_tuple<(2,3,4,4)>
  %8 = fly.append<4>(%pair, %e) : (!fly.int_tuple<(2,3)>, !fly.int_tuple<4>) -> !fly.int_tuple<(2,3,4,4)>
  // CHECK: %9 = fly.prepend(%l, %el) : {{.*}} -> !fly.layout<(5,2,(3,4)):(0,1,(2,6))>
  %9 = fly.prepend(%l, %el) : (!fly.layout<(2,(3,4)):(1,(2,6))>, !fly.layout<5:0>) -> !fly.layout<(5,2,(3,4)):(0,1,(2,6))>
  // CHECK: %10 = fly.prepend<3>(%pair, %e) : {{.*}} -> !fly.int_tuple<(4,2,3)>
  %10 = fly.prepend<3>(%pair, %e) : (!fly.int_tuple<(2,3)>, !fly.int_tuple<4>) -> !fly.int_tuple<(4,2,3)>
  return
}

func.func @slices(%l: !fly.layout<(3,5):(5,1)>, %c: !fly.int_tuple<(*,2)>, %m: !fly.memref<f32, global, (3,5):(5,1), align<16>>,
                  %rc: !fly.int_tuple<(*,?)>, %z: !fly.memref<f16, shared, S<2,0,3> o 0 o (8,8):(8,1)>,
                  %n: !fly.layout<((2,4),8):((1,2),8)>, %nc: !fly.int_tuple<((*,1),0)>, %ct: !fly.coord_tensor<(0,0), (4,8):(1E0,1E1)>) {
  // CHECK: %0 = fly.slice(%l, %c) : (!fly.layout<(3,5):(5,1)>, !fly.int_tuple<(*,2)>) -> !fly.layout<3:5>
  %0 = fly.slice(%l, %c) : (!fly.layout<(3,5):(5,1)>, !fly.int_tuple<(*,2)>) -> !fly.layout<3:5>
  // CHECK: %1 = fly.dice(%l, %c) : (!fly.layout<(3,5):(5,1)>, !fly.int_tuple<(*,2)>) -> !fly.layout<5:1>
  %1 = fly.dice(%l, %c) : (!fly.layout<(3,5):(5,1)>, !fly.int_tuple<(*,2)>) -> !fly.layout<5:1>
  // CHECK: %2 = fly.slice(%m, %c) : {{.*}} -> !fly.memref<f32, global, 3:5, align<8>>
  %2 = fly.slice(%m, %c) : (!fly.memref<f32, global, (3,5):(5,1), align<16>>, !fly.int_tuple<(*,2)>) -> !fly.memref<f32, global, 3:5, align<8>>
  // CHECK: %3 = fly.slice(%z, %rc) : {{.*}} -> !fly.memref<f16, shared, S<2,0,3> o ? o 8:8>
  %3 = fly.slice(%z, %rc) : (!fly.memref<f16, shared, S<2,0,3> o 0 o (8,8):(8,1)>, !fly.int_tuple<(*,?)>) -> !fly.memref<f16, shared, S<2,0,3> o ? o 8:8>
  // CHECK: %4 = fly.slice(%n, %nc) : {{.*}} -> !fly.layout<2:1>
  %4 = fly.slice(%n, %nc) : (!fly.layout<((2,4),8):((1,2),8)>, !fly.int_tuple<((*,1),0)>) -> !fly.layout<2:1>
  // CHECK: %5 = fly.slice(%ct, %rc) : {{.*}} -> !fly.coord_tensor<(0,?), 4:1E0>
  %5 = fly.slice(%ct, %rc) : (!fly.coord_tensor<(0,0), (4,8):(1E0,1E1)>, !fly.int_tuple<(*,?)>) -> !fly.coord_tensor<(0,?), 4:1E0>
  return
}
