"""A small program whose kernel reaches values in every way a program can, and versions of it with one thing changed.

The kernel stores one number per way into `out`. A version is imported from a directory of its own with nothing left of
the one before: new modules, new jit functions, the same cache on disk, as in a new process.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

DEEP = '''
"""Two modules away from the kernel."""
SCALE = 3


def deep_helper(x):
    return x * SCALE
'''

LATE = "late_value = 16\n"

LAYER = """
import functools
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace

import deep


class Mode(Enum):
    ADD = 17
    OTHER = 1

    def describe(self):
        return self.value + 1


@dataclass(frozen=True)
class Config:
    tile: int = 4
    extra: int = 0

    def total(self):
        return self.tile + self.extra


class Plain:
    FACTOR = 2

    def __init__(self, n):
        self.n = n

    def method(self, x):
        return x + self.n * self.FACTOR

    @property
    def doubled(self):
        return self.n * 2

    @staticmethod
    def fixed():
        return 18

    @classmethod
    def of_class(cls):
        return cls.FACTOR + 20


class Child(Plain):
    pass


def middle(x):
    return deep.deep_helper(x) + 1


def with_default(x, k=5):
    return x + k


def with_keyword(x, *, k=6):
    return x + k


def plus_hundred(func):
    @functools.wraps(func)
    def wrapper(x):
        return func(x) + 100
    return wrapper


@plus_hundred
def decorated(x):
    return x + 7


def make_adder(n):
    def add(x):
        return x + n
    return add


@functools.cache
def remembered(n):
    return n + 30


add_eight = make_adder(8)
TABLE = {"a": 9, "b": [10, 11]}
PAIR = (12, 13)
NAMES = frozenset({"red", "green", "blue"})
CONFIG = Config(tile=14)
SPACE = SimpleNamespace(depth=22)
part = functools.partial(with_default, k=15)
plain = Child(19)
UNRELATED = 1


def never_called(x):
    return x + 1
"""

MAIN = """
import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
import layer
from layer import CONFIG, PAIR, Mode, with_default

OFFSET = 23
RATIO = 2.0
FLAG = True
DTYPE = fx.Int32
NUMBER = np.int32(24)
VALUES = np.array([25, 26], np.int32)
LAYOUT = fx.make_layout((4, 2), (1, 8))
GRAPH = [[1, 2], {"x": (3, 4)}]
unrelated_global = 1


@flyc.jit
def inlined(x):
    return x + 27


def local_helper(x):
    return x + 28


def kernel_body_count():
    return 1


def make():
    captured = 29

    @flyc.kernel
    def kernel(out: fx.Tensor, x: fx.Int32, n: fx.Constexpr):
        from late import late_value

        def nested(y):
            return y + 31

        out[0] = layer.middle(x)
        out[1] = with_default(x)
        out[2] = layer.with_keyword(x)
        out[3] = layer.decorated(x)
        out[4] = layer.add_eight(x)
        out[5] = x + layer.TABLE["a"] + layer.TABLE["b"][1]
        out[6] = x + PAIR[1]
        out[7] = x + CONFIG.total()
        out[8] = layer.part(x)
        out[9] = layer.plain.method(x) + layer.plain.doubled + layer.plain.fixed() + layer.Child.of_class()
        out[10] = x + Mode.ADD.value + Mode.ADD.describe()
        out[11] = x + OFFSET
        out[12] = fx.Int32(RATIO * 3)
        out[13] = x + (32 if FLAG else 33)
        out[14] = fx.Int32(DTYPE(x + 300))
        out[15] = x + int(NUMBER) + int(VALUES[1])
        out[16] = x + fx.crd2idx((1, 1), LAYOUT).unpack()
        out[17] = inlined(x) + local_helper(x) + captured + nested(x)
        out[18] = x + late_value + layer.SPACE.depth + layer.remembered(2) + len(layer.NAMES)
        out[19] = x + n + GRAPH[0][1] + GRAPH[1]["x"][0]

    return kernel


kernel = make()


@flyc.jit
def fn(out: fx.Tensor, x: fx.Int32, n: fx.Constexpr = 34):
    kernel(out, x, n).launch()
"""

FILES: Mapping[str, str] = {"deep": DEEP, "late": LATE, "layer": LAYER, "main": MAIN}
COUNT = 20


def changed(file: str, old: str, new: str) -> dict[str, str]:
    """The program with one text replaced by another, everywhere in a file."""
    assert old in FILES[file], f"{old!r} is not in {file}.py"
    return {**FILES, file: FILES[file].replace(old, new)}


@contextmanager
def imported(files: Mapping[str, str], folder: Path) -> Iterator[ModuleType]:
    """The main module of a program, imported as if for the first time."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        yield importlib.import_module("main")
    finally:
        sys.path.remove(str(folder))
        for name in files:
            sys.modules.pop(name, None)


def numbers(main: ModuleType, *more: Any, x: int = 1, dtype: Any = np.int32, **named: Any) -> list[int]:
    """What the program's kernel stores."""
    out = np.full(COUNT, 99, dtype)
    main.fn(out, x, *more, **named)
    return out.tolist()
