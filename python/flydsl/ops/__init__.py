"""Operations on torch tensors and NumPy arrays by FlyDSL's kernels: `flydsl.ops.softmax(x)`. docs/ops.md lists them.

Tensors on a GPU run there, tensors on the CPU and arrays of NumPy on the virtual GPU. Results are new arrays. Torch is
not needed; import it first if `torch.compile` is to take the ops.
"""

from __future__ import annotations

from flydsl.ops.attention_heads import scaled_dot_product_attention
from flydsl.ops.cross_entropy_loss import cross_entropy
from flydsl.ops.gated_units import geglu, swiglu
from flydsl.ops.norms import add_layer_norm, add_rms_norm, layer_norm, rms_norm
from flydsl.ops.quantizers import quantize_blocks, quantize_mx, quantize_per_tensor, quantize_per_token
from flydsl.ops.rotary import rope
from flydsl.ops.softmax_rows import softmax
from flydsl.ops.table import explain, register_operators

__all__ = [
    "add_layer_norm", "add_rms_norm", "cross_entropy", "explain", "geglu", "layer_norm", "quantize_blocks",
    "quantize_mx", "quantize_per_tensor", "quantize_per_token", "register_operators", "rms_norm", "rope",
    "scaled_dot_product_attention", "softmax", "swiglu",
]  # fmt: skip
