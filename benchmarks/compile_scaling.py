"""How the time of a compile grows with the size of a kernel: lines, stores, reads through a swizzle, matrix products.

Run it: python benchmarks/compile_scaling.py [--quick] [--only lines mma]

Each program is written to a file in several sizes, compiled for the virtual GPU without a cache on disk, and its
result checked. What is stated is CPU time by `time.process_time`, in one process for each program that has compiled a
small one before. "ms per unit" stays level where the time is linear. `--quick` compiles small sizes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import timing

ROOT = Path(__file__).resolve().parent.parent
ELEMENTS = 64
THREADS = 32


def _program(body: str, threads: int = THREADS) -> str:
    return f"""\
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def kernel(x: fx.Tensor, y: fx.Tensor):
    t = fx.thread_idx.x
{body}

@flyc.jit
def program(x: fx.Tensor, y: fx.Tensor):
    kernel(x, y).launch(grid=(1, 1, 1), block=({threads}, 1, 1))
"""


def lines(count: int) -> str:
    """A function of many lines, each of which needs the one before."""
    body = "".join(f"    v = v * 0.5 + x[{i % 16}]\n" for i in range(count))
    return _program(f"    v = x[t]\n{body}    y[t] = v")


def stores(count: int) -> str:
    """Elements of one array in registers, written one by one and read together."""
    return _program(f"""\
    r = fx.make_rmem_tensor(fx.make_layout({count}, 1), fx.Float32)
    for i in fx.range_constexpr({count}):
        r[i] = x[t]
    y[t] = r.load().reduce(fx.ReductionOp.ADD)""")


def branches(count: int) -> str:
    """Elements of one array in registers, each written in a branch."""
    return _program(f"""\
    r = fx.make_rmem_tensor(fx.make_layout({count}, 1), fx.Float32)
    total = x[t] - x[t]
    for i in fx.range_constexpr({count}):
        r[i] = x[0]
        if t >= i:
            r[i] = x[t]
    for i in fx.range_constexpr({count}):
        total = total + r[i]
    y[t] = total""")


def memory(count: int) -> str:
    """Stores to one array in memory, each of which needs a load that may alias it."""
    return _program(f"""\
    for i in fx.range_constexpr({count}):
        y[t] = x[t] + x[i % 16] * {float(count - 1)}""")


def swizzled(count: int) -> str:
    """Rows of shared memory read through a swizzled pointer, in a loop that runs."""
    row = -(-count // 32) * 32
    return _program(f"""\
    place = fx.SharedAllocator().allocate(fx.Array[fx.Float32, {8 * row}, 1024]).ptr
    rows = fx.make_layout((8, {count}), ({row}, 1))
    tile = fx.make_view(fx.apply_swizzle(place, fx.make_swizzle(3, 4, 3)), rows)
    total = x[t] - x[t]
    for i in range(8):
        for j in fx.range_constexpr({count}):
            tile[i, j] = x[t]
        for j in fx.range_constexpr({count}):
            total = total + tile[i, j]
    y[t] = total""")


def _products(count: int, atom: str, lanes: int, held: int) -> str:
    return _program(
        f"""\
    mma = fx.make_tiled_mma(fx.make_mma_atom({atom}), fx.make_layout((1, 1, 1), (0, 0, 0)))
    a = fx.make_rmem_tensor(fx.make_layout({held}, 1), fx.Float16)
    b = fx.make_rmem_tensor(fx.make_layout(4, 1), fx.Float16)
    c = fx.make_rmem_tensor(fx.make_layout(4, 1), fx.Float32)
    for i in fx.range_constexpr({held}):
        a[i] = fx.Float16(x[t])
    for i in fx.range_constexpr(4):
        b[i] = fx.Float16(x[t])
    c.fill(0)
    for _ in fx.range_constexpr({count}):
        fx.gemm(mma, c, a, b, c)
    y[t] = c[0]""",
        lanes,
    )


def mma(count: int) -> str:
    """Products by `mma.sync`, one after another into one accumulator."""
    return _products(count, "fx.nvvm.MmaSync(16, 8, 16, fx.Float16, fx.Float32)", 32, 8)


def mfma(count: int) -> str:
    """The same by MFMA."""
    return _products(count, "fx.rocdl.MFMA(16, 16, 16, fx.Float16)", 64, 4)


class Program(NamedTuple):
    """A kernel in sizes: its text, the target, the sizes measured, and what its first thread stores for x = 1."""

    text: Callable[[int], str]
    target: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    result: Callable[[int], float]


PROGRAMS = {
    "lines": Program(lines, "gfx942", (250, 1000, 4000), (20, 40), lambda n: 2 - 0.5**n),
    "stores": Program(stores, "gfx942", (128, 512, 2048), (16, 32), float),
    "branches": Program(branches, "gfx942", (128, 256, 512), (8, 16), float),
    "memory": Program(memory, "gfx942", (128, 512, 2048), (16, 32), float),
    "swizzled": Program(swizzled, "sm_90a", (16, 64, 256), (2, 4), lambda n: 8.0 * n),
    "mma": Program(mma, "sm_90a", (16, 32, 64, 128), (2, 4), lambda n: 16.0 * n),
    "mfma": Program(mfma, "gfx942", (16, 32, 64, 128), (2, 4), lambda n: 16.0 * n),
}


def compiled(name: str, count: int, folder: Path) -> float:
    """Seconds of CPU that a program of a size takes from its call to its result, which is checked."""
    import numpy as np

    path = folder / f"{name}_{count}.py"
    path.write_text(PROGRAMS[name].text(count), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, y = np.ones(ELEMENTS, np.float32), np.zeros(ELEMENTS, np.float32)
    begin = time.process_time()
    module.program(x, y)
    spent = time.process_time() - begin
    np.testing.assert_allclose(y[0], PROGRAMS[name].result(count), rtol=1e-6)
    return spent


def worker(name: str, sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        compiled(name, 1, Path(folder))
        print(json.dumps({str(size): compiled(name, size, Path(folder)) for size in sizes}))


def measure(name: str, sizes: tuple[int, ...]) -> dict[int, float]:
    """Seconds by size, from a fresh process."""
    settings = {**os.environ, "ARCH": PROGRAMS[name].target, "FLYDSL_RUNTIME_ENABLE_CACHE": "0"}
    settings["PYTHONPATH"] = str(ROOT / "python")
    command = [sys.executable, __file__, "--worker", name, *map(str, sizes)]
    done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True)
    return {int(size): spent for size, spent in json.loads(done.stdout.splitlines()[-1]).items()}


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], [int(size) for size in sys.argv[3:]])
    parser = timing.arguments("Compile time by the size of a kernel.", "small sizes, in seconds")
    parser.add_argument(
        "--only", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS), help="some of the programs"
    )
    given = parser.parse_args()
    result: dict[str, Any] = {"machine": timing.machine(), "programs": {}}
    rows = []
    for name in given.only:
        program = PROGRAMS[name]
        found = result["programs"][name] = measure(name, program.quick if given.quick else program.sizes)
        rows += [[name, str(size), f"{s:.2f}", f"{1000 * s / size:.1f}"] for size, s in found.items()]
    timing.print_table(["program", "size", "CPU s", "ms per unit"], rows)
    timing.keep("compile_scaling", result, given)


if __name__ == "__main__":
    main()
