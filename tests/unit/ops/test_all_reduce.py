"""`flydsl.ops.all_reduce`: on virtual ranks, by a process group, and where the group's own collective has to serve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl import ops

torch = pytest.importorskip("torch")
dist = torch.distributed


def test_arrays_of_virtual_ranks(rng: np.random.Generator) -> None:
    parts = rng.standard_normal((3, 5, 17)).astype(np.float32)

    def program(rank: Any) -> list[np.ndarray]:
        return [ops.all_reduce(parts[rank.number], group=rank) for _ in range(2)]

    for results in flyc.virtual_ranks(3, seed=1).run(program):
        for result in results:
            np.testing.assert_array_equal(result, (parts[0] + parts[1]) + parts[2])


def test_tensors_have_gradients() -> None:
    """The gradient of a sum over ranks is the sum of the gradients over ranks."""

    def program(rank: Any) -> tuple[Any, Any]:
        x = torch.full((4,), rank.number + 1.0, requires_grad=True)
        y = ops.all_reduce(x, group=rank)
        (y * (rank.number + 1)).sum().backward()
        return y.detach(), x.grad

    for y, gradient in flyc.virtual_ranks(2).run(program):
        assert y.tolist() == [3.0] * 4
        assert gradient.tolist() == [3.0] * 4


@pytest.fixture
def group(tmp_path: Any) -> Iterator[None]:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_what_kernels_cannot_do_is_the_group_s(group: None) -> None:
    x = torch.arange(6, dtype=torch.float32)
    assert torch.equal(ops.all_reduce(x), x)
    assert "runs FlyDSL's kernels" in ops.explain("all_reduce", x)
    assert "elements of torch.int64 have no kernel" in ops.explain("all_reduce", x.long())
    with pytest.warns(RuntimeWarning, match="leaves this to torch: elements of torch.int64"):
        assert torch.equal(ops.all_reduce(x.long()), x.long())
    with pytest.warns(RuntimeWarning, match="not contiguous"):
        assert torch.equal(ops.all_reduce(x[::2]), x[::2])


def test_without_a_group_the_reason_is_given() -> None:
    with pytest.raises(TypeError, match="there is no process group"):
        ops.all_reduce(np.zeros(3, np.float32), group=object())
