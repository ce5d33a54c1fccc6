"""Every kernel and example on a real GPU: called plainly, on a stream of its own, and replayed from a graph."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import flydsl.compiler as flyc
from tests.support import kernel_cases as cases
from tests.support.kernel_cases import Case

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

SHAPES = [
    (1, 1), (3, 7), (2, 1000), (1, 4097), (4096, 4096), (7, 8192), (5, 16384), (3, 32768), (2, 140000), (33, 1024),
    (131073, 64), (64, 50001),
]  # fmt: skip
EXTENTS = [(1, 1, 1), (3, 7, 33), (65, 129, 130), (1000, 520, 256), (2, 4097, 24)]
BUSY_CYCLES = 20_000_000
"""How long the default stream is kept busy: a launch that went there by mistake comes too late."""


def plainly(torch: Any, case: Case) -> None:
    case.poison()
    case.run(None)
    torch.cuda.synchronize()
    case.check(case.out)


def on_a_stream_of_its_own(torch: Any, case: Case) -> None:
    """The result is taken on the stream, while the default stream has not got to anything yet."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    case.run(stream)  # compiles
    torch.cuda.synchronize()
    case.poison()
    got = torch.full_like(case.out, float("nan"))
    stream.wait_stream(torch.cuda.current_stream())
    torch.cuda._sleep(BUSY_CYCLES)
    case.run(stream)
    with torch.cuda.stream(stream):
        got.copy_(case.out)
    stream.synchronize()
    case.check(got)


def replayed_from_a_graph(torch: Any, case: Case) -> None:
    case.run(torch.cuda.current_stream())  # compiles
    case.poison()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        case.run(torch.cuda.current_stream())
    torch.cuda.synchronize()
    assert bool(case.out.isnan().all()), "capturing has run it"
    for _ in range(2):
        case.refill()
        case.poison()
        graph.replay()
        torch.cuda.synchronize()
        case.check(case.out)


Way = Callable[[Any, Case], None]
WAYS: list[Way] = [plainly, on_a_stream_of_its_own, replayed_from_a_graph]
in_every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
in_every_type = pytest.mark.parametrize("dtype", cases.DTYPES)


@pytest.fixture(autouse=True)
def torch_sees_the_gpu(torch: ModuleType) -> None:
    if not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")


@in_every_way
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@in_every_type
@pytest.mark.parametrize("name", cases.ROW_KERNELS)
def test_rows(name: str, dtype: str, shape: tuple[int, int], way: Way, torch: ModuleType) -> None:
    way(torch, cases.row_case(torch, name, dtype, shape, "cuda"))


@in_every_way
@pytest.mark.parametrize("extents", EXTENTS, ids=str)
@in_every_type
@pytest.mark.parametrize("name", cases.GEMMS)
def test_gemms(name: str, dtype: str, extents: tuple[int, int, int], way: Way, torch: ModuleType) -> None:
    way(torch, cases.gemm_case(torch, name, dtype, extents, "cuda"))


@in_every_way
@pytest.mark.parametrize("extents", [(1, 8, 8), (384, 768, 1024), (129, 4096, 200), (64, 264, 8192)], ids=str)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_hopper_gemm(dtype: str, extents: tuple[int, int, int], way: Way, torch: ModuleType) -> None:
    if flyc.current_device().target.arch != "sm_90a":
        pytest.skip("needs a Hopper GPU")
    way(torch, cases.hopper_case(torch, dtype, extents, "cuda"))


@in_every_way
@pytest.mark.parametrize("extents", [(1, 64, 128), (200, 256, 512)], ids=str)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_preshuffle_gemm(dtype: str, extents: tuple[int, int, int], way: Way, torch: ModuleType) -> None:
    if flyc.current_device().target.backend != "rocm":
        pytest.skip("the preshuffled product is made of AMD's instructions")
    way(torch, cases.preshuffle_case(torch, dtype, extents, "cuda"))


@in_every_way
@pytest.mark.parametrize("name", cases.EXAMPLES)
def test_examples(name: str, way: Way, torch: ModuleType) -> None:
    way(torch, cases.example_case(torch, name, flyc.current_device().target.generation, "cuda"))
