"""Triton kernels that do nothing, by number of tensors and scalars, for `launch.py`."""

# pyright: reportMissingParameterType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

import triton


@triton.jit
def take0():
    pass


@triton.jit
def take1(a):
    pass


@triton.jit
def take3(a, b, c):
    pass


@triton.jit
def take8(a, b, c, d, e, f, g, h):
    pass


@triton.jit
def take8and4(a, b, c, d, e, f, g, h, i, j, k, m):
    pass


KERNELS = {(0, 0): take0, (1, 0): take1, (3, 0): take3, (8, 0): take8, (8, 4): take8and4}
