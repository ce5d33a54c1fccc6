"""Functions of ops that native code answers: it makes the calls that their code would, and leaves others to it."""

from __future__ import annotations

import ctypes
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.compiler.calls.native_call import calls_are_native
from flydsl.ops import arrays, function_entries, replays
from flydsl.ops.op import Constant, Entry, Op, Ordered
from flydsl.ops.table import TABLE

torch: Any = pytest.importorskip("torch", reason="native code answers calls on torch tensors")
ENTRIES = {entry.function.__name__: (row.op, entry) for row in TABLE.values() for entry in row.op.entries}
CALLS: dict[str, list[Callable[[Any, Any, Any], Any]]] = {
    "softmax": [lambda f, x, w: f(x), lambda f, x, w: f(x, dim=1), lambda f, x, w: f(dim=-1, input=x)],
    "rms_norm": [lambda f, x, w: f(x, (32,), w), lambda f, x, w: f(x, 32, eps=1e-3), lambda f, x, w: f(x, 32, w, 1e-3),
                 lambda f, x, w: f(x, w), lambda f, x, w: f(x, eps=1.0, normalized_shape=w)],
    "layer_norm": [lambda f, x, w: f(x, (32,), w, w), lambda f, x, w: f(x, (32,), bias=w), lambda f, x, w: f(x, 32),
                   lambda f, x, w: f(x, w, bias=w)],
    "add_rms_norm": [lambda f, x, w: f(x, x, w), lambda f, x, w: f(x, residual=x, eps=1e-3)],
    "add_layer_norm": [lambda f, x, w: f(x, x, w), lambda f, x, w: f(x, x, None, w, 1e-3)],
    "swiglu": [lambda f, x, w: f(x, x), lambda f, x, w: f(x, up=x)],
    "rope": [lambda f, x, w: f(x.view(2, 4, 16), ANGLES, ANGLES),
             lambda f, x, w: f(x.view(2, 4, 16), ANGLES, sin=ANGLES, interleaved=True)],
    "scaled_dot_product_attention": [lambda f, x, w: f(HEADS, HEADS, HEADS, is_causal=True),
                                     lambda f, x, w: f(HEADS, HEADS, value=HEADS, scale=2.0)],
    "attention": [lambda f, x, w: f(HEADS, HEADS, HEADS), lambda f, x, w: f(HEADS, HEADS, HEADS, window=(1, 0)),
                  lambda f, x, w: f(HEADS, HEADS, HEADS, deterministic=True)],
}  # fmt: skip
ANGLES, HEADS = torch.ones(2, 8), torch.randn(1, 2, 4, 32).half()
NATIVE = hasattr(ctypes.pythonapi, "PyFunction_SetVectorcall")


@cache
def entered(name: str) -> Any:
    """Return the native code as Python calls it, also where no function of this Python can have it."""
    op, entry = ENTRIES[name]
    if NATIVE:
        return entry.function
    op.lanes.open(op.tensors, op.derived, op.passed)
    many = ctypes.POINTER(ctypes.py_object)
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, many, ctypes.c_uint64, ctypes.py_object)
    bare = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, many, ctypes.c_uint64, ctypes.c_void_p)
    address = function_entries.entered(entry, op.lanes.again)

    def call(*given: Any, **named: Any) -> Any:
        values = (ctypes.py_object * max(len(given) + len(named), 1))(*given, *named.values())
        if not named:
            return bare(address)(entry.function, values, len(given) | 1 << 63, None)
        return kind(address)(entry.function, values, len(given), tuple(map(sys.intern, named)))

    return call


@pytest.fixture(autouse=True)
def lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls on the virtual GPU are repeated, and forgotten at the end."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    yield
    for op, _ in ENTRIES.values():
        op.lanes.forget()


def code_runs(function: Any, call: Callable[[], Any]) -> bool:
    """Return whether a call runs the code of a function."""
    seen: list[Any] = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code))
    try:
        call()
    finally:
        sys.setprofile(None)
    return function.__code__ in seen


def flat(found: Any) -> list[Any]:
    return [*found] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_give_what_the_code_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each parameter in its place, and others as the code has them."""
    op, entry = ENTRIES[name]
    own: Any = entry.function
    code = types.FunctionType(own.__code__, own.__globals__, name, own.__defaults__)
    code.__kwdefaults__ = own.__kwdefaults__
    seen: list[Any] = []
    monkeypatch.setattr(op.lanes, "again", lambda *given: seen.append(given) or "an answer")
    values: dict[str, Any] = {
        one: None if one in entry.absent else f"the {one}" for one in inspect.signature(own).parameters
    }
    for order in ("the deterministic", None):
        if "deterministic" in values:
            values["deterministic"] = order
        assert code(**values) == "an answer"
        expected = [values.get(one.name or "") if isinstance(one, Ordered) else one for one in entry.given]
        expected = [arrays.is_ordered() if value is None else value for value in expected]
        expected = [value.value if isinstance(value, Constant) else values.get(value, value) for value in expected]
        assert seen.pop() == tuple(expected)


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_can_be_repeated_run_no_code(name: str) -> None:
    """With and without gradients, arguments in their places and by their names; results are those of the code."""
    assert calls_are_native()
    function, native = getattr(ops, name), entered(name)
    for call in CALLS[name]:
        for wants in (False, True):
            x, w = torch.randn(4, 32, requires_grad=wants), torch.randn(32)
            want, *_ = [call(function, x, w) for _ in range(3)]
            assert not code_runs(function, partial(call, native, x, w))
            for a, b in zip(flat(call(native, x, w)), flat(want), strict=True):
                assert torch.equal(a, b) and a.requires_grad == b.requires_grad


def test_calls_that_are_left_to_the_code() -> None:
    """Those with other tensors, with what is no part of a replay, and those that are wrong, in Python's words."""
    x, w, native = torch.randn(4, 32), torch.randn(32), entered("rms_norm")
    for _ in range(3):
        ops.rms_norm(x, (32,), w)
    others: list[Callable[[], Any]] = [
        lambda: native(x[:2], (32,), w), lambda: native(x, (32,), w, out=torch.empty_like(x)),
        lambda: native(x, [32], w), lambda: native(np.ones((2, 32), np.float32), (32,)),
    ]  # fmt: skip
    assert not code_runs(ops.rms_norm, lambda: native(x, (32,), w)) and all(code_runs(ops.rms_norm, f) for f in others)
    torch.testing.assert_close(native(x[:2], (32,), w), ops.rms_norm(x, (32,), w)[:2])
    for wrong, words in (
        (lambda: native(), "missing 1 required positional argument: 'input'"),
        (lambda: native(x, (32,), w, 1e-5, None), "takes from 1 to 4 positional arguments"),
        (lambda: native(x, (32,), wait=w), "unexpected keyword argument 'wait'"),
        (lambda: native(x, (32,), input=x), "multiple values for argument 'input'"),
        (lambda: native(x, (31,), w), "expected input with shape"),
    ):
        with pytest.raises((TypeError, RuntimeError, ValueError), match=words):
            wrong()


def test_torch_s_setting_of_order_tells_calls_apart() -> None:
    """It is asked for at each call, unless a parameter says it."""
    arrays.met_torch()
    lanes, native = TABLE["attention"].op.lanes, entered("attention")
    for _ in range(3):
        ops.attention(HEADS, HEADS, HEADS)
    assert len(lanes) == 1
    torch.use_deterministic_algorithms(True)
    try:
        assert code_runs(ops.attention, lambda: native(HEADS, HEADS, HEADS)) and len(lanes) == 2
        assert not code_runs(ops.attention, lambda: native(HEADS, HEADS, HEADS, deterministic=False))
    finally:
        torch.use_deterministic_algorithms(False)
    assert not code_runs(ops.attention, lambda: native(HEADS, HEADS, HEADS))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # what torch loads for its compiler
def test_torch_s_compiler_sees_the_code() -> None:
    """Also of a function that is compiled by itself, and of one that was repeated before."""
    ops.register_operators()
    x, graphs = torch.randn(4, 32), []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    want, *_ = [ops.softmax(x) for _ in range(3)]
    for function in (ops.softmax, lambda x: ops.softmax(x)):
        torch.compiler.reset()
        found = torch.compile(function, backend=backend, fullgraph=True)(x)
        assert torch.equal(found, want)
    assert len(graphs) == 2 and all("flydsl.softmax" in graph.code for graph in graphs)


def test_functions_of_this_python() -> None:
    """Where Python knows of native code for functions, a call of a recorded one runs none of its own."""
    x = torch.randn(4, 32)
    for _ in range(3):
        ops.softmax(x)
    assert code_runs(ops.softmax, lambda: ops.softmax(x)) is not NATIVE


def test_entries_name_what_there_is() -> None:
    op: Op = TABLE["softmax"].op
    assert [entry.function for entry in op.entries] == [ops.softmax]
    with pytest.raises(ValueError, match="'nothing' is not in list"):
        function_entries.entered(Entry(ops.softmax, ("nothing",), ()), op.lanes.again)
