"""Interleavings of every collective on virtual ranks: 2, 4 and 8 of them, on each target, arrays of 1 element to 16 MB.

python -m tests.fuzz.ranks --interleavings 500 [--processes 2] [--seed 1] [--only "all_to_all gfx942"]

Every interleaving has a seed of its own. All ranks must have the same bits in each, and sums be those in float64 within
the type's rounding. A case is drawn from the seed and its name alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context

import numpy as np

from tests.kernels.test_collectives import NAMES, TYPES, has, sum_in_any_order
from tests.kernels.test_dispatch_combine import FORMS, there_and_back_in_any_order
from tests.kernels.test_rank_collectives import norm_in_any_order

ARCHS, WORLDS = ("gfx942", "gfx950", "sm_90a"), (8, 4, 2)
LARGEST = 16 << 20


def cases() -> dict[str, Callable[[np.random.Generator, int, int], int]]:
    """By name what draws interleavings of a case, and counts them; those that take longest come first."""
    found: dict[str, Callable[[np.random.Generator, int, int], int]] = {}
    for world in WORLDS:
        for arch in ARCHS:
            for number, form in enumerate(FORMS):
                found[f"dispatch_combine.{number} {arch} {world}"] = partial(there_and_back_in_any_order, form, world)
            found[f"all_reduce_rms_norm {arch} {world}"] = partial(norm_in_any_order, world)
            for name in (name for name in NAMES if has(arch, name)):
                draw = partial(sum_in_any_order, name, arch, world, kinds=list(TYPES))
                found[f"{name} {arch} {world}"] = draw
    return found


def run(name: str, seed: int, interleavings: int, until: float) -> tuple[int, float, str]:
    """A case: how many interleavings there were, seconds of a core, and what went wrong; none where time is over."""
    start = time.process_time()
    if time.time() > until:
        return 0, 0.0, ""
    os.environ |= {"ARCH": name.split()[-2], "FLYDSL_RUNTIME_KIND": "host"}
    rng = np.random.default_rng((seed, zlib.crc32(name.encode())))
    try:
        return cases()[name](rng, interleavings, LARGEST), time.process_time() - start, ""
    except Exception as error:  # whatever it is, it is what this looks for
        return 0, time.process_time() - start, f"{type(error).__name__}: {error}"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--interleavings", type=int, default=500)
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="cases that have all of these words in their names")
    options.add_argument("--share", default="0/1", help="the part of the cases, and of how many: 1/4 is the second")
    options.add_argument("--seconds", type=float, default=1e9, help="no case begins later")
    given = options.parse_args()
    part, of = map(int, given.share.split("/"))
    names = [name for name in cases() if set(given.only.split()) <= set(name.split())][part::of]
    until, total, failed, left = time.time() + given.seconds, 0, 0, 0
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        running = {pool.submit(run, name, given.seed, given.interleavings, until): name for name in names}
        for future in as_completed(running):
            count, seconds, error = future.result()
            total, failed, left = total + count, failed + bool(error), left + (not count and not error)
            if count or error:
                print(f"{running[future]}: {error or count} in {seconds:.1f} s", flush=True)
    print(f"{len(names) - left} of {len(names)} cases, {total} interleavings, {failed} cases failed")
    sys.exit(bool(failed or left))


if __name__ == "__main__":
    main()
