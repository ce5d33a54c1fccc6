"""Objects that fail in their own way when they are asked for an attribute: refused with advice, or read like others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.attributes import attribute, has_attribute
from flydsl.base.errors import DslTypeError


class AttrDict(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Failing:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


STRANGE = {"an attribute dictionary": AttrDict(block=3.0), "an object that fails": Failing()}


@flyc.kernel
def kernel(out: fx.Tensor, value: fx.Constexpr[float]):
    out[0] = value


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("annotation", [None, fx.Tensor, fx.Int32, fx.Stream], ids=str)
def test_as_an_argument_it_is_refused(name: str, annotation: Any) -> None:
    def plain(out: Any, value: Any):
        kernel(out, 1.0).launch()

    plain.__annotations__ = {"out": fx.Tensor} | ({"value": annotation} if annotation is not None else {})
    with pytest.raises(DslTypeError, match="argument 'value'"):
        flyc.jit(plain)(np.zeros(1, np.float32), STRANGE[name])


@pytest.mark.parametrize("name", STRANGE)
def test_as_an_extent_or_an_array_it_is_refused(name: str) -> None:
    @flyc.jit
    def launch(out: fx.Tensor):
        kernel(out, 1.0).launch(grid=STRANGE[name])

    with pytest.raises(DslTypeError, match="grid extents must be integers"):
        launch(np.zeros(1, np.float32))
    with pytest.raises(DslTypeError, match="is no array"):
        flyc.from_dlpack(STRANGE[name])


def test_what_it_holds_is_read() -> None:
    config, other = AttrDict(block=3.0), Failing()
    other.__dict__["block"] = 4.0

    @flyc.jit
    def launch(out: fx.Tensor):
        kernel(out, config.block + other.block).launch()

    out = np.zeros(1, np.float32)
    launch(out)
    assert out[0] == 7.0
    config["block"] = 5.0
    launch(out)
    assert out[0] == 9.0


def test_attributes() -> None:
    assert attribute(AttrDict(a=1), "a") == 1 and attribute(AttrDict(), "a", 5) == 5
    assert has_attribute(AttrDict(a=None), "a") and not has_attribute(Failing(), "a")
