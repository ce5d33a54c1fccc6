"""AMD machine code of the library, run by an interpreter of it: results against NumPy in float64.

Nothing of the virtual GPU takes part: what runs is the linked code object, as HIP's runtime would be given it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
import flydsl.ops as ops
from flydsl.kernels.norm.column_sums import partial_shape
from flydsl.kernels.norm.layernorm import build_layernorm_bwd_module
from flydsl.kernels.quant.formats import quantize_mx
from tests.emulator import device
from tests.emulator.arena import Fault
from tests.emulator.calls import calls_by_machine_code
from tests.emulator.code_object import read_code_object

ARCHS = ("gfx942", "gfx950", "gfx1201", "gfx1250")
BF16 = ml_dtypes.bfloat16


@pytest.fixture(autouse=True)
def launches() -> Iterator[Any]:
    with calls_by_machine_code() as count:
        yield count


def extents(rng: np.random.Generator) -> tuple[int, int]:
    """Few rows of any length."""
    return int(rng.integers(1, 12)), int(2 ** rng.uniform(0, 13))


def softmax(rng: np.random.Generator) -> Any:
    x = rng.standard_normal(extents(rng)).astype(rng.choice([np.float16, np.float32]))
    powers = np.exp(x.astype(np.float64))
    return ops.softmax(x), powers / powers.sum(-1, keepdims=True), 1e-3


def layer_norm(rng: np.random.Generator) -> Any:
    x = rng.standard_normal(extents(rng)).astype(np.float16)
    weight, bias = (rng.standard_normal(x.shape[1]).astype(np.float16) for _ in range(2))
    centred = x.astype(np.float64) - x.astype(np.float64).mean(-1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias
    return ops.layer_norm(x, x.shape[1:], weight, bias), want, 2e-3


def layer_norm_backward(rng: np.random.Generator) -> Any:
    rows, columns = extents(rng)
    x, dy = (rng.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    weight, mean = rng.standard_normal(columns).astype(np.float32), x.mean(1, dtype=np.float64)
    rstd = 1 / np.sqrt(x.var(1, dtype=np.float64) + 1e-5)
    dx, dgamma, dbeta = np.full_like(x, np.nan), *(np.full(columns, np.nan, np.float32) for _ in range(2))
    sums = [np.full(partial_shape(columns, rows), np.nan, np.float32) for _ in range(2)]
    numbers = mean.astype(np.float32), rstd.astype(np.float32)
    build_layernorm_bwd_module(columns, "f32")(dy, x, weight, *numbers, dx, *sums, dgamma, dbeta, rows)
    normal = (x - mean[:, None]) * rstd[:, None]
    scaled = dy.astype(np.float64) * weight
    means = [(scaled * part).mean(1, keepdims=True) for part in (1, normal)]
    want = [(scaled - means[0] - normal * means[1]) * rstd[:, None], (dy * normal).sum(0), dy.sum(0, dtype=np.float64)]
    return (
        np.concatenate([dx, dgamma[None], dbeta[None]]),
        np.concatenate([want[0], want[1][None], want[2][None]]),
        1e-5,
    )


def cross_entropy(rng: np.random.Generator) -> Any:
    logits = rng.standard_normal(extents(rng)).astype(np.float32)
    target = rng.integers(0, logits.shape[1], len(logits))
    wide = logits.astype(np.float64)
    want = np.log(np.exp(wide).sum(-1)) - wide[np.arange(len(wide)), target]
    return ops.cross_entropy(logits, target, reduction="none"), want, 1e-5


def swiglu(rng: np.random.Generator) -> Any:
    gate, up = (rng.standard_normal(shape).astype(BF16) for shape in [extents(rng)] * 2)
    wide = gate.astype(np.float64)
    return ops.swiglu(gate, up), wide / (1 + np.exp(-wide)) * up.astype(np.float64), 8e-3


def mxfp4(rng: np.random.Generator) -> Any:
    x = (rng.standard_normal((3, 32 * int(rng.integers(1, 20)))) * 9).astype(BF16)
    found, want = ops.quantize_mx(x, "mxfp4"), quantize_mx(x, "mxfp4")
    bits = [np.concatenate([np.asarray(part).view(np.uint8).ravel() for part in pair[:2]]) for pair in (found, want)]
    return bits[0].astype(np.float64), bits[1].astype(np.float64), 0


def product(rng: np.random.Generator) -> Any:
    m, n, k = (int(extent) for extent in rng.integers(1, 150, 3))
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((n, k)).astype(np.float16)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    return ops.linear(a, b), want, 2e-3


def large_product(rng: np.random.Generator) -> Any:
    """Of tiles that matrix cores multiply."""
    a, b = (rng.standard_normal((extent, 256)).astype(BF16) for extent in (256, 128))
    return ops.linear(a, b), a.astype(np.float64) @ b.astype(np.float64).T, 8e-3


def attention(rng: np.random.Generator) -> Any:
    q, k, v = (rng.standard_normal((1, 2, tokens, 64)).astype(np.float16) for tokens in (33, 70, 70))
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / 8
    powers = np.exp(scores)
    want = powers / powers.sum(-1, keepdims=True) @ v.astype(np.float64)
    return ops.scaled_dot_product_attention(q, k, v), want, 2e-3


CASES: dict[str, Callable[[np.random.Generator], Any]] = {
    made.__name__: made for made in (
        softmax, layer_norm, layer_norm_backward, cross_entropy, swiglu, mxfp4, product, large_product, attention)
}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "arch"),
    [(case, arch) for case in CASES for arch in ARCHS if (case, arch) != ("attention", "gfx1250")],  # it has no kernel
)
def test_results(
    case: str, arch: str, rng: np.random.Generator, launches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    before = launches[arch]
    got, want, tolerance = CASES[case](rng)
    assert launches[arch] > before, "no machine code ran"
    assert np.abs(got.astype(np.float64) - want).max() <= tolerance * max(1, np.abs(want).max())


# That the interpreter finds mistakes -----------------------------------------------------------


@flyc.kernel
def shifted(x: fx.Tensor, y: fx.Tensor, by: fx.Int32):
    at = fx.thread_idx.x
    y[at] = x[at + by] + 1.0


@flyc.jit
def shift(x: fx.Tensor, y: fx.Tensor, by: fx.Int32):
    shifted(x, y, by).launch(block=(64, 1, 1))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_accesses_outside_are_faults(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    shift(x, y, 0)
    assert (y == x + 1).all()
    with pytest.raises(Fault, match=r"load.* at 0x[0-9a-f]+: an access of 4 bytes at .*outside of all allocations"):
        shift(x, y, 1)


@flyc.jit
def shift_anew(x: fx.Tensor, y: fx.Tensor, by: fx.Int32):
    """A code object of its own, since those that were loaded stay."""
    shifted(x, y, by).launch(block=(64, 1, 1))


@pytest.mark.parametrize(("arch", "wait"), [("gfx942", r"s_waitcnt vmcnt\(0\)"), ("gfx1201", "s_wait_loadcnt 0x0")])
def test_loads_come_as_late_as_waits_allow(arch: str, wait: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wait the sum is made of what the register held before."""
    monkeypatch.setenv("ARCH", arch)
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)

    def without_waits(elf: bytes, target: str) -> Any:
        code = read_code_object(elf, target)
        listing, count = re.subn(wait, "s_nop 0", code.listing)
        assert count == 1
        return replace(code, listing=listing)

    with monkeypatch.context() as patch:
        patch.setattr(device, "read_code_object", without_waits)
        shift_anew(x, y, 0)
        assert np.isnan(y).all()
