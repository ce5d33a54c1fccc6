"""Products of what is allowed and awkward: views that go back, numbers that lie apart, scales of another kind."""

from __future__ import annotations

import itertools
import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.ops import products, replays
from flydsl.ops.amd_products import in_lines


@pytest.fixture(autouse=True, params=["gfx942", "sm_90a"])
def _target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", request.param)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def on_hopper() -> bool:
    return os.environ["ARCH"] == "sm_90a"


def near(found: np.ndarray, expected: np.ndarray, error: float) -> None:
    assert np.abs(found.astype(float) - expected).max() <= error * np.abs(expected).max()


# Matrices ------------------------------------------------------------------------------------------------------------


def test_matrices_that_go_back(rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((33, 40), (40, 24)))
    for x, y in ((a[:, ::-1], b), (a, b[::-1, ::-1]), (a[::2, ::2], b[::2, ::-1])):
        near(ops.matmul(x, y), x.astype(float) @ y.astype(float), 2e-3)


def test_fields_of_records(rng: np.random.Generator) -> None:
    """Rows of elements side by side that lie no multiple of an element apart."""
    records = np.zeros(40, [("x", np.float16, 64), ("flag", np.int8)])
    records["x"] = rng.standard_normal((40, 64))
    x, y = records["x"], rng.standard_normal((64, 24)).astype(np.float16)
    near(ops.matmul(x, y), x.astype(float) @ y.astype(float), 2e-3)
    near(ops.linear(y.T, x), y.T.astype(float) @ x.T.astype(float), 2e-3)


def test_rows_that_lie_far_apart(rng: np.random.Generator) -> None:
    """Bytes of a tile are counted in 32 bits on AMD: rows behind the last one would be written over the first."""
    memory = np.zeros((1 << 29) + 64, np.float16)
    out = np.lib.stride_tricks.as_strided(memory, (2, 64), (1 << 30, 2))
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((2, 8), (8, 64)))
    ops.matmul(a, b, out=out)
    near(out, a.astype(float) @ b.astype(float), 2e-3)
    near(ops.matmul(out, b.T), out.astype(float) @ b.T.astype(float), 2e-3)
    assert not in_lines(out, 8) and in_lines(b, 8)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_out_whose_strides_say_little(kind: Any, rng: np.random.Generator) -> None:
    """One row that may be taken for a column, and rows that go back."""
    a, b = (rng.standard_normal(shape).astype(kind) for shape in ((33, 64), (64, 64)))
    for rows, out in ((1, np.zeros((64, 1), kind).T), (33, np.zeros((33, 64), kind)[::-1])):
        near(ops.matmul(a[:rows], b, out=out), a[:rows].astype(float) @ b.astype(float), 2e-3)


@pytest.mark.torch
def test_a_matrix_of_one_element_has_any_strides(torch: Any) -> None:
    """Which torch calls contiguous as it lies."""
    x = torch.full((24, 24), 3.0, dtype=torch.float16)
    one = x.as_strided((1, 1), (24, 24))
    for found in (ops.matmul(one, one), ops.matmul(x[:1, 0], one), ops.linear(one, one)):
        assert found.flatten().tolist() == [9.0]


@pytest.mark.parametrize("place", ["apart", "back", "one"])
def test_bias_that_lies_otherwise(place: str, rng: np.random.Generator) -> None:
    x, weight = (rng.standard_normal(shape).astype(np.float16) for shape in ((9, 40), (24, 40)))
    memory = rng.standard_normal(48).astype(np.float16)
    bias = {"apart": memory[::2], "back": memory[23::-1], "one": np.broadcast_to(memory[:1], 24)}[place]
    near(ops.linear(x, weight, bias), x.astype(float) @ weight.astype(float).T + bias, 2e-3)


# fp8 with scales -----------------------------------------------------------------------------------------------------


def eight_bits(rng: np.random.Generator, *shape: int) -> np.ndarray:
    kind = ml_dtypes.float8_e4m3fn if on_hopper() else ml_dtypes.float8_e4m3fnuz
    return rng.standard_normal(shape).astype(kind)


def scales(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(0.5, 2, shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 33])
def test_scales_of_blocks_over_one_block_of_k(rows: int, rng: np.random.Generator) -> None:
    """(M, 1) are scales of rows too; those of the columns tell which are meant."""
    a, b, of_rows, of_blocks = (
        eight_bits(rng, rows, 96),
        eight_bits(rng, 96, 200),
        scales(rng, rows, 1),
        scales(rng, 1, 2),
    )
    expected = (a.astype(float) @ b.astype(float)) * of_rows * np.repeat(of_blocks, 128, 1)[:, :200]
    near(ops.scaled_mm(a, b, of_rows, of_blocks), expected, 1e-2)


def test_scales_that_lie_otherwise(rng: np.random.Generator) -> None:
    a, b = eight_bits(rng, 33, 96), eight_bits(rng, 96, 70)
    for of_rows, of_columns in (
        (scales(rng, 66, 1)[::2], scales(rng, 1, 70)[:, ::-1]),
        (np.broadcast_to(scales(rng, 1, 1), (33, 1)), scales(rng, 1, 140)[:, ::2]),
    ):
        expected = (a.astype(float) @ b.astype(float)) * of_rows * of_columns
        near(ops.scaled_mm(a, b, of_rows, of_columns), expected, 1e-2)
    deep, wide = eight_bits(rng, 33, 300), eight_bits(rng, 300, 200)
    of_rows, of_blocks = scales(rng, 33, 3)[::-1, ::-1], scales(rng, 3, 2)[:, ::-1]
    whole = np.repeat(np.repeat(of_blocks, 128, 0)[:300], 128, 1)[:, :200]
    expected = (deep.astype(float) * np.repeat(of_rows, 128, 1)[:, :300]) @ (wide.astype(float) * whole)
    near(ops.scaled_mm(deep, wide, of_rows, of_blocks), expected, 1e-2)


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int32])
def test_scales_of_another_type(kind: Any, rng: np.random.Generator) -> None:
    """Their bits are not to be read as f32."""
    one = np.ones((33, 1), kind), np.ones((1, 70), kind)
    with pytest.raises(ValueError, match=f"scales are float32, got {np.dtype(kind)}"):
        ops.scaled_mm(eight_bits(rng, 33, 96), eight_bits(rng, 96, 70), *one)


def test_bias_of_another_length(rng: np.random.Generator) -> None:
    given = eight_bits(rng, 3, 32), eight_bits(rng, 32, 16), scales(rng, 3, 1), scales(rng, 1, 16)
    for shape in ((7,), (3, 16)):
        with pytest.raises(RuntimeError, match=r"the bias of a product of 16 columns has shape \(16,\), got"):
            ops.scaled_mm(*given, np.zeros(shape, ml_dtypes.bfloat16))


@pytest.mark.torch
def test_a_bias_that_changes_before_the_gradient(torch: Any) -> None:
    """The gradient needs the bias no more than torch's does; of the weight it must have what it was."""
    x, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((12, 12), (12, 12), (12,)))
    y = ops.linear(x, weight, bias)
    with torch.no_grad():
        bias.add_(1)
    y.backward(torch.ones_like(y), retain_graph=True)
    torch.testing.assert_close(bias.grad, torch.full((12,), 12.0))
    with torch.no_grad():
        weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.torch
@pytest.mark.parametrize("how", ["eager", "repeated", "compiled"])
def test_gradients_that_nobody_wants_are_not_computed(how: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of weights that are frozen; calls that differ in nothing else take turns."""
    counts: list[Any] = []
    multiply = products.multiply
    monkeypatch.setattr(products, "multiply", lambda *given: (counts.append(given), multiply(*given))[1])
    if how == "repeated":
        monkeypatch.setattr(replays, "can_replay", lambda _: True)
    ops.register_operators()
    torch._dynamo.reset()  # other tests compile these functions too, and there is a limit
    functional = torch.nn.functional
    for ours, theirs, shapes in (
        (ops.linear, functional.linear, ((12, 12), (12, 12), (12,))),  # one kernel for all, also for those of
        (ops.matmul, torch.matmul, ((12, 12), (12, 12))),  # `test_products.py`
    ):
        run = torch.compile(ours, fullgraph=True, backend="aot_eager") if how == "compiled" else ours
        some = [wanted for wanted in itertools.product((False, True), repeat=len(shapes)) if any(wanted)]
        for number, wanted in enumerate(some * (4 if how == "repeated" else 1)):
            given = [torch.randn(s, requires_grad=want) for s, want in zip(shapes, wanted, strict=True)]
            learned = [x for x in given if x.requires_grad]
            y = run(*given)
            counts.clear()
            found = torch.autograd.grad(y, learned, torch.ones_like(y))
            native = number >= 2 * len(some) and not counts
            assert len(counts) == sum(wanted) or native
            expected = torch.autograd.grad(theirs(*given), learned, torch.ones_like(y))
            torch.testing.assert_close(found, expected)
    for op in (products.LINEAR, products.MATMUL):
        op.lanes.forget()


# Groups and four bits ------------------------------------------------------------------------------------------------


def test_groups_that_lie_otherwise(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    a, b = (
        rng.standard_normal((50, 64)).astype(np.float16)[:, ::-1],
        rng.standard_normal((3, 64, 48)).astype(np.float16),
    )
    ends = np.array([10, 7, 10, 7, 50, 7], np.int32)[::2]
    expected = np.concatenate([a[:10].astype(float) @ b[0].astype(float), a[10:].astype(float) @ b[2].astype(float)])
    near(ops.grouped_mm(a, b, offs=ends), expected, 2e-3)
    turned = np.asfortranarray(a[:48])
    near(ops.grouped_mm(turned, b, offs=np.array([10, 10, 48], np.int32)), expected[:48], 2e-3)
    with pytest.raises(ValueError, match="offs must not decrease"):
        ops.grouped_mm(a, b, offs=np.array([20, 10, 50], np.int32))
    for wrong in (ends[None], ends[:2], ends.astype(np.int64)):
        with pytest.raises(ValueError, match=rf"offs are int32 of shape \(3,\), got {wrong.dtype} of"):
            ops.grouped_mm(a, b, offs=wrong)


def test_weights_of_four_bits_that_do_not_fit(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    from flydsl.kernels.gemm.preshuffle_w4a16 import shuffle_weights

    monkeypatch.setenv("ARCH", "gfx942")
    codes, x = rng.integers(0, 16, (64, 128)).astype(np.uint8), rng.standard_normal((5, 128)).astype(np.float16)
    shares, packed = rng.uniform(0.01, 0.1, (64, 4)).astype(np.float16), shuffle_weights(codes)
    weights = ((codes - 8.0) * np.repeat(shares.astype(float), 32, 1)).astype(np.float16).astype(float)
    for order in (np.asfortranarray, lambda p: p[::-1].copy()[::-1]):
        near(ops.linear_int4(x, order(packed), shares, group_size=32), x.astype(float) @ weights.T, 2e-3)
    for given in ((x, packed, np.tile(shares, (2, 1))), (x[:, :64], packed, shares[:, :2]), (x, codes, shares)):
        with pytest.raises(ValueError, match=r"codes of .* are two a byte"):
            ops.linear_int4(*given, group_size=32)
    with pytest.raises(ValueError, match=r"scales are \(64, 4\), got \(64, 2\)"):
        ops.linear_int4(x, packed, shares[:, :2], group_size=32)


@pytest.mark.parametrize("rows", [3, 40])
def test_weights_of_four_bits_over_nothing_or_by_no_integer(rows: int, rng: np.random.Generator) -> None:
    """A kernel that is built for groups of 32.0 would be found for groups of 32, and fails."""
    if on_hopper():
        from flydsl.kernels.gemm.hopper_weights import shuffle_weights
    else:
        from flydsl.kernels.gemm.preshuffle_w4a16 import shuffle_weights

    codes, x = rng.integers(0, 16, (64, 128)).astype(np.uint8), rng.standard_normal((rows, 128)).astype(np.float16)
    shares, packed, size = rng.uniform(0.01, 0.1, (64, 4)).astype(np.float16), shuffle_weights(codes), 32.0
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        ops.linear_int4(x, packed, shares, group_size=size)  # type: ignore[arg-type]
    weights = ((codes - 8.0) * np.repeat(shares.astype(float), 32, 1)).astype(np.float16).astype(float)
    near(ops.linear_int4(x, packed, shares, group_size=32), x.astype(float) @ weights.T, 2e-3)
    bias = rng.standard_normal(64).astype(np.float16) if on_hopper() else None
    nothing = ops.linear_int4(x[:, :0], packed[:, :0], shares[:, :0], None, bias, group_size=32)
    assert nothing.shape == (rows, 64) and (nothing == (0 if bias is None else bias)).all()


@pytest.mark.parametrize("rows", [3, 40])
def test_scales_of_four_bits_that_lie_otherwise(
    rows: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flydsl.kernels.gemm.hopper_weights import shuffle_weights

    monkeypatch.setenv("ARCH", "sm_90a")
    codes, x = rng.integers(0, 16, (64, 128)).astype(np.uint8), rng.standard_normal((rows, 128)).astype(np.float16)
    shares, zeros = rng.uniform(0.01, 0.1, (64, 4)).astype(np.float16), rng.integers(0, 16, (64, 4)).astype(np.float16)
    weights = (codes - np.repeat(zeros, 32, 1).astype(float)) * np.repeat(shares, 32, 1).astype(float)
    expected, packed = x.astype(float) @ weights.astype(np.float16).astype(float).T, shuffle_weights(codes)
    for lie in (np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: np.tile(a, (1, 2))[:, :4]):
        near(ops.linear_int4(x, packed, lie(shares), lie(zeros), group_size=32), expected, 2e-3)
