"""Kernels over rows. They have no matrix instructions, and most have no loop: what is shown is all of their code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amd_kernels.case import EVERY, FP8, Array, Case, Size
from flydsl.kernels.attention.rope_cache import build_rope_module
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_module
from flydsl.kernels.norm.glu import build_glu_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_bwd_module, build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from flydsl.kernels.quant.device_quant import build_row_quant_module

ROWS, N = 1024, 4096
LINES, LINE, NUMBERS = Array((ROWS, N), "float16"), Array((N,), "float16"), Array((ROWS,), "float32")


def over_rows(name: str, build: Callable[[], Any], *arguments: Any, peer: str = "") -> Case:
    return Case(f"{name} {N} f16", EVERY, lambda arch, size: (build(), arguments), peer=peer)


def quantised(arch: str, _: Size) -> Any:
    kind = FP8.get(arch, "int8")
    codes = {"int8": "i8", "float8_e4m3fn": "fp8", "float8_e4m3fnuz": "fp8_fnuz"}[kind]
    return build_row_quant_module(N, "f16", codes), (LINES, Array((ROWS, N), kind), NUMBERS, ROWS)


def rotated(arch: str, _: Size) -> Any:
    angles = Array((ROWS, 64), "float16")
    return build_rope_module(32, 128, "f16"), (LINES, angles, angles, LINES, ROWS, ROWS)


CASES = (
    over_rows("softmax", lambda: build_softmax_module(ROWS, N, "f16"), LINES, LINES, ROWS, peer="softmax 4096"),
    over_rows("softmax gradient", lambda: build_softmax_bwd_module(N, "f16"), LINES, LINES, LINES, ROWS),
    over_rows("rmsnorm", lambda: build_rmsnorm_module(N, "f16"), LINES, LINE, LINES, ROWS),
    over_rows("rmsnorm gradient", lambda: build_rmsnorm_bwd_module(N, "f16", atomic=True), LINES, LINES, LINE, NUMBERS,
              LINES, Array((N,), "float32"), ROWS),
    over_rows("layernorm", lambda: build_layernorm_module(N, "f16"), LINES, LINE, LINE, LINES, ROWS),
    over_rows("silu and product", lambda: build_glu_module(N, "f16"), LINES, LINES, LINES, ROWS),
    over_rows("cross entropy", lambda: build_cross_entropy_module(N, "f16"), LINES, Array((ROWS,), "int64"), NUMBERS,
              Array((2, ROWS), "float32"), ROWS, -100, 0.0),
    Case(f"quantise rows of {N}", EVERY, quantised),
    Case("rotate 32 heads of 128", EVERY, rotated),
)  # fmt: skip
