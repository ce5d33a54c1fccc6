"""An engine that cannot do a copy says which constraint fails and what would do: a table over the engines.

TMA and bulk copies have tables of their own, in `test_tma_copies.py` and `test_bulk_copies.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

cdna3, cdna4, nvvm = fx.rocdl.cdna3, fx.rocdl.cdna4, fx.nvvm
ROWS: Any = ((64, 64), (64, 1))
COLUMNS: Any = ((64, 64), (1, 64))
PADDED: Any = ((64, 64), (72, 1))


def tile(layout: Any, swizzle: Any = None) -> Any:
    space = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 64 * 72, 1024]).ptr
    made = fx.make_layout(*layout)
    return fx.make_view(
        space, made if swizzle is None else fx.make_composed_layout(fx.make_swizzle(*swizzle), made)
    )  # fmt: skip


def by_threads(op: Any, layout: Any, swizzle: Any = None, *, buffer: bool = False, inside: bool = False) -> Any:
    """All threads copy a matrix into a tile, 256 of them or 128, each along a row."""

    def body(x: Any) -> None:
        values, target = op.bits // 16, tile(layout, swizzle)
        across = 64 // values
        tiled = fx.make_tiled_copy_tv(
            fx.make_copy_atom(op, fx.Float16), fx.make_layout((128 // across, across), (across, 1)),
            fx.make_layout((1, values), (values, 1)),
        )  # fmt: skip
        mine = tiled.get_slice(fx.thread_idx.x)
        source = fx.rocdl.make_buffer_tensor(x) if buffer else target if inside else x
        fx.copy(tiled, mine.partition_S(source), mine.partition_D(target))

    return body


def fragment(op: Any, layout: Any, product: Any, swizzle: Any = None) -> Any:
    """The fragment of A of a tile."""

    def body(x: Any) -> None:
        source = tile(layout, swizzle)
        mma = fx.make_tiled_mma(fx.make_mma_atom(product(fx.Float16)), fx.make_layout((1, 1, 1), (0, 0, 0)))
        tiled = fx.make_tiled_copy_A(fx.make_copy_atom(op, fx.Float16), mma)
        held, lanes = mma.make_fragment_A(source), tiled.get_slice(fx.thread_idx.x)
        fx.copy(tiled, lanes.partition_S(source), lanes.retile(held))
        x[0, 0] = held.load()[0]

    return body


def moved(op: Any, source: str, dtype: Any = fx.Float16) -> Any:
    """One call from global memory or registers into registers."""

    def body(x: Any) -> None:
        held, other = (fx.make_rmem_tensor(op.bits // 16, dtype) for _ in range(2))
        other.fill(0)
        start = fx.make_view(fx.get_iter(x), fx.make_layout(op.bits // 16, 1))
        fx.copy(fx.make_copy_atom(op, fx.Float16), start if source == "global" else other, held)
        start.store(held.load())

    return body


def mfma(dtype: Any) -> Any:
    return cdna4.MFMA(16, 16, 32, dtype)


def mma_sync(dtype: Any) -> Any:
    return nvvm.MmaSync(16, 8, 16, dtype)


SIDE_BY_SIDE = "puts the lanes of a wave side by side, 8 elements each, but in"
NO_SWIZZLE = "copy into a tile without swizzle and padding"
CASES: dict[str, tuple[str, Any, str, str]] = {
    "LDS, swizzled": ("gfx950", by_threads(cdna3.BufferCopyLDS(128), ROWS, (3, 3, 3), buffer=True),
                      SIDE_BY_SIDE, NO_SWIZZLE),
    "LDS, padded": ("gfx950", by_threads(cdna4.GlobalLoadAsyncLDS(128), PADDED),
                    f"{SIDE_BY_SIDE} (64,64):(72,1) lane 8 belongs 72 elements behind lane 0, not 64", NO_SWIZZLE),
    "LDS, columns": ("gfx950", by_threads(cdna4.GlobalLoadAsyncLDS(128), COLUMNS), SIDE_BY_SIDE, NO_SWIZZLE),
    "LDS, too wide": ("gfx942", by_threads(cdna3.BufferCopyLDS(128), ROWS, buffer=True),
                      "gfx942 copies 32 bits a lane into LDS, not 128", "one of 32"),
    "LDS, no buffer": ("gfx942", by_threads(cdna3.BufferCopyLDS(32), ROWS),
                       "needs a buffer tensor as its source", "fx.rocdl.make_buffer_tensor(t)"),
    "LDS, another target": ("gfx942", by_threads(cdna4.GlobalLoadAsyncLDS(128), ROWS), "gfx942 does not have", "cdna4"),
    "LDS, to registers": ("gfx942", moved(cdna3.BufferCopyLDS(32), "global"), "its destination is register memory",
                          "fx.copy without an atom"),
    "ds_read_tr, rows": ("gfx950", fragment(cdna4.LDSReadTrans(16, 64), ROWS, mfma),
                         "reads rows of 4 neighbouring elements, but a row of this tile lies at 4:64", "other way"),
    "ds_read_tr, small swizzle": ("gfx950", fragment(cdna4.LDSReadTrans(16, 64), COLUMNS, mfma, (3, 1, 3)),
                                  "keeps 2 neighbours together", "a swizzle whose base leaves"),
    "ds_read_tr, other bits": ("gfx950", fragment(cdna4.LDSReadTrans(8, 64), COLUMNS, mfma),
                               "of 8-bit granules moves values as wide, not of 16 bits", "use LDSReadTrans(16"),
    "ds_read_tr, global": ("gfx950", moved(cdna4.LDSReadTrans(16, 64), "global"), "its source is global memory",
                           "copy the tile into shared memory first"),
    "ldmatrix, columns": ("sm_90a", fragment(nvvm.LdMatrix(4), COLUMNS, mma_sync),
                          "a row of this tile lies at 8:64", "with transposed=True"),
    "ldmatrix, small swizzle": ("sm_90a", fragment(nvvm.LdMatrix(4), ROWS, mma_sync, (3, 2, 3)),
                                "keeps 4 neighbours together", "a swizzle whose base leaves"),
    "ldmatrix, global": ("sm_90a", moved(nvvm.LdMatrix(4), "global"), "this side lies in global memory",
                         "copy the tile into shared memory first"),
    "ldmatrix, registers": ("sm_90a", moved(nvvm.LdMatrix(4), "registers"), "both sides are registers",
                            "without an atom"),
    "stmatrix, another target": ("sm_80", lambda x: fx.make_copy_atom(nvvm.StMatrix(4), fx.Float16),
                                 "sm_80 does not have", "fx.copy without an atom"),
    "cp.async, columns": ("sm_90a", by_threads(nvvm.CpAsync(128), COLUMNS), "holds them at 8:64", "narrower copy"),
    "cp.async, small swizzle": ("sm_90a", by_threads(nvvm.CpAsync(128), ROWS, (2, 1, 3)),
                                "keeps 2 neighbours together", "at most 2 elements"),
    "cp.async, rows at odd places": ("sm_90a", by_threads(nvvm.CpAsync(128), ((64, 64), (65, 1))),
                                     "misaligned access: the address is no multiple of 16 bytes", "copy fewer bits"),
    "cp.async, inside of shared memory": ("sm_90a", by_threads(nvvm.CpAsync(128), ROWS, inside=True),
                                          "global to shared memory, not shared to shared", "fx.copy without an atom"),
    "cp.async, another target": ("gfx942", by_threads(nvvm.CpAsync(128), ROWS), "gfx942 does not have",
                                 "fx.UniversalCopy"),
    "buffer, no buffer": ("gfx942", moved(cdna3.BufferCopy(128), "global"), "needs a buffer tensor",
                          "fx.rocdl.make_buffer_tensor(t)"),
    "tensor data mover, another target": ("gfx942", lambda x: fx.rocdl.make_tdm_atom(x, (None, None), num_warps=4),
                                          "gfx942 has no tensor data mover", "gfx1250"),
    "plain, another float": ("sm_90a", moved(fx.UniversalCopy128b(), "global", fx.BFloat16),
                             "does not convert: the source holds Float16, the destination BFloat16", ".to(dtype)"),
    "plain, strided": ("sm_90a", by_threads(fx.UniversalCopy128b(), COLUMNS), "holds them at 8:64", "narrower copy"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_fails_and_what_would_do(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, body, what, remedy = CASES[case]
    monkeypatch.setenv("ARCH", arch)

    @flyc.kernel
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=1, block=128)

    with pytest.raises(FlyDSLError) as caught:
        launch(flyc.from_dlpack(np.zeros((64, 64), np.float16), assumed_align=16))
    message, _, help_ = str(caught.value).partition("help: ")
    assert what in message and remedy in help_
