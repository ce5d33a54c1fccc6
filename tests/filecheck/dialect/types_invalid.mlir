// RUN: fly-opt --keep-names --split-input-file --verify-diagnostics %s

// expected-error@+1 {{expected an integer at column 2 of '(x)'}}
func.func private @leaf(!fly.int_tuple<(x)>)

// -----

// expected-error@below {{shape (4,8) and stride 1 have different nesting}}
func.func private @nesting(!fly.layout<(4,8):1>)

// -----

// expected-error@+1 {{bad fly.layout '4': expected ':'}}
func.func private @no_stride(!fly.layout<4>)

// -----

// expected-error@+1 {{expected i32, i64, div=N or '}' at column 3 of '?{i16}'}}
func.func private @width(!fly.int_tuple<?{i16}>)

// -----

// expected-error@+1 {{is no composed layout}}
func.func private @composed(!fly.composed_layout<4:1>)

// -----

// expected-error@+1 {{unknown address space 'constant'}}
func.func private @space(!fly.ptr<f32, constant>)

// -----

// expected-error@+1 {{'f31' is no element type}}
func.func private @element(!fly.ptr<f31, global>)

// -----

// expected-error@+1 {{alignment 2 is not a multiple of the 4-byte element f32}}
func.func private @align(!fly.ptr<f32, global, align<2>>)

// -----

// expected-error@+1 {{expected 'align<N>' or a swizzle, got 'volatile'}}
func.func private @extra(!fly.memref<f32, global, 4:1, volatile>)

// -----

// expected-error@+1 {{expected an element type, an address space and a layout}}
func.func private @short(!fly.memref<f32, global>)

// -----

// expected-error@+1 {{a tile extent must be positive, got 0}}
func.func private @tile(!fly.tile<[0]>)

// -----

// expected-error@+1 {{no universal copy of 96 bits}}
func.func private @copy(!fly.universal_copy<96>)

// -----

// expected-error@+1 {{a 32-bit copy does not hold a whole number of 64-bit values}}
func.func private @atom(!fly.copy_atom<!fly.universal_copy<32>, 64>)

// -----

// expected-error@+1 {{expected a number, got 'wide'}}
func.func private @bits(!fly.copy_atom<!fly.universal_copy<32>, wide>)

// -----

// expected-error@+1 {{'!fly.universal_copy<32>' is no matrix instruction}}
func.func private @kind(!fly.mma_atom<!fly.universal_copy<32>>)

// -----

// expected-error@+1 {{'!fly.warp_copy<32>' names no known instruction}}
func.func private @unknown(!fly.copy_atom<!fly.warp_copy<32>, 32>)

// -----

// expected-error@+1 {{atomic and has no floating-point form}}
func.func private @atomic(!fly.universal_atomic<and, f32>)

// -----

// expected-error@+1 {{a universal fma is 1x1x1}}
func.func private @fma(!fly.universal_fma<2x1x1, (f32, f32) -> f32>)

// -----

// expected-error@+1 {{expected a base coordinate and a layout}}
func.func private @coordinate(!fly.coord_tensor<0>)

// -----

// expected-error@+1 {{no swizzle has mask 3, base 0, shift 1}}
func.func private @swizzle(!fly.swizzle<S<3,0,1>>)

// -----

// expected-error@+1 {{'<' is never closed}}
func.func private @open(!fly.layout<(4,8):(1,4)
