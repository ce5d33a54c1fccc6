"""Operands that an instruction cannot take are refused while tracing; LLVM would end the process on some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.rocdl.device_code import AMD, instructions, launcher

FUNCTIONS = ("exp2", "log2", "rcp", "rsq", "sqrt")


@pytest.mark.parametrize("arch", AMD)
@pytest.mark.parametrize("kind", [fx.Float16, fx.BFloat16, fx.Float32, fx.Float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_fast_function_compiles_or_is_refused(name: str, kind: Any, arch: str) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        y[t] = fx.Int32(getattr(fx.rocdl, name)(kind(x[t])))

    try:
        assert instructions(body, arch)
    except TypeError as error:
        assert kind in (fx.BFloat16, fx.Float64), error
        assert name in str(error)


def test_dpp_moves_vectors_and_refuses_values_of_two_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any, t: Any) -> None:
        moved = fx.rocdl.mov_dpp(fx.Vector.from_elements([x[t], x[t] + 1], fx.Int32), 0x111)
        y[t] = moved[0] * 1000 + moved[1]

    x, y = random_data.generator().integers(0, 500, 64, np.int32), np.full(64, -1, np.int32)
    launcher(body)(x, y)
    before = np.where(np.arange(64) % 16 == 0, 0, np.roll(x * 1001 + 1, 1))
    np.testing.assert_array_equal(y, before)

    def mixed(x: Any, y: Any, t: Any) -> None:
        y[t] = fx.Int32(fx.rocdl.update_dpp(0, fx.Int64(x[t]), 0x111))

    with pytest.raises(TypeError, match="two values of the same size"):
        instructions(mixed, "gfx942")


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250"])
def test_a_wait_field_is_a_number(arch: str) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        fx.rocdl.s_waitcnt("all")

    with pytest.raises(TypeError, match="must be known while tracing, got 'all'"):
        instructions(body, arch)


@pytest.mark.parametrize("size", [-4, 1 << 32])
def test_a_descriptor_has_a_size_of_32_bits(size: int) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        y[t] = fx.rocdl.make_buffer_tensor(x, num_records_bytes=size)[t]

    with pytest.raises(ValueError, match=f"covers 0 to 4294967295 bytes, got {size}"):
        instructions(body, "gfx942")
