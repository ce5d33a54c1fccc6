// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names %s | mlir-opt

// arith on vectors, in upstream's syntax: xDSL's own classes admit scalars only.

func.func @casts(%b: vector<4xi8>, %i: vector<4xi32>, %x: vector<4xf32>, %n: index, %s: i32) {
  // CHECK: arith.extsi %b : vector<4xi8> to vector<4xi32>
  %0 = arith.extsi %b : vector<4xi8> to vector<4xi32>
  // CHECK: arith.extui %b : vector<4xi8> to vector<4xi32>
  %1 = arith.extui %b : vector<4xi8> to vector<4xi32>
  // CHECK: arith.trunci %i : vector<4xi32> to vector<4xi8>
  %2 = arith.trunci %i : vector<4xi32> to vector<4xi8>
  // CHECK: arith.extf %x : vector<4xf32> to vector<4xf64>
  %e = arith.extf %x : vector<4xf32> to vector<4xf64>
  // CHECK: arith.truncf %x : vector<4xf32> to vector<4xf16>
  %t = arith.truncf %x : vector<4xf32> to vector<4xf16>
  // CHECK: arith.truncf %x toward_zero fastmath<fast> : vector<4xf32> to vector<4xbf16>
  %r = arith.truncf %x toward_zero fastmath<fast> : vector<4xf32> to vector<4xbf16>
  // CHECK: arith.sitofp %i : vector<4xi32> to vector<4xf32>
  %3 = arith.sitofp %i : vector<4xi32> to vector<4xf32>
  // CHECK: arith.uitofp %i : vector<4xi32> to vector<4xf32>
  %4 = arith.uitofp %i : vector<4xi32> to vector<4xf32>
  // CHECK: arith.fptosi %x : vector<4xf32> to vector<4xi32>
  %5 = arith.fptosi %x : vector<4xf32> to vector<4xi32>
  // CHECK: arith.fptoui %x : vector<4xf32> to vector<4xi32>
  %6 = arith.fptoui %x : vector<4xf32> to vector<4xi32>
  // CHECK: arith.index_cast %n : index to i32
  %7 = arith.index_cast %n : index to i32
  // CHECK: arith.index_cast %i : vector<4xi32> to vector<4xindex>
  %8 = arith.index_cast %i : vector<4xi32> to vector<4xindex>
  return
}

// Bits of floats that have no decimal form.
func.func @constants() {
  // CHECK: arith.constant 0xff800000 : f32
  %0 = arith.constant 0xFF800000 : f32
  // CHECK: arith.constant dense<0xff800000> : vector<2xf32>
  %1 = arith.constant dense<0xFF800000> : vector<2xf32>
  // CHECK: arith.constant dense<[0x7f80, 1.000000e+00]> : vector<2xbf16>
  %2 = arith.constant dense<[0x7F80, 0x3F80]> : vector<2xbf16>
  // CHECK: arith.constant dense<-1> : vector<2xi8>
  %3 = arith.constant dense<0xFF> : vector<2xi8>
  return
}

func.func @choices(%i: vector<4xi32>, %x: vector<4xf32>, %m: vector<4xi1>, %c: i1, %s: i32, %f: f32) {
  // CHECK: arith.cmpi slt, %i, %i : vector<4xi32>
  %0 = arith.cmpi slt, %i, %i : vector<4xi32>
  // CHECK: arith.cmpi ult, %s, %s : i32
  %1 = arith.cmpi ult, %s, %s : i32
  // CHECK: arith.cmpf ogt, %x, %x fastmath<nnan> : vector<4xf32>
  %2 = arith.cmpf ogt, %x, %x fastmath<nnan> : vector<4xf32>
  // CHECK: arith.cmpf uno, %f, %f : f32
  %3 = arith.cmpf uno, %f, %f : f32
  // CHECK: arith.select %m, %x, %x : vector<4xi1>, vector<4xf32>
  %4 = arith.select %m, %x, %x : vector<4xi1>, vector<4xf32>
  // CHECK: arith.select %c, %x, %x : vector<4xf32>
  %5 = arith.select %c, %x, %x : vector<4xf32>
  // CHECK: arith.select %c, %f, %f : f32
  %6 = arith.select %c, %f, %f : f32
  return
}
