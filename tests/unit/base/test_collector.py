"""Memory for the frames of deep calls."""

from __future__ import annotations

import resource
from collections.abc import Callable

from flydsl.base.collector import in_one_piece

CALLS = 200
DEPTHS = 300
"""More frames than fit into 16 KB."""


def at_depth(depth: int, action: Callable[[], int]) -> int:
    return action() if depth == 0 else at_depth(depth - 1, action)


def faults_of_calls() -> int:
    """Pages that many calls, one after the other, have the system make."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        at_depth(0, int)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_calls_at_any_depth_find_their_memory() -> None:
    def most() -> int:
        return max(at_depth(depth, faults_of_calls) for depth in range(DEPTHS))

    in_one_piece(most)  # the first time touches the piece
    assert in_one_piece(most) < CALLS // 2


def test_what_is_called_returns_its_value() -> None:
    assert in_one_piece(lambda: 7) == 7
