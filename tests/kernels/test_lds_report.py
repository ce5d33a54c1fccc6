"""`flyc.lds_report` against a brute-force count over all lanes, and its suggestions applied to the kernel."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.layout.swizzle import Swizzle
from flydsl.target.target import parse_target
from tests.support import random_data
from tests.support.bank_reference import brute_force_cycles, of_waves

TARGETS = ("gfx942", "gfx1201", "sm_90a")
SIDE = 64
THREADS = 256


def transposing(row: int, swizzle: tuple[int, int, int] | None = None, width: int = 4) -> Any:
    """A transpose of f32 through shared memory: ``width`` elements of a row at a time, written across, read down."""

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def kernel(src: fx.Tensor, dst: fx.Tensor):
        storage = fx.SharedAllocator().allocate(fx.Array[fx.Float32, SIDE * row])
        layout = fx.make_layout((SIDE, SIDE), (row, 1))
        if fx.const_expr(swizzle is not None):
            layout = fx.make_composed_layout(fx.static(fx.SwizzleType.get(*swizzle)), layout)
        tile = fx.make_view(storage.peek().ptr, layout)
        gS, gD = (
            fx.make_view(fx.get_iter(t), fx.make_layout((SIDE, SIDE), strides))
            for t, strides in ((src, (SIDE, 1)), (dst, (1, SIDE)))
        )
        across = SIDE // width
        atom = fx.make_copy_atom(fx.UniversalCopy(32 * width), fx.Float32)
        values = fx.make_layout((1, width), (0, 1))
        put = fx.make_tiled_copy_tv(atom, fx.make_layout((THREADS // across, across), (across, 1)), values)
        take = fx.make_tiled_copy_tv(atom, fx.make_layout((SIDE, THREADS // SIDE), (1, SIDE)), values)
        putting, taking = (copy.get_slice(fx.thread_idx.x) for copy in (put, take))
        held = fx.make_fragment_like(putting.partition_S(gS))
        fx.copy(put, putting.partition_S(gS), held)
        fx.copy(put, held, putting.partition_D(tile))
        fx.barrier()
        turned = fx.make_fragment_like(taking.partition_S(gS))
        fx.copy(take, taking.partition_S(tile), turned)
        fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), turned, taking.partition_D(gD))

    @flyc.jit
    def launch(src: fx.Tensor, dst: fx.Tensor):
        kernel(src, dst).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))

    return launch


def report_of(launch: Any) -> Any:
    """The report, after checking that the run gave the transpose."""
    src = random_data.generator().standard_normal((SIDE, SIDE)).astype(np.float32)
    dst = np.full((SIDE, SIDE), np.nan, np.float32)
    report = flyc.lds_report(launch, src, dst)
    np.testing.assert_array_equal(dst, src.T)
    return report


def expected(arch: str, row: int, swizzle: tuple[int, int, int] | None, width: int) -> dict[str, list[int]]:
    """Extra cycles of every wave's access, from the addresses that the kernel's text says."""
    wave = parse_target(arch).wave_size
    move = (lambda i: i) if swizzle is None else Swizzle(*swizzle)
    across = SIDE // width
    found: dict[str, list[int]] = {"write": [], "read": []}
    for turn in range(SIDE * across // THREADS):
        numbers = [turn * THREADS + t for t in range(THREADS)]
        places = {
            "write": [(n // across, n % across) for n in numbers],
            "read": [(n % SIDE, n // SIDE) for n in numbers],
        }
        for kind, cells in places.items():
            addresses = [4 * move(line * row + piece * width) for line, piece in cells]
            found[kind] += of_waves(arch, kind, 4 * width, addresses, wave)
    return found


TILES: dict[str, tuple[int, tuple[int, int, int] | None, int]] = {
    "row-major": (SIDE, None, 4),
    "row-major, narrow": (SIDE, None, 1),
    "padded": (SIDE + 4, None, 4),
    "padded by one": (SIDE + 1, None, 1),
    "swizzled": (SIDE, (3, 2, 4), 4),
    "swizzled, narrow": (SIDE, (5, 0, 6), 1),
}


CASES = [(tile, arch) for tile in TILES for arch in TARGETS]
CASES += [(tile, arch) for tile in ("row-major", "swizzled") for arch in ("gfx950", "gfx1250")]


@pytest.mark.parametrize(("tile", "arch"), CASES)
def test_counts_are_those_of_brute_force(tile: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    row, swizzle, width = TILES[tile]
    report = report_of(transposing(row, swizzle, width))
    counted = expected(arch, row, swizzle, width)
    assert report.target == arch and report.missed == 0
    assert [(r.kind, r.bits) for r in report.rows] == [("write", 32 * width), ("read", 32 * width)]
    for r in report.rows:
        mine = counted[r.kind]
        assert (r.executed, r.worst, r.mean) == (len(mine), max(mine), sum(mine) / len(mine))
    assert report.extra_cycles == sum(map(sum, counted.values()))
    assert bool(report.fixes) == bool(report.extra_cycles)


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("width", [1, 4])
def test_the_suggested_swizzle_removes_every_conflict(arch: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    before = report_of(transposing(SIDE, None, width))
    assert before.extra_cycles > 0 and len(before.fixes) == 1
    fix = before.fixes[0].change
    assert isinstance(fix, Swizzle) and before.fixes[0].left == 0, before
    after = report_of(transposing(SIDE, (fix.mask, fix.base, fix.shift), width))
    assert after.extra_cycles == 0 and not after.fixes
    assert str(fix) in str(before)


@pytest.mark.parametrize("meeting", [False, True], ids=["plain", "with a barrier inside"])
def test_lanes_that_start_their_loop_at_different_numbers_are_together(meeting: bool) -> None:
    """Two rows a wave: `range(y, ...)` gives its halves other counters in the same turn."""

    @flyc.kernel
    def columns(dst: fx.Tensor):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 32 * 32]).peek()
        x, y, _ = fx.thread_idx
        for i in range(y, 32, 8):
            tile[x * 32 + i] = 1.0
            if fx.const_expr(meeting):
                fx.barrier()
        fx.barrier()
        dst[x, y] = tile[x * 32 + y]

    @flyc.jit
    def launch(dst: fx.Tensor):
        columns(dst).launch(block=(32, 8))

    write = flyc.lds_report(launch, np.zeros((32, 8), np.float32)).rows[0]
    assert (write.executed, write.worst, write.mean) == (4 * 4, 62, 62)  # 4 waves, 4 turns, 31 for each half of a wave


def test_rows_name_the_lines_of_the_kernel() -> None:
    report = report_of(transposing(SIDE))
    lines, start = inspect.getsourcelines(transposing)
    at = {line.strip(): start + i for i, line in enumerate(lines)}
    write, read = report.rows
    assert write.file == read.file == __file__
    assert write.line == at["fx.copy(put, held, putting.partition_D(tile))"]
    assert read.line == at["fx.copy(take, taking.partition_S(tile), turned)"]
    allocated = at["storage = fx.SharedAllocator().allocate(fx.Array[fx.Float32, SIDE * row])"]
    assert write.array == read.array == f"Array[Float32, 4096], line {allocated}"
    assert write.kernel.startswith("kernel")


@flyc.kernel(known_block_size=(128, 1, 1))
def looping_kernel(out: fx.Tensor, n: fx.Int32):
    shared = fx.SharedAllocator(static=False).allocate(fx.Array[fx.Float32, 1024])
    t = fx.thread_idx.x
    for i in range(n):
        if (t + i) % 2 == 0:
            shared[t * 8] = 1.0
    fx.barrier()
    out[t] = shared[t]


@flyc.jit
def looping(out: fx.Tensor, n: fx.Int32):
    looping_kernel(out, n).launch(grid=(9, 1, 1), block=(128, 1, 1))


def test_lanes_of_one_turn_are_counted_together() -> None:
    """Every other lane takes part, in turns: 32 lanes of a wave, 8 words apart, each turn of each of 4 blocks."""
    report = flyc.lds_report(looping, np.zeros(128, np.float32), 6)
    write, read = report.rows
    even, odd = ({lane: lane * 32 for lane in range(start, 64, 2)} for start in (0, 1))
    costs = [brute_force_cycles("gfx942", "write", 4, lanes) for lanes in (even, odd)]
    assert (write.executed, write.worst, write.mean) == (4 * 2 * 6, max(costs), sum(costs) / 2)
    assert (read.executed, read.worst) == (4 * 2, 0)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201", "sm_90a"])
def test_the_tiled_gemm_has_no_conflicts(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    a, b = (rng.standard_normal((64, 64)).astype(np.float16) for _ in range(2))
    c = np.full((64, 64), np.nan, np.float32)
    report = flyc.lds_report(build_tiled_gemm_module(64, 64, "f16", 64, 64), a, b, c, 64)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-4, atol=1e-3)
    assert len(report.rows) == 4 and report.extra_cycles == 0, report
    assert len({row.array for row in report.rows}) == 2


def test_a_report_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["flydsl.compiler.outlets.lds_report"], "RECORDED_ACCESSES", 100)
    x = random_data.generator().standard_normal((3, 512)).astype(np.float32)
    report = flyc.lds_report(build_softmax_module(3, 512, "f32"), x, np.zeros_like(x), 3)
    assert report.recorded <= 100
    if report.missed:
        assert f"{report.missed} more did not fit" in str(report)


def test_a_kernel_without_shared_memory() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[fx.thread_idx.x] = 1.0

    @flyc.jit
    def launch(out: fx.Tensor):
        kernel(out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    out = np.zeros(64, np.float32)
    report = flyc.lds_report(launch, out)
    assert report.rows == () and report.fixes == () and report.extra_cycles == 0
    assert (out == 1).all()


def test_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"flyc\.lds_report takes a jit function, got function"):
        flyc.lds_report(transposing, 1)
    with pytest.raises(TypeError):
        flyc.lds_report(looping)
    monkeypatch.setenv("COMPILE_ONLY", "1")
    with pytest.raises(RuntimeError, match="COMPILE_ONLY"):
        flyc.lds_report(looping, np.zeros(128, np.float32), 6)


class Scaler:
    """A jit function as a method: the instance is its first argument."""

    @flyc.jit
    def launch(self, out: fx.Tensor, n: fx.Int32):
        looping_kernel(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))


def test_a_method_is_taken_with_its_instance() -> None:
    report = flyc.lds_report(Scaler().launch, np.zeros(128, np.float32), 2)
    assert [row.executed for row in report.rows] == [2 * 2, 2]
