"""How long an all-reduce takes, and which way is the fastest: signals and bytes, nothing else.

A call costs ``start``, ``signal`` for each barrier of ranks, and the bytes that cross a GPU's links divided by their
bandwidth. docs/many_gpus.md has the figures that the numbers were fitted to.
"""

from __future__ import annotations

from dataclasses import dataclass

BARRIERS = {"all_reduce_one_shot": 1, "all_reduce_two_shot": 2, "all_reduce_write": 2, "all_reduce_multimem": 2}


@dataclass(frozen=True)
class Link:
    """What connects the GPUs of one machine: microseconds, and bytes a microsecond that a GPU takes in."""

    start: float
    signal: float
    bandwidth: float


LINKS = {
    "hopper": Link(start=3.9, signal=2.1, bandwidth=300e3),
    "cdna4": Link(start=3.0, signal=1.65, bandwidth=417e3),
    "cdna3": Link(start=3.0, signal=1.65, bandwidth=300e3),
}
"""By generation. Fitted by hand to figures that others published, see docs/many_gpus.md; those of cdna3 are scaled by
the links' rates (AMD's product pages: 64 and 76.8 GB/s, seven links)."""
DEFAULT_LINK = LINKS["cdna3"]


def crossing_bytes(way: str, world: int, size: int) -> float:
    """Bytes that one GPU takes in over its links."""
    if way == "all_reduce_one_shot":
        return (world - 1) * size
    if way == "all_reduce_multimem":  # the switch adds what ranks give: a sum comes in, and all sums
        return (1 / world + 1) * size
    return 2 * (world - 1) / world * size


def microseconds(way: str, world: int, size: int, link: Link = DEFAULT_LINK) -> float:
    """Return how long an all-reduce of ``size`` bytes takes."""
    return link.start + BARRIERS[way] * link.signal + crossing_bytes(way, world, size) / link.bandwidth


def fastest_way(world: int, size: int, link: Link = DEFAULT_LINK, *, multicast: bool = False) -> str:
    """Return the way that takes least; ``multicast`` says whether the switch can add."""
    ways = ["all_reduce_one_shot", "all_reduce_two_shot", *(["all_reduce_multimem"] if multicast else [])]
    return min(ways, key=lambda way: microseconds(way, world, size, link))
