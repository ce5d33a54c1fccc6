"""Matrix products on a Hopper GPU beside Triton and cuBLAS, in one run, the sides in turns.

Squares are a part of benchmarks/gpu.py; alone, with linear layers of public models and shapes drawn at random:

    python benchmarks/gpu_gemm.py [--quick] [--seed 18] [--kind bf16] [--tune 8] [--few 24]

and other kinds alone: ``--kind fp8`` and ``rows``, the same shapes with one scale, and with one for each row of A and
column of B, beside ``torch._scaled_mm``, both with ``use_fast_accum``, and ``fp8_accurate`` and ``rows_accurate``, both
without; ``blocks``, fp8 with scales of blocks beside the same; ``groups``, also with
gathered rows, beside ``torch._grouped_mm``; ``scaled_groups``, fp8 groups with scales of blocks, beside our product of
all rows with one matrix and ``torch._scaled_grouped_mm`` with scales of rows; ``int4``, weights of four bits beside the
bf16 product of torch.

Squares: TFLOP/s are 2 * M * N * K over the median time of one product between events. Shapes: microseconds of device
time, by replaying graphs of products on several sets of matrices, more than the second-level cache holds. Random
data: the power that a product takes, and with it the clock, depends on the values. C is poisoned before it is checked
against float64 at places drawn anew. ``--tune`` measures so many of the configurations that the model likes best, and
says what its choice lost. ``--steady 40`` lets each side work for so many milliseconds before, and while, it is timed:
at the limit of power; other kinds have that, and joules, beside bursts. ``--few`` measures so many products of 1 to 64
rows, drawn at random, instead. Joules of a product are those of ``--joules`` seconds of replays.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import energy
import timing
from peers import triton_hopper_gemm

from flydsl.kernels.gemm.hopper.choice import choose_config, configurations, copies_words
from flydsl.kernels.gemm.hopper.operands import lines_of, operand_lines
from flydsl.kernels.gemm.hopper.plan import LINE_BYTES, RUN
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm, hopper_linear4, hopper_matmul
from flydsl.kernels.gemm.hopper_plan import GemmConfig, Problem, launch_time
from flydsl.kernels.gemm.hopper_weights import shuffle_weights

CASES = [("bf16", 4096), ("bf16", 8192), ("fp8", 8192)]
SETS = 2
"""Pairs of matrices taken in turn."""
LAUNCHES = 6
"""Products between two events: more than one, so that the clock is that of steady work."""

SQUARES: tuple[tuple[str, int, int, int], ...] = (("square", 4096, 4096, 4096), ("square", 8192, 8192, 8192))
LAYERS: tuple[tuple[str, int, int, int], ...] = (
    ("Llama 3.1 8B qkv", 1, 6144, 4096),
    ("Llama 3.1 8B o", 1, 4096, 4096),
    ("Llama 3.1 8B gate, up", 1, 28672, 4096),
    ("Llama 3.1 8B down", 16, 4096, 14336),
    ("Llama 3.1 8B qkv", 16, 6144, 4096),
    ("Llama 3.1 8B gate, up", 16, 28672, 4096),
    ("Llama 3.1 8B gate, up", 64, 28672, 4096),
    ("Llama 3.1 8B o", 128, 4096, 4096),
    ("Llama 3.1 8B down", 1024, 4096, 14336),
    ("Llama 3.1 8B gate, up", 8192, 28672, 4096),
    ("Llama 3.1 70B qkv", 8, 10240, 8192),
    ("Llama 3.1 70B gate, up", 32, 57344, 8192),
    ("Llama 3.1 70B down", 256, 8192, 28672),
    ("Llama 3.1 70B o", 2048, 8192, 8192),
    ("Qwen2.5 7B qkv", 4, 4608, 3584),
    ("Qwen2.5 7B down", 512, 3584, 18944),
    ("Qwen2.5 7B gate, up", 4096, 37888, 3584),
    ("Qwen2.5 32B qkv", 64, 7168, 5120),
    ("Qwen2.5 32B down", 1024, 5120, 27648),
    ("Gemma 2 9B qkv", 16384, 8192, 3584),
    ("DeepSeek-V3 q", 1024, 24576, 1536),
    ("DeepSeek-V3 kv", 4096, 32768, 512),
    ("DeepSeek-V3 o", 4096, 7168, 16384),
    ("DeepSeek-V3 shared down", 128, 7168, 2048),
)
"""Linear layers of public models: rows, and extents of the weights."""
DRAWN = 24
EXTENTS = 64, 16384
CACHE_BYTES = 250e6
"""What the sets of a shape hold together at least: several times the second-level cache."""

Side = Callable[[int], Any]


def sides_of(kind: str, a: list[Any], b: list[Any], c: list[Any]) -> dict[str, Side]:
    """C = A * B^T by each side; of the kind "rows" each of its rows and columns is multiplied by a number."""
    fast = is_fast(kind)
    ours: dict[str, Side] = {"ours": lambda i: hopper_gemm(a[i], b[i].T, c[i], use_fast_accum=fast)}
    if of_rows(kind):
        of_a, of_b = scales_of(a[0]), scales_of(b[0])
        return {
            "ours": lambda i: hopper_gemm(
                a[i], b[i].T, c[i], row_scale=of_a, column_scale=of_b, use_fast_accum=fast
            ),
            "cublas": lambda i: torch._scaled_mm(
                a[i], b[i].T, scale_a=of_a[:, None], scale_b=of_b[None], out_dtype=torch.bfloat16, use_fast_accum=fast
            ),
        }  # fmt: skip
    if kind != "bf16":
        one = torch.ones((), device="cuda")
        return ours | {
            "cublas": lambda i: torch._scaled_mm(
                a[i], b[i].T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast
            )
        }
    return ours | {
        "triton": lambda i: triton_hopper_gemm.by_pointers(a[i], b[i], c[i]),
        "triton (TMA)": lambda i: triton_hopper_gemm.by_descriptors(a[i], b[i], c[i]),
        "cublas": lambda i: torch.mm(a[i], b[i].T, out=c[i]),
    }


def is_fast(kind: str) -> bool:
    """Whether tensor cores add up all of K by themselves."""
    return not kind.endswith("_accurate")


def of_rows(kind: str) -> bool:
    return kind.startswith("rows")


def scales_of(matrix: Any) -> Any:
    """A number for each row, the same at every call."""
    return 0.5 + torch.arange(matrix.shape[0], device="cuda") % 7 * 0.25


def error_of(run: Side, kind: str, a: Any, b: Any, c: Any, count: int = 256) -> float:
    """Relative error of our product at sampled rows and columns; every element must have been written."""
    c.fill_(float("nan"))
    run(0)
    torch.cuda.synchronize()
    assert not torch.isnan(c).any(), "an element was not written"
    rows, columns = (torch.randint(0, extent, (count,), device="cuda") for extent in c.shape)
    expected = a[rows].double() @ b[columns].double().T
    if of_rows(kind):
        expected *= scales_of(a)[rows, None].double() * scales_of(b)[columns].double()
    return float((c[rows][:, columns].double() - expected).norm() / expected.norm())


def times_of(sides: dict[str, Side], rounds: int) -> dict[str, float]:
    """Milliseconds of one product, medians over rounds in which every side has its turn.

    Each round begins with another side: how fast a product is depends on the power that the one before it took.
    """
    found: dict[str, list[float]] = {name: [] for name in sides}
    for run in sides.values():
        for index in range(3):
            run(index % SETS)
    torch.cuda.synchronize()
    for turn in range(rounds):
        first = turn % len(sides)
        for name, run in [*sides.items()][first:] + [*sides.items()][:first]:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            run(0)
            start.record()
            for index in range(LAUNCHES):
                run(index % SETS)
            stop.record()
            torch.cuda.synchronize()
            found[name].append(start.elapsed_time(stop) / LAUNCHES)
    return {name: statistics.median(times) for name, times in found.items()}


def working(sides: dict[str, Side]) -> dict[str, Side]:
    """The sides that this installation can run; ours must."""
    kept = {}
    for name, run in sides.items():
        try:
            run(0)
            torch.cuda.synchronize()
            kept[name] = run
        except Exception as error:
            if name == "ours":
                raise
            print(f"{name} is left out: {type(error).__name__}: {str(error)[:200]}")
    return kept


def measure(kind: str, n: int, rounds: int) -> dict[str, Any]:
    dtype = torch.bfloat16 if kind == "bf16" else torch.float8_e4m3fn
    a, b = ([torch.randn(n, n, device="cuda").to(dtype) for _ in range(SETS)] for _ in range(2))
    c = [torch.empty(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
    sides = working(sides_of(kind, a, b, c))
    error = error_of(sides["ours"], kind, a[0], b[0], c[0])
    times = times_of(sides, rounds)
    return {"kind": kind, "n": n, "error": error, **{name: 2 * n**3 / ms / 1e9 for name, ms in times.items()}}


def run_gemms(quick: bool) -> list[dict[str, Any]]:
    """Measure and print every case."""
    cases = [(kind, n // 4) for kind, n in CASES] if quick else CASES
    rows = [measure(kind, n, 5 if quick else 30) for kind, n in cases]
    show(rows)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    names = ("ours", "triton", "triton (TMA)", "cublas")
    titles = [*names, *(f"/{name}" for name in names[1:])]
    print(f"{'GEMM':12} " + " ".join(f"{title:>13}" for title in titles) + f" {'error':>9}")
    for row in rows:
        rates = [f"{row[name]:13.0f}" if name in row else f"{'-':>13}" for name in names]
        ratios = [f"{row['ours'] / row[name]:13.3f}" if name in row else f"{'-':>13}" for name in names[1:]]
        print(f"{row['kind']:5} {row['n']:<6} {' '.join(rates + ratios)} {row['error']:9.1e}")


# Shapes ----------------------------------------------------------------------------------------------


def drawn(seed: int, count: int = DRAWN) -> list[tuple[str, int, int, int]]:
    """Extents log-uniform over `EXTENTS`; in every third shape as they come, in the others multiples of 64."""
    rng = random.Random(seed)
    found = []
    for index in range(count):
        extents = [int(math.exp(rng.uniform(*map(math.log, EXTENTS)))) for _ in range(3)]
        found.append(("drawn", *(e if index % 3 == 0 else max(e // 64 * 64, 64) for e in extents)))
    return found


def drawn_few(seed: int, count: int) -> list[tuple[str, int, int, int]]:
    """1 to 64 rows and weights of 1,024 to 28,672, log-uniform; extents are multiples of 8, in two of three of 64."""
    rng = random.Random(seed)
    found = []
    for index in range(count):
        m = int(math.exp(rng.uniform(0, math.log(65))))
        n, k = (int(math.exp(rng.uniform(math.log(1024), math.log(28672)))) for _ in range(2))
        step = 8 if index % 3 == 0 else 64
        found.append(("few rows", m, n // step * step, k // step * step))
    return found


def matrices(m: int, n: int, k: int, kind: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Sets of A, B and C; B is (N, K), as the weights of a layer are."""
    dtype, size = (torch.bfloat16, 2) if kind == "bf16" else (torch.float8_e4m3fn, 1)
    sets = max(2, min(24, int(CACHE_BYTES / (size * (m * k + n * k) + 2 * m * n)) + 1))
    a, b = (
        [torch.randn(rows, k, device="cuda", dtype=torch.bfloat16).to(dtype) for _ in range(sets)] for rows in (m, n)
    )
    return a, b, [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(sets)]


def graph_of(run: Side, sets: int, count: int) -> Any:
    """A graph of ``count`` products, after one outside of it, which compiles."""
    run(0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for index in range(count):
            run(index % sets)
    graph.replay()
    torch.cuda.synchronize()
    return graph


def graphs_of(sides: dict[str, Side], sets: int, count: int) -> dict[str, Any]:
    return {name: graph_of(run, sets, count) for name, run in sides.items()}


def replay_times(graphs: dict[str, Any], count: int, rounds: int, steady: float = 0.0) -> dict[str, float]:
    """Microseconds of one product by each side, medians over rounds in which every side has its turn: one replay, or
    ``steady`` milliseconds of them behind as many that are not timed, at the clock that the limit of power leaves."""
    found: dict[str, list[float]] = {name: [] for name in graphs}
    if steady:
        once = replay_times(graphs, count, 1)
        repeats = {name: math.ceil(steady * 1e3 / (us * count)) for name, us in once.items()}
    else:
        repeats = dict.fromkeys(graphs, 1)
    for turn in range(rounds):
        first = turn % len(graphs)
        for name, graph in [*graphs.items()][first:] + [*graphs.items()][:first]:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            for _ in range(repeats[name] if steady else 0):
                graph.replay()
            start.record()
            for _ in range(repeats[name]):
                graph.replay()
            stop.record()
            torch.cuda.synchronize()
            found[name].append(start.elapsed_time(stop) / count / repeats[name] * 1e3)
    return {name: statistics.median(times) for name, times in found.items()}


def likely(problem: Problem, count: int) -> list[GemmConfig]:
    """What the model chooses, and others that it likes: the best of each height of tiles and kind of cluster first."""
    ranked = []
    for swapped, seen in ((False, problem), (True, problem.swapped)):
        ranked += [(launch_time(seen, x), replace(x, swapped=swapped)) for x in configurations(seen)]
    ranked.sort(key=lambda row: row[0])
    limit = ranked[0][0] * 1.4
    kinds: dict[Any, GemmConfig] = {}
    for expected, config in ranked:
        if expected < limit:
            kinds.setdefault((config.tile_m, config.cluster, config.along, config.behind, config.taking_turns), config)
    return list(dict.fromkeys([choose_config(problem), *kinds.values(), *(config for _, config in ranked)]))[:count]


def described(config: GemmConfig) -> str:
    """A configuration in a word."""
    cluster = "" if config.cluster == 1 else f" {config.cluster // config.behind}{config.along}"
    cluster += f" {config.behind}k" if config.behind > 1 else ""
    return f"{config.tile_m}x{config.tile_n}{cluster}{' swapped' * config.swapped}{' in turns' * config.taking_turns}"


def problem_of(a: Any, b: Any, c: Any, kind: str) -> Problem:
    """The product as the model is asked about it."""
    lines, (_, piece) = [operand_lines(matrix, 1, "A") for matrix in (a, b)], lines_of(c)
    line_bytes = min(of.line_bytes for of in lines)
    problem = Problem(*c.shape, a.shape[1], size=a.dtype.itemsize, line_bytes=line_bytes, c_aligned=piece == LINE_BYTES,
                      run=0 if is_fast(kind) else RUN)  # fmt: skip
    by_words = replace(problem, words=min(of.words for of in lines) if any(of.is_ragged for of in lines) else 0)
    return by_words if by_words.words and copies_words(by_words) else problem


def measure_shape(
    name: str, m: int, n: int, k: int, kind: str, rounds: int, tuned: int, seconds: float, steady: float
) -> dict[str, Any]:
    """A row of the table; ``seconds`` of replays of each side, if any, are for the energy, and ``steady`` milliseconds
    of each turn for its time."""
    a, b, c = matrices(m, n, k, kind)
    sets, problem = len(a), problem_of(a[0], b[0], c[0], kind)
    floor = max((problem.size * k * (m + n) + 2 * m * n) / 4.27e6, 2 * m * n * k / 8e8 * problem.size / 2)
    count = -(-max(sets, min(24, int(2e3 / floor) + 1)) // sets) * sets
    sides = working({name: run for name, run in sides_of(kind, a, b, c).items() if name in ("ours", "cublas")})
    error, graphs = error_of(sides["ours"], kind, a[0], b[0], c[0]), graphs_of(sides, sets, count)
    config = choose_config(problem)
    row = {"name": name, "m": m, "n": n, "k": k, "kind": kind, "floor": floor, "config": asdict(config),
           "tile": described(config), "error": error, **replay_times(graphs, count, rounds, steady)}  # fmt: skip
    if seconds:
        row["joules"] = {name: energy.joules(graph.replay, seconds) / count for name, graph in graphs.items()}
    if tuned > 1:
        configs = {described(x): x for x in likely(problem, tuned)}
        tries = {
            name: lambda i, x=x: hopper_gemm(a[i], b[i].T, c[i], use_fast_accum=is_fast(kind), config=x)
            for name, x in configs.items()
        }
        times = replay_times(graphs_of(tries, sets, count), count, 3, steady)
        row["tuned"] = [{"us": us, **asdict(configs[name])} for name, us in times.items()]
        row["best"], row["regret"] = (
            min(times, key=lambda x: times[x]),
            next(iter(times.values())) / min(times.values()),
        )
    return row


def show_shape(row: dict[str, Any]) -> None:
    ratio = f"{row['cublas'] / row['ours']:6.3f}" if "cublas" in row else f"{'-':>6}"
    shape = f"{row['m']}x{row['n']}x{row['k']}"
    more = f" | {row['best']} {row['regret']:.3f}" if "regret" in row else ""
    spent = " ".join(f"{1e3 * each:8.2f}" for each in row["joules"].values()) + " mJ " if "joules" in row else ""
    print(f"{row['name']:24} {shape:18} {row['ours']:8.1f} {row.get('cublas', math.nan):8.1f} {row['floor']:8.1f} "
          f"{ratio} {row['error']:8.1e} {spent}{row['tile']}{more}", flush=True)  # fmt: skip


def run_shapes(shapes: Sequence[tuple[str, int, int, int]], given: Any) -> list[dict[str, Any]]:
    """Measure and print shapes, and sum them up."""
    kind, tuned, rounds = given.kind, given.tune, 3 if given.quick else 9
    seconds = given.joules if kind == "bf16" and not given.quick and not given.few else 0.0
    print(f"{'us':24} {'M x N x K':18} {'ours':>8} {'cuBLAS':>8} {'floor':>8} {'ratio':>6} {'error':>8}")
    rows = []
    for shape in shapes:
        rows.append(measure_shape(*shape, kind, rounds, tuned, seconds, given.steady))
        show_shape(rows[-1])
    ratios = [row["cublas"] / row["ours"] for row in rows if "cublas" in row]
    regrets = [row["regret"] for row in rows if "regret" in row]
    if ratios:
        print(f"cuBLAS/ours: geometric mean {statistics.geometric_mean(ratios):.3f}, least {min(ratios):.3f}, "
              f"{sum(r >= 1 for r in ratios)} of {len(ratios)} at 1 or above")  # fmt: skip
        bars = [row["ours"] / max(row["floor"], row["cublas"]) for row in rows if "cublas" in row]
        print(f"ours over the longer of cuBLAS and the floor: most {max(bars):.3f}")
    if regrets:
        print(f"lost by the choice: geometric mean {statistics.geometric_mean(regrets):.3f}, most {max(regrets):.3f}")
    return rows


# Other kinds -----------------------------------------------------------------------------------------


NARROW = ("fp8", "rows", "fp8_accurate", "rows_accurate")
KINDS = ("blocks", "groups", "scaled_groups", "int4")
BLOCKS = ((4096, 7168, 16384), (4096, 4096, 7168), (4096, 7168, 2048), (64, 7168, 16384))
GROUPS = ((8, 8192, 4096, 7168), (128, 65536, 1536, 2048), (256, 8192, 4096, 7168))
SCALED_GROUPS = ((8, 8192, 4096, 7168), (32, 8192, 4096, 7168), (128, 65536, 1536, 2048))
"""Groups, rows of all, N and K."""
MOST_ERROR = 1e-2
"""Of a result, relative to its norm: rounding to bf16 makes some 2e-3."""
DRAWN_OF_KIND = 6
"""Shapes of a kind that are drawn beside the named ones."""
FOUR_BITS = ((1, 8192, 8192), (16, 8192, 8192), (64, 8192, 8192), (4096, 8192, 8192))


@dataclass(frozen=True)
class Turns:
    """How often each side has its turn and, if it is also asked for steady work, for how many milliseconds, and for
    how many seconds its energy is counted."""

    rounds: int
    steady: float = 0.0
    seconds: float = 0.0

    def times(self, graphs: dict[str, Any], count: int) -> dict[str, dict[str, float]]:
        """Microseconds of one of ``count`` products of each side, in bursts and in steady work, and joules there."""
        found = {"bursts": replay_times(graphs, count, self.rounds)}
        if self.steady:
            found["steady"] = replay_times(graphs, count, min(self.rounds, 3), self.steady)
            found["joules"] = {name: energy.joules(of.replay, self.seconds) / count for name, of in graphs.items()}
        return found


def show_sides(title: str, flops: float, error: float, found: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Print a row of microseconds and TFLOP/s, and how much longer others take than ours; wrong results have none.
    Steady work, and its energy, has a row of its own."""
    if not error < MOST_ERROR:
        raise ValueError(f"{title}: the relative error is {error:.1e}")
    rows = [(f"{title:34}", found["bursts"], {}, f", error {error:.1e}")]
    if "steady" in found:
        rows.append((f"{'  in steady work':34}", found["steady"], found["joules"], ""))
    for name_of_row, times, joules, ending in rows:
        shown = [f"{name} {us:.1f} us {flops / us / 1e6:.0f} TFLOP/s ({us / times['ours']:.3f})"
                 + (f" {1e3 * joules[name]:.1f} mJ" if joules else "") for name, us in times.items()]  # fmt: skip
        print(f"{name_of_row} {', '.join(shown)}{ending}", flush=True)
    more = {name: times for name, times in found.items() if name != "bursts"}
    return {"title": title, "error": error, **found["bursts"], **more}


def relative_error(got: Any, expected: Any) -> float:
    return float((got.double() - expected).norm() / expected.norm())


def measure_blocks(m: int, n: int, k: int, turns: Turns) -> dict[str, Any]:
    """fp8 with scales of 1 x 128 and 128 x 128; torch wants those of A with columns contiguous."""
    sides = -(-n // 128), -(-k // 128)
    a, b = ([torch.randn(rows, k, device="cuda").to(torch.float8_e4m3fn) for _ in range(SETS)] for rows in (m, n))
    of_a, of_b = torch.rand(m, sides[1], device="cuda") + 0.5, torch.rand(sides, device="cuda") + 0.5
    c, columns = torch.full((m, n), math.nan, device="cuda", dtype=torch.bfloat16), of_a.T.contiguous().T
    runs = working({
        "ours": lambda i: hopper_gemm(a[i], b[i].T, c, block_scales=(of_a, of_b.T)),
        "torch": lambda i: torch._scaled_mm(a[i], b[i].T, columns, of_b.T, out_dtype=torch.bfloat16),
    })  # fmt: skip
    c.fill_(math.nan)
    runs["ours"](0)
    rows = torch.randint(0, m, (64,), device="cuda")
    spread = of_a[rows].repeat_interleave(128, 1)[:, :k], of_b.repeat_interleave(128, 0).repeat_interleave(128, 1)
    expected = (a[0][rows].double() * spread[0]) @ (b[0].double() * spread[1][:n, :k]).T
    error = relative_error(c[rows], expected)  # before the times, whose products are of other sets
    times = turns.times(graphs_of(runs, SETS, 4), 4)
    return show_sides(f"blocks {m}x{n}x{k}", 2.0 * m * n * k, error, times)


def sizes_of(groups: int, rows: int, skewed: bool, seed: int) -> list[int]:
    """Rows of each group: equal, or drawn by a law of powers."""
    if not skewed:
        return [rows * (group + 1) // groups - rows * group // groups for group in range(groups)]
    weights = [rank**-1.2 for rank in range(1, groups + 1)]
    random.Random(seed).shuffle(weights)
    sizes = [int(rows * weight / sum(weights)) for weight in weights]
    return [sizes[0] + rows - sum(sizes), *sizes[1:]]


def largest_group(sizes: list[int]) -> tuple[int, slice]:
    """The group with most rows, and the first of them, which are checked."""
    group = max(range(len(sizes)), key=lambda g: sizes[g])
    first = sum(sizes[:group])
    return group, slice(first, first + min(sizes[group], 64))


def measure_groups(groups: int, rows: int, n: int, k: int, skewed: bool, seed: int, turns: Turns) -> dict[str, Any]:
    sizes = sizes_of(groups, rows, skewed, seed)
    ends = torch.tensor(sizes).cumsum(0).int().cuda()
    a = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(groups, n, k, device="cuda", dtype=torch.bfloat16).transpose(1, 2)
    c, index = torch.empty(rows, n, device="cuda", dtype=torch.bfloat16), torch.randperm(rows, device="cuda").int()
    runs = working({
        "ours": lambda _: hopper_grouped_gemm(a, b, c, ends), "torch": lambda _: torch._grouped_mm(a, b, offs=ends),
        "gathered": lambda _: hopper_grouped_gemm(a, b, c, ends, rows=index),
    })  # fmt: skip
    times = turns.times(graphs_of(runs, 1, 2), 2)
    c.fill_(math.nan)
    runs["ours"](0)
    group, part = largest_group(sizes)
    error = relative_error(c[part], a[part].double() @ b[group].double())
    title = f"{groups} groups {rows}x{n}x{k}{' skewed' * skewed}"
    return show_sides(title, 2.0 * rows * n * k, error, times)


def measure_scaled_groups(groups: int, rows: int, n: int, k: int, skewed: bool, seed: int, turns: Turns) -> Any:
    """fp8 groups with scales of blocks beside our product of all rows with one matrix."""
    sizes = sizes_of(groups, rows, skewed, seed)
    ends, eight = torch.tensor(sizes).cumsum(0).int().cuda(), torch.float8_e4m3fn
    a, b = (torch.randn(shape, device="cuda", dtype=torch.bfloat16).to(eight) for shape in ((rows, k), (groups, n, k)))
    of_a, of_b = (torch.rand(shape, device="cuda") + 0.5 for shape in ((rows, k // 128), (groups, n // 128, k // 128)))
    c, b, of_b = torch.empty(rows, n, device="cuda", dtype=torch.bfloat16), b.transpose(1, 2), of_b.transpose(1, 2)
    of_rows, of_columns = of_a[:, 0].contiguous(), torch.rand(groups, n, device="cuda")
    runs = working({
        "ours": lambda _: hopper_grouped_gemm(a, b, c, ends, block_scales=(of_a, of_b)),
        "dense": lambda _: hopper_gemm(a, b[0], c, block_scales=(of_a, of_b[0])),
        "torch, rows": lambda _: torch._scaled_grouped_mm(
            a, b, of_rows, of_columns, offs=ends, out_dtype=torch.bfloat16, use_fast_accum=True
        ),
    })  # fmt: skip
    times = turns.times(graphs_of(runs, 1, 2), 2)
    c.fill_(math.nan)
    runs["ours"](0)
    group, part = largest_group(sizes)
    spread = of_b[group].double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    expected = (a[part].double() * of_a[part].repeat_interleave(128, 1)) @ (b[group].double() * spread)
    title = f"{groups} groups {rows}x{n}x{k}{' skewed' * skewed}"
    return show_sides(title, 2.0 * rows * n * k, relative_error(c[part], expected), times)


def measure_int4(m: int, n: int, k: int, turns: Turns) -> dict[str, Any]:
    sets, count = (8, 24) if m < 1024 else (SETS, SETS)
    codes = [torch.randint(0, 16, (n, k), device="cuda") for _ in range(sets)]
    packed = [shuffle_weights(one) for one in codes]
    scales, zeros = (torch.rand(n, k // 128, device="cuda", dtype=torch.bfloat16), torch.full((n, k // 128), 7.0))
    zeros = zeros.to(scales)
    x, y = (torch.randn(m, extent, device="cuda", dtype=torch.bfloat16) for extent in (k, n))
    whole = [((one - 7) * scales.repeat_interleave(128, 1)).bfloat16() for one in codes]
    runs = {"ours": lambda i: hopper_linear4(x, packed[i], scales, y, zeros=zeros),
            "torch, bf16 weights": lambda i: torch.mm(x, whole[i].T, out=y)}  # fmt: skip
    times = turns.times(graphs_of(working(runs), sets, count), count)
    y.fill_(math.nan)
    runs["ours"](0)
    error = relative_error(y, x.double() @ whole[0].double().T)
    return show_sides(f"int4 {m}x{n}x{k}", 2.0 * m * n * k, error, times)


def drawn_of_kind(kind: str, seed: int, count: int = DRAWN_OF_KIND) -> list[tuple[int, ...]]:
    """Log-uniform extents as a kind takes them: groups, with scales those of 256 rows and more, blocks of 128 along N
    and K, few rows in int4."""
    spans = {
        "groups": ((4, 256, 1), (512, 32768, 8), (512, 4096, 64), (512, 4096, 64)),
        "scaled_groups": ((4, 64, 1), (16384, 32768, 8), (512, 4096, 128), (512, 4096, 128)),
        "blocks": ((16, 8192, 8), (512, 16384, 128), (512, 16384, 128)),
        "int4": ((1, 256, 1), (1024, 8192, 128), (1024, 8192, 128)),
    }[kind]
    rng = random.Random(seed)

    def extent(low: int, high: int, step: int) -> int:
        return int(math.exp(rng.uniform(math.log(low), math.log(high)))) // step * step

    return [tuple(extent(*span) for span in spans) for _ in range(count)]


def run_kind(given: Any) -> list[dict[str, Any]]:
    """The shapes of a kind, named and drawn; a quick run has small ones of the former."""
    kind, seed, small = given.kind, given.seed, 8 if given.quick else 1
    turns = Turns(3 if given.quick else 9, given.steady, given.joules)
    others = [] if given.quick else drawn_of_kind(kind, seed)
    if kind in ("groups", "scaled_groups"):
        of, shapes = (measure_groups, GROUPS) if kind == "groups" else (measure_scaled_groups, SCALED_GROUPS)
        named = [tuple(extent // small for extent in shape) for shape in shapes]
        return [of(*shape, skewed, seed, turns) for shape in (*named, *others) for skewed in (False, True)]
    measure, shapes = (measure_blocks, BLOCKS) if kind == "blocks" else (measure_int4, FOUR_BITS)
    return [measure(m, n // small, k // small, turns) for m, n, k in shapes] + [measure(*s, turns) for s in others]


# Energy and calls ------------------------------------------------------------------------------------


def host_costs(rounds: int = 40, each: int = 50) -> dict[str, float]:
    """Microseconds that a call keeps the host busy: the least of several rounds."""
    a, b, c = (torch.randn(256, 256, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    calls = {"hopper_gemm": lambda: hopper_gemm(a, b, c), "hopper_matmul": lambda: hopper_matmul(a, b),
             "torch.mm(out=)": lambda: torch.mm(a, b, out=c), "torch.matmul": lambda: torch.matmul(a, b)}  # fmt: skip
    found = {}
    for name, call in calls.items():
        call()
        spent = []
        for _ in range(rounds):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(each):
                call()
            spent.append((time.perf_counter() - start) / each * 1e6)
        found[name] = min(spent)
        print(f"a call of {name}: {found[name]:.1f} us of the host")
    return found


def run_energy() -> list[dict[str, Any]]:
    rows = []
    for n in (4096, 8192):
        a, b, c = ([torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)] for _ in range(3))
        sides = sides_of("bf16", a, b, c)
        graphs = graphs_of({name: sides[name] for name in ("ours", "cublas")}, SETS, 16)
        rows.append({"n": n, **{name: energy.joules(graph.replay, 1.0) / 16 for name, graph in graphs.items()}})
        print(f"bf16 {n}: {rows[-1]['ours']:.4f} J a product, cuBLAS {rows[-1]['cublas']:.4f}")
    return rows


def main() -> None:
    parser = timing.arguments("Matrix products on a Hopper GPU.", "few rounds, small matrices")
    parser.add_argument("--seed", type=int, default=18, help="of the shapes drawn at random")
    parser.add_argument("--kind", default="bf16", choices=("bf16", *NARROW, *KINDS), help="of the shapes")
    parser.add_argument(
        "--tune", type=int, default=0, metavar="N", help="measure the N best configurations by the model"
    )
    parser.add_argument("--few", type=int, default=0, metavar="N", help="N products of few rows, drawn at random")
    parser.add_argument("--joules", type=float, default=1.0, help="seconds of each product that count for its energy")
    parser.add_argument(
        "--steady", type=float, default=0.0, metavar="MS", help="milliseconds of a side's turn, behind as many untimed"
    )
    parser.add_argument("--shapes", action="store_true", help="the shapes alone")
    given = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, seed {given.seed}")
    if given.kind in KINDS:
        rows = run_kind(given)
        timing.keep(f"gemm_{given.kind}", {"seed": given.seed, "rows": rows}, given)
        return
    shapes = drawn_few(given.seed, given.few) if given.few else [*SQUARES, *LAYERS, *drawn(given.seed)]
    if given.kind in NARROW:
        shapes = [shape for shape in shapes if shape[3] >= 1536 and shape[3] % 16 == 0]
    if given.quick:
        part = shapes[:3] if given.few else shapes[5:8]
        shapes = [(name, m, min(n, 2048), min(k, 2048)) for name, m, n, k in part]
    kept: dict[str, Any] = {"seed": given.seed}
    if not given.shapes:
        kept |= {"squares": run_gemms(given.quick), "host": host_costs(), "energy": [] if given.quick else run_energy()}
    kept["shapes"] = run_shapes(shapes, given)
    timing.keep("gemm_few" if given.few else f"gemm_{given.kind}", kept, given)


if __name__ == "__main__":
    main()
