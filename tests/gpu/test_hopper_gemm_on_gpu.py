"""The Hopper GEMM and the row kernels on a real GPU: shapes, types, graph replay, a stream of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flydsl.compiler as flyc
from kernels.gemm.hopper_matmul import hopper_gemm
from kernels.norm.layernorm import build_layernorm_module
from kernels.norm.rmsnorm import build_rmsnorm_module
from kernels.norm.softmax import build_softmax_module

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
    bound = 2.0**-8 * expected.abs() + 4e-6 * (abs(alpha) * (a.double().abs() @ b.double().abs()) + 1)
    error = (c.double() - expected).abs()
    assert bool((error <= bound).all()), float((error / bound).max())


@pytest.mark.parametrize("rows_are_k", [False, True])
@pytest.mark.parametrize(
    "shape",
    [(1, 8, 8), (7, 136, 72), (1000, 1000, 1000), (64, 512, 8192), (129, 4096, 200), (2048, 2048, 2048), (300, 264, 16384)],
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


# Streams and graphs ----------------------------------------------------------------------------------


def gemm_case(torch: Any) -> tuple[Callable[..., None], Callable[[], None], Any]:
    """(run on a stream, fill the inputs anew, (output, check))."""
    a, b = operands(torch, 384, 768, 1024, torch.bfloat16, False)
    c = torch.empty((384, 768), device="cuda", dtype=torch.bfloat16)
    return lambda stream: hopper_gemm(a, b, c, stream=stream), lambda: a.normal_(), (c, lambda: check(torch, a, b, c))


def row_case(torch: Any, name: str, n: int) -> tuple[Callable[..., None], Callable[[], None], Any]:
    x = torch.randn(64, n, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    gamma, beta = (torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    functional = torch.nn.functional
    made: dict[str, tuple[Any, tuple[Any, ...], Callable[[], Any]]] = {
        "softmax": (build_softmax_module(64, n, "bf16"), (x, y), lambda: torch.softmax(x.double(), dim=1)),
        "rmsnorm": (build_rmsnorm_module(n, "bf16"), (x, gamma, y),
                    lambda: functional.rms_norm(x.double(), (n,), gamma.double(), 1e-5)),
        "layernorm": (build_layernorm_module(n, "bf16"), (x, gamma, beta, y),
                      lambda: functional.layer_norm(x.double(), (n,), gamma.double(), beta.double(), 1e-5)),
    }  # fmt: skip
    run, arguments, expected = made[name]

    def right() -> None:
        wanted = expected()
        assert float((y.double() - wanted).abs().max() / wanted.abs().max()) < 8e-3

    return lambda stream: run(*arguments, 64, stream), lambda: x.normal_(), (y, right)


CASES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "gemm": gemm_case,
    **{
        f"{name} {n}": lambda torch, name=name, n=n: row_case(torch, name, n)
        for name in ("softmax", "rmsnorm", "layernorm")
        for n in (1000, 4096, 16384, 32768, 50001)
    },
}


@pytest.mark.parametrize("case", CASES)
def test_on_a_stream_of_its_own(case: str, torch: Any) -> None:
    run, _, (out, check_out) = CASES[case](torch)
    out.fill_(float("nan"))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    run(stream)
    stream.synchronize()
    check_out()


@pytest.mark.parametrize("case", CASES)
def test_replayed_from_a_graph(case: str, torch: Any) -> None:
    run, refill, (out, check_out) = CASES[case](torch)
    run(torch.cuda.current_stream())
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run(torch.cuda.current_stream())
    for _ in range(2):
        refill()
        out.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        check_out()
