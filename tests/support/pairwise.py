"""Few cases in which every two choices of different features meet, but for what is refused together."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

from tests.support import random_data

Choice = tuple[str, Any]
"""A feature's name, and what is chosen of it."""
Together = frozenset[Choice]
Features = Mapping[str, tuple[Any, ...]]
"""Name -> choices."""
Case = dict[str, Any]


def together(**choices: Any) -> Together:
    """Return choices that are refused where they meet: two or more."""
    return frozenset(choices.items())


def pairs_of(features: Features) -> set[Together]:
    """Return every two choices of different features."""
    return {
        frozenset(pair)
        for (a, of_a), (b, of_b) in combinations(features.items(), 2)
        for pair in product(((a, x) for x in of_a), ((b, x) for x in of_b))
    }


def crossed(features: Features, refused: Iterable[Together] = ()) -> list[Case]:
    """Return few cases, always the same ones, in which every two choices meet, and nothing that is ``refused`` does."""
    refused = tuple(refused)
    open_pairs = {pair for pair in pairs_of(features) if is_possible(dict(pair), features, refused)}
    cases = []
    for first in sorted(open_pairs, key=lambda pair: sorted(map(str, pair))):
        if first in open_pairs:
            case = completed(first, features, refused, open_pairs)
            open_pairs -= {frozenset(pair) for pair in combinations(case.items(), 2)}
            cases.append(case)
    return cases


def completed(
    chosen: Iterable[Choice], features: Features, refused: Iterable[Together] = (), wanted: Iterable[Together] = ()
) -> Case:
    """Return a case with these choices and, of other features, those that make most of the ``wanted`` pairs; nothing
    that is refused, but for what these choices are already."""
    case, wanted = dict(chosen), frozenset(wanted)
    bars = tuple(bar for bar in refused if not bar <= case.items())
    for name in sorted(features, key=lambda name: -len(features[name])):
        if name not in case:
            allowed = [x for x in features[name] if is_possible(case | {name: x}, features, bars)]
            case[name] = max(
                allowed, key=lambda x, name=name: sum(frozenset(((name, x), y)) in wanted for y in case.items())
            )
    return {name: case[name] for name in features}


def is_possible(case: Case, features: Features, refused: tuple[Together, ...]) -> bool:
    """Return whether choices can be completed to a case in which nothing is refused: seen once for all cases that are
    alike in what is refused at all."""
    barred, known = _known(refused, tuple(features.items()))
    choices = frozenset(choice for choice in case.items() if choice[0] in barred)
    if choices not in known:
        known[choices] = _is_possible(dict(choices), features, refused)
    return known[choices]


@cache
def _known(
    refused: tuple[Together, ...], features: tuple[tuple[str, tuple[Any, ...]], ...]
) -> tuple[frozenset[str], dict[Together, bool]]:
    """Return the names of features that are refused with others, and what was found of their choices."""
    return frozenset(name for bar in refused for name, _ in bar), {}


def _is_possible(case: Case, features: Features, refused: tuple[Together, ...]) -> bool:
    chosen = case.items()
    if any(bar <= chosen for bar in refused):
        return False
    bars = tuple(bar for bar in refused if all(case.get(name, x) == x for name, x in bar))
    open_names = sorted({name for bar in bars for name, _ in bar} - case.keys())
    return not open_names or any(
        _is_possible(case | {open_names[0]: x}, features, bars) for x in features[open_names[0]]
    )


def with_few(features: Features, name: str, count: int) -> Features:
    """Return features with so many choices of one, others from seed to seed; in `make thorough` with all."""
    if os.environ.get("FLYDSL_TEST_ALL"):
        return features
    chosen = random.Random(f"{random_data.SEED} {name}").sample(range(len(features[name])), count)
    return {**features, name: tuple(features[name][place] for place in sorted(chosen))}


def in_turn(cases: Sequence[Case], name: str = "") -> list[int]:
    """Return the numbers of few cases that have every choice among them, others from seed to seed and under another
    ``name``; in `make thorough` those of all."""
    numbers = list(range(len(cases)))
    if os.environ.get("FLYDSL_TEST_ALL"):
        return numbers
    random.Random(f"{random_data.SEED} {name}").shuffle(numbers)
    taken, missing = [], {choice for case in cases for choice in case.items()}
    while missing:
        taken.append(max(numbers, key=lambda number: len(missing & cases[number].items())))
        missing -= cases[taken[-1]].items()
    return sorted(taken)
