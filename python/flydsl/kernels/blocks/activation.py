"""Activation functions for epilogues, on numbers and vectors of f32."""

from __future__ import annotations

import flydsl.expr as fx

_LOG2_E = 1.4426950408889634


def sigmoid(x):
    """1 / (1 + e^-x), by the exponential of base 2 that GPUs have."""
    return 1.0 / (1.0 + fx.math.exp2(x * -_LOG2_E))


def relu(x):
    return fx.arith.max(x, 0.0)


def silu(x):
    return x * sigmoid(x)


def gelu(x):
    """The tanh form, written with the sigmoid: 2 * sigmoid(2 * y) - 1 is tanh(y)."""
    return x * sigmoid((x + x * x * x * 0.044715) * 1.5957691216057308)


def gelu_erf(x):
    """The form with the error function: x times the share of a normal distribution that lies below x."""
    return x * 0.5 * (1.0 + fx.math.erf(x * 0.7071067811865476))


ACTIVATIONS = {"none": lambda x: x, "relu": relu, "silu": silu, "gelu": gelu, "gelu_erf": gelu_erf}
GATES = {"swiglu": silu}
"""Functions of every even column that the odd one behind it is multiplied with: half as many columns are left."""
