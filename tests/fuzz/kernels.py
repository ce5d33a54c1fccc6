"""Random kernels against a reference, on virtual GPUs of three targets and at two optimisation levels.

Run it: python -m tests.fuzz.kernels --count 50000 --seed 1 [--workers 2] [--batch 8]

A mismatch, or anything that a program raises, is printed with its seed and a reduced program, and ends the run with
status 1. The same seed gives the same programs on every machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flydsl.base import knobs
from tests.fuzz.draw import COLUMNS, ROWS, draw
from tests.fuzz.reference import Reference
from tests.fuzz.tree import ELEMENTS, Program, unwrapped, walk, without

BLOCKS = 2
SIZES = (0, 3, 6)
WAVES = {"gfx942": 64, "gfx1201": 32, "sm_90a": 32}
LEVELS = (0, 3)
VARIABLES, THREADS = 7, 128

PLAIN_FETCH = """\
def fetched(x, shared, t, b, place):
    at = (b * {threads} + t) % (x.shape[0] * x.shape[1])
    shared[t] = x[at // x.shape[1], at % x.shape[1]]
    fx.barrier()
    value = shared[place]
    fx.barrier()
    return value
"""

ASYNC_FETCH = """\
def fetched(x, shared, t, b, place):
    at = (b * {threads} + t) % (x.shape[0] * x.shape[1])
    row, column = at // x.shape[1], at % x.shape[1]
    atom = fx.make_copy_atom(fx.nvvm.CpAsync(32, "ca"), fx.Int32)
    fx.copy_atom_call(atom, x[row, column : column + 1], shared.view(fx.make_layout({threads}, 1))[t : t + 1])
    fx.nvvm.cp_async_commit_group()
    fx.nvvm.cp_async_wait_group(0)
    fx.barrier()
    value = shared[place]
    fx.barrier()
    return value
"""


@dataclass(frozen=True)
class Setting:
    """Where a batch runs."""

    arch: str
    level: int

    @property
    def asynchronous(self) -> bool:
        return self.arch == "sm_90a"


class Mismatch(Exception):
    """A kernel that computes something else than its reference."""


def setting_of(seed: int) -> Setting:
    """The target and level of the batch that begins with a seed."""
    rng = random.Random(f"setting {seed}")
    return Setting(rng.choice(tuple(WAVES)), rng.choice(LEVELS))


def programs(seed: int, count: int, setting: Setting) -> list[Program]:
    return [draw(seed + i, WAVES[setting.arch], setting.asynchronous) for i in range(count)]


def module_text(made: Sequence[Program]) -> str:
    """A module with the kernels and a jit function that launches them all."""
    parts = ["import flydsl.compiler as flyc\nimport flydsl.expr as fx\n", ELEMENTS]
    for number, program in enumerate(made):
        fetch = (ASYNC_FETCH if program.fetches == "async" else PLAIN_FETCH).format(threads=program.threads)
        parts.append(fetch.replace("def fetched(", f"def fetched_{number}("))
        parts += [helper.source().replace("helper_", f"helper_{number}_") for helper in program.helpers]
        text = program.source(number).replace("= fetched(", f"= fetched_{number}(")
        parts.append(text.replace("helper_", f"helper_{number}_"))
    launches = [f"    kernel_{number}(x, out, n).launch(grid={BLOCKS}, block={program.threads})"
                for number, program in enumerate(made)]  # fmt: skip
    parts.append("@flyc.jit\ndef launch(x: fx.Tensor, out: fx.Tensor, n: fx.Int32):\n" + "\n".join(launches) + "\n")
    return "\n\n".join(parts)


def load(text: str, folder: Path, name: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs(seed: int) -> np.ndarray:
    """A matrix in one of the orders an array may have: row-major, column-major, or a view with gaps."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-50, 50, (ROWS, COLUMNS), dtype=np.int32)
    form = rng.integers(3)
    if form == 0:
        return x
    if form == 1:
        return np.asfortranarray(x)
    wide = np.zeros((ROWS, COLUMNS + 5), np.int32)
    wide[:, :COLUMNS] = x
    return wide[:, :COLUMNS]


def check(made: Sequence[Program], seed: int, setting: Setting, folder: Path) -> None:
    """Run programs and compare; raises `Mismatch`, or what compiling raises."""
    module = load(module_text(made), folder, f"fuzz_{seed}_{setting.arch}")
    x = inputs(seed)
    with knobs.scope({knobs.ARCH: setting.arch, knobs.COMPILE_OPT_LEVEL: setting.level}):
        for n in SIZES:
            out = np.full((len(made), VARIABLES, THREADS * BLOCKS), -77, np.int64)
            module.launch(x, out, n)
            for number, program in enumerate(made):
                expected = Reference(program, np.ascontiguousarray(x), n, BLOCKS, WAVES[setting.arch]).run()
                _compare(out[number, : len(expected), : expected.shape[1]], expected, program, n)


def _compare(found: np.ndarray, expected: np.ndarray, program: Program, n: int) -> None:
    kinds = [value.type for value in program.variables.values()]
    for row, (name, kind) in enumerate(zip(program.variables, kinds, strict=True)):
        one, other = (_nans_alike(values[row], kind) for values in (found, expected))
        if not np.array_equal(one, other):
            at = int(np.flatnonzero(one != other)[0])
            raise Mismatch(f"{name} ({kind}) of thread {at} with n={n}: {one[at]:#x}, not {other[at]:#x}")


def _nans_alike(bits: np.ndarray, kind: str) -> np.ndarray:
    exponents = {"f16": (0x7C00, 0x03FF), "bf16": (0x7F80, 0x007F), "f32": (0x7F800000, 0x007FFFFF),
                 "f64": (0x7FF0000000000000, 0x000FFFFFFFFFFFFF)}  # fmt: skip
    if kind not in exponents:
        return bits
    exponent, mantissa = exponents[kind]
    nan = ((bits & exponent) == exponent) & ((bits & mantissa) != 0)
    return np.where(nan, exponent | 1, bits)


# Finding the program, and making it small ------------------------------------------------------


def failure(program: Program, seed: int, setting: Setting, folder: Path) -> str | None:
    """What goes wrong with one program; None if nothing does."""
    try:
        check([program], seed, setting, folder)
    except SyntaxError:  # a `break` whose loop was taken away
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def reduced(program: Program, seed: int, setting: Setting, folder: Path, tries: int = 200) -> Program:
    """The program without whatever is not needed for it to fail in the same way."""
    wanted = (failure(program, seed, setting, folder) or "").partition(":")[0]
    for _ in range(tries):
        for candidate in _smaller(program):
            if (failure(candidate, seed, setting, folder) or "").partition(":")[0] == wanted:
                program = candidate
                break
        else:
            return program
    return program


def _smaller(program: Program) -> Iterator[Program]:
    for stmt in walk(program.body):
        yield without(program, stmt)
    for stmt in walk(program.body):
        for which in range(len(stmt.blocks)):
            yield unwrapped(program, stmt, which)


def batch(seed: int, count: int) -> str | None:
    """Check the programs of one batch; a report if one fails."""
    setting = setting_of(seed)
    made = programs(seed, count, setting)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            check(made, seed, setting, folder)
            return None
        except Exception as error:
            first = f"{type(error).__name__}: {error}"
        for index, program in enumerate(made):
            found = failure(program, seed, setting, folder)
            if found is not None:
                small = reduced(program, seed, setting, folder)
                where = f"seed {seed + index} of the batch {seed} on {setting.arch} at level {setting.level}"
                return f"{where}: {failure(small, seed, setting, folder)}\n\n{module_text([small])}"
        return f"the batch {seed} on {setting} fails only as a whole: {first}\n\n{module_text(made)}"


def _work(task: tuple[int, int]) -> tuple[int, str | None]:
    return task[0], batch(*task)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="kernels")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--batch", type=int, default=8, help="kernels compiled together")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so many, whatever the count")
    given = parser.parse_args()
    print(f"seed {given.seed}: {given.count} kernels in batches of {given.batch}, {given.workers} workers", flush=True)
    tasks = [(given.seed + start, given.batch) for start in range(0, given.count, given.batch)]
    begin, done, reports = time.monotonic(), 0, []
    with multiprocessing.get_context("spawn").Pool(given.workers, maxtasksperchild=200) as pool:
        for seed, report in pool.imap_unordered(_work, tasks):
            done += given.batch
            if report is not None:
                reports.append(report)
                print(f"\n==== batch {seed}\n{report}", flush=True)
            if done % 1000 < given.batch:
                print(f"{done} kernels in {time.monotonic() - begin:.0f} s, {len(reports)} wrong", flush=True)
            if given.minutes and time.monotonic() - begin > 60 * given.minutes:
                pool.terminate()
                break
    print(f"{done} kernels, {len(reports)} wrong, {time.monotonic() - begin:.0f} s")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
