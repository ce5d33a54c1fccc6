"""The all-reduce kernels by the names of FlyDSL: `make_allreduce_kernels`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import written_as
from flydsl.kernels.comm.collectives import DTYPES, build_collective
from flydsl.kernels.comm.packs import PACK_BYTES

WORLDS = (2, 4, 8)
_WAYS = {
    "run_1stage_arr": "all_reduce_one_shot",
    "run_2stage_arr": "all_reduce_two_shot",
    "run_2stage_write_mode": "all_reduce_write",
}


def make_allreduce_kernels(*, N: int, dtype_str: str, world_size: int, threads: int = 512) -> dict[str, Any]:
    """Launchers of an all-reduce of N elements: ``fn(x, out, stage, signals, blocks, stream=None)``.

    ``stage`` and ``signals`` are symmetric (`packs.py`); `FlyDSLAllreduce` has both.
    """
    if world_size not in WORLDS:
        raise ValueError(f"world_size is one of {WORLDS}, got {world_size}")
    if dtype_str not in DTYPES:
        raise ValueError(f"dtype_str is one of {', '.join(DTYPES)}, got {dtype_str!r}")
    width = PACK_BYTES * 8 // DTYPES[dtype_str].width
    if N <= 0 or N % width:
        raise ValueError(f"N is a positive multiple of {width} elements of {dtype_str}, got {N}")
    lanes = threads // world_size
    if threads % world_size or lanes & (lanes - 1) or not lanes:
        raise ValueError(f"threads / world_size is a power of two, got {threads} / {world_size}")
    return {name: _of_length(way, N, dtype_str, world_size, threads) for name, way in _WAYS.items()}


def _of_length(way: str, n: int, dtype: str, world: int, threads: int) -> Callable[..., None]:
    launch = build_collective(way, dtype, world, threads)

    def run(x: Any, out: Any, stage: fx.Symmetric, signals: fx.Symmetric, blocks: int, stream: object = None) -> None:
        launch(x.reshape(-1), written_as("out", out, -1), stage, signals, n, blocks, stream)

    return run
