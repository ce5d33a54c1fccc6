"""What the two passes of a norm's gradient compute, however rows lie and whoever has them.

With n = a * x + b the normalised row and d = dy * gamma, the first pass sums dy * n and dy by columns, d * n and d over
the row; by these totals the second one writes dx = d * rstd + x * steep + far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flydsl.expr as fx


def line_of_norm(numbers: Sequence[Any]) -> tuple[Any, Any]:
    """Return (a, b) with n = a * x + b, of a row's rstd and, if it is centred, its mean; no b without a mean."""
    scale, *mean = numbers
    return scale, -mean[0] * scale if mean else None


def sums_with_row(
    load: Callable[[int], tuple[Any, Any]], weigh: Callable[[int, Any], Any], line: tuple[Any, Any], sums: list[Any],
    count: int, kept: list[Any] | None = None,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Return the sums of columns with what a row adds to them, and vectors whose elements add up to its totals.

    ``load(i)`` gives the i-th of ``count`` vectors of dy and x, ``weigh(i, gradient)`` its d. What the second pass
    needs of each, d and n, is added to ``kept``, where there is such a list.
    """
    (scale, centre), added, products, total = line, list(sums), None, None
    for i in range(count):
        gradient, vector = load(i)
        value = vector * scale if centre is None else fx.math.fma(vector, scale, centre)
        d = weigh(i, gradient)
        products = d * value if products is None else fx.math.fma(d, value, products)
        total = d if total is None else total + d
        if kept is not None:
            kept.append((d, value))
        added[i] = fx.math.fma(gradient, value, sums[i])
        if centre is not None:
            added[count + i] = sums[count + i] + gradient
    return added, [products] if centre is None else [products, total]


def slopes_of(totals: Sequence[Any], line: tuple[Any, Any], length: int) -> tuple[Any, Any]:
    """Return (slope, shift) with dx = d * rstd + n * slope + shift, by a row's totals; no shift without a mean."""
    slope, *shift = [total * (-1.0 / length) * line[0] for total in totals]
    return slope, shift[0] if shift else None


def slopes_of_input(slopes: tuple[Any, Any], line: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return (steep, far) with n * slope + shift = x * steep + far; no far without a mean."""
    (slope, shift), (scale, centre) = slopes, line
    return slope * scale, None if centre is None else fx.math.fma(centre, slope, shift)


def on_line(value: Any, line: tuple[Any, Any]) -> Any:
    """Return slope * value + shift, or no shift."""
    slope, shift = line
    return value * slope if shift is None else fx.math.fma(value, slope, shift)
