"""Cache truth for what lies outside the functions: the environment, modules by name, what threads have for themselves.

`CHANGES` is about the next call. `STARTS` is about the next start: a program of a file of its own runs, something
outside it changes, and it is imported again with the same cache on disk.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flydsl.base.errors import DslTypeError
from flydsl.compiler.capture import inputs
from tests.unit.cache.programs import imported
from tests.unit.cache.small import stored, storing

# The next call -------------------------------------------------------------------------------------------------------

SOURCE = """
import collections, contextvars, os, sys, threading
import importlib
import numpy as np
from os import environ, getenv

class AttrDict(dict):
    __getattr__ = dict.__getitem__

class Numbers(list):
    def __iter__(self): raise AssertionError("the user's code was run")

class Slots:
    __slots__ = ("a",)
    def __getattr__(self, name): raise KeyError(name)

class Own(threading.local):
    pass

VALUE = 1.0
CONFIG = AttrDict(a=1.0)
NUMBERS = Numbers([1.0])
FACTORY = collections.defaultdict(lambda: 1.0)
ORDERED = collections.OrderedDict(a=1.0)
COUNTER = collections.Counter(a=1)
SMALL = np.ones(8)
LARGE = np.ones(100_000)
TENSOR = None
BYTES = bytearray(b"\\1")
VARIABLE = contextvars.ContextVar("VARIABLE", default=1.0)
LOCAL = threading.local()
LOCAL.a = 1.0
OWN = Own()
OWN.a = 1.0
SLOTS = Slots()
SLOTS.a = 1.0
NAMES = ["RV"]

def keyword(*, a=1.0): return a
def environment_get(): return float(os.environ.get("RV", "1"))
def environment_item(): return float(os.environ["RV"]) if "RV" in os.environ else 1.0
def environment_getenv(): return float(os.getenv("RV", "1"))
def environment_imported(): return float(environ.get("RV", "1"))
def environment_getenv_imported(): return float(getenv("RV", "1"))
def environment_computed(): return float(os.environ.get(NAMES[0], "1"))
def environment_all(): return float(dict(os.environ).get("RV", "1"))
def environment_bytes(): return float(os.environb.get(b"RV", b"1"))
def arguments(): return float(len(sys.argv))
def modules(): return sys.modules["outside"].VALUE
def imported_by_name(): return importlib.import_module("outside").VALUE
def global_by_name(): return globals()["VALUE"]
def evaluated(): return eval("VALUE * 1")
def attribute_dictionary(): return CONFIG.a
def numbers(): return NUMBERS[0]
def factory(): return FACTORY["x"]
def ordered(): return ORDERED["a"]
def counter(): return float(COUNTER["a"])
def small(): return float(SMALL[3])
def large(): return float(LARGE[7])
def tensor(): return float(TENSOR[0])
def bytes_(): return float(BYTES[0])
def context(): return VARIABLE.get()
def local(): return LOCAL.a
def own(): return OWN.a
def slots(): return SLOTS.a
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("outside") / "program"
    with imported({"outside": SOURCE, "main": "import outside"}, folder) as main:
        del sys.modules["main"]  # other tests have one of their own
        yield main.outside


def _set_variable(module: Any) -> None:
    module.os.environ["RV"] = "2"


CHANGES: dict[str, Callable[[Any], Any]] = {
    "environment_get": _set_variable,
    "environment_item": _set_variable,
    "environment_getenv": _set_variable,
    "environment_imported": _set_variable,
    "environment_getenv_imported": _set_variable,
    "environment_computed": _set_variable,
    "environment_all": _set_variable,
    "environment_bytes": _set_variable,
    "arguments": lambda m: sys.argv.append("more"),
    "modules": lambda m: setattr(m, "VALUE", 2.0),
    "imported_by_name": lambda m: setattr(m, "VALUE", 2.0),
    "global_by_name": lambda m: setattr(m, "VALUE", 2.0),
    "evaluated": lambda m: setattr(m, "VALUE", 2.0),
    "keyword": lambda m: setattr(m.keyword, "__kwdefaults__", {"a": 2.0}),
    "attribute_dictionary": lambda m: m.CONFIG.update(a=2.0),
    "numbers": lambda m: m.NUMBERS.__setitem__(0, 2.0),
    "factory": lambda m: m.FACTORY.update(x=2.0),
    "ordered": lambda m: m.ORDERED.update(a=2.0),
    "counter": lambda m: m.COUNTER.update(["a"]),
    "small": lambda m: m.SMALL.__setitem__(3, 2.0),
    "large": lambda m: m.LARGE.__setitem__(7, 2.0),
    "bytes_": lambda m: m.BYTES.__setitem__(0, 2),
    "context": lambda m: m.VARIABLE.set(2.0),
    "local": lambda m: setattr(m.LOCAL, "a", 2.0),
    "own": lambda m: setattr(m.OWN, "a", 2.0),
    "slots": lambda m: setattr(m.SLOTS, "a", 2.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_outside_is_seen_at_the_next_call(name: str, outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RV", raising=False)
    monkeypatch.setattr(sys, "argv", ["program"])
    outside.VALUE = 1.0
    fn = storing(getattr(outside, name))
    assert [stored(fn), stored(fn)] == [1.0, 1.0]
    assert fn.cache_info()[:2] == (1, 1)
    CHANGES[name](outside)
    monkeypatch.setenv("RV", outside.os.environ.get("RV", ""))  # so that it is put back
    if not outside.os.environ["RV"]:
        del outside.os.environ["RV"]
    assert [stored(fn), stored(fn)] == [2.0, 2.0]
    assert fn.cache_info().misses == 2


def test_an_unrelated_variable_compiles_nothing(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fn = storing(outside.environment_get)
    stored(fn)
    monkeypatch.setenv("UNRELATED_RV", "7")
    stored(fn)
    assert fn.cache_info().misses == 1


def test_a_tensor_that_is_written_in_place(outside: Any) -> None:
    torch = pytest.importorskip("torch", reason="a torch tensor is captured")
    outside.TENSOR = torch.ones(3)
    fn = storing(outside.tensor)
    assert [stored(fn), stored(fn)] == [1.0, 1.0]
    outside.TENSOR.fill_(2.0)
    assert stored(fn) == 2.0
    outside.TENSOR.numpy()[0] = 3.0  # which torch does not know of
    assert stored(fn) == 3.0
    outside.TENSOR = torch.full((1 << 19,), 4.0)  # too large to be compared byte by byte
    assert stored(fn) == 4.0
    outside.TENSOR[0] = 5.0
    assert stored(fn) == 5.0
    count = fn.cache_info().misses
    stored(fn)
    assert fn.cache_info().misses == count


def test_the_elements_of_an_array_whose_shape_is_read_do_not_matter() -> None:
    weights = np.zeros(5, np.float32)
    fn = storing(lambda: float(weights.shape[0]))
    assert stored(fn) == 5.0
    weights += 1
    stored(fn)
    assert fn.cache_info().misses == 1
    weights = np.zeros(6, np.float32)
    assert stored(fn) == 6.0


def test_an_array_that_no_function_names_does_not_matter() -> None:
    class Model:
        def __init__(self) -> None:
            self.tile, self.running_mean = 4.0, np.zeros(3)

    model = Model()
    fn = storing(lambda: model.tile)
    assert stored(fn) == 4.0
    model.running_mean += 1
    stored(fn)
    assert fn.cache_info().misses == 1
    model.tile = 5.0
    assert stored(fn) == 5.0


def test_a_large_array_is_refused_unless_nobody_can_write_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(inputs, "_said", set())
    monkeypatch.setattr(inputs.log.get_logger(inputs.__name__), "warning", lambda text, *rest: said.append(text % rest))
    table = np.ones(1 << 18)
    with pytest.raises(DslTypeError, match="'table', an array of more than 1048576 bytes that can be written"):
        stored(storing(lambda: float(table[0])))
    assert stored(storing(lambda: float(table.shape[0]))) == 1 << 18
    table.flags.writeable = False  # as the error says
    for _ in range(2):
        assert stored(storing(lambda: float(table[0]))) == 1.0
    assert len(said) == 1 and "'table', a numpy.ndarray, by its identity" in said[0]


def test_globals_by_computed_names_are_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(inputs, "_said", set())
    monkeypatch.setattr(inputs.log.get_logger(inputs.__name__), "warning", lambda text, *rest: said.append(text % rest))
    name = "".join(chr(c) for c in (80, 73))
    monkeypatch.setitem(globals(), name, 3.0)

    def computed() -> float:
        return globals()[name]

    assert stored(storing(computed)) == 3.0
    assert len(said) == 1 and "computed()" in said[0]


def test_modules_by_name_are_warned_about_only_if_computed(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(inputs, "_said", set())
    monkeypatch.setattr(inputs.log.get_logger(inputs.__name__), "warning", lambda text, *rest: said.append(text % rest))
    stored(storing(outside.modules))
    stored(storing(outside.imported_by_name))
    assert not said
    name = "-".join(("out", "side")).replace("-", "")
    stored(storing(lambda: sys.modules[name].VALUE))
    assert len(said) == 1 and "modules that it finds by computed names" in said[0]


def test_threads_with_values_of_their_own_get_their_own_code() -> None:
    local = threading.local()
    fn = storing(lambda: local.value)
    wrong: list[float] = []

    def work(value: float) -> None:
        local.value = value
        for _ in range(50):
            if (found := stored(fn)) != value:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert fn.cache_info().misses == 4


def test_what_tracing_changes_does_not_hide_the_rest() -> None:
    class Config:
        def __init__(self) -> None:
            self.count, self.tile = 0, 4.0

    config, seen = Config(), [1.0]

    def read() -> float:
        config.count += 1
        seen.append(0.0)
        return config.tile + seen[0]

    fn = storing(read)
    assert [stored(fn), stored(fn), config.count] == [5.0, 5.0, 1]
    config.tile = 8.0
    assert [stored(fn), stored(fn), config.count] == [9.0, 9.0, 2]
    config.count = 0
    assert [stored(fn), config.count] == [9.0, 0]


LIBRARY = {
    "__init__": "__version__ = '1.0'",
    "config": "TILE = 1.0",
    "kernels": """
import flydsl.compiler as flyc
import flydsl.expr as fx
from mylibrary import config

def tile():
    return config.TILE

@flyc.kernel
def kernel(out: fx.Tensor):
    out[0] = fx.Float32(tile())

@flyc.jit
def fn(out: fx.Tensor):
    kernel(out).launch()
""",
}


def test_settings_of_an_installed_library_of_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages" / "mylibrary"
    folder.mkdir(parents=True)
    for name, text in LIBRARY.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder.parent))
    kernels = importlib.import_module("mylibrary.kernels")
    try:
        assert stored(kernels.fn) == 1.0
        kernels.config.TILE = 2.0
        assert stored(kernels.fn) == 2.0
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "mylibrary"]:
            del sys.modules[name]


# The next start ------------------------------------------------------------------------------------------------------

MAIN = """
import importlib, json, os, random, sys, time
from pathlib import Path
import numpy as np
import flydsl.compiler as flyc
import flydsl.expr as fx

def contents(file):
    with file:
        return file.read()

def get():
    return float({expression})

@flyc.kernel
def kernel(out: fx.Tensor):
    out[0] = fx.Float32(get())

@flyc.jit
def fn(out: fx.Tensor):
    kernel(out).launch()
"""


def started(expression: str, folder: Path, value: str = "V = 1.0\n") -> tuple[float, bool]:
    """What the program stores, and whether its code came from disk."""
    files = {"main": MAIN.format(expression=expression), "setting": value}
    with imported(files, folder) as main:
        if "setting" in expression:
            __import__("setting")
        result = stored(main.fn)
        return result, main.fn.cache_info().hits == 1


ENVIRONMENT = {
    "get": "os.environ.get('RV', '1')",
    "item": "os.environ['RV'] if 'RV' in os.environ else 1",
    "getenv": "os.getenv('RV', '1')",
    "computed": "os.environ.get(''.join(['R', 'V']), '1')",
}


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_variable_is_part_of_what_is_on_disk(
    name: str, fresh_cache: Path, fresh_folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    expression = ENVIRONMENT[name]
    monkeypatch.delenv("RV", raising=False)
    assert started(expression, fresh_folder()) == (1.0, False)
    assert started(expression, fresh_folder()) == (1.0, True)
    monkeypatch.setenv("RV", "2")
    assert started(expression, fresh_folder()) == (2.0, False)
    assert started(expression, fresh_folder()) == (2.0, True)
    monkeypatch.delenv("RV")
    assert started(expression, fresh_folder()) == (1.0, False)


def test_a_variable_that_code_from_disk_has_read_is_watched(
    fresh_cache: Path, fresh_folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RV", "3")
    started(ENVIRONMENT["get"], fresh_folder())
    with imported({"main": MAIN.format(expression=ENVIRONMENT["get"])}, fresh_folder()) as main:
        assert stored(main.fn) == 3.0 and main.fn.cache_info().hits == 1
        monkeypatch.setenv("RV", "4")
        assert stored(main.fn) == 4.0


def test_arguments_of_the_program_are_part_of_the_key(
    fresh_cache: Path, fresh_folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for argv, found in ((["a"], False), (["a"], True), (["a", "b"], False)):
        monkeypatch.setattr(sys, "argv", argv)
        assert started("len(sys.argv)", fresh_folder()) == (len(argv), found)


NEVER_KEPT = {
    "a path": "Path({file!r}).read_text()",
    "an open file": "json.loads(contents(open({file!r})))",
    "a file of numbers": "np.loadtxt({file!r})",
    "a module by name": "importlib.import_module('setting').V",
    "a module of the table": "sys.modules['setting'].V",
    "the size of a file": "os.stat({file!r}).st_size",
    "whether a file is there": "os.path.exists({file!r})",
    "a clock": "time.time()",
    "a random number": "random.random()",
    "a random number of NumPy": "np.random.rand()",
    "the hash of a text": "hash('a') % 2",
    "the address of an object": "id(get) % 2",
    "a setting of the process": "sys.getrecursionlimit()",
}


@pytest.mark.parametrize("name", NEVER_KEPT)
def test_what_nobody_can_follow_is_never_kept(
    name: str, fresh_cache: Path, fresh_folder: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = tmp_path / "value.txt"
    expression = NEVER_KEPT[name].format(file=str(file))
    monkeypatch.setenv("FLYDSL_LOG", "recompiles")
    for value in ("1.0", "22.0"):
        file.write_text(value)
        result, from_disk = started(expression, fresh_folder(), f"V = {value}\n")
        assert not from_disk
        if ("file!r" in NEVER_KEPT[name] and "os." not in expression) or "setting" in expression:
            assert result == float(value)
    assert "not kept on disk: " in capsys.readouterr().err
    assert not list(fresh_cache.glob("fn_*/*"))


KEPT = {
    "joining paths": "len(os.path.join('a', 'b'))",
    "mathematics": "np.sqrt(np.float32(4)) + np.pi",
    "a method called load": "{'load': 1.5}.get('load') + len(np.__name__)",
    "the platform": "len(sys.platform) + sys.version_info[0]",
    "text as data": "json.loads('3')",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_the_same_at_every_start_is_kept(
    name: str, fresh_cache: Path, fresh_folder: Callable[[], Path]
) -> None:
    first, _ = started(KEPT[name], fresh_folder())
    assert started(KEPT[name], fresh_folder()) == (first, True)
