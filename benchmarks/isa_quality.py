"""The machine code of our kernels for AMD GPUs, beside Triton's for the same tiles.

Run it: python benchmarks/isa_quality.py [--quick] [--rounds 7] [--targets gfx942 gfx950 ...] [--kernels]

`--kernels` is one table for all kernels of `amd_kernels` on each target: see `isa_table.py`. Without it:

Ours is `kernels/gemm/preshuffle_gemm.py`, Triton's the GEMM of its tutorial (`peers/triton_gemm.py`), once with N and K
known while compiling, as ours knows them, and once as arguments: 128 x 128 x 64, 256 threads, the same matrix
instruction of 16 rows. No AMD GPU is needed. It needs Triton in `.triton-venv` and makes that environment where it is
missing.

- VGPRs: of both kinds, architectural and accumulation.
- LDS: bytes of a workgroup.
- instructions per MFMA, and waits per tile along K: counted in the main loop, which may be unrolled.
- cold compile: from a call to a code object in a fresh process with an empty cache, by the protocol of `timing.py`.
  What a side imports on first use is part of it; importing the package is not, and stands beside it: which of the two
  loads a library is a side's own choice.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from typing import Any

import timing
from compile_time import HERE, ROOT, TRITON_PYTHON, environment, make_triton_environment
from isa_table import TARGETS, show_kernels

from flydsl.tools.assembly import fact, main_loop

TILE = (128, 128, 64)
WAVES = 4
FORMS = {"triton": "known", "triton, N and K at run time": "run-time"}


def run_ours(bytecode: str, arch: str, dump: bool = False) -> dict[str, Any]:
    """Compile in a fresh process. A dump is not timed: it writes the assembly, which takes time of its own."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        wanted = {"FLYDSL_DEBUG_DUMP_ASM": "1", "FLYDSL_DUMP_DIR": folder} if dump else {}
        path = f"{ROOT / 'python'}:{ROOT}"
        settings = environment(
            bytecode, PYTHONPATH=path, FLYDSL_RUNTIME_CACHE_DIR=cache, ARCH=arch, COMPILE_ONLY="1", **wanted
        )
        command = [sys.executable, str(HERE / "flydsl_gemm.py"), *([folder] if dump else [])]
        return timing.run_worker(command, settings)


def run_triton(bytecode: str, arch: str, form: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        settings = environment(bytecode, TRITON_CACHE_DIR=cache, TRITON_DEFAULT_FP_FUSION="1")
        return timing.run_worker([str(TRITON_PYTHON), str(HERE / "peers" / "triton_gemm.py"), arch, form], settings)


def quality(assembly: str, lds: int | None = None) -> dict[str, Any]:
    """The numbers of a kernel; ``lds`` where it is not stated in the text because the launch decides it."""
    loop = main_loop(assembly)
    rows, columns, depth = (int(n) for n in _shape(loop.names))
    per_tile = TILE[0] * TILE[1] * TILE[2] // (rows * columns * depth * WAVES)
    return {
        "vgprs": fact(assembly, "vgpr_count"),
        "of these agprs": fact(assembly, "agpr_count"),
        "lds": lds if lds is not None else fact(assembly, "group_segment_fixed_size"),
        "instructions per mfma": len(loop.names) / loop.matrix,
        "waits per tile": loop.waits * per_tile / loop.matrix,
        "spills": fact(assembly, "vgpr_spill_count"),
        "instruction": next(name for name in loop.names if "mfma" in name),
    }


def _shape(names: list[str]) -> list[str]:
    """M, N, K of the matrix instruction, from its name: v_mfma_f32_16x16x16_f16."""
    name = next(name for name in names if "mfma" in name)
    m, n, k = name.split("_")[3].split("x")
    return [m, n, k]


def compare(arch: str, rounds: int, quick: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as bytecode:
        sides = {"flydsl": partial(run_ours, bytecode, arch)}
        if not quick:
            sides |= {name: partial(run_triton, bytecode, arch, form) for name, form in FORMS.items()}
        reports = timing.take_turns(sides, rounds)
        found = {"flydsl": quality(run_ours(bytecode, arch, dump=True)["facts"]["assembly"])}
    for name in FORMS:
        if name in reports:
            facts = reports[name][-1]["facts"]
            found[name] = quality(facts["assembly"], facts["lds"])
    for name, runs in reports.items():
        spent = [r["intervals"] for r in runs]
        found[name]["compile"] = timing.summary([s["compile"][0] for s in spent])
        found[name]["import and compile"] = timing.summary(
            [[s["import"][0][i] + s["compile"][0][i] for i in (0, 1)] for s in spent]
        )
        found[name]["version"] = runs[-1]["facts"]["version"]
    return found


COLUMNS = ("vgprs", "lds", "instructions per mfma", "waits per tile")


def numbers(of: dict[str, Any]) -> list[float]:
    times = [of[what][clock] for what in ("compile", "import and compile") for clock in ("wall", "cpu")]
    return [*(of[column] for column in COLUMNS), *times]


def show(arch: str, found: dict[str, Any]) -> None:
    ours = numbers(found["flydsl"])
    print(f"\n{arch}, {found['flydsl']['instruction']}")
    head = ["", "VGPRs", "LDS bytes", "instructions per MFMA", "waits per K tile"]
    head += ["cold compile s", "CPU s", "with import s", "CPU s"]
    rows = []
    for name, side in found.items():
        vgprs, lds, *others = numbers(side)
        rows.append([f"{name} {side['version']}", str(vgprs), str(lds), *(f"{number:.2f}" for number in others)])
        if name != "flydsl":
            rows.append(["  ours over it", *(f"{mine / its:.2f}x" for mine, its in zip(ours, numbers(side)))])
    timing.print_table(head, rows)


def main() -> None:
    parser = timing.arguments(
        "Machine code beside Triton's.", "one process of ours for gfx942, or with --kernels a few kernels; no Triton"
    )
    parser.add_argument("--rounds", type=int, default=7, help="fresh processes a side")
    parser.add_argument("--targets", nargs="+", help="gfx942 and gfx950, or with --kernels all")
    parser.add_argument("--kernels", action="store_true", help="one table for all kernels, and nothing else")
    parser.add_argument("--static", action="store_true", help="with --kernels, no bank conflicts, which need a run")
    given = parser.parse_args()
    if given.kernels:
        found = show_kernels(given.targets or TARGETS, given.quick, given.static)
        timing.keep("isa_kernels", {"machine": timing.machine(), "targets": found}, given)
        return
    targets = given.targets or ["gfx942", "gfx950"]
    if not given.quick:
        make_triton_environment()
    result: dict[str, Any] = {"machine": timing.machine(), "rounds": given.rounds, "targets": {}}
    print(timing.machine_line(result["machine"]))
    for arch in targets[:1] if given.quick else targets:
        result["targets"][arch] = compare(arch, 1 if given.quick else given.rounds, given.quick)
        show(arch, result["targets"][arch])
    timing.keep("isa_quality", result, given)


if __name__ == "__main__":
    main()
