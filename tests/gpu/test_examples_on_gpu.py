"""The examples on a real GPU: the same kernels, arrays in device memory."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
from tests.kernels.examples import FOLDER, load

pytestmark = pytest.mark.gpu

EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_passes(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "auto")  # an example of one family's instructions may choose otherwise
    device = flyc.current_device()
    assert device.kind in ("cuda", "rocm")
    load(name).main()
    assert capsys.readouterr().out.splitlines()[-1] == "PASS"


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (33, 1000), (129, 4097)])
def test_masked_add_writes_nothing_else(shape: tuple[int, int], rng: np.random.Generator) -> None:
    example, device = load("01-vectorAdd"), flyc.current_device()
    a, b = (rng.random(shape, dtype=np.float32) for _ in range(2))
    padded = np.full((shape[0] + 8, shape[1] + 8), np.nan, np.float32)
    with device.arrays(a, b, padded) as (dA, dB, dP):
        dP.pointer += 4 * padded.strides[0] + 4 * padded.itemsize
        dP.shape = shape
        example.matrix_add(dA, dB, dP, *shape)
    inside = padded[4 : 4 + shape[0], 4 : 4 + shape[1]]
    np.testing.assert_array_equal(inside, a + b)
    assert np.isnan(padded).sum() == padded.size - inside.size


def test_torch_tensors_on_their_own_stream(torch: object) -> None:
    example = load("01-vectorAdd")
    n = 1 << 20
    a, b = (torch.rand(n, device="cuda") for _ in range(2))  # type: ignore[attr-defined]
    c = torch.full((n,), float("nan"), device="cuda")  # type: ignore[attr-defined]
    stream = torch.cuda.Stream()  # type: ignore[attr-defined]
    stream.wait_stream(torch.cuda.current_stream())  # type: ignore[attr-defined]
    example.vector_add(a, b, c, n, stream)
    stream.synchronize()
    assert torch.equal(c, a + b)  # type: ignore[attr-defined]


def test_launch_is_captured_into_a_graph(torch: object) -> None:
    example = load("01-vectorAdd")
    n = 1 << 16
    a, b = (torch.rand(n, device="cuda") for _ in range(2))  # type: ignore[attr-defined]
    c = torch.zeros(n, device="cuda")  # type: ignore[attr-defined]
    example.vector_add(a, b, c, n)
    graph = torch.cuda.CUDAGraph()  # type: ignore[attr-defined]
    with torch.cuda.graph(graph):  # type: ignore[attr-defined]
        example.vector_add(a, b, c, n, torch.cuda.current_stream())  # type: ignore[attr-defined]
    for _ in range(2):
        a.copy_(torch.rand(n, device="cuda"))  # type: ignore[attr-defined]
        c.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()  # type: ignore[attr-defined]
        assert torch.equal(c, a + b)  # type: ignore[attr-defined]


def test_graph_of_the_example_is_replayed(torch: object, capsys: pytest.CaptureFixture[str]) -> None:
    load("01-vectorAdd").add_by_graph(1 << 16, replays=2)
    assert capsys.readouterr().out.count("replayed graph: (65536,)") == 2


def test_arrays_on_two_devices_are_refused() -> None:
    example, device = load("01-vectorAdd"), flyc.current_device()
    a = np.zeros(1024, np.float32)
    with device.arrays(a) as (dA,), pytest.raises(ValueError, match="different devices"):
        example.vector_add(dA, a, a, 1024)
