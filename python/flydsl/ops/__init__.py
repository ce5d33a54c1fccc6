"""Operations on torch tensors and NumPy arrays by FlyDSL's kernels: `flydsl.ops.softmax(x)`. docs/ops.md lists them.

Tensors on a GPU run there, tensors on the CPU and arrays of NumPy on the virtual GPU. Results are new arrays. Torch is
not needed; import it first if `torch.compile` is to take the ops.
"""

from __future__ import annotations

from flydsl.ops.attention_heads import attention, scaled_dot_product_attention
from flydsl.ops.cross_entropy_loss import cross_entropy
from flydsl.ops.expert_layers import moe, moe_weights
from flydsl.ops.gated_units import geglu, swiglu
from flydsl.ops.norms import add_layer_norm, add_rms_norm, layer_norm, rms_norm
from flydsl.ops.paged_caches import mla_decode, paged_attention
from flydsl.ops.products import grouped_mm, linear, linear_int4, matmul, scaled_mm
from flydsl.ops.quantizers import quantize_blocks, quantize_mx, quantize_per_tensor, quantize_per_token
from flydsl.ops.rank_sums import all_reduce
from flydsl.ops.rotary import rope
from flydsl.ops.softmax_rows import softmax
from flydsl.ops.table import explain, register_operators

__all__ = [
    "add_layer_norm", "add_rms_norm", "all_reduce", "attention", "cross_entropy", "explain", "geglu", "grouped_mm",
    "layer_norm", "linear", "linear_int4", "matmul", "mla_decode", "moe", "moe_weights", "paged_attention",
    "quantize_blocks", "quantize_mx", "quantize_per_tensor", "quantize_per_token", "register_operators",
    "rms_norm", "rope", "scaled_dot_product_attention", "scaled_mm", "softmax", "swiglu",
]  # fmt: skip
