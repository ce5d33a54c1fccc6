"""`fx.require`: conditions of a kernel's author on what a call gives, checked once, before the launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, FlyDSLError


@flyc.kernel
def last(out: fx.Tensor, x: fx.Tensor):
    out[0] = fx.get_iter(x)[fx.size(x) - 1]


@flyc.jit
def of_rows_together(out: fx.Tensor, x: fx.Tensor):
    fx.require(x.stride[0] == x.shape[1], "rows of {} lie {} apart", x.shape[1], x.stride[0], hint="copy them")
    last(out, x).launch(grid=1, block=1)


@flyc.kernel
def last_of_rows_together(out: fx.Tensor, x: fx.Tensor):
    fx.require(x.stride[0] == x.shape[1], "rows of {} lie {} apart", x.shape[1], x.stride[0], hint="copy them")
    out[0] = fx.get_iter(x)[fx.size(x) - 1]


@flyc.jit
def asked_by_the_kernel(out: fx.Tensor, x: fx.Tensor):
    last_of_rows_together(out, x).launch(grid=1, block=1)


@pytest.mark.parametrize("function", [of_rows_together, asked_by_the_kernel])
@pytest.mark.parametrize("given", [lambda x: x, flyc.from_dlpack])
def test_a_call_that_fits_and_one_that_does_not(function: Any, given: Any) -> None:
    out, whole = np.zeros(1, np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    function(given(out), given(whole))
    assert out[0] == 11
    with pytest.raises((RuntimeError, ValueError), match="rows of 3 lie 4 apart") as error:
        function(given(out), given(whole[:, :3]))
    assert isinstance(error.value, FlyDSLError) and "help: copy them" in str(error.value)
    assert "from_dlpack" not in str(error.value)  # which makes the strides known, and not right
    assert out[0] == 11


def test_what_only_the_running_kernel_knows_is_refused() -> None:
    @flyc.kernel
    def early(out: fx.Tensor):
        fx.require(fx.thread_idx.x < 4, "too many threads")

    @flyc.jit
    def host(out: fx.Tensor):
        early(out).launch(grid=1, block=1)

    with pytest.raises(FlyDSLError, match="too many threads, for all that is known before the kernel runs"):
        host(np.zeros(1, np.float32))


def test_what_is_known_while_tracing_leaves_nothing() -> None:
    @flyc.jit
    def host(x: fx.Tensor, extent: fx.Constexpr[int]):
        fx.require(extent == 4, "an extent of {} and the word {}", extent, "x", hint="take 4")

    host(np.zeros(1, np.float32), 4)
    with pytest.raises(FlyDSLError, match="an extent of 5 and the word x"):
        host(np.zeros(1, np.float32), 5)


def test_a_requirement_is_a_truth_value() -> None:
    @flyc.jit
    def host(x: fx.Tensor):
        fx.require(x, "there is no tensor")

    with pytest.raises(DslTypeError, match="a requirement is a truth value"):
        host(np.zeros(1, np.float32))
