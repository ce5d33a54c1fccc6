"""RMSNorm under FlyDSL's names: functions of tensors, with their gradients, beside the builders of kernels.

In a checkout this is `kernels.rmsnorm_kernel`. `flydsl.ops.rms_norm` and `add_rms_norm` are the same with signatures
like torch's, and torch's eps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flydsl.kernels.norm.rmsnorm import (
    build_fused_add_rmsnorm_dynamicquant_module,
    build_fused_add_rmsnorm_module,
    build_fused_add_rmsnorm_smoothquant_module,
    build_rmsnorm_bwd_module,
    build_rmsnorm_dynamicquant_module,
    build_rmsnorm_module,
    build_rmsnorm_smoothquant_module,
)
from flydsl.kernels.norm.tuned_rmsnorm import build_tuned_rmsnorm_module
from flydsl.ops.norms import (
    ADD_RMS_NORM,
    RMS_NORM,
    add_rms_norm,
    gradients_by,
    launch_rms,
    length_of_rows,
    rms_norm,
    with_statistics,
)

_TUNED = replace(RMS_NORM, launch=lambda given, results: launch_rms(build_tuned_rmsnorm_module, given, results))


def rmsnorm(x: Any, w: Any = None, eps: float = 1e-5) -> Any:
    """Return x / sqrt(mean(x^2) + eps) * w over the last dimension; autograd follows it.

    The weight has the type of x, or f32 with an x of 16 bits.
    """
    if w is None or w.dtype == x.dtype:
        return rms_norm(x, tuple(x.shape[-1:]), w, eps)
    return RMS_NORM(x, w, float(eps), length_of_rows(x, w))


def rmsnorm_fwd(x: Any, w: Any = None, eps: float = 1e-5) -> tuple[Any, Any]:
    """Return (y, rstd) without autograd: `rmsnorm`, and f32 1 / sqrt(mean(x^2) + eps) of each row for `rmsnorm_bwd`."""
    y, rstd = with_statistics(RMS_NORM, x, w, eps=eps)
    return y, rstd


def rmsnorm_bwd(dy: Any, x: Any, w: Any, rstd: Any, dresidual: Any = None) -> tuple[Any, Any]:
    """Return (dx, dw), of the types of x and w; ``dresidual`` is added to dx, and dw is None where w is."""
    dx, dw, _ = gradients_by(dy, x, w, rstd, dadded=dresidual)
    return dx, dw


def fused_add_rmsnorm(x: Any, residual: Any, w: Any = None, eps: float = 1e-5, prenorm: bool = True) -> Any:
    """Return (the norm of x + residual, x + residual), or without ``prenorm`` the norm alone; autograd follows them.

    The sum is rounded to its type first.
    """
    if w is None or w.dtype == x.dtype:
        y, added = add_rms_norm(x, residual, w, eps)
    else:
        if x.shape != residual.shape or x.dtype != residual.dtype:
            raise ValueError(f"x and residual are alike, got {x.dtype} {x.shape} and {residual.dtype} {residual.shape}")
        y, added = ADD_RMS_NORM(x, residual, w, float(eps), length_of_rows(x, w))
    return (y, added) if prenorm else y


def rmsnorm_direct(x: Any, w: Any = None, eps: float = 1e-5, out: Any = None) -> Any:
    """Return `rmsnorm` by a launch alone: nothing is recorded, and autograd does not follow. ``out`` takes it."""
    return RMS_NORM.run(x, w, float(eps), length_of_rows(x, w), out=out, kept=False)[0]


def rmsnorm_autotuned(x: Any, w: Any = None, eps: float = 1e-5, out: Any = None) -> Any:
    """Return `rmsnorm_direct` by blocks of the size that was measured to be fastest (docs/autotune.md); with
    FLYDSL_AUTOTUNE=1 a first call measures."""
    return _TUNED.run(x, w, float(eps), length_of_rows(x, w), out=out, kept=False)[0]


__all__ = [
    "build_fused_add_rmsnorm_dynamicquant_module", "build_fused_add_rmsnorm_module",
    "build_fused_add_rmsnorm_smoothquant_module", "build_rmsnorm_bwd_module", "build_rmsnorm_dynamicquant_module",
    "build_rmsnorm_module", "build_rmsnorm_smoothquant_module", "build_tuned_rmsnorm_module", "fused_add_rmsnorm",
    "rmsnorm", "rmsnorm_autotuned", "rmsnorm_bwd", "rmsnorm_direct", "rmsnorm_fwd",
]  # fmt: skip
