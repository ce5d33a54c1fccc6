"""What is left of a pipeline of copies when its loop ends, as a list known while tracing."""

from __future__ import annotations


def make_tail_plan(num_buffers: int, pre_loaded: int, extra: int) -> list[tuple[int | None, int, int]]:
    """Iterations behind the main loop: (stage to load or None, stage to multiply, copies that may still be under way).

    A ring of ``num_buffers`` stages has ``pre_loaded`` tiles in it or on their way, the oldest in stage 0, and
    ``extra`` more have to be fetched. Each first waits until at most the third number of tiles are on their way,
    then asks for the next tile where one is left, then multiplies.
    """
    if num_buffers < 2:
        raise ValueError(f"a ring has at least two buffers, got {num_buffers}")
    if not 1 <= pre_loaded < num_buffers:
        raise ValueError(f"between 1 and {num_buffers - 1} tiles of {num_buffers} are loaded ahead, got {pre_loaded}")
    if extra < 0:
        raise ValueError(f"extra tiles cannot be fewer than none, got {extra}")
    plan: list[tuple[int | None, int, int]] = []
    ahead = pre_loaded
    for iteration in range(pre_loaded + extra):
        load = (iteration + pre_loaded) % num_buffers if iteration < extra else None
        plan.append((load, iteration % num_buffers, ahead - 1))
        ahead -= load is None
    return plan


def tdm_epilogue_fence_threshold_bytes(stage_bytes: int, num_buffers: int, tiles: int) -> int:
    """Bytes at the ring's start that an epilogue may use at once; one that needs more waits for all waves first.

    They are those below the stage of the last of ``tiles`` tiles, which other waves may still be reading.
    """
    if stage_bytes <= 0 or tiles < 1:
        raise ValueError(f"a ring has stages of some bytes and at least one tile, got {stage_bytes} and {tiles}")
    return (tiles - 1) % num_buffers * stage_bytes
