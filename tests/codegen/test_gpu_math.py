"""Math functions in kernels for GPUs: each compiles or is refused with advice; none ends the process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import LoweringError
from flydsl.expr.math_table import FLOAT_FUNCTIONS
from tests.codegen.repository_kernels import RepositoryKernel, compiled

FUNCTIONS = sorted(FLOAT_FUNCTIONS)
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
MUST_COMPILE = {"exp", "exp2", "sqrt", "rsqrt", "floor", "ceil", "absf"}


def kernel_of(name: str, dtype: str) -> tuple[Any, tuple[Any, ...]]:
    function = getattr(fx.math, name)

    @flyc.kernel
    def apply_kernel(x: fx.Tensor):
        x[0] = function(x[1])

    @flyc.jit
    def apply_all(x: fx.Tensor):
        apply_kernel(x).launch()

    return apply_all, (np.zeros(4, DTYPES[dtype]),)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_math_function(arch: str, dtype: str) -> None:
    for name in FUNCTIONS:
        try:
            assert compiled(RepositoryKernel(name, lambda _, name=name: kernel_of(name, dtype)), arch).device_binary
        except LoweringError as error:
            assert name not in MUST_COMPILE or (dtype == "f64" and name.startswith("exp")), error
            assert "GPUs have no instruction" in str(error) and error.hint
