"""LayerNorm under FlyDSL's names: functions of tensors, with their gradients, beside the builders of kernels.

In a checkout this is `kernels.layernorm_kernel`. `flydsl.ops.layer_norm` is the same with torch's signature.
"""

from __future__ import annotations

from typing import Any

from flydsl.kernels.norm.layernorm import (
    build_fused_add_layernorm_dynamicquant_module,
    build_fused_add_layernorm_module,
    build_fused_add_layernorm_smoothquant_module,
    build_layernorm_bwd_module,
    build_layernorm_dynamicquant_module,
    build_layernorm_module,
    build_layernorm_smoothquant_module,
)
from flydsl.ops.norms import LAYER_NORM, gradients_by, layer_norm, length_of_rows, with_statistics


def layernorm(x: Any, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    """Return (x - mean) / sqrt(var + eps) * w + b over the last dimension; autograd follows it.

    Weight and bias have the type of x, or f32 with an x of 16 bits.
    """
    if all(value is None or value.dtype == x.dtype for value in (w, b)):
        return layer_norm(x, tuple(x.shape[-1:]), w, b, eps)
    return LAYER_NORM(x, w, b, float(eps), length_of_rows(x, w, b))


def layernorm_fwd(x: Any, w: Any = None, b: Any = None, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """Return (y, mean, rstd) without autograd: `layernorm`, and f32 statistics of each row for `layernorm_bwd`."""
    y, mean, rstd = with_statistics(LAYER_NORM, x, w, b, eps=eps)
    return y, mean, rstd


def layernorm_bwd(dy: Any, x: Any, w: Any, mean: Any, rstd: Any) -> tuple[Any, Any, Any]:
    """Return (dx, dw, db), of the types of x and w; dw is None where w is, and db has the type of x then."""
    return gradients_by(dy, x, w, mean, rstd)


__all__ = [
    "build_fused_add_layernorm_dynamicquant_module", "build_fused_add_layernorm_module",
    "build_fused_add_layernorm_smoothquant_module", "build_layernorm_bwd_module",
    "build_layernorm_dynamicquant_module", "build_layernorm_module", "build_layernorm_smoothquant_module",
    "layernorm", "layernorm_bwd", "layernorm_fwd",
]  # fmt: skip
