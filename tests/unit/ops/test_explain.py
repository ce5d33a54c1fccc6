"""`ops.explain` beside the calls that it speaks of: every op, every parameter, by position and by keyword."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from time import sleep
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.ops import explained_calls, op, replays
from flydsl.ops.table import TABLE

torch: Any = pytest.importorskip("torch", reason="some calls are left to torch")
Arguments = dict[str, Any]
Cases = tuple[Arguments, list[Arguments]]


@pytest.fixture(autouse=True)
def _target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def half(*shape: int) -> Any:
    return torch.randn(*shape).half() / 8


def ints(*numbers: int) -> Any:
    return torch.tensor(numbers, dtype=torch.int32)


def narrow(*shape: int) -> Any:
    return torch.ones(*shape).to(torch.float8_e4m3fn)


def rows_of_ops() -> dict[str, Cases]:
    """Name -> (a call that kernels take, with every parameter, and what others have instead)."""
    x, w, wide = torch.randn(4, 8), torch.randn(8), torch.randn(4, 8, dtype=torch.float64)
    grown = torch.randn(4, 8, requires_grad=True)
    outs: list[Arguments] = [
        {"out": torch.empty(4, 8)}, {"out": torch.empty(3, 8)}, {"out": [1.0]},
        {"out": torch.empty(4, 8), "input": grown},
    ]  # fmt: skip
    norm = {"input": x, "weight": w, "eps": 1e-5}
    of_norms: list[Arguments] = [{"weight": w.half()}, {"weight": w[:4]}, {"input": wide}, {"eps": "small"}]
    of_shapes: list[Arguments] = [
        {"normalized_shape": w, "weight": None}, {"normalized_shape": None}, {"normalized_shape": (7,)},
        {"normalized_shape": w}, {"normalized_shape": w.double(), "weight": None},
        {"normalized_shape": (4, 8), "weight": None, "bias": None, "out": torch.empty(4, 7)},
        {"normalized_shape": (4, 8), "weight": None, "bias": None, "out": torch.empty(4, 8), "input": grown},
    ]  # fmt: skip
    glu: Cases = (
        {"input": x, "up": x + 1, "out": None},
        [{"up": None}, {"up": x.half()}, {"up": x[:2]}, {"input": x[:, :7], "up": None}, *outs],
    )
    scaled: Arguments = {
        "input": narrow(4, 16), "mat2": narrow(8, 16).T, "scale_a": torch.ones(1), "scale_b": torch.ones(1),
        "bias": None, "out_dtype": torch.float16, "use_fast_accum": False,
    }  # fmt: skip
    return {
        "softmax": (
            {"input": x, "dim": -1, "dtype": None, "out": None},
            [{"dim": 0}, {"dim": 5}, {"dim": 0.5}, {"dtype": torch.float64}, {"dtype": torch.float16},
             {"input": wide}, {"input": wide, "dtype": torch.float32}, {"input": x.tolist()}, *outs],
        ),
        "rms_norm": ({**norm, "normalized_shape": (8,), "out": None}, [*of_norms, *of_shapes, *outs]),
        "layer_norm": (
            {**norm, "normalized_shape": (8,), "bias": w, "out": None},
            [*of_norms, *of_shapes, *outs, {"bias": w.half()}, {"bias": w[:4]}, {"bias": None}],
        ),
        "add_rms_norm": ({**norm, "residual": x}, [*of_norms, {"residual": wide}, {"residual": x[:2]}]),
        "add_layer_norm": (
            {**norm, "residual": x, "bias": w},
            [*of_norms, {"residual": wide}, {"residual": x[:2]}, {"bias": w.half()}, {"weight": None}],
        ),
        "cross_entropy": (
            {"input": x, "target": torch.tensor([1, 2, -1, 3]), "weight": None, "ignore_index": -1,
             "reduction": "sum", "label_smoothing": 0.1},
            [{"weight": w}, {"target": x.softmax(-1)}, {"target": wide.softmax(-1)}, {"ignore_index": -100},
             {"target": torch.tensor([1, 2, 3, 8])}, {"target": torch.tensor([1, 2])}, {"reduction": "all"},
             {"label_smoothing": 2.0}, {"input": wide}, {"target": torch.tensor([1.0, 2.0, 3.0, 4.0])}],
        ),
        "swiglu": glu,
        "geglu": ({**glu[0], "approximate": "tanh"}, [*glu[1], {"approximate": "none"}, {"approximate": "erf"}]),
        "rope": (
            {"input": torch.randn(2, 3, 2, 8), "cos": torch.rand(3, 4), "sin": torch.rand(3, 4), "interleaved": True},
            [{"cos": torch.rand(3, 4, dtype=torch.float64)}, {"sin": torch.rand(2, 4)},
             {"cos": torch.rand(3, 4, requires_grad=True)}, {"interleaved": False}, {"input": x}],
        ),
        **of_attention(),
        **of_products(x, wide, grown),
        "scaled_mm": (
            scaled,
            [{"input": torch.randn(4, 16)}, {"mat2": narrow(16, 8)[:8]}, {"scale_a": torch.ones(3)},
             {"out_dtype": torch.int8}, {"bias": torch.ones(5)}, {"use_fast_accum": True}],
        ),
        **of_quantisers(x, wide),
    }  # fmt: skip


def of_attention() -> dict[str, Cases]:
    h = half(1, 2, 4, 32)
    q, k = half(2, 4, 32), half(5, 16, 1, 32)
    places: Arguments = {"block_tables": ints(0, 1)[:, None], "context_lens": ints(1, 3)}
    of_places: list[Arguments] = [
        {"block_tables": ints(0, 5)[:, None]}, {"context_lens": ints(1, 17)}, {"context_lens": torch.ones(2)},
        {"block_tables": ints(0)}, {"q": q.float()}, {"q": q[..., :16]}, {"scale": float("inf")},
    ]  # fmt: skip
    alone: Arguments = {"attn_mask": None, "is_causal": True, "scale": 0.5}
    features: Arguments = {
        **alone, "window": (3, 0), "softcap": 5.0, "alibi_slopes": torch.ones(2), "sinks": torch.ones(2),
        "cu_seqlens_q": None, "cu_seqlens_k": None, "max_seqlen_q": None, "max_seqlen_k": None, "deterministic": True,
    }  # fmt: skip
    flat = half(4, 2, 32)
    ragged: Arguments = {"q": flat, "k": flat, "v": flat, "cu_seqlens_q": ints(0, 1, 4), "sinks": None}
    return {
        "scaled_dot_product_attention": (
            {"query": h, "key": h, "value": h, **alone, "dropout_p": 0.0, "enable_gqa": False},
            [{"dropout_p": 0.5}, {"query": h.float()}, {"key": h[:, :, :2]}, {"attn_mask": torch.ones(4, 4).half()},
             {"scale": None}, {"query": half(1, 4, 4, 32)}, {"query": half(1, 4, 4, 32), "enable_gqa": True}],
        ),
        "attention": (
            {"q": h, "k": h, "v": h, **features},
            [{"q": h.float()}, {"window": (-1, 0)}, {"softcap": -1.0}, {"sinks": torch.ones(3)}, {"k": h[0]},
             {"alibi_slopes": torch.ones(5)}, {**ragged, "cu_seqlens_k": ints(0, 1, 4), "max_seqlen_k": 3},
             {**ragged, "cu_seqlens_k": ints(0, 1, 5)}, {**ragged, "cu_seqlens_k": ints(0, 1, 4), "max_seqlen_q": 2}],
        ),
        "paged_attention": (
            {"q": q, "k_cache": k, "v_cache": k.clone(), **places, "scale": 0.5, "window": 4, "softcap": 0.0,
             "sinks": torch.ones(4), "k_scale": 1.0, "v_scale": 1.0},
            [*of_places, {"window": -1}, {"v_cache": k[:4]}, {"sinks": torch.ones(3)}, {"k_scale": float("nan")}],
        ),
        "mla_decode": (
            {"q": q, "kv_cache": k[:, :, 0], **places, "dv": 32, "scale": 0.5, "kv_scale": 1.0},
            [*of_places, {"dv": 64}, {"kv_cache": k}, {"kv_scale": float("nan")}],
        ),
    }  # fmt: skip


def of_products(x: Any, wide: Any, grown: Any) -> dict[str, Cases]:
    codes: Arguments = {"weight": torch.zeros(1, 1, 512, dtype=torch.int32), "scales": half(40, 1)}
    experts: Arguments = {"input": half(3, 64), "router": half(3, 2), "w1": half(2, 128, 64), "w2": half(2, 64, 64)}
    listed = ints(0, 1, 0)[:, None], torch.ones(3, 1)
    return {
        "matmul": (
            {"input": x, "other": x.T, "out": None},
            [{"other": x}, {"other": wide.T}, {"other": torch.tensor(1.0)}, {"out": torch.empty(4, 4)},
             {"out": torch.empty(4, 3)}, {"input": x[0], "out": torch.empty(1, 4)},
             {"input": grown[0], "out": torch.empty(4)},
             {"input": x[:, :0], "other": x.T[:0], "out": torch.empty(4, 4)}],
        ),
        "linear": (
            {"input": x, "weight": x, "bias": x[0, :4]},
            [{"bias": x[0]}, {"bias": x[0, :1]}, {"weight": wide}, {"weight": x[0]}, {"weight": x[:, :7]}],
        ),
        "grouped_mm": (
            {"mat_a": half(4, 16), "mat_b": half(2, 16, 8), "offs": ints(1, 4), "bias": None, "out_dtype": None},
            [{"offs": ints(1, 5)}, {"offs": ints(3, 1)}, {"offs": None}, {"out_dtype": torch.float32},
             {"bias": half(2, 8)}, {"mat_a": half(4, 8)}, {"offs": torch.tensor([1, 4])}],
        ),
        "linear_int4": (
            {"input": half(3, 64), **codes, "zeros": half(40, 1), "bias": half(40), "group_size": 64, "kind": "int4"},
            [{"group_size": 128.0}, {"kind": "fp4"}, {"bias": half(5)}, {"scales": half(40)}, {"input": x},
             {"zeros": half(40, 3)}],
        ),
        "moe": (
            {**experts, "topk": 1, "kind": "plain", "renormalize": False, "expert_mask": ints(1, 1), "atomic": True,
             "out": None},
            [{"topk": None}, {"topk": 3}, {"w2": None}, {"input": half(3, 128)}, {"input": x}, {"router": listed},
             {"router": half(3, 3)}, {"router": half(2, 2)}, {"expert_mask": ints(1, 1, 1)}, {"kind": "fp4"},
             {"out": half(3, 64)}, {"expert_mask": None, "input": torch.randn(3, 64), "w1": torch.randn(2, 128, 64),
              "w2": torch.randn(2, 64, 64)},
             {"out": half(2, 64)}, {"out": half(3, 64), "input": half(3, 64).requires_grad_()},
             {"expert_mask": ints(1, 1)[None]}, {"w1": half(2, 128, 64).bfloat16()}],
        ),
    }  # fmt: skip


def of_quantisers(x: Any, wide: Any) -> dict[str, Cases]:
    square, of_rows = torch.randn(128, 128), {"input": x, "dtype": "fp8"}
    others: list[Arguments] = [{"input": wide}, {"dtype": "fp3"}]
    return {
        "quantize_per_token": (of_rows, others),
        "quantize_per_tensor": (of_rows, others),
        "quantize_mx": ({"input": square, "dtype": "mxfp4"}, [*others, {"input": x}]),
        "quantize_blocks": (
            {"input": square, "block": (1, 128), "dtype": "fp8"},
            [*others, {"input": x}, {"block": (128, 128)}, {"block": (1.0, 128.0)}, {"block": 128}],
        ),
    }


def as_array(value: Any) -> Any:
    """Return what NumPy has for a tensor, a type or several of them."""
    if isinstance(value, tuple):
        return tuple(map(as_array, value))
    if isinstance(value, torch.dtype):
        return getattr(np, str(value).removeprefix("torch."))
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach()
    for kind, bits, name in ((torch.bfloat16, torch.int16, "bfloat16"), (torch.float8_e4m3fn, torch.uint8, None)):
        if value.dtype is kind:
            return value.view(bits).numpy().view(getattr(ml_dtypes, name or "float8_e4m3fn"))
    return value.numpy()


def called(name: str, call: Callable[[], Any]) -> str:
    """Return what a call does, in the words of `explain`; an error as itself."""
    op._warned.clear()
    error = None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as raised:
            error = raised
    start = f"flydsl.ops.{name} leaves this to torch: "
    for warning in heard:
        if str(warning.message).startswith(start):
            return f"{name} is left to torch: {str(warning.message).removeprefix(start)}"
    if error is None:
        return f"{name} runs FlyDSL's kernels"
    if str(error).startswith(f"flydsl.ops.{name}: ") and type(error) is TypeError:
        return f"{name} is refused: {str(error).removeprefix(f'flydsl.ops.{name}: ')}"
    return f"{type(error).__name__}: {error}"


def explained(name: str, *arguments: Any, **options: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            text = ops.explain(name, *arguments, **options)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return text.split(" (")[0] if "runs FlyDSL's kernels" in text else text


def by_position(name: str, given: Arguments) -> tuple[tuple[Any, ...], Arguments]:
    bound = signature(TABLE[name].function).bind(**given)
    return bound.args, bound.kwargs


NAMES = sorted(set(TABLE) - {"all_reduce"})
"""`all_reduce` needs ranks, and has tests of its own."""
OF_AMD = ("attention", "matmul", "mla_decode", "moe", "paged_attention")
"""Ops that have kernels of their own there."""
CASES = [*(("sm_90a", name) for name in NAMES), *(("gfx942", name) for name in OF_AMD)]


@pytest.mark.torch
@pytest.mark.parametrize(("arch", "name"), CASES)
def test_what_is_said_is_what_is_done(arch: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether kernels run, torch is left with it, it is refused, or an error, and why; for arrays of NumPy too."""
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setattr(op, "_warned", set())
    rows = rows_of_ops()
    assert set(rows) == set(NAMES)
    usual, others = rows[name]
    assert set(usual) == set(signature(TABLE[name].function).parameters), "every parameter"
    said = set()
    for change in ({}, *others):
        for kind in (lambda value: value, as_array):
            given = {key: kind(value) for key, value in {**usual, **change}.items() if key in usual}
            arguments, options = by_position(name, given)
            want = called(name, lambda: TABLE[name].function(**given))  # noqa: B023
            assert explained(name, **given) == explained(name, *arguments, **options) == want, change
            said.add(want.split(" ")[1] if want.startswith(name) else "error")
        if not change:
            assert said == {"runs"}
    assert "error" in said or "is" in said


@pytest.mark.torch
def test_arguments_that_no_call_takes() -> None:
    x = torch.randn(4, 8)
    for wrong in (
        lambda call: call(x, nothing=1), lambda call: call(), lambda call: call(x, input=x),
        lambda call: call(x, -1, None, x),
    ):  # fmt: skip
        errors = []
        for call in (ops.softmax, lambda *a, **k: ops.explain(ops.softmax, *a, **k)):
            with pytest.raises(TypeError) as caught:
                wrong(call)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]


@pytest.fixture
def recorded() -> Iterator[None]:
    yield
    for row in TABLE.values():
        row.op.lanes.forget()


@pytest.mark.torch
@pytest.mark.usefixtures("recorded")
def test_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of calls that are repeated, and those whose arguments torch converts first."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    stopped: list[int] = []

    def stop(*_: Any) -> None:
        stopped.append(1)
        raise op.Answer

    monkeypatch.setattr(explained_calls, "_launches", stop)
    x, w = torch.randn(4, 8), torch.nn.Parameter(torch.randn(8))
    for call, given in (
        (ops.softmax, (x,)), (ops.softmax, (x.double(), -1, torch.float32)), (ops.rms_norm, (x, w)),
        (ops.linear, (x, w[None], w[:1])),
    ):  # fmt: skip
        for _ in range(3):
            call(*given)
        lanes = TABLE[call.__name__].op.lanes
        known = len(lanes)
        stopped.clear()
        for _ in range(3):
            assert "runs FlyDSL's kernels" in ops.explain(call, *given)
        assert len(stopped) == 3 and len(lanes) == known, call.__name__


@pytest.mark.torch
def test_nothing_is_written() -> None:
    """A product of no terms is zeros, which the host writes."""
    out = torch.full((4, 4), 7.0)
    for a, b, result in (
        (torch.randn(4, 8), torch.randn(8, 4), out), (torch.randn(4, 0), torch.randn(0, 4), out),
        (np.ones((4, 0), np.float32), np.ones((0, 4), np.float32), out.numpy()[::-1]),
    ):  # fmt: skip
        version = out._version
        assert "runs FlyDSL's kernels" in ops.explain(ops.matmul, a, b, out=result)
        assert (out == 7).all() and out._version == version
    ops.matmul(torch.randn(4, 0), torch.randn(0, 4), out=out)
    assert not out.any()


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops:RuntimeWarning")
def test_other_threads_call_meanwhile() -> None:
    x, found = torch.randn(4, 8), []

    def call() -> None:
        found.append(ops.softmax(x))
        found.append(ops.softmax(x.double()))

    def meanwhile() -> None:
        worker = threading.Thread(target=call)
        worker.start()
        worker.join()
        ops.softmax(x)
        raise AssertionError("this thread stops at its launch")

    assert explained_calls.answer_of(meanwhile, (), {}) is None
    torch.testing.assert_close(found[0], torch.softmax(x, -1))
    assert found[1].dtype is torch.float64


def test_one_warning_for_a_reason_whatever_threads_call(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(set[tuple[str, str]]):
        def __contains__(self, reason: object) -> bool:
            known = super().__contains__(reason)
            sleep(0.01)
            return known

    monkeypatch.setattr(op, "_warned", Slow())

    def call() -> None:
        ops.softmax(torch.zeros(2, 3), 0)

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        workers = [threading.Thread(target=call) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len(heard) == 1
