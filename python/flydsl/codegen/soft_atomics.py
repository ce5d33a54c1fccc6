"""Atomic arithmetic on bf16 where a module holds it as 16 bits: LLVM's `atomicrmw` wants a float type.

A loop computes in f32 and swaps the result in, if nobody was faster.
"""

from __future__ import annotations

from flydsl.codegen.floats.narrow_floats import narrowing_function
from flydsl.codegen.llvm_types import BF16
from flydsl.codegen.module_scope import ModuleScope

_ARITHMETIC = {
    "fadd": "fadd float {}, {}",
    "fsub": "fsub float {}, {}",
    "fmax": "call float @llvm.maxnum.f32(float {}, float {})",
    "fmin": "call float @llvm.minnum.f32(float {}, float {})",
}


def is_soft(scope: ModuleScope, operation: str, type_: str) -> bool:
    """Whether an atomic operation on this type needs the loop."""
    return type_ == BF16 and "bf16" in scope.soft_floats and operation in _ARITHMETIC


def soft_atomic(scope: ModuleScope, operation: str, space: int = 0) -> str:
    """The symbol of a helper (pointer, value) -> what was there before, for memory of an address space."""
    pointer = f"ptr addrspace({space})" if space else "ptr"

    def build(symbol: str) -> str:
        narrow = narrowing_function(scope, "f32", "bf16", 0)
        return f"""\
define internal {BF16} {symbol}({pointer} %p, {BF16} %x) nounwind {{
entry:
  %x.low = zext i16 %x to i32
  %x.high = shl i32 %x.low, 16
  %x.wide = bitcast i32 %x.high to float
  %first = load atomic i16, {pointer} %p monotonic, align 2
  br label %try
try:
  %old = phi i16 [ %first, %entry ], [ %found, %try ]
  %low = zext i16 %old to i32
  %high = shl i32 %low, 16
  %wide = bitcast i32 %high to float
  %result = {_ARITHMETIC[operation].format("%wide", "%x.wide")}
  %new = call {BF16} {narrow}(float %result)
  %pair = cmpxchg {pointer} %p, i16 %old, i16 %new monotonic monotonic, align 2
  %found = extractvalue {{ i16, i1 }} %pair, 0
  %done = extractvalue {{ i16, i1 }} %pair, 1
  br i1 %done, label %end, label %try
end:
  ret {BF16} %old
}}
"""

    return scope.helper(f"fly.atomic_{operation}.bf16{f'.p{space}' if space else ''}", build)
