"""Some of the variants that a test goes through, where each compiles kernels of its own: others from seed to seed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from tests.support import random_data

T = TypeVar("T")


def in_turns(variants: Iterable[T], count: int = 1) -> list[T]:
    """Return so many variants, in their order: which ones, the seed and the name of the test say. `make thorough` has
    them all."""
    given = list(variants)
    if os.environ.get("FLYDSL_TEST_ALL") or count >= len(given):
        return given
    return [given[place] for place in sorted(random_data.generator().permutation(len(given))[:count])]
