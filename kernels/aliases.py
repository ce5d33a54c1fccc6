"""How a name below `kernels` finds its module in `flydsl.kernels`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

RENAMED = {
    "preshuffle_gemm": "gemm.preshuffle_entries",
    "blockscale_preshuffle_gemm": "gemm.blockscale_preshuffle_gemm",
    "hgemm_splitk": "gemm.hgemm_splitk",
    "splitk_hgemm": "gemm.hgemm_splitk",
    "small_m_hgemm": "gemm.hgemm_splitk",
    "gemm.gemm_a16w16_gfx950": "gemm.hgemm_splitk",
    **{
        f"{room}{name}": target
        for room in ("", "gemm.")
        for name, target in (
            ("fp8_gemm_4wave", "gemm.fp8_gemm"),
            ("fp8_gemm_8wave", "gemm.fp8_gemm"),
            ("fp4_gemm_4wave", "gemm.mxfp4_preshuffle"),
            ("preshuffle_gemm_v2", "gemm.preshuffle_entries"),
        )
    },
    "rdna_f16_gemm": "gemm.rdna_f16_gemm",
    "rdna3_f16_gemm": "gemm.rdna_f16_gemm",
    "gemm.rdna3_f16_gemm": "gemm.rdna_f16_gemm",
    "rdna_fp8_preshuffle_gemm": "gemm.rdna_fp8_preshuffle_gemm",
    "wmma_gemm_gfx1250": "gemm.wmma_gemm_gfx1250",
    "gemm_fp8fp4_gfx1250": "gemm.gemm_fp8fp4_gfx1250",
    "gemm.gemm_a8w8_gfx1250": "gemm.gemm_fp8fp4_gfx1250",
    "gemm.gemm_a8w4_mxscale_gfx1250": "gemm.gemm_fp8fp4_gfx1250",
    "gemm_common_gfx1250": "gemm.wmma.gfx1250_tiles",
    "softmax_kernel": "norm.softmax",
    "layernorm_kernel": "norm.layernorm",
    "rmsnorm_kernel": "norm.rmsnorm",
    "norm.softmax_kernel": "norm.softmax",
    "norm.layernorm_kernel": "norm.layernorm",
    "norm.rmsnorm_kernel": "norm.rmsnorm",
    "norm.rmsnorm_bwd_kernel": "norm.rmsnorm",
    "norm.softmax_bwd_kernel": "norm.softmax_backward",
    "fused_rope_cache_kernel": "attention.rope_cache",
    "attention.fused_rope_cache_kernel": "attention.rope_cache",
    "attention.qk_norm_rope_quant": "attention.qk_norm_rope",
    "reduce": "blocks.reduce",
    **{
        f"{room}{name}": f"by_hand.{target}"
        for room in ("", "common.")
        for name, target in (
            ("kernels_common", "launch_facts"),
            ("mfma_epilogues", "mfma_epilogues"),
            ("mfma_preshuffle_pipeline", "preshuffle_addresses"),
            ("pipeline_utils", "tail_plan"),
            ("tensor_shim", "tensor_views"),
            ("dpp_utils", "lane_moves"),
        )
    },
    "common": "by_hand",
    "moe_common": "moe.mixed_2stage",
    "moe.moe_common": "moe.mixed_2stage",
    "custom_all_reduce": "comm.custom_all_reduce",
    "custom_all_reduce_kernel": "comm.custom_all_reduce_kernel",
    "moe_gemm_2stage": "moe.moe_gemm_2stage",
    "moe_blockscale_2stage": "moe.blockscale_2stage",
    "mixed_moe_gemm_2stage": "moe.mixed_2stage",
    "moe.moe_gemm_2stage.gemm1": "moe.moe_gemm_2stage.stages",
    "moe.moe_gemm_2stage.gemm2": "moe.moe_gemm_2stage.stages",
    "moe_gemm_2stage_wmma_gfx1250": "moe.wmma_2stage",
    "moe_gemm_2stage_mxscale_gfx1250": "moe.wmma_2stage",
    "moe_a8w4_mxscale_gfx1250": "moe.wmma_2stage.grouped",
    "moe.moe_a8w4_mxscale_gfx1250": "moe.wmma_2stage.grouped",
    "moe.moe_sorting_kernel": "moe.sorting",
    "moe_sorting_kernel": "moe.sorting",
    "moe.topk_gating_softmax_kernel": "moe.topk_gating",
    "topk_gating_softmax_kernel": "moe.topk_gating",
    **{
        f"{room}{name}": "attention.flash_attn"
        for room in ("", "attention.")
        for name in ("flash_attn_generic", "flash_attn_gfx950", "flash_attn_interface", "swa_gfx950")
    },
    **{
        f"{room}{name}": "attention.pa_decode"
        for room in ("", "attention.")
        for name in ("pa_decode_fp8", "pa_decode_tile")
    },
}
"""Name below `kernels` -> name below `flydsl.kernels`, where the two differ."""


class _Alias(Loader):
    """Puts a module of the library under a second name."""

    def __init__(self, target: str) -> None:
        self._target = target

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self._target)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __package__ or fullname == __name__:
            return None
        found = f"flydsl.kernels.{RENAMED.get(name, name)}"
        try:
            known = find_spec(found)
        except ModuleNotFoundError:  # its parent is missing too
            known = None
        return None if known is None else ModuleSpec(fullname, _Alias(found), is_package=True)


def install() -> None:
    """Have `import` ask here for the names below `kernels`."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
