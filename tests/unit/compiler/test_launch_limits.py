"""Grids and blocks that no device of a target could launch, known while compiling or at the launch."""

from __future__ import annotations

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def nothing():
    pass


@flyc.jit
def static(grid: fx.Constexpr, block: fx.Constexpr):
    nothing().launch(grid=grid, block=block)


@flyc.jit
def dynamic(x: fx.Int64, y: fx.Int64, z: fx.Int64, block_z: fx.Int64):
    nothing().launch(grid=(x, y, z), block=(1, 1, block_z))


ONE = (1, 1, 1)


@pytest.mark.parametrize(
    ("arch", "grid", "block", "says"),
    [
        ("sm_90a", (1, 70000, 1), ONE, r"grid=\(1, 70000, 1\); sm_90a allows up to \(2147483647, 65535, 65535\)"),
        ("sm_90a", (2**31, 1, 1), ONE, "sm_90a allows up to"),
        ("sm_90a", ONE, (1, 1, 128), r"block=\(1, 1, 128\); sm_90a allows up to \(1024, 1024, 64\)"),
        ("gfx942", (1, 2**31, 1), ONE, "gfx942 allows up to"),
    ],
)
def test_known_while_compiling(
    arch: str, grid: tuple[int, ...], block: tuple[int, ...], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(ValueError, match=says):
        static(grid, block)


@pytest.mark.parametrize(
    ("arch", "extents", "says"),
    [
        ("sm_90a", (0, 65536, 1, 1), r"grid extents \(0, 65536, 1\) are negative or beyond the device's limit"),
        ("sm_90a", (0, 1, -1, 1), "grid extents"),
        ("sm_90a", (2**31, 0, 1, 1), "grid extents"),
        ("sm_90a", (0, 1, 1, 65), r"block extents \(1, 1, 65\)"),
        ("gfx942", (0, 2**31, 1, 1), "grid extents"),
    ],
)
def test_known_at_the_launch(arch: str, extents: tuple[int, ...], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another extent is zero: nothing would run if the launch went through."""
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(RuntimeError, match=says):
        dynamic(*extents)


@pytest.mark.parametrize(("arch", "extents"), [("sm_90a", (0, 65535, 65535, 64)), ("gfx942", (0, 70000, 70000, 1024))])
def test_what_the_target_allows(arch: str, extents: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    dynamic(*extents)
