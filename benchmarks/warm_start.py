"""Second start of a program with a warm cache: time to the first kernel and the first launch, beside Triton.

Run it: python benchmarks/warm_start.py [--quick] [--rounds 9]

Each side fills a cache of its own once, uncounted; the processes that are measured then find everything there. Both
sides come to the same point for gfx942: the code object of `vectorAdd` in memory, ready to be handed to a driver. That
is as far as Triton gets on a machine without a GPU. For our side the launch itself is measured as well, on the virtual
GPU: from the call to its return, with the sum in the array. Triton's environment is that of `compile_time.py`.
"""

from __future__ import annotations

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


def compare(rounds: int, quick: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: str(Path(folder) / name) for name in ("ours", "launch", "triton", "bytecode")}
        bytecode = caches.pop("bytecode")
        sides = {
            "flydsl": partial(run_ours, caches["ours"], bytecode, "flydsl_compile.py", **OURS),
            "flydsl launch": partial(run_ours, caches["launch"], bytecode, "flydsl_launch.py"),
        }
        if not quick:
            sides["triton"] = partial(run_triton, caches["triton"], bytecode)
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
    return timing.row_of(samples(first, parts), samples(reports.get("triton", []), their_parts))


def show(result: dict[str, Any]) -> None:
    print(timing.machine_line(result["machine"]))
    print(", ".join(f"{name} {side['version']}" for name, side in result["sides"].items()))
    print(f"vectorAdd; warm caches; medians of {result['rounds']} fresh processes a side, in turns")
    print("ms by the wall clock (least-greatest) and ms of CPU time\n")
    for title, rows in (("gfx942 code object in memory", "rows"), ("launched on the virtual GPU", "launch rows")):
        print(f"{title}, beside Triton's code object in memory\n")
        timing.print_table(timing.ROW_HEAD, [timing.row_cells(name, row) for name, row in result[rows].items()])
        print()


def main() -> None:
    parser = timing.arguments("Second start with a warm cache, beside Triton's.", "one process of ours, and no Triton")
    parser.add_argument("--rounds", type=int, default=9, help="fresh processes a side (at least 7 for a stated number)")
    given = parser.parse_args()
    if not given.quick:
        make_triton_environment()
    result = compare(1 if given.quick else given.rounds, given.quick)
    show(result)
    timing.keep("warm_start", result, given)


if __name__ == "__main__":
    main()
