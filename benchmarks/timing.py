"""The one timing protocol of the benchmarks.

- A cold time comes from a fresh process, and the two sides of a comparison take turns, so that a busy machine slows
  both. Which side begins alternates too. The first round is not counted: it fills the page cache and writes bytecode.
- Each interval is read twice: by the wall clock, and as CPU time of the process (user and system, all its threads),
  which other processes on the machine disturb less.
- What is stated is the median, with the least and the greatest beside it.

A worker (the process that is measured) imports this module too, so the top of it imports nothing that an interpreter
has not loaded anyway: a module loaded here would be missing from the import time measured later.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")


# In a worker ---------------------------------------------------------------------------------------------------------


class Stopwatch:
    """Times of named intervals; ``with watch("import"): ...``, and ``report`` hands them to the parent."""

    def __init__(self) -> None:
        self.intervals: dict[str, list[list[float]]] = {}

    def __call__(self, name: str) -> Stopwatch:
        self._name = name
        return self

    def __enter__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        self.intervals.setdefault(self._name, []).append([wall, cpu])

    def report(self, **facts: object) -> None:
        """Print everything as the worker's last line."""
        import json

        print(json.dumps({"intervals": self.intervals, "facts": facts}))


# In the parent -------------------------------------------------------------------------------------------------------


def run_worker(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Run a worker to its end and return what its stopwatch reported."""
    import json
    import subprocess

    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def take_turns(sides: Mapping[str, Callable[[], dict[str, Any]]], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """What each side reported in each counted round; one more round goes before, uncounted."""
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name in list(sides) if turn % 2 == 0 else reversed(list(sides)):
            report = sides[name]()
            if turn:
                reports[name].append(report)
    return reports


def summary(samples: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Median, least and greatest of (wall, cpu) samples, in seconds."""
    from statistics import median

    wall, cpu = ([float(sample[i]) for sample in samples] for i in (0, 1))
    return {
        "wall": median(wall), "wall_min": min(wall), "wall_max": max(wall),
        "cpu": median(cpu), "cpu_min": min(cpu), "cpu_max": max(cpu), "samples": len(wall),
    }  # fmt: skip


def row_of(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Both sides of a row and how ours compares; a quick run has one side only."""
    mine = summary(ours)
    if not theirs:
        return {"flydsl": mine}
    peer = summary(theirs)
    return {
        "flydsl": mine,
        "triton": peer,
        **{f"{clock}_ratio": mine[clock] / peer[clock] for clock in ("wall", "cpu")},
    }


ROW_HEAD = ("", "flydsl wall", "cpu", "triton wall", "cpu", "ratio wall", "cpu")


def row_cells(name: str, row: Mapping[str, Any]) -> list[str]:
    """A row of a table with `ROW_HEAD`: milliseconds by the wall clock (least-greatest) and of CPU time."""

    def cells(of: Mapping[str, Any]) -> list[str]:
        wall, least, greatest, cpu = (of[k] * 1000 for k in ("wall", "wall_min", "wall_max", "cpu"))
        return [f"{wall:.0f} ({least:.0f}-{greatest:.0f})", f"{cpu:.0f}"]

    if "triton" not in row:
        return [name, *cells(row["flydsl"]), *["-"] * 4]
    return [name, *cells(row["flydsl"]), *cells(row["triton"]), *(f"{row[f'{c}_ratio']:.2f}x" for c in ("wall", "cpu"))]


def machine_line(at: Mapping[str, Any]) -> str:
    return f"machine: {at['cpu']}, {at['cores']} cores, load {at['load']}, {at['system']}, {at['date']}"


def machine() -> dict[str, Any]:
    """What the numbers depend on: processor, cores, load, system and interpreter."""
    import platform
    import re
    import subprocess

    name = platform.processor() or platform.machine()
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        found = re.search(r"^Model name:\s*(.+)$", lines, re.MULTILINE)
        name = found[1].strip() if found else name
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": f"{name} ({platform.machine()})",
        "cores": cores,
        "load": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that is Markdown as well: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:]))]
        return "| " + " | ".join(padded) + " |"

    print(line(head))
    print("|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(widths)) + "|")
    for row in rows:
        print(line(row))


def arguments(description: str, quick: str) -> argparse.ArgumentParser:
    """The options of a benchmark: `--quick` takes seconds and checks the output, but its times mean nothing."""
    import argparse

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help=f"{quick}; for a look at whether it works, not to measure")
    return parser


def keep(name: str, data: Mapping[str, Any], given: argparse.Namespace) -> None:
    """Write results down and say where; those of a quick run are none."""
    if given.quick:
        print("quick run: these times mean nothing, and none were written")
    else:
        print(f"written to {write_results(name, data)}")


def write_results(name: str, data: Mapping[str, Any]) -> str:
    """Keep the numbers as JSON under ``benchmarks/results``; the file's path."""
    import json

    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, f"{name}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"taken": circumstances(), **data}, file, indent=2)
        file.write("\n")
    return os.path.relpath(path)


def circumstances() -> dict[str, str]:
    """The day and, where torch is loaded and has one, the GPU."""
    found, torch = {"date": time.strftime("%Y-%m-%d")}, sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        found |= {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__.partition("+")[0]}
    return found


def launch_ms(sides: dict[str, Callable[[], Any]], rounds: int, launches: int) -> dict[str, float]:
    """Milliseconds of a launch on a GPU: medians over rounds in which every side has its turn, another one first."""
    import statistics

    import torch

    found: dict[str, list[float]] = {name: [] for name in sides}
    for round_ in range(rounds):
        first = round_ % len(sides)
        for name, run in [*sides.items()][first:] + [*sides.items()][:first]:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            run()
            start.record()
            for _ in range(launches):
                run()
            stop.record()
            torch.cuda.synchronize()
            found[name].append(start.elapsed_time(stop) / launches)
    return {name: statistics.median(times) for name, times in found.items()}
