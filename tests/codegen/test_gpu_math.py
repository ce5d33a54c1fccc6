"""Math functions in kernels for GPUs: each compiles or is refused with advice; none ends the process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.gpu_math import math_rules
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_build import emit_assembly
from flydsl.expr.numbers.math_table import FLOAT_FUNCTIONS
from flydsl.target.target import parse_target
from tests.codegen.mlir_run import Elementwise, llvm_text
from tests.codegen.repository_kernels import RepositoryKernel, compiled
from tests.support.turns import in_turns

FUNCTIONS = sorted(FLOAT_FUNCTIONS)
BINARY = ("powf", "atan2", "copysign")
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
IN_F64 = {"absf", "ceil", "floor", "trunc", "round", "roundeven", "sqrt", "rsqrt"}
ARCHS = ("sm_80", "sm_90a", "gfx90a", "gfx942", "gfx950", "gfx1201", "gfx1250")


def kernel_of(name: str, dtype: str) -> tuple[Any, tuple[Any, ...]]:
    function = getattr(fx.math, name)

    @flyc.kernel
    def apply_kernel(x: fx.Tensor):
        x[0] = function(x[1], x[2]) if name in BINARY else function(x[1])

    @flyc.jit
    def apply_all(x: fx.Tensor):
        apply_kernel(x).launch()

    return apply_all, (np.zeros(4, DTYPES[dtype]),)


def code_of(name: str, dtype: str, arch: str) -> bytes:
    return compiled(RepositoryKernel(name, lambda _: kernel_of(name, dtype)), arch).device_binary


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_math_function(arch: str, dtype: str) -> None:
    for name in (*FUNCTIONS, *BINARY):
        if dtype != "f64" or name in (*IN_F64, "copysign"):
            assert code_of(name, dtype, arch)
            continue
        with pytest.raises(LoweringError, match=f"math.{name} of f64 is not there on") as refused:
            code_of(name, dtype, arch)
        assert refused.value.hint and "f32" in refused.value.hint


def device_assembly(functions: list[Elementwise], arch: str) -> str:
    target = parse_target(arch)
    nvidia = target.backend == "cuda"
    triple = cuda_compile.TRIPLE if nvidia else rocm_compile.TRIPLE
    features = cuda_compile.FEATURES[arch] if nvidia else rocm_compile.features_of(target)
    source = "\n".join(function.text() for function in functions)
    text = llvm_text(source, triple, math_rules("NVIDIA" if nvidia else "AMD"))
    return emit_assembly(text, triple, arch, features, level=1)


def applied(name: str, element: str, lanes: int) -> Elementwise:
    count = 2 if name in BINARY else 1
    operands, types = ", ".join(f"%{value}" for value in "ab"[:count]), ", ".join(["{T}"] * count)
    body = f'%r = "math.{name}"({operands}) : ({types}) -> {{R}}'
    return Elementwise(f"{name}_{element}_{lanes}", [element] * count, [element], body, lanes)


@pytest.mark.parametrize("arch", ARCHS)
def test_every_form(arch: str) -> None:
    """f32, f16 and bf16, scalars and vectors, half of them in turns: instructions all, nothing that calls a library."""
    sincos = '%r, %s = "math.sincos"(%a) : ({T}) -> ({T}, {T})'
    functions = [
        applied(name, element, lanes)
        for name in (*FUNCTIONS, *BINARY)
        for element in ("f32", "f16", "bf16")
        for lanes in (0, 2)
    ]
    functions = in_turns(functions, len(functions) // 2)
    functions.append(Elementwise("sincos", ["f32"], ["f32", "f32"], sincos))
    assembly = device_assembly(functions, arch)
    assert all(function.name in assembly for function in functions)
    assert not any(word in assembly for word in (".extern .func", "call.uni", "s_swappc", "@rel32"))


@pytest.mark.parametrize("arch", ARCHS)
def test_nothing_is_rounded_away(arch: str) -> None:
    """The formulas hold only if no product is fused with a sum and no fast instruction takes their place."""
    functions = [applied(name, "f32", 0) for name in ("sin", "cos", "powf", "tanh", "erf", "log1p")]
    assembly = device_assembly(functions, arch)
    if arch.startswith("sm_"):
        assert "mul.rn.f32" in assembly and "add.rn.f32" in assembly
        assert not any(word in assembly for word in ("mul.f32", "add.f32", "approx", "ftz", "mad."))
    else:
        assert not any(word in assembly for word in ("v_sin_f32", "v_cos_f32", "v_exp_f32", "v_log_f32"))
