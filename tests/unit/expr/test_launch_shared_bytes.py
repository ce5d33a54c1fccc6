"""``smem=`` of a launch: numbers that no kernel or device takes are refused, while compiling where they are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

LIMITS = {"sm_90a": 227 * 1024, "sm_80": 163 * 1024, "gfx942": 64 * 1024, "gfx950": 160 * 1024}
OUT = np.zeros(4, np.int32)


def launching(smem: Any, *, static_words: int = 0, dynamic_words: int = 0) -> Any:
    """A jit function of a tensor and a number that launches with ``smem(number)``."""

    @flyc.kernel
    def kernel(out: fx.Tensor):
        if fx.const_expr(static_words):
            words = fx.SharedAllocator().allocate(fx.Array[fx.Int32, static_words])
            words[0] = 1
        if fx.const_expr(dynamic_words):
            words = fx.SharedAllocator(static=False).allocate(fx.Array[fx.Int32, dynamic_words])
            words[fx.thread_idx.x] = 1
        out[fx.thread_idx.x] = 7

    @flyc.jit
    def run(out: fx.Tensor, number: fx.Int64):
        kernel(out).launch(block=4, smem=smem(number))

    return run


@pytest.mark.parametrize("way", ["call", "warmup", "compile", "export"])
@pytest.mark.parametrize("arch", list(LIMITS))
def test_more_than_the_target_has(arch: str, way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No allocator is needed for it to be refused."""
    monkeypatch.setenv("ARCH", arch)
    run = launching(lambda _: LIMITS[arch] + 4)
    says = f"needs {LIMITS[arch] + 4} bytes of shared memory, and {arch} has {LIMITS[arch]} per workgroup .4 too many"
    ways = {
        "call": lambda: run(OUT, 0),
        "warmup": lambda: run.warmup(OUT, 0),
        "compile": lambda: flyc.compile(run, OUT, 0),
        "export": lambda: flyc.export(run, OUT, 0, dir=tmp_path, arch=arch),
    }
    with pytest.raises(RuntimeError, match=says) as error:
        ways[way]()
    assert "more by smem= of the launch" in str(error.value)
    launching(lambda _: LIMITS[arch])(OUT, 0)


def test_what_the_kernel_allocates_counts() -> None:
    launching(lambda _: 65536 - 4096, static_words=1024)(OUT, 0)
    with pytest.raises(RuntimeError, match=r"needs 65540 bytes of shared memory, and gfx942 has 65536"):
        launching(lambda _: 65536 - 4092, static_words=1024)(OUT, 0)


@pytest.mark.parametrize(
    ("smem", "kind", "says"),
    [
        (-5, ValueError, "smem=-5: a kernel cannot have fewer than 0 bytes"),
        (fx.Int32(-5), ValueError, "smem=-5"),
        (1.5, TypeError, "smem= is a whole number of bytes, got float 1.5"),
        (fx.Float32(16.0), TypeError, "smem= is a whole number of bytes"),
        (True, TypeError, "smem= is a whole number of bytes"),
        ("16", TypeError, "smem= is a whole number of bytes, got str '16'"),
        ((16, 16), TypeError, "smem= is a whole number of bytes"),
        (1 << 40, RuntimeError, "needs 1099511627776 bytes"),
        (fx.Int64(1 << 32), RuntimeError, "needs 4294967296 bytes"),
    ],
)
def test_what_is_no_count_of_bytes(smem: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        launching(lambda _: smem)(OUT, 0)


@pytest.mark.parametrize("smem", [0, 16, fx.Int32(16), np.int64(16), fx.make_int_tuple(16)])
def test_what_is_one(smem: Any) -> None:
    out = np.zeros(4, np.int32)
    launching(lambda _: smem)(out, 0)
    assert (out == 7).all()


NARROW, WIDE = (65537, 300 * 1024), (-5, -1, 1 << 31, (1 << 32) + 16)


@pytest.mark.parametrize(
    ("kind", "number"), [(k, n) for k in (fx.Int32, fx.Uint32) for n in NARROW] + [(fx.Int64, n) for n in NARROW + WIDE]
)
def test_numbers_known_at_the_launch(kind: Any, number: int) -> None:
    out = np.zeros(4, np.int32)
    run = launching(kind)
    run(out, 65536)
    assert (out == 7).all()
    shown = min(number, (1 << 31) - 1)
    says = f"asks for {shown} bytes of shared memory, and this kernel takes 0 to 65536 here"
    with pytest.raises(RuntimeError, match=says):
        run(out, number)


def test_bounds_at_the_launch_know_what_the_kernel_allocates() -> None:
    with pytest.raises(RuntimeError, match=r"asks for 61441 bytes .* takes 0 to 61440 here"):
        launching(lambda n: n, static_words=1024)(OUT, 61441)
    run = launching(lambda n: n, dynamic_words=100)
    run(OUT, 400)
    with pytest.raises(RuntimeError, match=r"asks for 396 bytes .* takes 400 to 65536 here"):
        run(OUT, 396)


def test_the_limit_of_a_hopper_at_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    run = launching(lambda n: n)
    run(OUT, 227 * 1024)
    with pytest.raises(RuntimeError, match=r"asks for 307200 bytes .* takes 0 to 232448 here") as error:
        run(OUT, 300 * 1024)
    assert "smem=" in str(error.value)
