"""What a call costs the host: ours by the jit path and bound, beside Triton's and torch's, by number of arguments.

A kernel that does nothing is launched with 0, 1, 3 and 8 tensors, and with 8 tensors and 4 numbers. On the host
device its grid is empty, so that only the call is measured; ``entry`` is the native call alone, packed arguments in,
status out. On a GPU the launches are queued without waiting, which leaves the host's part; ``driver`` is
`cuLaunchKernel` by ctypes with arguments packed beforehand. Each figure is the least of many short rounds, which a busy
machine disturbs less than few long ones, and the sides of a row take turns.

Run it: python benchmarks/launch.py [--quick] [--arrays numpy|torch]
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from timing import arguments, keep, machine, print_table

import flydsl.compiler as flyc
import flydsl.expr as fx

SHAPES = [(0, 0), (1, 0), (3, 0), (8, 0), (8, 4)]
"""Rows: numbers of tensors and of scalars."""
NUMBERS = (1, 2.5, 1 << 40, -3)
Side = Callable[[], Any]


@flyc.kernel
def nothing():
    pass


@flyc.jit
def take0(grid: fx.Int32, stream: fx.Stream):
    nothing().launch(grid=(grid, 1, 1), block=(32, 1, 1), stream=stream)


@flyc.jit
def take1(a: fx.Tensor, grid: fx.Int32, stream: fx.Stream):
    nothing().launch(grid=(grid, 1, 1), block=(32, 1, 1), stream=stream)


@flyc.jit
def take3(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, grid: fx.Int32, stream: fx.Stream):
    nothing().launch(grid=(grid, 1, 1), block=(32, 1, 1), stream=stream)


@flyc.kernel
def nothing8(
    a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, d: fx.Tensor, e: fx.Tensor, f: fx.Tensor, g: fx.Tensor, h: fx.Tensor
):
    pass


@flyc.jit
def take8(
    a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, d: fx.Tensor, e: fx.Tensor, f: fx.Tensor, g: fx.Tensor, h: fx.Tensor,
    grid: fx.Int32, stream: fx.Stream,
):  # fmt: skip
    nothing8(a, b, c, d, e, f, g, h).launch(grid=(grid, 1, 1), block=(32, 1, 1), stream=stream)


@flyc.jit
def take8and4(
    a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, d: fx.Tensor, e: fx.Tensor, f: fx.Tensor, g: fx.Tensor, h: fx.Tensor,
    i: fx.Int32, j: fx.Float32, k: fx.Int64, m: fx.Int32, grid: fx.Int32, stream: fx.Stream,
):  # fmt: skip
    nothing8(a, b, c, d, e, f, g, h).launch(grid=(grid, 1, 1), block=(32, 1, 1), stream=stream)


OURS = {(0, 0): take0, (1, 0): take1, (3, 0): take3, (8, 0): take8, (8, 4): take8and4}


def least_microseconds(sides: dict[str, Side], rounds: int, calls: int, settle: Side) -> dict[str, float]:
    """The least time of one call of each side, over rounds in which the sides take turns."""
    found = dict.fromkeys(sides, float("inf"))
    for side in sides.values():
        for _ in range(20):
            side()
    settle()
    for turn in range(rounds):
        for name in list(sides) if turn % 2 == 0 else reversed(list(sides)):
            side = sides[name]
            start = time.perf_counter()
            for _ in range(calls):
                side()
            found[name] = min(found[name], (time.perf_counter() - start) / calls * 1e6)
            settle()
    return found


def our_sides(tensors: list[Any], numbers: tuple[Any, ...], grid: int, stream: Any) -> dict[str, Side]:
    """The jit path, the bound path and the native call alone."""
    fn = OURS[len(tensors), len(numbers)]
    args = (*tensors, *numbers, grid, stream)
    compiled = flyc.compile(fn, *args)
    executable, call = compiled._executable, fn.adapted_call(args, {})
    block, report = executable._pack(*call.numbers), executable._new_report()
    return {
        "jit": lambda: fn(*args),
        "bound": lambda: compiled(*args),
        "entry": lambda: executable._entry(block, report),
        "empty call": lambda: _take(*args),
    }


def _take(*args: Any) -> None:
    """What calling any Python function with these arguments costs."""


def host_rows(arrays: str, rounds: int, calls: int) -> list[dict[str, Any]]:
    if arrays == "torch":
        import torch

        made: list[Any] = [torch.zeros(16, 64) for _ in range(8)]
    else:
        import numpy

        made = [numpy.zeros((16, 64), numpy.float32) for _ in range(8)]
    rows = []
    os.environ["FLYDSL_RUNTIME_KIND"] = "host"  # without tensors nothing else says where to run
    for tensors, numbers in SHAPES:
        sides = our_sides(made[:tensors], NUMBERS[:numbers], 0, None)
        times = least_microseconds(sides, rounds, calls, lambda: None)
        rows.append({"tensors": tensors, "scalars": numbers, **times})
    del os.environ["FLYDSL_RUNTIME_KIND"]
    return rows


# On a GPU ------------------------------------------------------------------------------------------------------------


def gpu_rows(rounds: int, calls: int) -> list[dict[str, Any]]:
    """The same on a CUDA device, beside Triton and torch."""
    import torch

    made = [torch.zeros(16, 64, device="cuda") for _ in range(8)]
    stream = torch.cuda.current_stream()
    rows = []
    for tensors, numbers in SHAPES:
        sides = our_sides(made[:tensors], NUMBERS[:numbers], 1, stream)
        sides["driver"] = sides.pop("entry")
        sides |= triton_sides(made[:tensors], NUMBERS[:numbers])
        sides["torch add_"] = lambda: made[0].add_(1.0)
        times = least_microseconds(sides, rounds, calls, torch.cuda.synchronize)
        times["bare driver"] = bare_driver_microseconds(rounds, calls)
        rows.append({"tensors": tensors, "scalars": numbers, **times})
    return rows


def triton_sides(tensors: list[Any], numbers: tuple[Any, ...]) -> dict[str, Side]:
    if importlib.util.find_spec("triton") is None:
        return {}
    from peers.triton_nothing import KERNELS

    kernel = KERNELS[len(tensors), len(numbers)][(1,)]
    args = (*tensors, *numbers)
    return {"triton": lambda: kernel(*args)}


def bare_driver_microseconds(rounds: int, calls: int) -> float:
    """`cuLaunchKernel` through ctypes of a kernel without arguments: the floor of anything written in Python."""
    device = flyc.current_device()
    module = device.load_module(flyc.compile(take0, 1, None).artifact.device_binary)
    handle = ctypes.c_void_p(device.function(module, "nothing_0"))
    launch = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )(device.launch_entry())
    side = {"bare": lambda: launch(handle, 1, 1, 1, 32, 1, 1, 0, None, None, None)}
    return least_microseconds(side, rounds, calls, device.synchronize)["bare"]


def has_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available() and flyc.current_device().kind == "cuda"


def show(title: str, rows: list[dict[str, Any]]) -> None:
    sides = [name for name in rows[0] if name not in ("tensors", "scalars")]
    print(f"\n{title}, microseconds per call")
    table = [[f"{r['tensors']} tensors, {r['scalars']} scalars", *(f"{r[s]:.2f}" for s in sides)] for r in rows]
    print_table(["arguments", *sides], table)


def main() -> None:
    parser = arguments("What a call costs the host.", "few rounds")
    parser.add_argument("--arrays", choices=("numpy", "torch"), help="arrays of the host device; both by default")
    options = parser.parse_args()
    rounds, calls = (3, 20) if options.quick else (150, 200)
    kinds = [options.arrays] if options.arrays else ["numpy", "torch"]
    results: dict[str, Any] = {"machine": machine(), "rounds": rounds, "calls": calls}
    print(", ".join(f"{name}: {value}" for name, value in results["machine"].items()))
    for arrays in kinds:
        if importlib.util.find_spec(arrays) is None:
            print(f"\n{arrays} is not installed")
            continue
        results[f"host, {arrays}"] = host_rows(arrays, rounds, calls)
        show(f"host device, {arrays} arrays", results[f"host, {arrays}"])
    if has_gpu():
        import torch

        results["gpu"] = torch.cuda.get_device_name()
        results["gpu, torch"] = gpu_rows(rounds, calls)
        show(f"{results['gpu']}, torch tensors", results["gpu, torch"])
        last = results["gpu, torch"][-1]
        if "triton" in last:
            print(f"\n8 tensors and 4 scalars: bound {last['bound'] / last['triton']:.2f} of Triton's time,"
                  f" jit {last['jit'] / last['triton']:.2f}")  # fmt: skip
    keep("launch", results, options)


if __name__ == "__main__":
    main()
