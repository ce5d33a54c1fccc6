"""Where the time of a compile goes: per stage, per imported package, per function.

Run it: python benchmarks/profile_compile.py [--quick] [--kernel add] [--repeats 9] [--imports] [--functions 25]

Stages are timed by wrapping the compiler's own functions (`STAGES`) and calling a jit function as a user would. A
stage's time excludes the stages called inside it. `first` is the first compile of this process, `warm` the median of
the later ones; the time to load the IR libraries is a row of its own, as they are loaded before the first compile.
"""

from __future__ import annotations

import cProfile
import dataclasses
import os
import pstats
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import timing

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "python"))

STAGES = {
    ("flydsl.compiler.tracing.trace", "trace"): "trace",
    ("flydsl.compiler.lowering.driver", "_verify"): "verify between passes",
    ("flydsl.backends.host.compile", "host_module"): "LLVM text",
    ("flydsl.codegen.llvm_build", "host_machine"): "LLVM target machine",
    ("flydsl.codegen.llvm_build", "parse_and_verify"): "LLVM parse and verify",
    ("flydsl.codegen.llvm_build", "optimise"): "LLVM optimise",
    ("llvmlite.binding.targets", "TargetMachine.emit_object"): "LLVM object emission",
    ("flydsl.runtime.host_pool", "start"): "start the thread pool",
    ("flydsl.runtime.object_code", "load_object"): "load the object",
    ("flydsl.compiler.artifacts.artifact", "Executable.launch"): "launch",
}
"""(module, name) of each function that is a stage -> what the table calls it."""

REST = "the rest"
LIBRARIES = "load IR libraries"


class StageTimes:
    """Seconds per stage of the compile under way; inner stages are taken off the outer ones."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            begin = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.perf_counter() - begin
                self.seconds[stage] += spent - self._inner.pop()
                self._inner[-1] += spent

        return wrapper

    def install(self) -> None:
        """Wrap every stage."""
        for (module, name), stage in STAGES.items():
            owner: Any = import_module(module)
            *path, last = name.split(".")
            for part in path:
                owner = getattr(owner, part)
            if hasattr(owner, last):
                setattr(owner, last, self.timed(stage, getattr(owner, last)))
            else:
                sys.exit(f"{module} has no {name} any more: STAGES of this benchmark is out of date")
        driver: Any = import_module("flydsl.compiler.lowering.driver")
        passes = driver.passes_for

        def timed_passes(*options: Any) -> tuple[Any, ...]:
            return tuple(
                dataclasses.replace(step, run=self.timed(f"pass {i} {step.name}", step.run))
                for i, step in enumerate(passes(*options), 1)
            )

        driver.passes_for = timed_passes

    def of(self, call: Callable[[], Any]) -> dict[str, float]:
        self.seconds.clear()
        self.timed(REST, call)()
        return dict(self.seconds)


def arrays() -> tuple[Any, ...]:
    import numpy as np

    return (*(np.zeros(1 << 12, np.float32) for _ in range(3)), 1 << 12)


def stage_table(name: str, repeats: int) -> dict[str, Any]:
    import kernels_under_test as kernels

    import flydsl.compiler as flyc

    function, arguments, times = getattr(kernels, name), arrays(), StageTimes()
    begin = time.perf_counter()
    import_module("flydsl.compiler.tracing.trace")
    import_module("flydsl.compiler.lowering.driver")
    libraries = time.perf_counter() - begin
    times.install()
    # A jit function made anew has compiled nothing yet.
    first, *warm = [times.of(lambda: flyc.jit(function.__wrapped__)(*arguments)) for _ in range(repeats + 1)]
    first[LIBRARIES] = libraries
    stages = dict.fromkeys((LIBRARIES, *first, *(stage for run in warm for stage in run)))
    return {s: {"first": first.get(s, 0.0), "warm": median(run.get(s, 0.0) for run in warm)} for s in stages}


def show_stages(name: str, stages: dict[str, Any]) -> None:
    totals = {which: sum(row[which] for row in stages.values()) for which in ("first", "warm")}
    rows = [
        [stage, *(f"{row[w] * 1000:.1f}" for w in ("first", "warm")), f"{100 * row['warm'] / totals['warm']:.0f}%"]
        for stage, row in stages.items()
    ]
    rows.append(["sum", *(f"{totals[w] * 1000:.1f}" for w in ("first", "warm")), "100%"])
    print(f"compile of {name}, ms per stage")
    timing.print_table(["stage", "first", "warm", "of warm"], rows)


def show_imports(top: int) -> None:
    """Self time of everything imported up to the end of a first compile, by `-X importtime`, itself not free."""
    command = [sys.executable, "-X", "importtime", str(HERE / "flydsl_compile.py")]
    settings = {**os.environ, "PYTHONPATH": str(HERE.parent / "python"), "ARCH": "gfx942", "COMPILE_ONLY": "1"}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    settings.setdefault("PYTHONPYCACHEPREFIX", "/tmp/flydsl-profile-bytecode")
    for _ in range(2):  # the first run writes bytecode
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    packages: dict[str, list[float]] = defaultdict(lambda: [0, 0])
    modules: list[tuple[float, str]] = []
    for line in done.stderr.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if len(fields) != 3 or not fields[0].strip().isdigit():
            continue
        milliseconds, module = int(fields[0]) / 1000, fields[2].strip()
        root = module.split(".")[0]
        package = (
            root if root in ("flydsl", "xdsl", "llvmlite", "numpy", "ml_dtypes") else "standard library and others"
        )
        packages[package][0] += milliseconds
        packages[package][1] += 1
        modules.append((milliseconds, module))
    print("\nself time of imports up to the end of a first compile, ms")
    ranked = sorted(packages.items(), key=lambda item: -item[1][0])
    timing.print_table(["package", "ms", "modules"], [[p, f"{ms:.1f}", f"{n:.0f}"] for p, (ms, n) in ranked])
    print()
    timing.print_table(["module", "ms"], [[m, f"{ms:.1f}"] for ms, m in sorted(modules, reverse=True)[:top]])


def show_functions(name: str, count: int) -> None:
    """Functions by their own time in a warm compile, by cProfile (which makes calls look dearer than they are)."""
    import kernels_under_test as kernels

    import flydsl.compiler as flyc

    function, arguments = getattr(kernels, name), arrays()
    profile = cProfile.Profile()
    flyc.jit(function.__wrapped__)(*arguments)
    for _ in range(5):
        fresh = flyc.jit(function.__wrapped__)
        profile.runcall(fresh, *arguments)
    print("\nfunctions in five warm compiles")
    for order in ("tottime", "cumtime"):
        pstats.Stats(profile).strip_dirs().sort_stats(order).print_stats(count)


def main() -> None:
    parser = timing.arguments("Time per stage of a compile.", "two warm compiles")
    parser.add_argument("--kernel", default="add", help="a jit function of kernels_under_test.py")
    parser.add_argument("--repeats", type=int, default=9, help="warm compiles")
    parser.add_argument("--imports", action="store_true", help="also rank what is imported")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="also the N dearest functions")
    given = parser.parse_args()
    os.environ.setdefault("ARCH", "gfx942")
    os.environ["FLYDSL_RUNTIME_ENABLE_CACHE"] = "0"  # what is on disk would not be compiled
    stages = stage_table(given.kernel, 2 if given.quick else given.repeats)
    show_stages(given.kernel, stages)
    if given.imports:
        show_imports(top=30)
    if given.functions:
        show_functions(given.kernel, given.functions)
    timing.keep("profile_compile", {"machine": timing.machine(), "kernel": given.kernel, "stages": stages}, given)


if __name__ == "__main__":
    main()
