"""None as an argument: known while tracing, with a specialisation of its own, in calls of every kind."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError


@flyc.kernel
def add_kernel(y: fx.Tensor, x: fx.Tensor, bias, n: fx.Int32):
    i = fx.thread_idx.x
    if i < n:
        value = x[i]
        if bias is not None:
            value += bias[i]
        y[i] = value


def unannotated() -> Any:
    @flyc.jit
    def add(y: fx.Tensor, x: fx.Tensor, bias=None, stream=None):
        add_kernel(y, x, bias, x.shape[0]).launch(block=64, stream=stream)

    return add


def union() -> Any:
    @flyc.jit
    def add(y: fx.Tensor, x: fx.Tensor, bias: fx.Tensor | None = None, stream: fx.Stream | None = None):
        add_kernel(y, x, bias, x.shape[0]).launch(block=64, stream=stream)

    return add


def optional() -> Any:
    @flyc.jit
    def add(y: fx.Tensor, x: fx.Tensor, bias: Optional[fx.Tensor] = None, stream: fx.Stream = fx.Stream(None)):  # noqa: UP045
        add_kernel(y, x, bias, x.shape[0]).launch(block=64, stream=stream)

    return add


def arrays(rng: np.random.Generator, torch: Any = None) -> tuple[Any, Any, Any]:
    n = int(rng.integers(1, 64))
    made = np.full(n, np.nan, np.float32), *(rng.standard_normal(n).astype(np.float32) for _ in range(2))
    return tuple(torch.from_numpy(a) for a in made) if torch is not None else made  # type: ignore[return-value]


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("make", [unannotated, union, optional])
def test_with_and_without(make: Any, library: str, rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch", reason="the short path of torch tensors") if library == "torch" else None
    add = make()
    for _ in range(4):  # the full way, then the short one, each after the other kind
        y, x, bias = arrays(rng, torch)
        add(y, x)
        assert np.array_equal(np.asarray(y), np.asarray(x))
        add(y, x, bias)
        assert np.array_equal(np.asarray(y), np.asarray(x) + np.asarray(bias))
        add(y, x, None, None)
        assert np.array_equal(np.asarray(y), np.asarray(x))
    assert len(add.specialisations) == 2
    assert "bias: None" in add.specialisations[0].arguments
    assert "is None" in add.specialisations[1].why or "was None" in add.specialisations[1].why


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_compiled_code_takes_what_it_was_compiled_for(library: str, rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch", reason="the short path of torch tensors") if library == "torch" else None
    y, x, bias = arrays(rng, torch)
    without, with_bias = (flyc.compile(union(), y, x, b) for b in (None, bias))
    for _ in range(3):
        without(y, x, None)
        assert np.array_equal(np.asarray(y), np.asarray(x))
        without(y, x)
        with pytest.raises(FlyDSLError, match="argument 'bias' of the compiled 'add': the code was compiled for None"):
            without(y, x, bias)
        with_bias(y, x, bias)
        assert np.array_equal(np.asarray(y), np.asarray(x) + np.asarray(bias))
        with pytest.raises(FlyDSLError, match=r"argument 'bias'.*takes a tensor of f32, got NoneType"):
            with_bias(y, x, None)


def test_the_annotation_beside_none_still_counts() -> None:
    seen: list[Any] = []

    @flyc.jit
    def look(n: fx.Int64 | None = None, t: "fx.Tensor | None" = None,  # noqa: UP037
             c: fx.Constexpr[int] | None = None, s: fx.Stream = None):  # fmt: skip  # type: ignore[assignment]
        seen.append((type(n), t, c, type(s)))

    look()
    look(5)
    look(7)
    look(None, None, 3)
    assert seen == [
        (type(None), None, None, fx.Stream), (fx.Int64, None, None, fx.Stream), (type(None), None, 3, fx.Stream)
    ]  # fmt: skip
    with pytest.raises(FlyDSLError, match=r"argument 't': it is annotated fx.Tensor, got int"):
        look(t=3)


def test_none_where_the_annotation_does_not_allow_it() -> None:
    @flyc.jit
    def number(n: fx.Int32 = None):  # type: ignore[assignment]
        pass

    @flyc.jit
    def tensor(t: fx.Tensor = None):  # type: ignore[assignment]
        pass

    for function, shown in ((number, "fx.Int32"), (tensor, "fx.Tensor")):
        with pytest.raises(FlyDSLError, match=rf"annotated {shown}, got NoneType(?s:.*)annotated {shown} \| None"):
            function()


def test_none_is_exported_as_a_constant(rng: np.random.Generator, tmp_path: Any) -> None:
    y, x, _ = arrays(rng)
    flyc.export(unannotated(), y, x, dir=tmp_path, name="add_without")
    header = (tmp_path / "add_without.h").read_text()
    assert "bias" in header and "None" in header
