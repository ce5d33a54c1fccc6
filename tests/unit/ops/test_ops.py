"""`flydsl.ops` with NumPy and torch: results, gradients, tracing, replays, and what is refused or left to torch."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flydsl.ops as ops
from flydsl.kernels.quant import formats
from flydsl.ops import arrays, op, replays
from flydsl.ops.table import TABLE
from tests.support import random_data

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
TOLERANCE = {np.float32: 4e-6, np.float16: 2e-3, ml_dtypes.bfloat16: 1.6e-2}


def normed(x: np.ndarray, eps: float = 2.0**-23) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


REFERENCES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softmax": (lambda x, w, b: ops.softmax(x), lambda x, w, b: softmax(x)),
    "rms_norm": (lambda x, w, b: ops.rms_norm(x, w), lambda x, w, b: normed(x) * w),
    "rms_norm without a weight": (lambda x, w, b: ops.rms_norm(x, x.shape[-1]), lambda x, w, b: normed(x)),
    "layer_norm": (
        lambda x, w, b: ops.layer_norm(x, x.shape[-1:], w, b),
        lambda x, w, b: normed(x - x.mean(-1, keepdims=True), 1e-5) * w + b,
    ),
    "add_rms_norm": (lambda x, w, b: ops.add_rms_norm(x, x, w)[0], lambda x, w, b: normed(2 * x) * w),
    "add_layer_norm": (
        lambda x, w, b: ops.add_layer_norm(x, x, w)[0],
        lambda x, w, b: normed(2 * (x - x.mean(-1, keepdims=True)), 1e-5) * w,
    ),
    "swiglu": (lambda x, w, b: ops.swiglu(x, x), lambda x, w, b: silu(x) * x),
    "cross_entropy": (
        lambda x, w, b: ops.cross_entropy(x.reshape(-1, x.shape[-1]), np.zeros(x.size // x.shape[-1], np.int64)),
        lambda x, w, b: -np.log(softmax(x)[..., 0]).mean(),
    ),
}


@pytest.mark.parametrize("arch", TARGETS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_shapes_of_arrays(arch: str, monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    monkeypatch.setenv("ARCH", arch)
    name, kind = data.draw(st.sampled_from(sorted(REFERENCES))), data.draw(st.sampled_from(list(TOLERANCE)))
    shape = (*data.draw(st.lists(st.integers(1, 4), max_size=2)), data.draw(st.integers(2, 300)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.standard_normal(shape).astype(kind)
    w, b = (rng.standard_normal(shape[-1]).astype(kind) for _ in range(2))
    ours, reference = REFERENCES[name]
    got, want = ours(x, w, b), reference(*(value.astype(np.float64) for value in (x, w, b)))
    assert got.dtype == x.dtype and got.shape == np.shape(want)
    error = np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-3)
    assert error < TOLERANCE[kind], error


def test_strides_outputs_and_empty_arrays() -> None:
    x = random_data.generator().standard_normal((6, 40)).astype(np.float32)
    for view in (x[::2], x[:, 1:33], x[:, ::2], x.T, x[1:, 8:]):
        np.testing.assert_allclose(ops.softmax(view), softmax(view.astype(np.float64)), atol=1e-6)
    out = np.zeros((6, 50), np.float32)[:, 3:43]
    assert ops.softmax(x, out=out) is out
    np.testing.assert_allclose(out, softmax(x.astype(np.float64)), atol=1e-6)
    flipped = np.zeros((40, 6), np.float32).T
    ops.softmax(x, out=flipped)
    np.testing.assert_array_equal(flipped, out)
    for shape in ((0, 8), (2, 0, 8), (3, 0)):
        empty = np.zeros(shape, np.float32)
        assert ops.softmax(empty).shape == shape
    assert ops.rms_norm(np.zeros((0, 8), np.float32)).shape == (0, 8)
    assert ops.swiglu(np.zeros((0, 8), np.float32)).shape == (0, 4)
    with pytest.raises(ValueError, match="out of softmax must be"):
        ops.softmax(x, out=np.zeros((6, 39), np.float32))


def test_a_norm_with_either_weight_alone(rng: np.random.Generator) -> None:
    """A bias without a weight is added: torch takes it, and so do the norms of a sum."""
    x, residual, bias, weight = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 7), (3, 7), 7, 7))
    for rows, norm in ((x, ops.layer_norm), (x + residual, lambda *a, **k: ops.add_layer_norm(x, residual, **k)[0])):
        centred = rows - rows.mean(-1, keepdims=True)
        normed = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(norm(x, bias=bias), normed + bias, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(norm(x, weight=weight), normed * weight, rtol=1e-5, atol=1e-5)


def test_what_arrays_are_refused() -> None:
    x = np.zeros((4, 8), np.float32)
    for wrong, error, words in (
        (lambda: ops.softmax(x.astype(np.float64)), TypeError, "float64 have no kernel"),
        (lambda: ops.softmax(x, 0), TypeError, "dimension 0 is not the last"),
        (lambda: ops.softmax(x, 2), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
        (lambda: ops.softmax([1.0]), TypeError, "expected a tensor of torch or an array of NumPy, got list"),
        (lambda: ops.rms_norm(x, (7,)), RuntimeError, "Given normalized_shape=\\[7\\]"),
        (lambda: ops.layer_norm(x, ()), RuntimeError, "at least 1-dimensional"),
        (lambda: ops.layer_norm(x, (8,), x[0, :4]), RuntimeError, "same shape as normalized_shape"),
        (lambda: ops.rms_norm(x, (8,), x[0].astype(np.float16)), TypeError, "types differ"),
        (lambda: ops.add_rms_norm(x, x[:2]), ValueError, "input and residual have one shape"),
        (lambda: ops.swiglu(x[:, :7]), RuntimeError, "halves of its last dimension"),
        (lambda: ops.swiglu(x, x[:2]), ValueError, "gate and up have one shape"),
        (lambda: ops.geglu(x, approximate="sigmoid"), RuntimeError, "either none or tanh"),
        (lambda: ops.cross_entropy(x, np.array([0, 1, 8, 2])), IndexError, "Target 8 is out of bounds"),
        (lambda: ops.cross_entropy(x, np.array([0, -1, 0, 2])), IndexError, "Target -1 is out of bounds"),
        (
            lambda: ops.cross_entropy(x, np.array([0, 1])),
            ValueError,
            "batch_size \\(4\\) to match target batch_size \\(2\\)",
        ),
        (lambda: ops.cross_entropy(x, np.zeros(4, int), reduction="all"), ValueError, "not a valid value"),
        (lambda: ops.cross_entropy(x, np.zeros(4, int), label_smoothing=2), RuntimeError, "between 0.0 and 1.0"),
        (lambda: ops.rope(x, x, x), ValueError, "rope takes"),
        (lambda: ops.quantize_mx(x), ValueError, "multiple of 32"),
        (lambda: ops.quantize_blocks(x), ValueError, "do not divide"),
        (lambda: ops.quantize_per_token(x, "int3"), ValueError, "dtype must be one of"),
    ):
        with pytest.raises(error, match=words):
            wrong()


def test_rotary_positions_and_quantisers(rng: np.random.Generator) -> None:
    x, angles = rng.standard_normal((2, 5, 3, 6)).astype(np.float32), rng.standard_normal((5, 3))
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    c, s = cos[:, None], sin[:, None]
    halves = np.concatenate([x[..., :3] * c - x[..., 3:] * s, x[..., 3:] * c + x[..., :3] * s], -1)
    np.testing.assert_allclose(ops.rope(x, cos, sin), halves, atol=1e-6)
    pairs = ops.rope(x, cos, sin, interleaved=True)
    np.testing.assert_allclose(pairs[..., 0::2], x[..., 0::2] * c - x[..., 1::2] * s, atol=1e-6)
    y = rng.standard_normal((128, 256)).astype(np.float32)
    for kind in (np.int8, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2):
        assert ops.quantize_per_token(y, kind)[0].dtype == kind
    for ours, want in (
        (ops.quantize_per_token(y), formats.quantize_per_token(y)),
        (ops.quantize_per_tensor(y), formats.quantize_per_tensor(y)),
        (ops.quantize_blocks(y, (128, 128)), formats.quantize_blocks(y, 128)),
        (ops.quantize_mx(y, "mxfp6"), formats.quantize_mx(y, "mxfp6")),
    ):
        q, scale = ours
        assert np.abs(q.view(np.int8).astype(int) - want[0].view(np.int8).astype(int)).max() <= 1
        np.testing.assert_allclose(scale, want[1], rtol=1e-6)


def test_torch_is_not_needed() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; import numpy as np, flydsl.ops as ops; "
        "print(ops.softmax(np.zeros((1, 2), np.float32)).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[[0.5, 0.5]]", done.stderr


def test_explain() -> None:
    x = np.zeros((2, 3), np.float32)
    assert ops.explain("softmax", x) == "softmax runs FlyDSL's kernels (softmax) on the virtual GPU"
    assert ops.explain(ops.softmax, x, dim=0) == "softmax is refused: dimension 0 is not the last"
    with pytest.raises(ValueError, match=r"flydsl\.ops has no 'sort'; it has softmax"):
        ops.explain("sort", x)
    assert set(TABLE) | {"explain", "moe_weights", "register_operators"} == set(ops.__all__)
    assert all(row.function.__doc__ for row in TABLE.values())


# With torch ----------------------------------------------------------------------------------------------------------


def calls(torch: Any) -> dict[str, tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]]:
    """Name -> (ours, torch's, shapes of the arguments)."""
    functional = torch.nn.functional
    labels = torch.tensor([2, -100, 0, 4])
    row = (8,)  # as in other tests of ops, which share their kernels

    def losses(**options: Any) -> tuple[Any, Any, Any]:
        ours, theirs = (partial(f, target=labels, **options) for f in (ops.cross_entropy, functional.cross_entropy))
        return lambda x: ours(x), lambda x: theirs(x), [(4, 8)]

    return {
        "softmax": (ops.softmax, lambda x: torch.softmax(x, -1), [(2, 3, 8)]),
        "rms_norm": (
            lambda x, w: ops.rms_norm(x, row, w, 1e-5),
            lambda x, w: functional.rms_norm(x, row, w, 1e-5),
            [(4, 8), row],
        ),
        "layer_norm": (
            lambda x, w, b: ops.layer_norm(x, row, w, b),
            lambda x, w, b: functional.layer_norm(x, row, w, b),
            [(4, 8), row, row],
        ),
        "layer_norm of two dimensions": (
            lambda x: ops.layer_norm(x, (3, 10)),
            lambda x: functional.layer_norm(x, (3, 10)),
            [(2, 3, 10)],
        ),
        "add_rms_norm": (
            lambda x, r, w: ops.add_rms_norm(x, r, w, 1e-5),
            lambda x, r, w: (functional.rms_norm(x + r, row, w, 1e-5), x + r),
            [(4, 8), (4, 8), row],
        ),
        "add_layer_norm": (
            ops.add_layer_norm,
            lambda x, r, w, b: (functional.layer_norm(x + r, row, w, b), x + r),
            [(4, 8), (4, 8), row, row],
        ),
        "cross_entropy": losses(label_smoothing=0.1),
        "cross_entropy, summed": losses(reduction="sum"),
        "cross_entropy, each": losses(reduction="none"),
        "swiglu": (ops.swiglu, lambda x: functional.silu(x[..., :8]) * x[..., 8:], [(4, 16)]),
        "geglu": (ops.geglu, lambda g, u: functional.gelu(g) * u, [(4, 8), (4, 8)]),
        "geglu, tanh": (
            lambda g, u: ops.geglu(g, u, "tanh"),
            lambda g, u: functional.gelu(g, approximate="tanh") * u,
            [(4, 8), (4, 8)],
        ),
        "rope": (
            lambda x: ops.rope(x, torch.full((3, 2), 0.6), torch.full((3, 2), 0.8)),
            lambda x: torch.cat([x[..., :2] * 0.6 - x[..., 2:] * 0.8, x[..., 2:] * 0.6 + x[..., :2] * 0.8], -1),
            [(2, 3, 5, 4)],
        ),
    }


NAMES = [
    "softmax", "rms_norm", "layer_norm", "layer_norm of two dimensions", "add_rms_norm", "add_layer_norm",
    "cross_entropy", "cross_entropy, summed", "cross_entropy, each", "swiglu", "geglu", "geglu, tanh", "rope",
]  # fmt: skip


def compare(torch: Any, name: str, function: Callable[..., Any] | None = None) -> None:
    """Results and gradients of an op beside those of torch in float64."""
    ours, reference, shapes = calls(torch)[name]
    inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
    wide = [x.detach().double().requires_grad_() for x in inputs]
    got, want = (
        result if isinstance(result, tuple) else (result,) for result in ((function or ours)(*inputs), reference(*wide))
    )
    weights = [torch.randn_like(result) for result in got]
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-5)
    found = torch.autograd.grad(got, inputs, weights)
    expected = torch.autograd.grad(want, wide, [weight.double() for weight in weights])
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=1e-5)


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_gradients(name: str, torch: Any) -> None:
    assert set(calls(torch)) == set(NAMES)
    compare(torch, name)


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_tracing(name: str, torch: Any) -> None:
    ops.register_operators()
    torch._dynamo.reset()
    compare(torch, name, torch.compile(calls(torch)[name][0], fullgraph=True, backend="aot_eager"))


@pytest.fixture
def replays_on_the_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have calls recorded and repeated on the virtual GPU, which has no replays otherwise."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    yield
    for row in TABLE.values():
        row.op.lanes.forget()


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("replays_on_the_host")
def test_lanes(name: str, torch: Any) -> None:
    """Calls like the first repeat what was recorded."""
    for _ in range(3):
        compare(torch, name)
    if name != "swiglu":
        assert sum(len(row.op.lanes) for row in {id(row.op): row for row in TABLE.values()}.values()) == 1
    if name == "rms_norm":  # a weight in the place of its shape, and one that begins between multiples of 16 bytes
        x, w = torch.randn(4, 8), torch.randn(9)
        for weight in (w[:8], w[1:], w[:8], torch.rand(8)):
            got, want = ops.rms_norm(x, weight), torch.nn.functional.rms_norm(x, (8,), weight)
            torch.testing.assert_close(got, want)


@pytest.mark.torch
@pytest.mark.usefixtures("replays_on_the_host")
def test_a_tensor_that_is_given_twice(torch: Any) -> None:
    """It has a replay of its own, which does not take one tensor for two; nor does the replay of a gradient."""
    a, b = torch.randn(2, 4, 8)
    for gate, up in ((a, a), (a, b), (b, a), (b, b)):
        torch.testing.assert_close(ops.swiglu(gate, up), torch.nn.functional.silu(gate) * up)
    assert len(TABLE["swiglu"].op.lanes) == 2
    x = torch.randn(4, 8, requires_grad=True)
    for weigh in (lambda y: y, lambda y: y * 2, torch.ones_like):
        results = []
        for function in (ops.softmax, lambda t: torch.softmax(t, -1)):
            y = function(x)
            results.append(torch.autograd.grad(y, x, weigh(y.detach())))
        torch.testing.assert_close(*results)


@pytest.mark.torch
def test_calls_without_gradients_compute_no_statistics(torch: Any) -> None:
    x, w = torch.randn(3, 8), torch.randn(8)
    called = ops.rms_norm(x, (8,), w, 1e-5), ops.layer_norm(x, (8,), w)
    for result, norm, more in zip(called, ("RMS_NORM", "LAYER_NORM"), ((w,), (w, None)), strict=True):
        described = getattr(sys.modules["flydsl.ops.norms"], norm)
        bare, full = (described.run(x, *more, 1e-5, 8, kept=kept) for kept in (False, True))
        assert (len(bare), len(full)) == (1, described.results)
        for found in (bare[0], full[0]):
            torch.testing.assert_close(found, result, rtol=0, atol=0)


@pytest.mark.torch
def test_out_is_known_to_have_changed(torch: Any) -> None:
    x, weight, out = torch.randn(4, 8), torch.randn(4, 8, requires_grad=True), torch.randn(4, 8)
    loss = (out * weight).sum()
    ops.softmax(x, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
        ops.softmax(x, out=weight)
    with torch.inference_mode():
        torch.testing.assert_close(ops.softmax(x, out=torch.empty(4, 8)), torch.softmax(x, -1))


@pytest.mark.torch
def test_what_is_left_to_torch(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op, "_warned", set())
    x = torch.randn(3, 8, dtype=torch.float64)
    with pytest.warns(RuntimeWarning, match="flydsl.ops.softmax leaves this to torch: elements of torch.float64"):
        torch.testing.assert_close(ops.softmax(x), torch.softmax(x, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ops.softmax(x)  # one warning for a reason
    y = x.float()
    with pytest.warns(RuntimeWarning, match="dimension 0 is not the last"):
        torch.testing.assert_close(ops.softmax(y, 0), torch.softmax(y, 0))
    weight = torch.rand(8)
    with pytest.warns(RuntimeWarning, match="weights of classes"):
        got = ops.cross_entropy(y, torch.tensor([0, 1, 2]), weight)
    torch.testing.assert_close(got, torch.nn.functional.cross_entropy(y, torch.tensor([0, 1, 2]), weight))


@pytest.mark.torch
def test_tensors_that_torch_refuses(torch: Any) -> None:
    x = torch.randn(3, 8, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"out=\.\.\. arguments don't support automatic differentiation"):
        ops.softmax(x, out=torch.empty(3, 8))
    with pytest.raises(TypeError, match="do not mix"):
        ops.rms_norm(x, (8,), np.zeros(8, np.float32))
    with torch.no_grad():
        out = torch.empty(3, 8)
        assert ops.softmax(x, out=out) is out
    torch.testing.assert_close(ops.softmax(x, dtype=torch.float16), torch.softmax(x, -1, dtype=torch.float16))


@pytest.mark.torch
def test_misaligned_tensors(torch: Any) -> None:
    memory = torch.randn(100)
    x = memory[1:97].reshape(3, 32)
    torch.testing.assert_close(ops.softmax(x), torch.softmax(x, -1))
    assert arrays.rows(x).data_ptr() % 16 == 0
