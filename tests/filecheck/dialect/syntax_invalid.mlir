// RUN: fly-opt --keep-names --split-input-file --verify-diagnostics %s

func.func @no_such_op() {
  // expected-error@+1 {{Operation fly.make_tuple is not registered}}
  %0 = fly.make_tuple() : () -> !fly.int_tuple<4>
  return
}

// -----

func.func @types(%t: !fly.int_tuple<4>) {
  // expected-error@+1 {{1 operands but 2 operand types}}
  %0 = fly.int_tuple_product(%t) : (!fly.int_tuple<4>, !fly.int_tuple<4>) -> !fly.int_tuple<4>
  return
}

// -----

func.func @type_of_operand(%t: !fly.int_tuple<4>) {
  // expected-error@+1 {{operand is used with type !fly.int_tuple<5>, but has been previously used or defined with type !fly.int_tuple<4>}}
  %0 = fly.int_tuple_product(%t) : (!fly.int_tuple<5>) -> !fly.int_tuple<5>
  return
}

// -----

func.func @argument(%t: !fly.int_tuple<4>) {
  // expected-error@+1 {{unexpected argument of fly.int_tuple_product}}
  %0 = fly.int_tuple_product(f32) : (!fly.int_tuple<4>) -> !fly.int_tuple<4>
  return
}

// -----

func.func @no_colon(%t: !fly.int_tuple<4>) {
  // expected-error@+2 {{Expected ':'}}
  %0 = fly.int_tuple_product(%t)
  return
}

// -----

func.func @instruction_without_bits() {
  // expected-error@+1 {{a copy atom made of an instruction needs {valBits = … : i32}}}
  %0 = fly.make_copy_atom : !fly.universal_copy<128>
  return
}

// -----

func.func @undefined() {
  // expected-error@+1 {{values used but not defined: [%missing]}}
  %0 = fly.int_tuple_product(%missing) : (!fly.int_tuple<4>) -> !fly.int_tuple<4>
  return
}

// -----

func.func @order() {
  // expected-error@+1 {{'fly.int_tuple_product': operand 0 is used before it is defined}}
  %1 = fly.int_tuple_product(%0) : (!fly.int_tuple<(2,3)>) -> !fly.int_tuple<6>
  %0 = fly.static : !fly.int_tuple<(2,3)>
  return
}

// -----

func.func @branch(%c: i1) {
  scf.if %c {
    %0 = fly.static : !fly.int_tuple<(2,3)>
  } else {
    // expected-error@+1 {{values used but not defined: [%0]}}
    %1 = "fly.int_tuple_product"(%0) : (!fly.int_tuple<(2,3)>) -> !fly.int_tuple<6>
  }
  return
}
