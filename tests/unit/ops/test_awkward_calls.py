"""Ops on what is allowed and awkward: huge numbers, odd places in memory, and results that go where arrays lie."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from flydsl.ops.arrays import meets_itself
from tests.support.turns import in_turns
from tests.unit.ops.test_ops import normed, silu, softmax

LOWEST = np.finfo(np.float32).min


@pytest.fixture(autouse=True, params=["gfx942", "sm_90a"])
def _target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", request.param)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


# Huge numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [5, 20000])
@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_softmax_of_rows_that_are_masked_by_the_lowest_number(length: int, kind: Any) -> None:
    """A row of nothing else is even, as torch's: the lowest number times log2 e is no number any more."""
    x = np.full((3, length), ml_dtypes.finfo(kind).min, kind)
    x[0, 1], x[1, :2] = 2, ml_dtypes.finfo(kind).max
    want = softmax(x.astype(float))
    assert np.abs(ops.softmax(x).astype(float) - want).max() <= 4e-3 * want.max()


@pytest.mark.parametrize("smoothing", [0.0, 0.25])
@pytest.mark.parametrize("size", [1e4, 1e10])
def test_cross_entropy_of_huge_logits(smoothing: float, size: float, rng: np.random.Generator) -> None:
    """Exponents are those of differences: log2 e times 1e10 is rounded by more than an exponent may be."""
    x = (rng.standard_normal((4, 33)) * size).astype(np.float32)
    x[3] = size
    labels, rows = np.array([0, 5, 32, 7]), x.astype(float)
    chances = rows - rows.max(-1, keepdims=True)
    chances -= np.log(np.exp(chances).sum(-1, keepdims=True))
    want = -(1 - smoothing) * chances[np.arange(4), labels] - smoothing * chances.mean(-1)
    got = ops.cross_entropy(x, labels, reduction="none", label_smoothing=smoothing)
    assert (np.abs(got - want) <= 1e-5 * np.abs(want)).all()


@pytest.mark.parametrize("classes", [7, 1000, 40000])
def test_cross_entropy_of_logits_far_from_zero(classes: int, rng: np.random.Generator) -> None:
    """Their mean is rounded by more than a smoothed loss may be."""
    x = (rng.standard_normal((3, classes)) + 1e5).astype(np.float32)
    x[2, 0] = -np.inf
    labels, chances = np.array([0, classes - 1, 1]), x.astype(float) - x.max(-1, keepdims=True)
    chances -= np.log(np.exp(chances).sum(-1, keepdims=True))
    want = -0.5 * chances[np.arange(3), labels] - 0.5 * chances.mean(-1)
    got = ops.cross_entropy(x, labels, reduction="none", label_smoothing=0.5)
    assert got[2] == want[2] == np.inf and (np.abs(got[:2] - want[:2]) <= 1e-5 * want[:2]).all()


def test_cross_entropy_of_a_class_that_cannot_be() -> None:
    x = np.zeros((1, 6), np.float32)
    x[0, 2] = -np.inf
    assert ops.cross_entropy(x, np.array([2]), label_smoothing=0.25) == np.inf


@pytest.mark.torch
@pytest.mark.parametrize("size", [1.0, 10.0, 40.0])
def test_gradients_of_rows_that_one_element_has(size: float, torch: Any) -> None:
    """They are differences of numbers that are nearly the same, and as exact as those."""
    x = (torch.randn(16, 100) * size).requires_grad_()
    wide, labels, dy, dloss = x.detach().double().requires_grad_(), x.argmax(-1), torch.randn(16, 100), torch.randn(16)
    y, losses = wide.softmax(-1), torch.nn.functional.cross_entropy(wide, labels, reduction="none")
    scale = y.detach().amax(-1, keepdim=True) * dy.abs().amax(-1, keepdim=True)
    for got, want, weights, most in (
        (ops.softmax(x), y, dy, 2e-6 * scale),
        (ops.cross_entropy(x, labels, reduction="none"), losses, dloss, 4e-6 * dloss.abs()[:, None]),
    ):
        (found,), (exact,) = torch.autograd.grad(got, x, weights), torch.autograd.grad(want, wide, weights.double())
        assert ((found - exact).abs() <= most).all()


# Places in memory ----------------------------------------------------------------------------------------------------

ROWS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softmax": (ops.softmax, softmax),
    "rms_norm": (lambda x, **how: ops.rms_norm(x, x.shape[-1:], **how), normed),
    "swiglu": (lambda x, **how: ops.swiglu(x, x, **how), lambda x: silu(x) * x),
}


@pytest.mark.parametrize("length", [1, 6, 100])
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_begin_between_pieces(name: str, length: int, rng: np.random.Generator) -> None:
    """Rows of 4 or 8 bytes times something are moved by as much at once, and here begin elsewhere, or lie apart."""
    run, reference = ROWS[name]
    memory = rng.standard_normal((3, 2 * length + 3)).astype(np.float16)
    for x in (memory[:, 1 : length + 1], memory[:, 1 : 2 * length + 1 : 2]):
        np.testing.assert_allclose(run(x).astype(float), reference(x.astype(float)), rtol=2e-3, atol=2e-3)


# Results that go somewhere -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_out_that_overlaps_an_array(name: str, rng: np.random.Generator) -> None:
    """In the same place, or a row further, where rows would be written before they are read."""
    run, reference = ROWS[name]
    for start in (0, 1):
        memory = rng.standard_normal((200, 64)).astype(np.float32)
        x, out = memory[:-1], memory[start : len(memory) - 1 + start]
        want = reference(x.astype(float))
        run(x, out=out)
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm"])
def test_out_with_several_dimensions_that_lie_apart(name: str, rng: np.random.Generator) -> None:
    x = rng.standard_normal((4, 6, 8)).astype(np.float32)
    memory = np.full((4, 6, 16), 7, np.float32)
    getattr(ops, name)(x, (6, 8), out=memory[..., :8])
    flat = x.reshape(4, 48).astype(float)
    want = normed(flat) if name == "rms_norm" else normed(flat - flat.mean(-1, keepdims=True), 1e-5)
    np.testing.assert_allclose(memory[..., :8].reshape(4, 48), want, atol=1e-5)
    assert (memory[..., 8:] == 7).all()


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_product_that_is_written_over_a_factor(kind: Any, rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal((128, 128)).astype(kind) for _ in range(2))
    want = a.astype(float) @ b.astype(float)
    ops.matmul(a, b, out=a)
    assert np.abs(a.astype(float) - want).max() <= 4e-3 * np.abs(want).max()


@pytest.mark.parametrize("strides", [(0, 4), (128, 4), (4, 4)])
def test_out_with_several_elements_in_one_place(strides: tuple[int, int]) -> None:
    """Rows that lie in each other, whole or in part."""
    out = np.lib.stride_tricks.as_strided(np.zeros(256, np.float32), (6, 64), strides)
    with pytest.raises(RuntimeError, match=r"out of softmax has several elements in one place .*strides \("):
        ops.softmax(np.zeros((6, 64), np.float32), out=out)
    backwards = np.zeros((6, 64), np.float32)[::-1, ::-1]
    np.testing.assert_allclose(ops.softmax(np.zeros((6, 64), np.float32), out=backwards), 1 / 64)


def test_out_whose_rows_interleave(rng: np.random.Generator) -> None:
    """Steps that meet nowhere inside the extents, though one spans the other: 0, 2, 4 and 0, 3, 6, 9, ..."""
    x, memory = rng.standard_normal((3, 8)).astype(np.float32), np.full(26, 7, np.float32)
    out = np.lib.stride_tricks.as_strided(memory, (3, 8), (8, 12))
    np.testing.assert_allclose(ops.softmax(x, out=out), ops.softmax(x), rtol=1e-6)
    assert (memory == 7).sum() == 2


def test_arrays_that_meet_themselves_are_told_exactly(rng: np.random.Generator) -> None:
    for _ in range(400):
        shape = tuple(rng.integers(1, 6, 3))
        steps = tuple(int(step) * 4 for step in rng.integers(-12, 13, 3))
        places = np.zeros(1, int)
        for extent, step in zip(shape, steps, strict=True):
            places = np.add.outer(places, np.arange(extent) * step)
        start = np.zeros(400, np.float32)[200:]
        view = np.lib.stride_tricks.as_strided(start, shape, steps)
        meets = np.unique(places).size < places.size
        said = meets_itself(view)
        assert said >= meets, (shape, steps)
        if sum(e > 1 for e in shape) <= 2:
            assert said == meets, (shape, steps)


@pytest.mark.torch
@pytest.mark.parametrize("strided", [False, True])
def test_autograd_knows_that_out_was_written(strided: bool, torch: Any) -> None:
    x, square, weight = torch.randn(8, 64), torch.randn(64, 64), torch.ones(8, 64, requires_grad=True)
    calls: dict[str, Callable[[Any], Any]] = {
        "softmax": lambda out: ops.softmax(x, out=out), "rms_norm": lambda out: ops.rms_norm(x, (64,), out=out),
        "layer_norm": lambda out: ops.layer_norm(x, (64,), out=out), "geglu": lambda out: ops.geglu(x, x, out=out),
        "swiglu": lambda out: ops.swiglu(x, x, out=out), "matmul": lambda out: ops.matmul(x, square, out=out),
    }  # fmt: skip
    for name, call in calls.items():
        out = torch.ones(64, 8).T if strided else torch.ones(8, 64)
        loss = (weight * out).sum()
        call(out)
        assert out._version, name
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops")
def test_what_is_left_to_torch_goes_to_out(torch: Any) -> None:
    x = torch.randn(4, 8, dtype=torch.float64)
    functional = torch.nn.functional
    for run, want in (
        (lambda out: ops.rms_norm(x, (8,), out=out), functional.rms_norm(x, (8,))),
        (lambda out: ops.layer_norm(x, (8,), out=out), functional.layer_norm(x, (8,))),
        (lambda out: ops.swiglu(x, x, out=out), functional.silu(x) * x),
    ):
        out = torch.zeros_like(x)
        assert run(out) is out
        torch.testing.assert_close(out, want)


@pytest.mark.torch
def test_out_and_gradients_exclude_each_other(torch: Any) -> None:
    """Also where the result is copied into ``out``, which has another shape than the kernel's."""
    x, vector = torch.randn(2, 3, 8, requires_grad=True), torch.randn(8)
    for run, shape in (
        (lambda out: ops.matmul(x, vector, out=out), (2, 3)),
        (lambda out: ops.rms_norm(x, (3, 8), out=out), (2, 3, 8)),
    ):
        with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments don't support automatic diff"):
            run(torch.empty(shape))
        with torch.no_grad():
            assert not run(torch.empty(shape)).requires_grad


@pytest.mark.torch
def test_parameters_where_no_gradient_is_wanted(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no kernel for a gradient has one for a call without it."""
    monkeypatch.setenv("ARCH", "sm_90a")
    groups, ends = torch.ones(2, 16, 8, dtype=torch.half, requires_grad=True), torch.tensor([1, 2], dtype=torch.int32)
    rows = torch.ones(2, 16, dtype=torch.half)
    assert "left to torch" in ops.explain(ops.grouped_mm, rows, groups, offs=ends)
    with torch.no_grad():  # a warning would be an error
        assert "runs FlyDSL's kernels" in ops.explain(ops.grouped_mm, rows, groups, offs=ends)
        torch.testing.assert_close(ops.grouped_mm(rows, groups, offs=ends), torch.full((2, 8), 16.0).half())


@pytest.mark.torch
@pytest.mark.parametrize("shifted", [True, False])
def test_gradients_of_rows_of_any_length(torch: Any, shifted: bool) -> None:
    """Those of rows that are too long for sums in registers as well: torch computes none of them, or would warn."""
    n, dy, dsum = 40_001, torch.randn(2, 40_001), torch.randn(2, 40_001)
    x, residual, *weights = (torch.randn(shape, requires_grad=True) for shape in ((2, n), (2, n), (n,), (n,)))
    given = weights if shifted else weights[:1]
    assert "runs FlyDSL's kernels" in ops.explain(ops.add_layer_norm, x, residual, *given)
    torch.autograd.backward(ops.add_layer_norm(x, residual, *given), (dy, dsum))
    exact = [value.detach().double().requires_grad_() for value in (x, residual, *given)]
    total = exact[0] + exact[1]
    torch.autograd.backward(
        (torch.nn.functional.layer_norm(total, (n,), *exact[2:]), total), (dy.double(), dsum.double())
    )
    for value, other in zip((x, residual, *given), exact, strict=True):
        torch.testing.assert_close(value.grad.double(), other.grad, rtol=1e-4, atol=1e-4)


def test_fields_of_records(rng: np.random.Generator) -> None:
    """Elements that lie no multiple of their size apart."""
    records = np.zeros((6, 16), [("x", np.float32), ("flag", np.int8)])
    records["x"] = rng.standard_normal((6, 16))
    np.testing.assert_allclose(ops.softmax(records["x"]), softmax(records["x"]), atol=1e-6)


def test_dimensions_are_integers() -> None:
    x = np.zeros((2, 3), np.float32)
    dimensions: list[Any] = [np.int64(1), 1.0, None]
    assert ops.softmax(x, dimensions[0]).shape == (2, 3)
    for wrong in dimensions[1:]:
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            ops.softmax(x, wrong)


def test_numbers_that_are_no_integers() -> None:
    """A class that is ignored is not rounded to one that is there."""
    x, labels, half, extent = np.zeros((2, 3), np.float32), np.array([0, 1]), 0.5, 3.0
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        ops.cross_entropy(x, labels, ignore_index=half)  # type: ignore[arg-type]
    for norm in (ops.rms_norm, ops.layer_norm):
        with pytest.raises(TypeError, match=r"normalized_shape has integers, got \(3.0,\)"):
            norm(x, (extent,))
        assert norm(x, np.int64(3)).shape == (2, 3)
    sides: list[Any] = [(1.0, 128.0), (np.int64(1), 128)]
    with pytest.raises(TypeError, match=r"blocks are \(1, 128\) or \(128, 128\), of integers; got \(1.0, 128.0\)"):
        ops.quantize_blocks(np.zeros((2, 128), np.float32), sides[0])
    assert ops.quantize_blocks(np.zeros((2, 128), np.float32), sides[1])[1].shape == (2, 1)


@pytest.mark.torch
def test_shapes_of_tensors(torch: Any) -> None:
    """Their elements may be tensors of one integer, as torch takes them."""
    x, eight = torch.randn(2, 3, 8), torch.tensor(8)
    for ours, theirs in (
        (ops.rms_norm, torch.nn.functional.rms_norm), (ops.layer_norm, torch.nn.functional.layer_norm),
    ):  # fmt: skip
        for shape in ((eight,), [eight], (torch.tensor(3), 8)):
            torch.testing.assert_close(ours(x, shape), theirs(x, shape))
        with pytest.raises(TypeError, match=r"converted to a scalar index|only integer tensors"):
            ours(x, (torch.tensor(8.0),))


# Small numbers, and products of nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-37, 1e-41])
def test_quantised_rows_of_tiny_numbers(size: float, rng: np.random.Generator) -> None:
    """The inverse of a subnormal scale is infinite, and would make the largest number of every element."""
    x = (rng.standard_normal((3, 128)) * size).astype(np.float32)
    for q, scale in (ops.quantize_per_token(x, "fp8"), ops.quantize_per_tensor(x), ops.quantize_blocks(x)):
        assert (scale >= 2.0**-126).all()
        back = q.astype(float) * scale
        assert (np.abs(back - x) <= 2**-4 * np.abs(x) + 2**-10 * scale).all()


def test_scaled_product_over_no_element() -> None:
    kind = "float8_e4m3fnuz" if os.environ["ARCH"] == "gfx942" else "float8_e4m3fn"
    bias, one = np.arange(8).astype(ml_dtypes.bfloat16), np.ones(1, np.float32)
    got = ops.scaled_mm(np.zeros((3, 0), kind), np.zeros((0, 8), kind), one, one, bias)
    assert (got == bias).all()


# Attention -----------------------------------------------------------------------------------------------------------


def test_attention_over_heads_that_lie_apart(rng: np.random.Generator) -> None:
    """Values of which no element has its neighbour beside it are copied, as rows are."""
    q, k, v = (rng.standard_normal((1, 2, 20, 32)).astype(np.float16) for _ in range(3))
    apart = np.ascontiguousarray(v.swapaxes(2, 3)).swapaxes(2, 3)
    assert (ops.scaled_dot_product_attention(q, k, apart) == ops.scaled_dot_product_attention(q, k, v)).all()


def test_starts_that_cannot_be() -> None:
    x, back, far = np.zeros((30, 1, 32), np.float16), np.array([0, 20, 10], np.int32), np.array([0, 30], np.int32)
    with pytest.raises(ValueError, match="cu_seqlens_q must not decrease, and 20 is followed by 10"):
        ops.attention(x, x, x, cu_seqlens_q=back, cu_seqlens_k=back)
    with pytest.raises(ValueError, match="max_seqlen_q is 10, and cu_seqlens_q have a sequence of 30 tokens"):
        ops.attention(x, x, x, cu_seqlens_q=far, cu_seqlens_k=far, max_seqlen_q=10)
    how: dict[str, Any] = {"cu_seqlens_q": far, "cu_seqlens_k": far}
    given = (x, x, x, x, x, np.zeros((1, 30), np.float32))
    for run, arrays in ((ops.attention, given[:3]), (attention, given[:3]), (attention_backward, given)):
        with pytest.raises(ValueError, match="max_seqlen_k is 10, and cu_seqlens_k have a sequence of 30 tokens"):
            run(*arrays, **how, max_seqlen_k=10)
    with pytest.raises(ValueError, match="max_seqlen_q is 10, and cu_seqlens_q have a sequence of 30 tokens"):
        attention_backward(*given, **how, max_seqlen_q=10)


def test_pages_by_tables_that_lie_apart(rng: np.random.Generator) -> None:
    q, cache = (rng.standard_normal(shape).astype(np.float16) for shape in ((2, 2, 32), (3, 16, 1, 32)))
    tables, lengths = np.array([[0, 1], [2, 2]], np.int32), np.array([20, 31], np.int32)
    wide = np.repeat(tables, 2, 1)
    assert (ops.paged_attention(q, cache, cache, wide[:, ::2], lengths)
            == ops.paged_attention(q, cache, cache, tables, lengths)).all()  # fmt: skip
    wrong: dict[str, Any]
    for wrong in ({"window": -3}, {"softcap": -3.0}):
        with pytest.raises(ValueError, match=r"window is a number of keys .*, got -3|softcap is 0.*got -3"):
            ops.paged_attention(q, cache, cache, tables, lengths, **wrong)


# Experts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("experts", [4, 19])
def test_logits_of_experts_that_are_no_numbers_or_the_lowest(experts: int, rng: np.random.Generator) -> None:
    """A token that nobody can route is NaN, not zero; one whose logits are all masked goes to the first experts."""
    shapes = ((3, 64), (experts, 128, 64), (experts, 64, 64))
    x, w1, w2 = (rng.standard_normal(shape).astype(np.float16) / 8 for shape in shapes)
    logits = np.zeros((3, experts), np.float32)
    logits[0, 2], logits[1] = np.nan, LOWEST
    got = ops.moe(x, logits, w1, w2, topk=2)
    assert np.isnan(got[0]).all()
    even = np.zeros_like(logits)
    assert (got[1:] == ops.moe(x, even, w1, w2, topk=2)[1:]).all()


def test_ids_and_weights_of_two_shapes() -> None:
    x, w1, w2 = (np.zeros(shape, np.float16) for shape in ((3, 64), (4, 128, 64), (4, 64, 64)))
    with pytest.raises(ValueError, match=r"one shape, got \(3, 2\) and \(3, 4\)"):
        ops.moe(x, (np.zeros((3, 2), np.int32), np.zeros((3, 4), np.float32)), w1, w2)


def test_experts_of_a_token_that_cannot_be() -> None:
    x, w1, w2 = (np.zeros(shape, np.float16) for shape in ((3, 64), (4, 128, 64), (4, 64, 64)))
    logits, ids, weights = np.zeros((3, 4), np.float32), np.zeros((3, 2), np.int32), np.zeros((3, 2), np.float32)
    two = 2.0
    for wrong, error, words in (
        (lambda: ops.moe(x, logits, w1, w2, topk=two), TypeError, "cannot be interpreted as an integer"),  # type: ignore[arg-type]
        (lambda: ops.moe(x, logits, w1, w2, topk=-1), ValueError, "topk is 1 to 4, the number of experts, got -1"),
        (
            lambda: ops.moe(x, (ids, weights), w1, w2, topk=1),
            ValueError,
            "topk is 1, and ids name 2 experts of a token",
        ),
        (lambda: ops.moe(x, (ids, weights, ids), w1, w2), ValueError, "a pair of ids and weights, got 3 arrays"),
        (lambda: ops.moe(x[0, 0, ...], (ids[0], weights[0]), w1, w2), ValueError, "got one without dimensions"),
    ):
        with pytest.raises(error, match=words):
            wrong()


@pytest.mark.torch
def test_gradients_of_logits_that_are_large(torch: Any) -> None:
    """The logarithm of a sum is lost beside a large logit: where all are equal, a class has the N-th part."""
    target = torch.tensor([0, 5])
    cases = (torch.float32, -1e9, 8), (torch.bfloat16, 3e38, 8), (torch.float32, 1e4, 131)
    for dtype, level, length in in_turns(cases):
        x = (torch.randn(2, length) + level).to(dtype)
        given, wide = x.clone().requires_grad_(), x.double().requires_grad_()
        ops.cross_entropy(given, target, label_smoothing=0.1).backward()
        torch.nn.functional.cross_entropy(wide, target, label_smoothing=0.1).backward()
        assert (given.grad.double() - wide.grad).abs().max() < (4e-6 if dtype is torch.float32 else 4e-3)
