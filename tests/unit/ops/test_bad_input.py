"""Every op beside torch on what should not be: wrong types, ranks, devices, lengths and indices, and nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.ops.table import TABLE


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def half(*shape: int) -> np.ndarray:
    return zeros(*shape, dtype=np.float16)


PLACES = np.zeros((2, 1), np.int32), np.ones(2, np.int32)
TABLES = zeros(5, 3), zeros(5, 3)
EIGHT = np.zeros((4, 16), "float8_e4m3fn"), np.zeros((16, 8), "float8_e4m3fn")
ONE = np.ones(1, np.float32)
INT4 = np.zeros((1, 1, 512), np.int32), half(40, 1)
EXPERTS = half(2, 128, 64), half(2, 64, 64)

CALLS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "softmax": (ops.softmax, [zeros(4, 8)]),
    "rms_norm": (lambda x, w: ops.rms_norm(x, (8,), w), [zeros(4, 8), zeros(8)]),
    "layer_norm": (lambda x, w, b: ops.layer_norm(x, (8,), w, b), [zeros(4, 8), zeros(8), zeros(8)]),
    "add_rms_norm": (ops.add_rms_norm, [zeros(4, 8), zeros(4, 8), zeros(8)]),
    "add_layer_norm": (ops.add_layer_norm, [zeros(4, 8), zeros(4, 8), zeros(8), zeros(8)]),
    "cross_entropy": (ops.cross_entropy, [zeros(4, 8), np.zeros(4, np.int64)]),
    "swiglu": (ops.swiglu, [zeros(4, 8), zeros(4, 8)]),
    "geglu": (ops.geglu, [zeros(4, 8), zeros(4, 8)]),
    "rope": (ops.rope, [zeros(2, 5, 3, 6), *TABLES]),
    "attention": (ops.attention, [half(1, 2, 4, 32)] * 3),
    "scaled_dot_product_attention": (ops.scaled_dot_product_attention, [half(1, 2, 4, 32)] * 3),
    "paged_attention": (ops.paged_attention, [half(2, 4, 32), half(5, 16, 1, 32), half(5, 16, 1, 32), *PLACES]),
    "mla_decode": (lambda *a: ops.mla_decode(*a, dv=32), [half(2, 4, 32), half(5, 16, 32), *PLACES]),
    "matmul": (ops.matmul, [zeros(4, 8), zeros(8, 3)]),
    "linear": (ops.linear, [zeros(4, 8), zeros(3, 8), zeros(3)]),
    "scaled_mm": (ops.scaled_mm, [*EIGHT, ONE, ONE]),
    "grouped_mm": (lambda a, b, o: ops.grouped_mm(a, b, offs=o), [half(4, 16), half(2, 16, 8), PLACES[1]]),
    "linear_int4": (lambda *a: ops.linear_int4(*a, group_size=64), [half(3, 64), *INT4]),
    "moe": (lambda x, r, a, b: ops.moe(x, r, a, b, topk=1), [half(3, 64), half(3, 2), *EXPERTS]),
    "quantize_per_token": (ops.quantize_per_token, [zeros(4, 8)]),
    "quantize_per_tensor": (ops.quantize_per_tensor, [zeros(4, 8)]),
    "quantize_mx": (ops.quantize_mx, [zeros(4, 32)]),
    "quantize_blocks": (ops.quantize_blocks, [zeros(4, 128)]),
}
"""Each op with arguments that it takes; `all_reduce` needs ranks, and has tests of its own."""
OPTIONAL = {
    ("linear", 2), ("rms_norm", 1), ("layer_norm", 1), ("layer_norm", 2), ("add_rms_norm", 2), ("add_layer_norm", 2),
    ("add_layer_norm", 3), ("swiglu", 1), ("geglu", 1),
}  # fmt: skip
"""Arguments that may be None, by their places."""


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_are_no_such_arrays(name: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each argument as a list, as nothing, of a type that nobody takes, of the other library, and on another device."""
    monkeypatch.setenv("ARCH", "sm_90a")
    assert set(CALLS) | {"all_reduce"} == set(TABLE)
    call, given = CALLS[name]
    for place, good in enumerate(given):

        def using(wrong: Any, place: int = place) -> None:
            call(*given[:place], wrong, *given[place + 1 :])

        if (name, place) != ("moe", 1):  # there a list is ids and weights
            with pytest.raises(TypeError, match="expected a tensor of torch or an array of NumPy, got list"):
                using(good.tolist())
        if (name, place) not in OPTIONAL:
            words = r"array of NumPy.*got None|w1 goes with w2|where offs says"
            with pytest.raises((TypeError, ValueError), match=words):
                using(None)
        with pytest.raises((TypeError, ValueError, RuntimeError), match="complex64"):
            using(good.astype(np.complex64))
        if len(given) > 1:
            with pytest.raises(TypeError, match="do not mix"):
                using(torch.zeros(good.shape))
    tensors = [torch.zeros(x.shape, dtype=getattr(torch, x.dtype.name)) for x in given]
    for place in range(1, len(tensors)):
        moved = [x.to("meta") if index == place else x for index, x in enumerate(tensors)]
        with pytest.raises(RuntimeError, match="on the same device"):
            call(*moved)
    for place, dense in enumerate(tensors):
        sparse = torch.sparse_coo_tensor(size=dense.shape, dtype=dense.dtype, check_invariants=True)
        with pytest.raises(
            TypeError, match=r"expected a dense tensor, got one of layout torch.sparse_coo: pass x.to_d"
        ):
            call(*tensors[:place], sparse, *tensors[place + 1 :])


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors_are_refused(layout: str, torch: Any) -> None:
    x = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(2, 8)], layout=getattr(torch, layout))
    for call in (ops.softmax, ops.rms_norm, ops.swiglu, ops.quantize_per_token):
        with pytest.raises(
            TypeError, match=r"expected a dense tensor, got a nested one: pass torch.nested.to_padded_t"
        ):
            call(x)


@pytest.mark.torch
def test_masked_arrays_are_refused() -> None:
    """Also those that lie apart: a copy of them would have no mask."""
    x = np.ma.array(np.ones((3, 8), np.float32), mask=np.eye(3, 8) > 0)
    targets = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    for call in (
        lambda: ops.softmax(x[:, ::2]), lambda: ops.matmul(x[:, ::-1], np.ones((8, 2), np.float32)),
        lambda: ops.cross_entropy(x.data, targets), lambda: ops.softmax(x.data, out=x),
        lambda: ops.quantize_per_token(x[::-1]),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"expected a dense array, got one with a mask: pass x\.filled"):
            call()


def test_tensors_whose_memory_is_not_their_numbers(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative views, as those of conjugates are, and zeros that have no memory: as torch, ops take their numbers."""
    monkeypatch.setenv("ARCH", "sm_90a")
    f, close = torch.nn.functional, torch.testing.assert_close
    x, w = torch.randn(3, 8), torch.randn(8)
    for _ in range(4):  # recorded calls are for plain tensors alone
        close(ops.softmax(x), x.softmax(-1))
        close(ops.softmax(torch._neg_view(x)), (-x).softmax(-1))
        close(ops.softmax(torch._efficientzerotensor((3, 8))), torch.full((3, 8), 0.125))
        close(ops.rms_norm(x, torch._neg_view(w)), f.rms_norm(x, (8,), -w))
        out = torch.empty(3, 8)
        ops.softmax(x, out=torch._neg_view(out))
        close(-out, x.softmax(-1))
    number = torch.randn(3, 8, dtype=torch.complex64, requires_grad=True)
    got, want = (
        torch.autograd.grad(function(number.conj().imag)[:, 0].sum(), number)[0]
        for function in (ops.softmax, lambda x: x.softmax(-1))
    )
    close(got, want)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops:RuntimeWarning")
def test_errors_of_torch_tell_why_it_was_asked(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning comes once; torch's words alone do not say what to do."""
    monkeypatch.setenv("ARCH", "gfx1201")
    a, b = (torch.zeros(shape).to(torch.float8_e4m3fn) for shape in ((16, 256), (64, 256)))
    for _ in range(2):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            ops.scaled_mm(a, b.t(), torch.ones(16, 2), torch.ones(2, 1))
        assert "flydsl.ops.scaled_mm left this to torch: scales of blocks are for" in caught.value.__notes__[0]


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call gives, or the type of its error."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, RuntimeError, IndexError) as error:
        return type(error)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops:RuntimeWarning")
def test_as_torch_gives(torch: Any) -> None:
    """Results, empty ones above all, and types of errors are torch's."""
    f, labels = torch.nn.functional, torch.tensor([0, 1, 2, 3])
    x, w, one, h = torch.randn(4, 8), torch.randn(8), torch.tensor(1.0), torch.randn(1, 2, 4, 32, dtype=torch.float16)
    big, bytes_ = torch.randn(3, 256), torch.tensor([200, 255, 3], dtype=torch.uint8)
    sdpa = "scaled_dot_product_attention"
    rows: list[tuple[str, Any, tuple[Any, ...]]] = [
        *(("softmax", torch.softmax, (t, dim)) for t, dim in (
            (one, -1), (x, 5), (x, -3), (x.long(), -1), (x[:0], -1), (x[:, :0], -1), (x[:, :0], 0),
            (x.to("meta"), -1))),
        *((name, getattr(f, name), args) for name in ("rms_norm", "layer_norm") for args in (
            (x, (7,)), (x, ()), (x, (8,), w[:4]), (x[:0], (8,), w), (x[:, :0], (0,)), (x.int(), (8,)))),
        ("rms_norm", f.rms_norm, (w, (4, 8))), ("layer_norm", f.layer_norm, (w, (4, 8))),
        ("layer_norm", f.layer_norm, (x, (8,), w, w[:4])),
        *(("cross_entropy", f.cross_entropy, args) for args in (
            (x, labels + 5), (x, labels - 1), (x, labels[:3]), (x, labels[None]), (x, labels.float()),
            (x, labels.to(torch.int8)), (x[:0], labels[:0]), (x[:, :0], labels), (x[:, :0], labels * 0 - 100),
            (x, labels * 0 - 100), (w, torch.tensor(30)), (w, torch.tensor(3)), (x, torch.arange(8)[::2]),
            (big, bytes_), (big[:, :100], bytes_))),
        ("matmul", torch.matmul, (one, x)), ("matmul", torch.matmul, (x, x)), ("matmul", torch.matmul, (x, x.T.half())),
        ("linear", f.linear, (x, x[:, :7])), ("linear", f.linear, (x, x, w)), ("linear", f.linear, (x, x, w[:1])),
        ("linear", f.linear, (x, x, one)),
        *((sdpa, getattr(f, sdpa), args) for args in (
            (h, h, h[..., :3, :]), (h[:, :, :, :0], h, h), (h, h.float(), h), (one.half(), h, h), (h[:0], h[:0], h[:0]),
            (h, h[:, :, :0], h[:, :, :0]), (h[:, :0], h[:, :0], h[:, :0]), (h, h, h, torch.ones(4, 4).int()),
            (torch.cat([h, h]), h, h))),
    ]  # fmt: skip
    for name, theirs, arguments in rows:
        got, want = outcome(getattr(ops, name), arguments), outcome(theirs, arguments)
        about = f"{name} of {[tuple(a.shape) if hasattr(a, 'shape') else a for a in arguments]}: {got}, {want}"
        if isinstance(want, type):
            assert got is want, about
        else:
            assert got.shape == want.shape and got.dtype == want.dtype and got.device == want.device, about
            if want.device.type == "cpu":
                torch.testing.assert_close(got, want, equal_nan=True, msg=about)


@pytest.mark.torch
def test_results_go_where_their_arguments_lie(torch: Any) -> None:
    x, array = torch.zeros(2, 4), zeros(2, 4)
    for given, out, error in ((x, array, TypeError), (array, x, TypeError), (x, x.to("meta"), RuntimeError)):
        for call in (ops.softmax, lambda value, out: ops.layer_norm(value, (2, 4), out=out)):
            with pytest.raises(error, match=r"do not mix|same device"):
                call(given, out=out)


@pytest.mark.torch
def test_gradients_that_are_not_in_memory_as_they_are(torch: Any) -> None:
    """The imaginary part of a conjugate has its sign beside it, and zeros of torch may have no memory at all."""
    x = torch.randn(2, 8, requires_grad=True)
    wide = x.detach().double().requires_grad_()
    gradients = []
    for value, function in ((x, ops.softmax), (wide, lambda t: torch.softmax(t, -1))):
        conjugate = torch.complex(torch.zeros_like(value), function(value)).conj()
        gradients.append(torch.autograd.grad((conjugate * torch.arange(8.0)).imag.square().sum(), value)[0])
    assert torch.allclose(gradients[0].double(), gradients[1], atol=1e-6) and gradients[1].abs().max() > 0.01
    (nothing,) = torch.autograd.grad(ops.softmax(x), x, torch._efficientzerotensor((2, 8)))
    assert not nothing.any()


@pytest.mark.parametrize("name", ["softmax", "rms_norm", "swiglu", "quantize_per_token", "quantize_mx", "attention"])
def test_nothing_is_no_array(name: str) -> None:
    function, arrays = CALLS[name] if name in CALLS else (getattr(ops, name), [zeros(2, 32)])
    with pytest.raises(TypeError, match="got NoneType"):
        function(None, *arrays[1:])


def test_an_empty_result_has_any_strides() -> None:
    """NumPy gives arrays of nothing strides of zero."""
    out = np.empty((40, 0), np.float32).T
    assert ops.softmax(zeros(0, 40), out=out) is out and ops.matmul(zeros(0, 8), zeros(8, 40), out=out) is out


@pytest.mark.torch
def test_bytes_name_classes_in_gradients(torch: Any) -> None:
    x, labels = torch.randn(3, 256, requires_grad=True), torch.tensor([200, 255, 3], dtype=torch.uint8)
    found = [
        torch.autograd.grad(loss(x, labels, ignore_index=255), x)[0]
        for loss in (ops.cross_entropy, torch.nn.functional.cross_entropy)
    ]
    torch.testing.assert_close(*found)


def test_nothing_and_what_lies_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ops that torch does not have: empty batches are empty, and indices of nothing are errors."""
    for result, shape in (
        (ops.swiglu(zeros(0, 8)), (0, 4)), (ops.geglu(zeros(3, 0)), (3, 0)), (ops.swiglu(zeros(), zeros()), ()),
        (ops.add_rms_norm(zeros(0, 8), zeros(0, 8))[1], (0, 8)),
        (ops.add_layer_norm(zeros(3, 0), zeros(3, 0))[0], (3, 0)),
        (ops.rope(zeros(0, 5, 3, 6), *TABLES), (0, 5, 3, 6)), (ops.rope(zeros(2, 5, 0, 6), *TABLES), (2, 5, 0, 6)),
        (ops.rope(zeros(2, 5, 3, 0), zeros(5, 0), zeros(5, 0)), (2, 5, 3, 0)),
        (ops.quantize_per_token(zeros(0, 8))[1], (0, 1)), (ops.quantize_mx(zeros(0, 64))[0], (0, 32)),
        (ops.quantize_blocks(zeros(0, 128), (128, 128))[1], (0, 1)),
        (ops.mla_decode(half(0, 4, 32), half(5, 16, 32), *(p[:0] for p in PLACES), dv=32), (0, 4, 32)),
    ):  # fmt: skip
        assert result.shape == shape
    for quantize in (ops.quantize_per_token, ops.quantize_per_tensor):
        assert (quantize(zeros(3, 0), np.int8)[1] == 1).all()
    cache, q, (tables, lengths) = half(5, 16, 1, 32), half(2, 4, 32), PLACES
    starts = np.array([0, 2, 9], np.int32)
    monkeypatch.setenv("ARCH", "sm_90a")
    for wrong, error, words in (
        (lambda: ops.paged_attention(q, cache, cache, tables + 5, lengths), IndexError, "page 5 is out of bounds"),
        (lambda: ops.paged_attention(q, cache, cache, tables - 1, lengths), IndexError, "page -1 is out of bounds"),
        (lambda: ops.paged_attention(q, cache, cache, tables, lengths + 16), IndexError, "context_lens are 0 to 16"),
        (lambda: ops.mla_decode(q, cache[:, :, 0], tables, -lengths, dv=32), IndexError, "got -1 to -1"),
        (lambda: ops.paged_attention(q, cache, cache, tables[:, :0], lengths * 0), ValueError, "no page to read"),
        (lambda: ops.paged_attention(q[0], cache, cache, tables, lengths), ValueError, "q is .batch, heads, d"),
        (lambda: ops.attention(*[half(5, 2, 32)] * 3, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=7),
         IndexError, "cu_seqlens_q lie within 5 tokens, got 0 to 9"),
        (lambda: ops.grouped_mm(half(4, 16), half(2, 16, 8), offs=np.array([2, 5], np.int32)), IndexError, "of 4 rows"),
        (lambda: ops.linear_int4(half(), *INT4), RuntimeError, r"x is .…, K. and .* got \(\), \(40, 1\)"),
        (lambda: ops.linear_int4(half(3, 64), INT4[0], half()), RuntimeError, r"scales are .N, groups., .* \(\)$"),
        (lambda: ops.moe(half(3, 64), half(), *EXPERTS, topk=1), ValueError, "a router is logits"),
        (lambda: ops.moe(half(3, 64), half(3, 2), half(), EXPERTS[1], topk=1), ValueError, "w1 is .E, 2 inter, model"),
        (lambda: ops.moe(half(3, 64), half(3, 2), *EXPERTS, topk=1, expert_mask=np.ones((1, 2), np.int32)),
         ValueError, r"a number for each expert, and its shape is \(1, 2\)"),
        (lambda: ops.matmul(zeros(4, 8), zeros(8, 3), out=[1]), TypeError, "expected a tensor .* got list"),
        (lambda: ops.quantize_blocks(zeros(128, 128), 128), ValueError, "blocks are"),
        (lambda: ops.rope(zeros(2, 5, 3, 6), zeros(4, 3), zeros(5, 3)), ValueError, "cos and sin are"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            wrong()


def test_pages_of_sequences_that_have_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their tables may say anything: nothing is read there."""
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")
    cache, tables = np.ones((5, 16, 1, 32), np.float16), np.array([[10**8], [-(10**8)], [4]], np.int32)
    found = ops.paged_attention(half(3, 4, 32), cache, cache, tables, np.array([0, 0, 16], np.int32))
    assert found.any(axis=(1, 2)).tolist() == [False, False, True]


@pytest.mark.parametrize("name", ["softmax", "rms_norm", "swiglu"])
def test_more_rows_than_a_launch_takes(name: str) -> None:
    """What is advised works: parts of them are taken."""
    call, given = CALLS[name]
    many = [np.broadcast_to(zeros(1, 1), (1 << 31, 1)) if x.ndim == 2 else zeros(1) for x in given]
    with pytest.raises(TypeError, match="at most 2147483647 rows, and there are 2147483648: pass parts of them"):
        call(*many) if name != "rms_norm" else ops.rms_norm(many[0], (1,))
    parts = [x[:4] for x in many]
    assert (call(*parts) if name != "rms_norm" else ops.rms_norm(parts[0], (1,))).shape == (4, 1)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops")
@pytest.mark.parametrize("name", ["attention", "scaled_dot_product_attention", "paged_attention", "mla_decode"])
def test_attention_of_tensors_that_have_no_memory(name: str, torch: Any) -> None:
    """They are torch's own, or refused."""
    call, given = CALLS[name]
    tensors = [torch.from_numpy(x).to("meta") for x in given]
    if name == "scaled_dot_product_attention":
        assert call(*tensors).is_meta
    else:
        with pytest.raises(TypeError, match="tensors on meta have no kernels"):
            call(*tensors)
