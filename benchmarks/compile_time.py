"""How long we take to import and to compile vectorAdd for gfx942, beside Triton.

Run it: python benchmarks/compile_time.py [--quick] [--rounds 9]

It needs Triton in `.triton-venv` at the root of the checkout and makes that environment where it is missing. Both sides
compile the same kernels (`kernels_under_test.py`, `peers/triton_kernels.py`) in fresh processes with empty caches, by
the protocol of `timing.py`. A compile ends with code as bytes; loading and running it are not part of it on either
side. The first compile includes whatever a side loads lazily; reading the kernels' own source file is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import timing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TRITON = "triton==3.9.*"
TRITON_PYTHON = ROOT / ".triton-venv" / "bin" / "python"

# The one place that says how our side compiles.
OURS = {"ARCH": "gfx942", "COMPILE_ONLY": "1"}
OURS_MAKES = "a gfx942 code object (LLVM's AMDGPU back end and our linker) and the native launcher"
TRITON_MAKES = "a gfx942 code object (LLVM's AMDGPU back end and the linker)"

ROWS = {
    "import": ("import",),
    "first compile": ("first compile",),
    "import + first compile": ("import", "first compile"),
    "further compile, new kernel": ("further compile",),
}


def make_triton_environment() -> None:
    if TRITON_PYTHON.exists() and not subprocess.call(
        [TRITON_PYTHON, "-c", "import triton"], stderr=subprocess.DEVNULL
    ):
        return
    print(f"installing {TRITON} into {TRITON_PYTHON.parents[1]}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", TRITON_PYTHON.parents[1]], check=True)
    subprocess.run([TRITON_PYTHON, "-m", "pip", "install", "--quiet", TRITON], check=True)


def environment(bytecode: str, **more: str) -> dict[str, str]:
    """The parent's environment without what would change a measurement; bytecode is kept outside the checkout, unless
    the parent says where."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV")
    kept = {k: v for k, v in os.environ.items() if k not in dropped and not k.startswith(("FLYDSL_", "TRITON_"))}
    return {"PYTHONPYCACHEPREFIX": bytecode, **kept, **more}


def run_ours(bytecode: str, *arguments: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        settings = environment(bytecode, PYTHONPATH=str(ROOT / "python"), FLYDSL_RUNTIME_CACHE_DIR=cache, **OURS)
        return timing.run_worker([sys.executable, str(HERE / "flydsl_compile.py"), *arguments], settings)


def run_triton(bytecode: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        settings = environment(bytecode, TRITON_CACHE_DIR=cache, TRITON_DEFAULT_FP_FUSION="1")
        return timing.run_worker([str(TRITON_PYTHON), str(HERE / "peers" / "triton_compile.py")], settings)


def samples(reports: list[dict[str, Any]], parts: tuple[str, ...]) -> list[list[float]]:
    """(wall, cpu) of a row: every interval of that name, or the sum of several within each process."""
    if len(parts) == 1:
        return [interval for report in reports for interval in report["intervals"][parts[0]]]
    return [[sum(r["intervals"][p][0][i] for p in parts) for i in (0, 1)] for r in reports]


def compare(rounds: int, quick: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as bytecode:
        run_ours(bytecode, "check")
        sides = {"flydsl": partial(run_ours, bytecode)}
        if not quick:
            sides["triton"] = partial(run_triton, bytecode)
        reports = timing.take_turns(sides, rounds)
    rows: dict[str, Any] = {}
    for row, parts in ROWS.items():
        ours, theirs = (samples(reports.get(side, []), parts) for side in ("flydsl", "triton"))
        rows[row] = timing.row_of(ours, theirs)
    facts = {
        side: {**runs[-1]["facts"], "makes": makes}
        for (side, runs), makes in zip(reports.items(), (OURS_MAKES, TRITON_MAKES))
    }
    return {"machine": timing.machine(), "rounds": rounds, "sides": facts, "rows": rows}


def show(result: dict[str, Any]) -> None:
    print(timing.machine_line(result["machine"]))
    for name, side in result["sides"].items():
        print(f"{name} {side['version']}, Python {side['python']}: makes {side['makes']}")
    print(
        f"vectorAdd, tiles of 1024 f32, 4 waves, masked; medians of {result['rounds']} fresh processes a side, in turns"
    )
    print("ms by the wall clock (least-greatest) and ms of CPU time\n")

    timing.print_table(timing.ROW_HEAD, [timing.row_cells(name, row) for name, row in result["rows"].items()])


def main() -> None:
    parser = timing.arguments("Import and compile times beside Triton's.", "one process of ours, and no Triton")
    parser.add_argument("--rounds", type=int, default=9, help="fresh processes a side (at least 7 for a stated number)")
    given = parser.parse_args()
    if not given.quick:
        make_triton_environment()
    result = compare(1 if given.quick else given.rounds, given.quick)
    show(result)
    timing.keep("compile_time", result, given)


if __name__ == "__main__":
    main()
