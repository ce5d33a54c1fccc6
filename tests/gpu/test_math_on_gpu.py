"""Math functions on a real GPU: what our own arithmetic and the GPU's instructions give, against float64."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.codegen.math_samples import FUNCTIONS, arguments, ulps_between

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

COUNT = 1 << 15
THREADS = 256


def applying(name: str) -> Any:
    """``out[i] = function(x[i])``, or of ``x[i]`` and ``y[i]``."""
    function, pairs = getattr(fx.math, name), FUNCTIONS[name].arity == 2

    @flyc.kernel
    def apply_kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor, n: fx.Int32):
        i = fx.block_idx.x * THREADS + fx.thread_idx.x
        if i < n:
            out[i] = function(x[i], y[i]) if pairs else function(x[i])

    @flyc.jit
    def apply(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor, n: fx.Int32):
        apply_kernel(x, y, out, n).launch(grid=((n + THREADS - 1) // THREADS, 1, 1), block=(THREADS, 1, 1))

    return apply


def errors(torch: Any, name: str, dtype: Any, device: str = "cuda") -> np.ndarray:
    arrays = [torch.from_numpy(array).to(device).to(dtype) for array in arguments(name, COUNT)]
    out = torch.full_like(arrays[0], 7.0)
    applying(name)(arrays[0], arrays[-1], out, out.numel())
    wide = [array.cpu().double().numpy() for array in arrays]
    got = out.cpu().numpy()
    with np.errstate(all="ignore"):
        return ulps_between(got, FUNCTIONS[name].reference(*wide))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error(torch: ModuleType, name: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    # AMD computes logarithms with its own instructions, a little further off than ours.
    assert errors(torch, name, torch.float32).max() <= max(FUNCTIONS[name].ulps, 2.0 if name.startswith("log") else 0)
    assert errors(torch, name, torch.float16).max() <= 0.502
