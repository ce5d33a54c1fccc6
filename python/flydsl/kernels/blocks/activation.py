"""Activation functions for epilogues, on numbers and vectors of f32."""

from __future__ import annotations

from math import e, log, log2

import flydsl.expr as fx

LOG2_E, LN_2 = log2(e), log(2)


def powers_of_two(x):
    """2 to the power of a number, or of each element, by the GPU's own instruction: tiny results are zero."""
    return _of_each(fx.nvvm.ex2 if fx.nvvm.is_target() else fx.rocdl.exp2, x)


def powers_of_e(x, base):
    """e^(x - base) of a number, or of each element. The difference comes first: a product of a large number with log2 e
    is rounded by more than an exponent's range, or is infinite."""
    return powers_of_two((x - base) * LOG2_E)


def inverse(x):
    """1 / x of a number, or of each element, by the GPU's own instruction: to about a unit in the last place, for those
    that are not subnormal."""
    return _of_each(fx.nvvm.rcp if fx.nvvm.is_target() else fx.rocdl.rcp, x)


def _of_each(function, x):
    if isinstance(x, fx.Vector):
        return fx.Vector.from_elements([function(x[i]) for i in range(x.numel)], fx.Float32).reshape(x.shape)
    return function(x)


def _like(x, constant):
    """Return a constant as a number or a vector, which ``x`` is."""
    return fx.full_like(x, constant) if isinstance(x, fx.Vector) else fx.Float32(constant)


def sigmoid(x):
    """1 / (1 + e^-x), by the exponential of base 2 that GPUs have."""
    return inverse(1.0 + powers_of_two(x * -LOG2_E))


def relu(x):
    return fx.arith.max(x, 0.0)


def silu(x):
    return x * sigmoid(x)


def gelu(x):
    """The tanh form, written with the sigmoid: 2 * sigmoid(2 * y) - 1 is tanh(y)."""
    return x * sigmoid((x + x * x * x * 0.044715) * 1.5957691216057308)


def normal_below(x):
    """Return the share of a normal distribution that lies below x, to 7e-6 of itself in f32, and e^(-x^2 / 2).

    The smaller of the two shares is that power times a polynomial in 1 / (1 + 0.3 |x|), fitted to 1.5e-7 of itself for
    |x| up to 14, where f32 has nothing smaller.
    """
    power = powers_of_two(x * x * (-0.5 * LOG2_E))
    near = inverse(1.0 + abs(x) * 0.3)
    share = _like(x, _SMALLER_SHARE[-1])
    for coefficient in _SMALLER_SHARE[-2::-1]:
        share = fx.math.fma(share, near, _like(x, coefficient))
    smaller = share * near * power
    return (x > 0.0).select(1.0 - smaller, smaller), power


_SMALLER_SHARE = (
    0.11962928583751811, 0.1207541570230092, 0.09991222934893645, 0.12856581281007262, -0.05369157985804774,
    0.20636214233453065, -0.15720809850518697, 0.03567597818702506,
)  # fmt: skip
"""Coefficients of the powers of 1 / (1 + 0.3 |x|), from the first on."""


def gelu_erf(x):
    """The form with the error function: x times the share of a normal distribution that lies below x."""
    return x * normal_below(x)[0]


ACTIVATIONS = {"none": lambda x: x, "relu": relu, "silu": silu, "gelu": gelu, "gelu_erf": gelu_erf}
GATES = {"swiglu": silu}
"""Functions of every even column that the odd one behind it is multiplied with: half as many columns are left."""
