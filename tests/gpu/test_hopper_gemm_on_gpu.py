"""The Hopper GEMM on a real GPU: shapes, types, epilogues, strides; streams and graphs are in test_kernels_on_gpu."""

from __future__ import annotations

from typing import Any

import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


@pytest.fixture(autouse=True)
def hopper() -> None:
    if flyc.current_device().kind != "cuda" or flyc.current_device().target.arch != "sm_90a":
        pytest.skip("needs a Hopper GPU")


def activate(torch: Any, x: Any, name: str) -> Any:
    functional = torch.nn.functional
    return {"none": lambda: x, "relu": lambda: functional.relu(x), "silu": lambda: functional.silu(x),
            "gelu": lambda: functional.gelu(x, approximate="tanh")}[name]()  # fmt: skip


def operands(torch: Any, m: int, n: int, k: int, dtype: Any, rows_are_k: bool) -> tuple[Any, Any]:
    a = torch.randn(m, k, device="cuda").to(dtype)
    b = torch.randn(*((k, n) if rows_are_k else (n, k)), device="cuda").to(dtype)
    return a, b if rows_are_k else b.T


def check(torch: Any, a: Any, b: Any, c: Any, bias: Any = None, alpha: float = 1.0, activation: str = "none") -> None:
    """C against float64, every element."""
    wide = alpha * (a.double() @ b.double()) + (0 if bias is None else bias.double())
    expected = activate(torch, wide, activation)
    narrow = 4e-6 if a.dtype.itemsize > 1 else 3e-4  # sums of 8-bit products keep about 14 bits on Hopper
    bound = 2.0**-8 * expected.abs() + narrow * (abs(alpha) * (a.double().abs() @ b.double().abs()) + 1)
    error = (c.double() - expected).abs()
    assert bool((error <= bound).all()), float((error / bound).max())


@pytest.mark.parametrize("rows_are_k", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 8, 8),
        (7, 136, 72),
        (1000, 1000, 1000),
        (64, 512, 8192),
        (129, 4096, 200),
        (2048, 2048, 2048),
        (300, 264, 16384),
    ],
)
def test_shapes(shape: tuple[int, int, int], rows_are_k: bool, torch: Any) -> None:
    a, b = operands(torch, *shape, torch.bfloat16, rows_are_k)
    c = torch.full((shape[0], shape[1]), float("nan"), device="cuda", dtype=torch.bfloat16)
    hopper_gemm(a, b, c)
    check(torch, a, b, c)


@pytest.mark.parametrize("name", ["float16", "float8_e4m3fn", "float8_e5m2"])
def test_types(name: str, torch: Any) -> None:
    a, b = operands(torch, 700, 1200, 512, getattr(torch, name), False)
    c = torch.full((700, 1200), float("nan"), device="cuda", dtype=torch.float16)
    hopper_gemm(a, b, c)
    check(torch, a, b, c)


@pytest.mark.parametrize("activation", ["relu", "silu", "gelu"])
def test_epilogues(activation: str, torch: Any) -> None:
    for m, n, k in ((500, 520, 256), (64, 264, 8192)):
        a, b = operands(torch, m, n, k, torch.bfloat16, False)
        bias = torch.randn(n, device="cuda", dtype=torch.bfloat16)
        c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        hopper_gemm(a, b, c, bias, alpha=0.3, activation=activation)
        check(torch, a, b, c, bias, 0.3, activation)


def test_strided_matrices(torch: Any) -> None:
    """Views into wider matrices; what lies beside C stays."""
    a = torch.randn(300, 640, device="cuda", dtype=torch.bfloat16)[:, 64:320]
    b = torch.randn(256, 1024, device="cuda", dtype=torch.bfloat16)[:, 128:640]
    whole = torch.full((300, 1024), float("nan"), device="cuda", dtype=torch.bfloat16)
    c = whole[:, 256:768]
    hopper_gemm(a, b, c)
    check(torch, a, b, c)
    assert int(whole.isnan().sum()) == 300 * 512


@pytest.mark.parametrize("shape", [(0, 8, 16), (8, 0, 16), (130, 264, 0)])
def test_nothing_to_multiply(shape: tuple[int, int, int], torch: Any) -> None:
    a, b = operands(torch, *shape, torch.bfloat16, True)
    bias = torch.randn(shape[1], device="cuda", dtype=torch.bfloat16)
    c = torch.full((shape[0], shape[1]), float("nan"), device="cuda", dtype=torch.bfloat16)
    hopper_gemm(a, b, c, bias, activation="silu", stream=0)
    torch.cuda.synchronize()
    check(torch, a, b, c, bias, activation="silu")
