"""Second start of a program with a warm cache: time to the first kernel and the first launch, beside Triton.

Run it: python benchmarks/warm_start.py [--rounds 9]

Each side fills a cache of its own once, uncounted; the processes that are measured then find everything there. Both
sides come to the same point for gfx942: the code object of `vectorAdd` in memory, ready to be handed to a driver. That
is as far as Triton gets on a machine without a GPU. For our side the launch itself is measured as well, on the virtual
GPU: from the call to its return, with the sum in the array. Triton's environment is that of `compile_time.py`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import timing
from compile_time import HERE, OURS, ROOT, TRITON_PYTHON, environment, make_triton_environment, samples

ROWS = {
    "import": ("import",),
    "first kernel, from disk": ("first compile",),
    "import + first kernel": ("import", "first compile"),
}
LAUNCH_ROWS = {
    "import": ("import",),
    "first launch's return": ("first launch",),
    "import + first launch's return": ("import", "first launch"),
}


def run_ours(cache: str, bytecode: str, worker: str, **settings: str) -> dict[str, Any]:
    around = environment(bytecode, PYTHONPATH=str(ROOT / "python"), FLYDSL_RUNTIME_CACHE_DIR=cache, **settings)
    return timing.run_worker([sys.executable, str(HERE / worker)], around)


def run_triton(cache: str, bytecode: str) -> dict[str, Any]:
    around = environment(bytecode, TRITON_CACHE_DIR=cache, TRITON_DEFAULT_FP_FUSION="1")
    return timing.run_worker([str(TRITON_PYTHON), str(HERE / "peers" / "triton_compile.py")], around)


def compare(rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: str(Path(folder) / name) for name in ("ours", "launch", "triton", "bytecode")}
        bytecode = caches.pop("bytecode")
        sides = {
            "flydsl": partial(run_ours, caches["ours"], bytecode, "flydsl_compile.py", **OURS),
            "flydsl launch": partial(run_ours, caches["launch"], bytecode, "flydsl_launch.py"),
            "triton": partial(run_triton, caches["triton"], bytecode),
        }
        for fill in sides.values():
            fill()
        reports = timing.take_turns(sides, rounds)
    for report in (*reports["flydsl"], *reports["flydsl launch"]):
        assert not {"xdsl", "llvmlite"} & set(report["facts"]["loaded"]), "an IR library was loaded: the cache was cold"
    return {
        "machine": timing.machine(),
        "rounds": rounds,
        "sides": {name: runs[-1]["facts"] for name, runs in reports.items()},
        "rows": {row: _row(reports, "flydsl", parts, parts) for row, parts in ROWS.items()},
        "launch rows": {
            row: _row(reports, "flydsl launch", parts, theirs)
            for (row, parts), theirs in zip(LAUNCH_ROWS.items(), ROWS.values())
        },
    }


def _row(reports: Any, side: str, parts: tuple[str, ...], their_parts: tuple[str, ...]) -> dict[str, Any]:
    # The workers compile further kernels too; those found on disk count as first ones do not.
    first = [{**r, "intervals": {k: v[:1] for k, v in r["intervals"].items()}} for r in reports[side]]
    ours, theirs = timing.summary(samples(first, parts)), timing.summary(samples(reports["triton"], their_parts))
    return {"flydsl": ours, "triton": theirs, **{f"{c}_ratio": ours[c] / theirs[c] for c in ("wall", "cpu")}}


def show(result: dict[str, Any]) -> None:
    at = result["machine"]
    print(f"machine: {at['cpu']}, {at['cores']} cores, load {at['load']}, {at['system']}, {at['date']}")
    print(f"flydsl {result['sides']['flydsl']['version']}, Triton {result['sides']['triton']['version']}")
    print(f"vectorAdd; warm caches; medians of {result['rounds']} fresh processes a side, in turns")
    print("ms by the wall clock (least-greatest) and ms of CPU time\n")

    def cells(of: dict[str, Any]) -> list[str]:
        wall, least, greatest, cpu = (of[k] * 1000 for k in ("wall", "wall_min", "wall_max", "cpu"))
        return [f"{wall:.0f} ({least:.0f}-{greatest:.0f})", f"{cpu:.0f}"]

    head = ["", "flydsl wall", "cpu", "triton wall", "cpu", "ratio wall", "cpu"]
    for title, rows in (("gfx942 code object in memory", "rows"), ("launched on the virtual GPU", "launch rows")):
        print(f"{title}, beside Triton's code object in memory\n")
        table = []
        for name, row in result[rows].items():
            ratios = [f"{row[f'{clock}_ratio']:.2f}x" for clock in ("wall", "cpu")]
            table.append([name, *cells(row["flydsl"]), *cells(row["triton"]), *ratios])
        timing.print_table(head, table)
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description="Second start with a warm cache, beside Triton's.")
    parser.add_argument("--rounds", type=int, default=9, help="fresh processes a side (at least 7 for a stated number)")
    arguments = parser.parse_args()
    make_triton_environment()
    result = compare(arguments.rounds)
    show(result)
    print(f"written to {timing.write_results('warm_start', result)}")


if __name__ == "__main__":
    main()
