"""Every example and kernel of the repository as something to compile: a jit function, arguments, and its targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp

import flydsl.expr as fx
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.compiler.calls.call import adapted_call
from flydsl.compiler.lowering.driver import compile_module
from flydsl.compiler.tracing.trace import trace
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import compile_a8w4_gemm
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_preshuffle_gemm_w4
from flydsl.kernels.gemm.naive import build_naive_gemm_module
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.gemm.rdna_f16_gemm import create_wmma_gemm_module
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import compile_fp8_gemm
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.passes.pipeline import stage_a
from flydsl.target.target import Target, known_archs, parse_target
from tests.kernels.examples import load

AMD = tuple(arch for arch in known_archs() if arch.startswith("gfx"))
NVIDIA = tuple(arch for arch in known_archs() if arch.startswith("sm_"))

Made = tuple[Any, tuple[Any, ...]]


@dataclass(frozen=True)
class RepositoryKernel:
    """A kernel under test: how to make it for a target, and the targets it is for."""

    name: str
    make: Callable[[str], Made]
    archs: tuple[str, ...] = AMD + NVIDIA


def _zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def _vector_add(arch: str) -> Made:
    x = _zeros(1024)
    return load("01-vectorAdd").vector_add, (x, x, x, 1024)


def _matrix_add(arch: str) -> Made:
    x = _zeros(33, 65)
    return load("01-vectorAdd").matrix_add, (x, x, x, 33, 65)


def _copy_rows(arch: str) -> Made:
    x = _zeros(64, 64)
    return load("02-tiledCopy").copy_rows, (x, x, 64, 64)


def _tiled_mma(arch: str) -> Made:
    a, b = _zeros(128, 64, dtype=np.float16), _zeros(64, 64, dtype=np.float16)
    return load("03-tiledMma").matmul, (a, b, _zeros(128, 64), 128, 64, 64, parse_target(arch).generation)


def _softmax(arch: str) -> Made:
    x = _zeros(4, 4096, dtype=np.float16)
    return build_softmax_module(4, 4096, "f16"), (x, x, 4)


def _rmsnorm(arch: str) -> Made:
    x = _zeros(4, 1000)
    return build_rmsnorm_module(1000, "f32"), (x, x[0], x, 4)


def _layernorm(arch: str) -> Made:
    x = _zeros(4, 4096, dtype=np.float16)
    return build_layernorm_module(4096, "f16"), (x, x[0], x[0], x, 4)


def _naive_gemm(arch: str) -> Made:
    a, b = _zeros(64, 64, dtype=np.float16), _zeros(32, 64, dtype=np.float16)
    return build_naive_gemm_module(), (a, b, _zeros(64, 32), 64, 32, 64)


def _tiled_gemm(arch: str) -> Made:
    a, b = _zeros(128, 128, dtype=np.float16), _zeros(256, 128, dtype=np.float16)
    # RDNA3's WMMA wants its operands twice, so a tile of 128 does not fit its registers.
    tile = 64 if parse_target(arch).generation == "rdna3" else 128
    return build_tiled_gemm_module(256, 128, "f16", tile, tile), (a, b, _zeros(128, 256), 128)


def _preshuffle_gemm(arch: str, in_dtype: str = "fp16", out_dtype: str = "fp16") -> Made:
    kind = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}.get(in_dtype, _fp8(arch))
    a, b, scale = _zeros(128, 512, dtype=kind), _zeros(256, 512, dtype=kind), _zeros(256)
    c = _zeros(128, 256, dtype=np.float16 if out_dtype == "fp16" else ml_dtypes.bfloat16)
    gemm = compile_preshuffle_gemm(
        N=256, K=512, tile_m=128, tile_n=128, tile_k=128 if in_dtype == "fp8" else 64, in_dtype=in_dtype,
        out_dtype=out_dtype,
    )  # fmt: skip
    return gemm, (c, a, b, scale, scale, scale, 128, 256)


def _fp8(arch: str) -> Any:
    return ml_dtypes.float8_e4m3fnuz if parse_target(arch).fnuz else ml_dtypes.float8_e4m3fn


def _preshuffle_gemm_bf16(arch: str) -> Made:
    return _preshuffle_gemm(arch, "bf16", "bf16")


def _preshuffle_gemm_fp8(arch: str) -> Made:
    return _preshuffle_gemm(arch, "fp8", "bf16")


def _rdna_gemm(arch: str) -> Made:
    a, b = _zeros(40, 136, dtype=np.float16), _zeros(70, 136, dtype=np.float16)
    gemm, *_ = create_wmma_gemm_module(40, 70, 136, "f16", "f32", reg_m=1, reg_n=2)
    return gemm, (_zeros(40, 70), a, b)


def _rdna_fp8_gemm(arch: str) -> Made:
    a, b, scales = _zeros(32, 64), _zeros(128, 64), _zeros(128)
    return compile_fp8_gemm(M=32, N=128, K=256), (_zeros(32, 128, dtype=ml_dtypes.bfloat16), a, b, scales, scales)


def _gfx1250_gemm(arch: str) -> Made:
    a, b, scales = (_zeros(64, width, dtype=np.uint8) for width in (256, 128, 8))
    gemm = compile_a8w4_gemm(K=256, tile_m=32, tile_n=64, cluster_m=2, wave_specialized_tdm=True)
    return gemm, (_zeros(64, 64), a, b, scales, scales, 64, 64, 256, 64)


def _gfx1250_half_gemm(arch: str) -> Made:
    a, b = _zeros(64, 64, dtype=np.float16), _zeros(64, 64, dtype=np.float16)
    gemm = compile_wmma_gemm_tdm(K=64, tile_m=32, tile_n=64, tile_k=32, n_warp=2)
    return gemm, (_zeros(64, 64, dtype=np.float16), a, b, 64, 64)


def _hopper_gemm(arch: str) -> Made:
    a, b = _zeros(256, 128, dtype=np.float16), _zeros(256, 128, dtype=np.float16).T
    gemm = build_hopper_gemm(GemmKind(fx.Float16, fx.Float16, fx.Float16), GemmConfig(cluster=2))
    return gemm, (a, b, _zeros(256, 256, dtype=np.float16), None, None, None, None, 1.0, 0.0)


def _hgemm(arch: str) -> Made:
    a, b, c = (_zeros(*shape, dtype=np.float16) for shape in ((40, 136), (64, 136), (40, 64)))
    counters = _zeros(256, dtype=np.int32)
    gemm = compile_hgemm_kernel("f16", 64, 136, 32, 64, 32, STAGES=3, SPLIT_K=2, HAS_BIAS=True)
    return gemm, (c, a, b, c[0], 40, counters, counters)


def _block_scaled_gemm(arch: str) -> Made:
    a, b, scales = (_zeros(*shape, dtype=np.uint8) for shape in ((32, 512), (64, 256), (256, 16)))
    options: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 256, "a_dtype": "fp6", "use_async_copy": True}
    gemm = compile_preshuffle_gemm_w4(N=64, K=512, **options)
    return gemm, (_zeros(32, 64, dtype=ml_dtypes.bfloat16), a, b, scales, scales, scales, 32, 64)


KERNELS: tuple[RepositoryKernel, ...] = (
    RepositoryKernel("vector_add", _vector_add),
    RepositoryKernel("matrix_add", _matrix_add),
    RepositoryKernel("copy_rows", _copy_rows),
    RepositoryKernel("tiled_mma", _tiled_mma),
    RepositoryKernel("softmax", _softmax),
    RepositoryKernel("rmsnorm", _rmsnorm),
    RepositoryKernel("layernorm", _layernorm),
    RepositoryKernel("naive_gemm", _naive_gemm),
    RepositoryKernel("tiled_gemm", _tiled_gemm),
    RepositoryKernel("preshuffle_gemm", _preshuffle_gemm, ("gfx90a", "gfx942", "gfx950")),
    RepositoryKernel("preshuffle_gemm_bf16", _preshuffle_gemm_bf16, ("gfx90a", "gfx942", "gfx950")),
    RepositoryKernel("preshuffle_gemm_fp8", _preshuffle_gemm_fp8, ("gfx942", "gfx950")),
    RepositoryKernel("rdna_gemm", _rdna_gemm, ("gfx1100", "gfx1201")),
    RepositoryKernel("rdna_fp8_gemm", _rdna_fp8_gemm, ("gfx1201",)),
    RepositoryKernel("gfx1250_gemm", _gfx1250_gemm, ("gfx1250",)),
    RepositoryKernel("gfx1250_half_gemm", _gfx1250_half_gemm, ("gfx1250",)),
    RepositoryKernel("hgemm", _hgemm, ("gfx942", "gfx950")),
    RepositoryKernel("block_scaled_gemm", _block_scaled_gemm, ("gfx950",)),
    RepositoryKernel("hopper_gemm", _hopper_gemm, ("sm_90a",)),
)


def cases(*archs: str) -> list[tuple[RepositoryKernel, str]]:
    """Every kernel with every target of ``archs`` that it supports."""
    return [(kernel, arch) for kernel in KERNELS for arch in archs if arch in kernel.archs]


def traced(kernel: RepositoryKernel, arch: str) -> tuple[ModuleOp, str, str, Target]:
    """A kernel's module as traced, its name, its argument format and its target."""
    function, args = kernel.make(arch)
    values = function.signature.bind(args, {})
    call = adapted_call(function.func, function.signature, values)
    target = parse_target(arch)
    module, formats = trace(function.func, call.arguments, target)
    return module, function.__name__, formats, target


def after_stage_a(kernel: RepositoryKernel, arch: str) -> tuple[ModuleOp, Target]:
    module, _, _, target = traced(kernel, arch)
    for step in stage_a(target.backend):
        step.run(module)
    return module, target


def compiled(kernel: RepositoryKernel, arch: str) -> Artifact:
    """The artifact of a kernel for the real device of a target."""
    module, name, formats, target = traced(kernel, arch)
    return compile_module(module, name, target, target.backend, formats)
