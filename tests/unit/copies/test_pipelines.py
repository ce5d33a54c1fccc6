"""Pipelines: one kernel body over every engine, on virtual GPUs where copies land as late as the waits allow."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

ROWS, COLUMNS = 16, 64
"""A tile: 16 rows of 64 f32 by 256 threads, 16 bytes a thread or 4 words."""


def streaming(engine: str, stages: int, ahead: int, fill: Any, copies: int) -> Any:
    """The sum of all tiles of x, tile by tile through a ring in shared memory; every thread reads another's part."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, tiles: fx.Int32):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float32, stages * ROWS * COLUMNS, 1024]).ptr
        pipe = fx.pipeline.make_pipeline(engine, stages=stages, ahead=ahead, copies=copies)
        pipe.init()
        write, read = pipe.producer_start(), pipe.consumer_start()
        for i in fx.range_constexpr(pipe.ahead):
            pipe.acquire(write)
            if i < tiles:
                fill(x, space, fx.Int32(i), write.stage, thread)
            pipe.commit(write)
            write = pipe.advance(write)
        total = fx.Vector.filled(4, 0.0, fx.Float32)
        for i in range(tiles):
            if i + pipe.ahead <= tiles:
                pipe.wait(read)
            else:
                pipe.wait(read, last=True)
            place = read.stage * (ROWS * COLUMNS) + (255 - thread) * 4
            total = total + fx.make_view(space + place, fx.make_layout(4, 1)).load()
            pipe.release(read)
            read = pipe.advance(read)
            pipe.acquire(write)
            if i + pipe.ahead < tiles:
                fill(x, space, i + pipe.ahead, write.stage, thread)
            pipe.commit(write)
            write = pipe.advance(write)
        fx.make_view(fx.get_iter(out) + (255 - thread) * 4, fx.make_layout(4, 1)).store(total)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, tiles: fx.Int32):
        kernel(x, out, tiles).launch(grid=1, block=256)

    return launch


def _views(x: Any, space: Any, tile: Any, stage: Any) -> tuple[Any, Any]:
    layout = fx.make_layout((ROWS, COLUMNS), (COLUMNS, 1))
    source = fx.make_view(fx.get_iter(x).aligned(16) + tile * (ROWS * COLUMNS), layout)
    return source, fx.make_view(space + stage * (ROWS * COLUMNS), layout)


def _tiled(atom: Any, source: Any, target: Any, thread: Any, values: int) -> None:
    threads = fx.make_layout((256 * values // COLUMNS, COLUMNS // values), (COLUMNS // values, 1))
    tiled = fx.make_tiled_copy_tv(atom, threads, fx.make_layout((1, values), (values, 1)))
    mine = tiled.get_slice(thread)
    fx.copy(tiled, mine.partition_S(source), mine.partition_D(target))


def by_cp_async(x: Any, space: Any, tile: Any, stage: Any, thread: Any) -> None:
    atom = fx.make_copy_atom(fx.nvvm.CpAsync(128), fx.Float32)
    _tiled(atom, *_views(x, space, tile, stage), thread, 4)


def by_buffer(x: Any, space: Any, tile: Any, stage: Any, thread: Any) -> None:
    source, target = _views(x, space, tile, stage)
    atom = fx.make_copy_atom(fx.rocdl.cdna3.BufferCopyLDS(32), fx.Float32)
    _tiled(atom, fx.rocdl.make_buffer_tensor(source), target, thread, 1)


def by_marks(x: Any, space: Any, tile: Any, stage: Any, thread: Any) -> None:
    atom = fx.make_copy_atom(fx.rocdl.cdna4.GlobalLoadAsyncLDS(128), fx.Float32)
    _tiled(atom, *_views(x, space, tile, stage), thread, 4)


def by_tiles(x: Any, space: Any, tile: Any, stage: Any, thread: Any) -> None:
    source, target = _views(x, space, tile, stage)
    fx.copy(fx.rocdl.make_tdm_atom(source, (None, None), num_warps=8), source, target)


def by_lanes(x: Any, space: Any, tile: Any, stage: Any, thread: Any) -> None:
    source, target = (fx.get_iter(view) + thread * 4 for view in _views(x, space, tile, stage))
    fx.rocdl.cluster_load_async_to_lds(source, target, 16)


def by_registers(x: Any, space: Any, tile: Any, stage: Any, thread: Any) -> None:
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    _tiled(atom, *_views(x, space, tile, stage), thread, 4)


def by_turns(engine: str, stages: int, ahead: int, fill: Any, copies: int) -> Any:
    """The same by `fill_ahead` and `turn`; turns behind the last one copy the last tile once more."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, tiles: fx.Int32):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float32, stages * ROWS * COLUMNS, 1024]).ptr
        pipe = fx.pipeline.make_pipeline(engine, stages=stages, ahead=ahead, copies=copies)

        def send(turn, stage):
            fill(x, space, fx.min(fx.Int32(turn), tiles - 1), fx.Int32(stage), thread)

        pipe.fill_ahead(send)
        total = fx.Vector.filled(4, 0.0, fx.Float32)
        for i in range(tiles):
            place = pipe.turn(i, send) * (ROWS * COLUMNS) + (255 - thread) * 4
            total = total + fx.make_view(space + place, fx.make_layout(4, 1)).load()
        fx.make_view(fx.get_iter(out) + (255 - thread) * 4, fx.make_layout(4, 1)).store(total)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, tiles: fx.Int32):
        kernel(x, out, tiles).launch(grid=1, block=256)

    return launch


CASES = {
    "cp.async, three stages": ("sm_80", "cp.async", 3, 2, by_cp_async, 1),
    "cp.async, all on their way": ("sm_90a", "cp.async", 2, 2, by_cp_async, 1),
    "buffer, three stages": ("gfx942", "buffer", 3, 2, by_buffer, 4),
    "buffer, all on their way": ("gfx942", "buffer", 3, 3, by_buffer, 4),
    "asyncmark": ("gfx950", "asyncmark", 4, 3, by_marks, 1),
    "tdm": ("gfx1250", "tdm", 3, 2, by_tiles, 1),
    "async": ("gfx1250", "async", 3, 2, by_lanes, 1),
    "registers on AMD": ("gfx1201", "registers", 2, 1, by_registers, 1),
    "registers on NVIDIA": ("sm_90a", "registers", 3, 2, by_registers, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_sums_through_a_ring(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, *how = CASES[case]
    monkeypatch.setenv("ARCH", arch)
    _, stages, ahead, *_ = how
    made = [streaming] if stages == ahead else [streaming, by_turns]
    for launch, tiles in product((make(*how) for make in made), (1, 2, 5, 8)):
        x = np.random.default_rng(tiles).integers(-50, 50, (tiles, ROWS * COLUMNS)).astype(np.float32)
        out = np.zeros(ROWS * COLUMNS, np.float32)
        launch(flyc.from_dlpack(x).mark_layout_dynamic(), out, tiles)
        np.testing.assert_array_equal(out, x.sum(0), err_msg=f"{tiles} tiles")


def test_an_engine_the_target_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.zeros((1, ROWS * COLUMNS), np.float32)
    with pytest.raises(FlyDSLError, match=r"(?s)gfx942 has no engine 'cp.async'.*it has buffer, registers"):
        streaming("cp.async", 2, 1, by_cp_async, 1)(x, x[0].copy(), 1)
    with pytest.raises(FlyDSLError, match="there is no engine 'mail'"):
        streaming("mail", 2, 1, by_cp_async, 1)(x, x[0].copy(), 1)
    with pytest.raises(FlyDSLError, match=r"(?s)all 2 stages are on their way.*use stages=3"):
        by_turns("buffer", 2, 2, by_buffer, 4)(x, x[0].copy(), 1)
    with pytest.raises(FlyDSLError, match="1 to 2 stages on their way"):
        streaming("buffer", 2, 3, by_buffer, 4)(x, x[0].copy(), 1)
