"""How fast the virtual GPU runs kernels, beside Triton's interpreter.

Run it: python benchmarks/virtual_gpu.py [--quick] [--rounds 3]

Both run GPU kernels on the CPU without a GPU: ours compiled for the virtual gfx942, Triton's by TRITON_INTERPRET=1 on
torch's CPU tensors. Softmax over 1024 rows of 4096 f32, an addition of 2^24 f32 in blocks of 1024, and a product of
512 x 512 f16 matrices in tiles of 128 x 128 x 64. Times are those of launches after the first; compiling is not part
of them. Fresh processes take turns, by the protocol of `timing.py`. It needs Triton and torch in `.triton-venv` and
installs them where they are missing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from typing import Any

import timing
from compile_time import HERE, ROOT, TRITON_PYTHON, environment, make_triton_environment

TORCH = ("torch==2.13.0", "numpy")
AIMS = {"softmax": 20, "add": 100, "gemm": 2}
"""How many times faster the kernel is to be."""
NAMES = {"softmax": "softmax 1024x4096 f32", "add": "add of 2^24 f32", "gemm": "GEMM 512x512x512 f16"}


def make_torch_environment() -> None:
    make_triton_environment()
    if subprocess.call([TRITON_PYTHON, "-c", "import torch, numpy"], stderr=subprocess.DEVNULL):
        print(f"installing {' and '.join(TORCH)} into {TRITON_PYTHON.parents[1]}", flush=True)
        subprocess.run([TRITON_PYTHON, "-m", "pip", "install", "--quiet", *TORCH], check=True)


def run_ours(bytecode: str, *arguments: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        settings = environment(
            bytecode, PYTHONPATH=str(ROOT / "python"), FLYDSL_RUNTIME_CACHE_DIR=cache, ARCH="gfx942",
            FLYDSL_RUNTIME_KIND="host",
        )  # fmt: skip
        return timing.run_worker([sys.executable, str(HERE / "flydsl_virtual.py"), *arguments], settings)


def run_interpreter(bytecode: str) -> dict[str, Any]:
    settings = environment(bytecode, TRITON_INTERPRET="1")
    return timing.run_worker([str(TRITON_PYTHON), str(HERE / "peers" / "triton_interpreter.py")], settings)


def compare(rounds: int, quick: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as bytecode:
        sides = {"flydsl": partial(run_ours, bytecode, *["quick"] * quick)}
        if not quick:
            sides["triton"] = partial(run_interpreter, bytecode)
        reports = timing.take_turns(sides, rounds)
    rows: dict[str, Any] = {}
    for name in AIMS:
        taken = {
            side: timing.summary([interval for report in runs for interval in report["intervals"][name]])
            for side, runs in reports.items()
        }
        rows[name] = {**taken, "aim": AIMS[name]}
        if "triton" in taken:
            rows[name]["faster"] = taken["triton"]["wall"] / taken["flydsl"]["wall"]
    facts = {side: runs[-1]["facts"] for side, runs in reports.items()}
    return {"machine": timing.machine(), "rounds": rounds, "sides": facts, "rows": rows}


def show(result: dict[str, Any]) -> None:
    sides = result["sides"]
    print(timing.machine_line(result["machine"]))
    print(f"flydsl {sides['flydsl']['version']}, Python {sides['flydsl']['python']}, virtual gfx942")
    if "triton" in sides:
        print(f"triton {sides['triton']['version']} interpreter, torch {sides['triton']['torch']}")
    print(f"ms by the wall clock, medians over {result['rounds']} processes a side, in turns (least-greatest)\n")

    def cell(of: dict[str, Any]) -> str:
        wall, least, greatest = (of[k] * 1000 for k in ("wall", "wall_min", "wall_max"))
        digits = 1 if wall < 1000 else 0
        return f"{wall:.{digits}f} ({least:.{digits}f}-{greatest:.{digits}f})"

    rows = []
    for name, row in result["rows"].items():
        peer = [cell(row["triton"]), f"{row['faster']:.0f}x"] if "triton" in row else ["-", "-"]
        rows.append([NAMES[name], cell(row["flydsl"]), *peer, f"{row['aim']}x"])
    timing.print_table(["", "virtual GPU", "Triton's interpreter", "faster", "aim"], rows)


def main() -> None:
    parser = timing.arguments("The virtual GPU beside Triton's interpreter.", "small arrays, and no Triton")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes a side")
    given = parser.parse_args()
    if not given.quick:
        make_torch_environment()
    result = compare(1 if given.quick else given.rounds, given.quick)
    show(result)
    timing.keep("virtual_gpu", result, given)


if __name__ == "__main__":
    main()
