"""Integer powers by repeated squaring, as private functions.

``llvm.powi`` ends in a compiler-rt call that a Python process does not hold, and LLVM has no integer power.
"""

from __future__ import annotations

from flydsl.codegen.module_scope import ModuleScope

_HEAD = "define private {type} {symbol}({type} %base, {exponent} %exponent) nounwind willreturn memory(none) {{"

_LOOP = """entry:
%negative = icmp slt {exponent} %exponent, 0
%count = call {exponent} @llvm.abs({exponent} %exponent, i1 false)
br label %head
head:
%left = phi {exponent} [ %count, %entry ], [ %half, %step ]
%square = phi {type} [ %base, %entry ], [ %squared, %step ]
%product = phi {type} [ {one}, %entry ], [ %chosen, %step ]
%more = icmp ne {exponent} %left, 0
br i1 %more, label %step, label %done
step:
%low = trunc {exponent} %left to i1
%multiplied = {multiply} {type} %product, %square
%chosen = select i1 %low, {type} %multiplied, {type} %product
%squared = {multiply} {type} %square, %square
%half = lshr {exponent} %left, 1
br label %head
done:"""

_FLOAT_END = """%inverse = fdiv {type} {one}, %product
%result = select i1 %negative, {type} %inverse, {type} %product
ret {type} %result
}}"""

# A negative power of an integer is 0, except for 1 and -1, whose powers are their own inverses. A power
# of zero below zero is undefined in MLIR and gives 0 here.
_INT_END = """%next = add {type} %base, 1
%unit = icmp ule {type} %next, 2
%odd = icmp ne {type} %base, 0
%own = and i1 %unit, %odd
%inverse = select i1 %own, {type} %product, {type} 0
%result = select i1 %negative, {type} %inverse, {type} %product
ret {type} %result
}}"""


def int_power_function(scope: ModuleScope, type_: str) -> str:
    """Return the symbol of ``base ** exponent`` for an integer type."""
    text = "\n".join((_HEAD, _LOOP, _INT_END))
    return _helper(scope, text, f"fly.ipow.{type_}", type_, type_, multiply="mul", one="1")


def float_power_function(scope: ModuleScope, type_: str, exponent: str) -> str:
    """Return the symbol of a float to an integer power."""
    text = "\n".join((_HEAD, _LOOP, _FLOAT_END))
    return _helper(scope, text, f"fly.fpowi.{type_}.{exponent}", type_, exponent, multiply="fmul", one="1.0")


def _helper(scope: ModuleScope, text: str, name: str, type_: str, exponent: str, multiply: str, one: str) -> str:
    def build(symbol: str) -> str:
        return text.format(symbol=symbol, type=type_, exponent=exponent, multiply=multiply, one=one)

    return scope.helper(name, build)
