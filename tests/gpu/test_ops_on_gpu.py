"""`flydsl.ops` on a real GPU: replays with autograd, on streams, in graphs and from other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import flydsl.ops as ops
from flydsl.ops.table import TABLE

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
TYPES = ("float32", "bfloat16")
SHAPES = ((128, 1024), (3, 5, 96), (7, 1000))


@pytest.fixture(scope="module")
def cuda_torch(torch: ModuleType) -> ModuleType:
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


def sides(torch: ModuleType) -> dict[str, tuple[Callable[..., Any], Callable[..., Any], int]]:
    """Name -> (ours, torch's, how many vectors beside x it takes), each of (x, vectors...)."""
    functional = torch.nn.functional

    def labels(x: Any) -> Any:
        return torch.arange(x.shape[0], device=x.device) % x.shape[-1]

    def last(x: Any) -> tuple[int]:
        return (x.shape[-1],)

    def entropy(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: function(x.flatten(0, -2), labels(x.flatten(0, -2)))

    return {
        "softmax": (ops.softmax, lambda x: torch.softmax(x, -1), 0),
        "rms_norm": (
            lambda x, w: ops.rms_norm(x, last(x), w, 1e-5), lambda x, w: functional.rms_norm(x, last(x), w, 1e-5), 1
        ),
        "layer_norm": (
            lambda x, w, b: ops.layer_norm(x, last(x), w, b), lambda x, w, b: functional.layer_norm(x, last(x), w, b), 2
        ),
        "add_rms_norm": (
            lambda x, w: ops.add_rms_norm(x, x, w, 1e-5)[0],
            lambda x, w: functional.rms_norm(x + x, last(x), w, 1e-5), 1,
        ),
        "cross_entropy": (entropy(ops.cross_entropy), entropy(functional.cross_entropy), 0),
        "swiglu": (lambda x: ops.swiglu(x, x * 2), lambda x: functional.silu(x) * (x * 2), 0),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["softmax", "rms_norm", "layer_norm", "add_rms_norm", "cross_entropy", "swiglu"])
def test_repeated_calls(name: str, dtype: str, cuda_torch: ModuleType) -> None:
    """Several shapes in turns, each time with other data, with gradients and without."""
    torch = cuda_torch
    ours, reference, vectors = sides(torch)[name]
    close = {"rtol": 1e-5, "atol": 2e-5} if dtype == "float32" else {"rtol": 2e-2, "atol": 3e-2}
    for _ in range(4):
        for shape in SHAPES:
            extents = [shape, *[shape[-1:]] * vectors]
            given = [
                torch.randn(extent, device="cuda").to(getattr(torch, dtype)).requires_grad_() for extent in extents
            ]
            wide = [x.detach().double().requires_grad_() for x in given]
            got, want = ours(*given), reference(*wide)
            torch.testing.assert_close(got.double(), want, **close)
            with torch.no_grad():
                torch.testing.assert_close(ours(*given).double(), want, **close)
            weight = torch.randn_like(got)
            found = torch.autograd.grad(got, given, weight)
            expected = torch.autograd.grad(want, wide, weight.double())
            for a, b in zip(found, expected, strict=True):
                scale = b.abs().max().clamp_min(1e-3)
                torch.testing.assert_close(a.double() / scale, b / scale, **close)
    assert len(TABLE[name].op.lanes)


def test_streams_graphs_and_threads(cuda_torch: ModuleType) -> None:
    torch = cuda_torch
    x, w = torch.randn(64, 512, device="cuda"), torch.randn(512, device="cuda")
    for _ in range(3):
        ops.rms_norm(x, w)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(10_000_000)
        late = torch.randn(64, 512, device="cuda")
        got = ops.rms_norm(late, w)
    side.synchronize()
    torch.testing.assert_close(got, torch.nn.functional.rms_norm(late, (512,), w))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = ops.rms_norm(x, w)
    x.normal_()
    captured.fill_(float("nan"))
    graph.replay()
    torch.testing.assert_close(captured, torch.nn.functional.rms_norm(x, (512,), w))
    found: list[Any] = []
    worker = threading.Thread(target=lambda: found.append(ops.rms_norm(x, w)))
    worker.start()
    worker.join()
    torch.testing.assert_close(found[0], captured)


def test_gradients_on_streams_and_in_graphs(cuda_torch: ModuleType) -> None:
    """What calls keep for their gradients is memory of their stream, or of the graph that captures them."""
    torch, functional = cuda_torch, cuda_torch.nn.functional
    streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    given = [[torch.randn(*shape, 512, device="cuda", requires_grad=True) for shape in ((256,), ())] for _ in streams]
    torch.cuda.synchronize()

    def call(norm: Callable[..., Any], number: int) -> Any:
        return norm(given[number][0], (512,), given[number][1], 1e-5)

    def slopes(number: int, y: Any) -> Any:
        with torch.cuda.stream(streams[number]):
            return torch.autograd.grad(y, given[number], y.detach())

    def held_back(rounds: int) -> list[tuple[int, Any]]:
        """Many calls whose gradients are still to come, each stream's behind a pause and beside the others'."""
        held = []
        for turn in range(rounds):
            for number, stream in enumerate(streams):
                with torch.cuda.stream(stream):
                    if turn == 3:
                        torch.cuda._sleep(3_000_000)
                    held.append((number, call(ops.rms_norm, number)))
        return held

    assert all(slopes(*held) for held in held_back(3))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=streams[1]):
        captured = slopes(1, call(ops.rms_norm, 1))
    for _ in range(2):
        with torch.no_grad():
            for x, _ in given:
                x.normal_()
        torch.cuda.synchronize()
        held = held_back(40)
        graph.replay()
        held += held_back(2)
        found = [(1, captured), *((number, slopes(number, y)) for number, y in held)]
        held.clear()
        torch.cuda.synchronize()
        want = []
        for number, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                want.append(slopes(number, call(functional.rms_norm, number)))
        torch.cuda.synchronize()
        for number, slope in found:
            for a, b in zip(slope, want[number], strict=True):
                torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_losses_are_added_up_on_streams_and_in_graphs_at_once(cuda_torch: ModuleType) -> None:
    """Blocks of a launch count those that are done; graphs captured on one stream run beside each other and eager
    calls."""
    torch, entropy = cuda_torch, cuda_torch.nn.functional.cross_entropy
    shapes = ((700, 2048), (129, 5000), (64, 60000), (1500, 512))
    given = [
        (torch.randn(shape, device="cuda"), torch.randint(0, shape[1], shape[:1], device="cuda")) for shape in shapes
    ]
    wants = [entropy(x.double(), labels) for x, labels in given]
    streams = [torch.cuda.Stream() for _ in given]
    for x, labels in given * 3:
        ops.cross_entropy(x, labels)
    torch.cuda.synchronize()
    graphs, captured = [torch.cuda.CUDAGraph() for _ in given], []
    for graph, (x, labels) in zip(graphs, given, strict=True):
        with torch.cuda.graph(graph):
            captured.append(ops.cross_entropy(x, labels))
    eager: list[Any] = []
    for _ in range(20):
        for stream, graph, (x, labels) in zip(streams, graphs, given, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
                eager.append(ops.cross_entropy(x, labels))
            eager.append(ops.cross_entropy(x, labels))
    torch.cuda.synchronize()
    for index, want in enumerate(wants):
        for got in (captured[index], *eager[2 * index :: 2 * len(given)], *eager[2 * index + 1 :: 2 * len(given)]):
            torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-5)
