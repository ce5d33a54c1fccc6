"""LayerNorm and RMSNorm of a row, with what may be fused to them; `layernorm.py` and `rmsnorm.py` are its entries.

A form says what is computed: the kind of norm, whether a residual is added before it, whether the statistics are kept
for a backward pass, and whether results are quantised. One kernel serves all forms; what a form does not have is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import inverse
from flydsl.kernels.blocks.exchange import FEW_WAVES, RowExchange
from flydsl.kernels.blocks.inputs import in_rows, require_numbers, require_type
from flydsl.kernels.blocks.narrow import FORMATS, LARGEST, codes_in, largest_magnitude, quantised, row_scale
from flydsl.kernels.blocks.reduce import add, maximum, row_sum, sum_of_squares
from flydsl.kernels.blocks.row_choice import check_row, lines_beside, only, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import DTYPES, RowPlan, RowTask
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import (
    Line,
    launch_rows,
    loaded_after,
    picked,
)


@dataclass(frozen=True)
class NormForm:
    """A norm of rows of ``length`` elements; ``centred`` ones subtract the mean."""

    centred: bool
    length: int
    dtype: str
    eps: float = 1e-5
    stats: bool = False
    residual: bool = False
    quant: str | None = None
    """What results are quantised to, "i8" or "fp8"."""
    threads: int | None = None
    """Of a block, where they were asked for."""
    weight: str | None = None
    """The type of scale and shift, where it was asked for; else they may have any."""


NAMES = {
    "store_stats": "stats", "store_rstd": "stats", "N": "length", "dtype_str": "dtype", "BLOCK_THREADS": "threads",
    "weight_dtype_str": "weight", "quant_dtype_str": "quant",
}  # fmt: skip
"""What builders call parts of a form."""
BEHIND = ("eps", "threads", "weight")
"""Parts that stand, in this order, behind the type and the flag or format there."""


def norm_form(
    centred: bool, arguments: tuple[Any, ...], options: dict[str, Any], quant: str | None = None, residual: bool = False
) -> NormForm:
    """Return the form that arguments of a builder ask for: ``(M, N, dtype, ...)`` or ``(N, dtype, ...)``.

    Behind the type come ``store_stats`` (a flag), ``quant_dtype_str`` where results are quantised (to ``quant`` if
    nothing is said), ``eps``, ``BLOCK_THREADS`` and ``weight_dtype_str``. The first two may be left out.
    """
    given, named = list(arguments), dict(options)
    two = len(given) > 1 and _is_integer(given[0]) and _is_integer(given[1])
    # The number of rows is a hint: each call has its own.
    if "M" in named:
        if two or not _is_integer(rows := named.pop("M")):
            raise TypeError("M is given twice" if two else f"M is the number of rows, an integer, got {rows!r}")
    elif two or (given and _is_integer(given[0]) and "N" in named):
        given.pop(0)
    values: dict[str, Any] = dict(zip(("length", "dtype"), given))
    rest = given[2:]
    for name, kind in (("stats", bool), ("quant", str)):
        if rest and isinstance(rest[0], kind) and (quant is not None or name == "stats"):
            values[name] = rest.pop(0)
    if len(rest) > len(BEHIND):
        raise TypeError(f"the last a norm takes are eps, threads and its weight's type, and here are {len(rest)}")
    values |= dict(zip(BEHIND, rest))
    for name, value in named.items():
        key = NAMES.get(name, name)
        if key in values:
            raise TypeError(f"{name} is given twice")
        values[key] = value
    if missing := [name for name in ("length", "dtype") if name not in values]:
        raise TypeError(f"a norm needs its {missing[0]}: build_..._module(N, dtype, store_stats=False, eps=1e-5)")
    known = {"length", "dtype", "stats", *BEHIND, *(() if quant is None else ("quant",))}
    if unknown := sorted(name for name in named if NAMES.get(name, name) not in known):
        raise TypeError(f"a norm has no option {unknown[0]}")
    check_row(values["length"], values["dtype"])
    check_options(values.get("eps", 1e-5), values.get("threads"))
    if not isinstance(values.get("stats", False), bool):
        raise TypeError(f"storing statistics is a flag, got {values['stats']!r}")
    if quant is not None and values.get("stats"):
        raise TypeError("a norm whose results are quantised stores no statistics")
    check_weight_dtype(values["dtype"], values.get("weight"))
    if quant is not None:
        values["quant"] = check_quant(values.get("quant", quant))
    return NormForm(centred, **values, residual=residual)


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def check_options(eps: float, threads: int | None) -> None:
    """Refuse what is no epsilon and no number of threads, above all a flag in the place of one."""
    if isinstance(eps, bool) or not isinstance(eps, Real):
        raise TypeError(f"eps is a number added to the variance, got {eps!r}; there is no flag for storing statistics")
    if eps < 0:
        raise ValueError(f"eps must be 0 or more, got {eps}")
    if threads is not None and type(threads) is not int:
        raise TypeError(f"threads is an int, or None for the model's choice, got {threads!r}")


def norm_launcher(form: NormForm, threads: int | None = None, plan: RowPlan | None = None) -> Any:
    """Return the launcher of a form; see `layernorm.py` for the entries that have fewer arguments."""
    threads = form.threads if threads is None else threads
    check_options(form.eps, threads)

    @flyc.kernel
    def norm_kernel(
        X: fx.Tensor, R: fx.Tensor | None, gamma: fx.Tensor | None, beta: fx.Tensor | None, xscale: fx.Tensor | None,
        Y: fx.Tensor, R_out: fx.Tensor | None, mean: fx.Tensor | None, rstd: fx.Tensor | None,
        yscale: fx.Tensor | None, m: fx.Int32, plan: fx.Constexpr,
    ):  # fmt: skip
        given = [line for line in (gamma, beta, xscale) if line is not None]
        arrays = RowArrays(
            (X,) if R is None else (X, R), (Y,) if R_out is None else (Y, R_out), given,
            numbers=(3 if form.centred else 1) + (1 if form.quant else 0), pivot=form.centred,
        )  # fmt: skip
        names = [name for name, line in (("gamma", gamma), ("beta", beta), ("xscale", xscale)) if line is not None]

        def code(work: RowWork) -> None:
            x: Line = work.x[0] if R is None else AddedLine(work.x, plan.keep)
            statistics = norm_statistics(work, x, form)
            for tensor, value in ((mean, statistics.mean), (rstd, statistics.rstd)):
                if tensor is not None:
                    work.put(tensor, value)
            store_normed(work, x, statistics, dict(zip(names, work.lines, strict=True)), form, yscale)

        def begin(work: RowWork) -> None:
            give_numbers(work, work.x[0], form)

        for_each_row(arrays, m, plan, code, begin)

    @flyc.jit
    def norm(
        X: fx.Tensor, R: fx.Tensor | None, gamma: fx.Tensor | None, beta: fx.Tensor | None, xscale: fx.Tensor | None,
        Y: fx.Tensor, R_out: fx.Tensor | None, mean: fx.Tensor | None, rstd: fx.Tensor | None,
        yscale: fx.Tensor | None, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        X, R, Y, R_out = in_rows(form.length, X, R, Y, R_out)
        lines = lines_beside((gamma, beta, xscale), form.dtype)
        task = RowTask(1 + form.residual, 1 + form.residual)
        choice = only(plan) if plan else plan_row(form.length, form.dtype, threads, lines=lines, task=task)
        if fx.const_expr(form.weight):
            require_type((gamma, beta), DTYPES[form.weight])
        require_numbers((gamma, beta, xscale), form.length)
        require_numbers((mean, rstd, yscale), m)
        if fx.const_expr(form.quant):
            Y = codes_in(Y, FORMATS[form.quant])
        launch_rows(
            lambda chosen: norm_kernel(X, R, gamma, beta, xscale, Y, R_out, mean, rstd, yscale, m, chosen), m, choice,
            stream, (X, R, Y, R_out), (gamma, beta, xscale), spares=form.centred and form.quant is None,
        )  # fmt: skip

    return norm


class AddedLine(Line):
    """The sum of two rows, rounded to their type, as if it had been stored and loaded."""

    def __init__(self, lines: list[Line], keep: bool) -> None:
        self.lines, self.share, self.hint, self.again_hint = lines, lines[0].share, None, True
        self.held = [self._load(iteration, None) for iteration in range(self.share.plan.iterations)] if keep else []

    def _load(self, iteration: int, hint: Any) -> Any:
        return self._sum(*(line.loaded(iteration, again=hint is not None) for line in self.lines))

    def _sum(self, a: Any, b: Any) -> Any:
        return (a.to(fx.Float32) + b.to(fx.Float32)).to(self.lines[0].kind)

    def of_first_lane(self) -> Any:
        return self._sum(*(line.of_first_lane() for line in self.lines)).to(fx.Float32)


LEAST_NORMAL = 2.0**-126
"""Of f32."""

# Statistics ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowStatistics:
    """The mean of a row, None without centring, and 1 / its standard deviation."""

    mean: Any
    rstd: Any
    pivot: Any = None
    """Where they are of differences from a number near the row's elements: that number, and how far the mean is from
    it."""
    apart: Any = None

    def normed(self, vector: Any) -> Any:
        """Return elements of the row normalised."""
        if self.mean is None:
            return vector * self.rstd
        if self.pivot is None:
            # The mean goes first: where a row hardly varies, rstd is large and would multiply a rounding of the mean.
            return (vector - self.mean) * self.rstd
        # What rstd multiplies is small as well, and the differences have been computed: an instruction less.
        scale, shift = (fx.Vector.filled_like(vector, value) for value in (self.rstd, -self.apart * self.rstd))
        return fx.math.fma(vector - self.pivot, scale, shift)


def norm_statistics(work: RowWork, x: Line, form: NormForm) -> RowStatistics:
    return _moments(work, x, form) if form.centred else RowStatistics(None, _inverse_root(work, x, form))


def give_numbers(work: RowWork, x: Line, form: NormForm) -> None:
    """Begin with the statistics of a row of f32, or of one that is not centred: `norm_statistics` has them later."""
    values = list(wave_moments(x, work.exchange)) if form.centred else [work.exchange.reduce(sum_of_squares(x), add)]
    work.exchange.give(values)


def _inverse_root(work: RowWork, x: Line, form: NormForm) -> Any:
    if work.begun:
        return _inverse_of_root(work.exchange.given([None]).sum(0) * (1.0 / form.length), form)
    (total,) = work.exchange.totals([sum_of_squares(x)])
    return _inverse_of_root(total * (1.0 / form.length), form)


def _inverse_of_root(square: Any, form: NormForm) -> Any:
    """Return 1 / sqrt(square + eps), by one instruction where that cannot be the root of a subnormal number."""
    if fx.nvvm.is_target() and form.eps >= LEAST_NORMAL:
        return fx.nvvm.rsqrt(square + form.eps)
    return fx.math.rsqrt(square + form.eps, fastmath="afn")


def wave_moments(x: Line, exchange: RowExchange) -> tuple[Any, Any, Any]:
    """Return (sum, squares of the differences from the wave's own mean, elements) of a wave's part of the row."""
    if not x.held or x.share.plan.few:
        return _moments_of_wave(*thread_moments(x), x.share.count_of_wave(exchange.group), exchange)
    total, count = exchange.reduce(row_sum(x), add), x.share.count_of_wave(exchange.group)
    mean = mean_of(total, count)
    centred = (x.share.within(vector - mean, iteration) for iteration, vector in enumerate(x.again()))
    return total, exchange.reduce(sum_of_squares(centred), add), count


def thread_moments(x: Line) -> tuple[Any, Any, Any]:
    """Return (sum, squares of the differences from the mean, elements) of a thread's part of the row, in one pass.

    Differences are from the mean of the thread's first vector, so that few digits are lost where all elements are
    large: with p that mean, the error is of the size of count * p**2 roundings, and the row's own squares are no less
    than those of the elements of that vector, which p is the mean of.
    """
    share, pivot, sums, squares = x.share, None, None, None
    for iteration, vector in enumerate(x):
        if pivot is None:
            pivot = mean_of(vector.reduce("add", fastmath="reassoc"), share.counted(iteration))
        apart = share.within(vector - pivot, iteration)
        sums = apart if sums is None else sums + apart
        squares = apart * apart if squares is None else fx.math.fma(apart, apart, squares)
    assert pivot is not None and sums is not None and squares is not None
    count, apart = share.count(), sums.reduce("add", fastmath="reassoc")
    own = squares.reduce("add", fastmath="reassoc") - apart * mean_of(apart, count)
    return fx.math.fma(count, pivot, apart), fx.max(own, fx.Float32(0.0)), count


def _moments_of_wave(
    total: Any, squares: Any, count: Any, elements: Any, exchange: RowExchange
) -> tuple[Any, Any, Any]:
    """Return the moments of a wave, which has ``elements``, from those of its threads."""
    own = mean_of(total, count)
    first = fx.shuffle_idx(own, 0, exchange.group)
    whole, squares = exchange.reduce(total, add), exchange.reduce(squares_about(first, own, squares, count), add)
    return whole, _about_mean(squares, mean_of(whole, elements), first, elements), elements


def _moments(work: RowWork, x: Line, form: NormForm) -> RowStatistics:
    """Return those of a row: squares about each wave's mean and the means' distances add up to those about the row's
    mean.

    The variance is of differences, which loses no digits where all elements are large.
    """
    plan = work.share.plan
    if (x.held or plan.pivots) and plan.one_pivot and fx.nvvm.is_target():  # AMD's lanes would ask through LDS
        return _moments_about_pivot(work, x, form)
    exchange, alone = work.exchange, FEW_WAVES if plan.few else 1
    known = None if work.begun else _counts_of_waves(plan, exchange, alone)
    numbers = 2 if known else 3
    given = [None] * 3 if work.begun else list(wave_moments(x, exchange))[:numbers]
    waves = exchange.given(given) if work.begun else exchange.publish(given)
    sums, squares, *more = (waves.read(index, 0.0, alone) for index in range(numbers))
    counts = known or more[0]
    first = mean_of(waves.first(0), known[0] if known else waves.first(2))
    parts = [
        squares_about(first, mean_of(total, count), square, count)
        for total, square, count in zip(sums, squares, counts, strict=True)
    ]
    mean, whole = _row_mean(waves.combine(sums, add), form.length), waves.combine(parts, add)
    variance = _about_mean(whole, mean, first, fx.Float32(float(form.length))) * (1.0 / form.length)
    return RowStatistics(mean, _inverse_of_root(variance, form))


def _moments_about_pivot(work: RowWork, x: Line, form: NormForm) -> RowStatistics:
    """Return those of a row from differences from a number near its elements, which all lanes know: sums and squares
    are added up at once, and once. Beyond the row, elements become that number, so that nothing is masked.

    Squares lose no more digits than the row of a wave has elements, or that of several waves vectors, which are far
    fewer than 16-bit elements are rounded by.
    """
    pivot, sums, squares = _row_pivot(work, x), None, None
    for iteration, vector in enumerate(x.held):
        if (insides := work.share.insides(iteration)) is not None:
            x.held[iteration] = picked(vector, insides, pivot, vector.dtype)
    x.fill = pivot  # of what is not held
    for vector in x:
        apart = vector - pivot
        sums = apart if sums is None else sums + apart
        squares = apart * apart if squares is None else fx.math.fma(apart, apart, squares)
    assert sums is not None and squares is not None
    parts = [part.reduce("add", fastmath="reassoc") for part in (sums, squares)]
    waves = work.exchange.publish([work.exchange.reduce(part, add) for part in parts])
    total, square = waves.sum(0), waves.sum(1)
    apart = _row_mean(total, form.length)
    variance = fx.max(fx.math.fma(-apart, apart, square * (1.0 / form.length)), fx.Float32(0.0))
    return RowStatistics(pivot + apart, _inverse_of_root(variance, form), pivot, apart)


def _row_pivot(work: RowWork, x: Line) -> Any:
    """Return a number of the row's own type: the first element, which a wave is told, about the mean of the first
    lane's first vector, which several waves load, or one in the midst of some elements that a ring brings."""
    if work.share.plan.slots:
        first = x.of_first_lane()
        ends = [_middle(*(first[place + i] for i in range(3))) for place in (0, 3)]
        return _middle(*ends, first[6])
    if work.exchange.total == 1:
        return fx.shuffle_idx(x[0][0], 0, work.exchange.group)
    vector = x.of_first_lane()
    if work.nothing is not None and work.share.plan.few:
        vector = loaded_after(vector, x.held, work.share.plan.width, work.nothing)
    return (vector.reduce("add", fastmath="reassoc") * (1.0 / vector.numel)).to(x.held[0].dtype).to(fx.Float32)


def _middle(a: Any, b: Any, c: Any) -> Any:
    """Return the one of three numbers that lies between the others."""
    return fx.max(fx.min(a, b), fx.min(fx.max(a, b), c))


def squares_about(pivot: Any, mean: Any, squares: Any, count: Any) -> Any:
    """Return the squares of differences from a pivot, from those about a mean."""
    apart = mean - pivot
    return fx.math.fma(count * apart, apart, squares)


def _about_mean(squares: Any, mean: Any, pivot: Any, count: Any) -> Any:
    """Return the squares of differences from the mean of some parts, from those about the mean of the first part.

    Sums and squares are so added up at once, not one behind the other. What is lost are digits for the number of parts:
    the first part's own distance from the mean is one of them.
    """
    apart = mean - pivot
    return fx.max(fx.math.fma(-count * apart, apart, squares), fx.Float32(0.0))


def _row_mean(total: Any, length: int) -> Any:
    """Divide a row's sum by its length, rounded once: a row of equal elements must not differ from its own mean."""
    about = total * (1.0 / length)
    return fx.math.fma(fx.math.fma(about, fx.Float32(-length), total), fx.Float32(1.0 / length), about)


def _counts_of_waves(plan: RowPlan, exchange: RowExchange, alone: int) -> list[float] | None:
    """Return how many elements the waves have whose numbers a lane reads, where that is known while compiling and the
    same for all lanes."""
    if plan.shifted or plan.cluster > 1:
        return None
    firsts = [[access * plan.lanes + wave * exchange.group for access in range(plan.iterations * plan.accesses)]
              for wave in range(exchange.total)]  # fmt: skip
    counts = [plan.width * sum(max(min(plan.share - at, exchange.group), 0) for at in wave) for wave in firsts]
    if exchange.total > alone:
        counts = counts[:1] if len(set(counts)) == 1 and exchange.lanes() == exchange.total else []
    return [float(count) for count in counts] or None


def mean_of(total: Any, count: Any) -> Any:
    """Return the mean of some elements, of which there may be none."""
    if isinstance(count, float):
        return total * (1.0 / max(count, 1.0))
    return total * inverse(fx.max(count, fx.Float32(1.0)))


# Results -------------------------------------------------------------------------------------------------------------


def store_normed(
    work: RowWork, x: Line, statistics: RowStatistics, lines: dict[str, Line], form: NormForm, yscale: Any
) -> None:
    """Write the row normalised, scaled and shifted, and quantised where the form says so."""

    def normed() -> Iterator[tuple[int, Any, Any]]:
        turns = {name: line.in_turn() for name, line in lines.items()}
        for iteration, vector in enumerate(x.again()):
            y = statistics.normed(vector)
            scale, shift, smooth = (next(turns[name]) if name in turns else None for name in _LINES)
            y = affine(y, scale, shift)
            yield iteration, vector, y if smooth is None else y * smooth

    if form.quant is None:
        for iteration, vector, y in normed():
            if form.residual:
                work.store(iteration, vector, 1)
            work.store(iteration, y)
        return
    top = largest_magnitude(work.share.within_or_zero(y, iteration) for iteration, _, y in normed())
    waves = work.exchange.publish([work.exchange.reduce(top, maximum)], at=3 if form.centred else 1)
    scale, inverse = row_scale(waves.combine(waves.read(0, 0.0), maximum), form.quant)
    work.put(yscale, scale)
    for iteration, vector, y in normed():
        if form.residual:
            work.store(iteration, vector, 1)
        work.store(iteration, quantised(y * inverse, form.quant))


_LINES = ("gamma", "beta", "xscale")


def affine(y: Any, scale: Any, shift: Any) -> Any:
    """``y * scale + shift``, without those that are not there."""
    if scale is None or shift is None:
        return y * scale if scale is not None else y + shift if shift is not None else y
    return fx.math.fma(y, scale, shift)


def check_weight_dtype(dtype: str, weight: str | None) -> None:
    """A weight has the type of the rows, or f32 with rows of 16 bits."""
    if weight not in (None, dtype, "f32"):
        raise ValueError(f"the weight of {dtype} rows is {'' if dtype == 'f32' else f'{dtype} or '}f32, got {weight!r}")


def check_quant(quant: str) -> str:
    """Return the name of a format to quantise to."""
    name = {"int8": "i8"}.get(quant, quant)
    if name not in LARGEST:
        raise ValueError(f"quant_dtype_str must be one of {', '.join(LARGEST)}, got {quant!r}")
    return name
