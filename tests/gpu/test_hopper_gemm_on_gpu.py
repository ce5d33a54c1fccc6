"""The Hopper GEMM on a real GPU; with the row kernels and examples, under graph replay and on streams of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flydsl.compiler as flyc
from kernels.gemm.hopper_matmul import hopper_gemm
from kernels.gemm.tiled import build_tiled_gemm_module
from kernels.norm.layernorm import build_layernorm_module
from kernels.norm.rmsnorm import build_rmsnorm_module
from kernels.norm.softmax import build_softmax_module
from tests.kernels.examples import load

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


def example_case(torch: Any, name: str) -> tuple[Callable[..., None], Callable[[], None], Any]:
    """The kernels of the examples, beyond what their own checks run."""
    first, second, third = (load(stem) for stem in ("01-vectorAdd", "02-tiledCopy", "03-tiledMma"))
    a, b = (torch.randn(256, 128, device="cuda") for _ in range(2))
    generation = flyc.current_device().target.generation
    if name == "matrix_add":
        c = torch.empty_like(a)
        return (lambda stream: first.matrix_add(a, b, c, 256, 128, stream), lambda: a.normal_(),
                (c, lambda: torch.testing.assert_close(c, a + b, rtol=0, atol=0)))  # fmt: skip
    if name == "copy_rows":
        c = torch.empty_like(a)
        return (lambda stream: second.copy_rows(a, c, 256, 128, stream), lambda: a.normal_(),
                (c, lambda: torch.testing.assert_close(c, a, rtol=0, atol=0)))  # fmt: skip
    if name == "copy_transposed":
        c = torch.empty(128, 256, device="cuda").T
        return (lambda stream: second.copy_transposed(a, c, 256, 128, stream), lambda: a.normal_(),
                (c, lambda: torch.testing.assert_close(c, a, rtol=0, atol=0)))  # fmt: skip
    h, g = (torch.randn(rows, 64, device="cuda", dtype=torch.float16) for rows in (128, 64))
    c = torch.empty(128, 64, device="cuda")
    if name == "matmul":
        run = lambda stream: third.matmul(h, g, c, 128, 64, 64, generation, stream)  # noqa: E731
    else:
        tiled = build_tiled_gemm_module(64, 64, "f16", 64, 64)
        run = lambda stream: tiled(h, g, c, 128, stream)  # noqa: E731
    right = lambda: torch.testing.assert_close(c.double(), h.double() @ g.double().T, rtol=0, atol=1e-4)  # noqa: E731
    return run, lambda: h.normal_(), (c, right)


CASES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "gemm": gemm_case,
    **{
        name: lambda torch, name=name: example_case(torch, name)
        for name in ("matrix_add", "copy_rows", "copy_transposed", "matmul", "tiled gemm")
    },
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
