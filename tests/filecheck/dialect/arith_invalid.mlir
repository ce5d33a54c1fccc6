// RUN: fly-opt --keep-names --split-input-file --verify-diagnostics %s

func.func @shape(%b: vector<4xi8>) {
  // expected-error@+1 {{arith.extsi keeps the shape: vector<4xi8> became vector<8xi32>}}
  %0 = arith.extsi %b : vector<4xi8> to vector<8xi32>
  return
}

// -----

func.func @narrower(%b: i32) {
  // expected-error@+1 {{arith.extui makes wider: i32 became i8}}
  %0 = arith.extui %b : i32 to i8
  return
}

// -----

func.func @same_width(%b: i32) {
  // expected-error@+1 {{arith.trunci makes narrower: i32 became i32}}
  %0 = arith.trunci %b : i32 to i32
  return
}

// -----

func.func @kind(%b: f32) {
  // expected-error@+1 {{arith.sitofp makes float of int, not f64 of f32}}
  %0 = arith.sitofp %b : f32 to f64
  return
}

// -----

func.func @predicate(%b: i32) {
  // expected-error@+1 {{arith.cmpi compares by eq, ne, slt}}
  %0 = arith.cmpi less, %b, %b : i32
  return
}

// -----

func.func @result(%b: vector<4xi32>) {
  // expected-error@+1 {{arith.cmpi of vector<4xi32> gives vector<4xi1>, not i1}}
  %0 = "arith.cmpi"(%b, %b) <{predicate = 2 : i64}> : (vector<4xi32>, vector<4xi32>) -> i1
  return
}

// -----

func.func @condition(%c: vector<2xi1>, %b: vector<4xi32>) {
  // expected-error@+1 {{arith.select of vector<4xi32> takes i1 or vector<4xi1> as its condition, not vector<2xi1>}}
  %0 = arith.select %c, %b, %b : vector<2xi1>, vector<4xi32>
  return
}
