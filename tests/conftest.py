"""What every test stands on: an environment of its own, and honest skips.

Markers: ``torch`` (or the ``torch`` fixture, which is the module), ``gpu``, ``large_shape``. A test that cannot run is
skipped with the reason. In CI, where ``.ci/run`` installs everything, a missing dependency is a failure.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import importlib
import importlib.util
import logging
import os
import random
import re
import resource
import shutil
import zlib
from collections.abc import Callable, Generator, Iterator
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings, strategies

from flydsl.base import device_libraries, knobs
from flydsl.base.collector import in_one_piece
from flydsl.codegen import llvm_build, llvm_options
from flydsl.dialects.xdsl_loading import load
from tests.support import random_data
from tests.support.log import LOG, Log

(driver,) = load("flydsl.compiler.lowering.driver")  # as every compilation loads it
REPOSITORY = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")


# A shared 2-core machine stalls now and then; a slow example is not a wrong one.
settings.register_profile("flydsl", deadline=None, print_blob=True)
settings.load_profile("flydsl")


SAMPLED = {
    "tests/unit/expr/test_operators_": 4,
    "tests/unit/expr/test_exact_conversions": 4,
    "tests/unit/sanitize/": 3,
    "tests/unit/control_flow/test_random": 2,
    "tests/unit/copies/test_every_atom": 20,
    "tests/unit/nvvm/test_wgmma": 3,
    "tests/filecheck/upstream/": 3,
    "tests/codegen/test_gpu_math": 3,
    "tests/codegen/test_dump_files": 2,
    "tests/codegen/test_code_objects": 2,
    "tests/codegen/test_both_ways": 2,
    "tests/codegen/test_amd_kernels.py::test_nothing_is_spilled": 8,
    "tests/codegen/test_amd_kernels.py::test_columns": 2,
    "tests/codegen/test_amd_link.py::test_the_same": 3,
    "tests/codegen/test_amd_rows": 3,
    "tests/codegen/test_moe_gemm.py::test_no_stage_spills": 4,
    "tests/kernels/test_amd_gemm_cases.py::test_specified_large": 80,
    "tests/kernels/test_amd_gemm_cases.py::test_specified": 12,
    "tests/kernels/test_amd_gemm_cases.py::test_any_extent": 4,
    "tests/kernels/test_crossed_products": 30,
    "tests/kernels/attention/test_wave_banks": 2,
    "tests/kernels/test_dependent_rows": 2,
    "tests/kernels/test_hopper_gemm.py::test_tiles_and_clusters": 2,
    "tests/kernels/test_hopper_scales.py::test_scales_of_blocks": 2,
    "tests/kernels/test_matrix_": 3,
    "tests/kernels/test_moe_gemm": 2,
    "tests/kernels/test_rows.py::test_blocks_that_stay": 2,
    "tests/kernels/test_rows.py::test_every_kind_of_plan": 2,
    "tests/kernels/test_wgmma_registers": 2,
    "tests/kernels/test_moe_acceptance.py::test_layers": 8,
    "tests/kernels/test_norm": 2,
    "tests/kernels/test_row_gradients": 3,
    "tests/unit/ops/test_awkward_": 2,
}
"""Tables of cases so large that a run takes one of so many, always the same ones, and one at least; `make thorough`
takes them all."""


CROSSED = ("tests/kernels/", "tests/unit/nvvm/", "tests/unit/ops/", "tests/unit/rocdl/")
"""Where cases are combinations of parameters, each of which compiles kernels: a run takes half of them, always the same
ones, and among these every value of every parameter; `make thorough` takes them all."""


PROPERTIES = (
    "tests/filecheck/upstream/", "tests/kernels/attention/test_wave_banks", "tests/kernels/test_dependent_rows",
    "tests/kernels/test_wgmma_registers",
    *(f"tests/codegen/test_{name}.py" for name in (
        "amd_kernels", "amd_rows", "both_ways", "code_objects", "device_code", "dump_files", "moe_gemm",
        "preshuffle_gemm", "rdna_gemm")),
)  # fmt: skip
"""Tests that look at the code of kernels which other tests run: their kernels take turns, whatever they are called."""
TURNS = (
    *PROPERTIES, "tests/kernels/", "tests/unit/control_flow/test_random", "tests/unit/copies/",
    "tests/unit/export/test_host", "tests/unit/nvvm/", "tests/unit/ops/", "tests/unit/rocdl/",
    *(f"tests/codegen/test_{name}.py" for name in (
        "arith_float", "arith_int", "build", "casts", "float_functions", "four_bit_lanes", "math", "mma_tables",
        "narrow_floats", "narrow_instructions", "vector")),
    *(f"tests/unit/expr/test_{name}" for name in (
        "atomics", "conversions", "emission", "exact_conversions", "operators_", "vector")),
)  # fmt: skip
"""Where of what is left one of `SHARE` cases has its turn, other ones from seed to seed: among those of a folder is
every target, and among those of a file every type, function and other name that its parameters have. `make thorough`
has them all."""
BY_THEMSELVES = ("/test_crossed_", "/rocdl/test_targets")
"""Files whose cases are chosen by the seed already, so that every choice, or function, is among them."""
SHARE = 8
IN_TURN = {
    "tests/benchmarks/test_benchmarks_start.py::test_it_runs_quickly": 2,
    "tests/benchmarks/test_compile_scaling.py::test_each_unit": 2,
    "tests/compat/test_names.py::test_name_is_used": 2,
    "tests/fuzz/test_kernels.py::test_kernels_compute": 2,
    "tests/kernels/attention/test_places_outside.py::test_starts_of_sequences": 2,
    "tests/kernels/test_examples.py::test_example_ends_with_pass": 2,
    "tests/kernels/test_lds_report.py::test_counts_are_those_of_brute_force": 2,
    "tests/kernels/test_read_only_inputs.py": 2,
    **{f"tests/kernels/test_rows.py::test_{name}": 2 for name in (
        "blocks_that_stay", "every_kind_of_plan", "rows_through_a_ring")},
    "tests/unit/api/test_api_names.py::test_documented_name_is_used": 2,
    "tests/unit/cache/test_truth_on_disk.py::test_a_change_that_matters": 2,
    "tests/unit/copies/test_every_atom.py": 2,
    "tests/unit/dialects/test_verifier.py::test_any_operands": 2,
    "tests/unit/errors/test_catalogue.py::test_the_advice_works": 2,
    "tests/unit/expr/test_extents_are_numbers.py::test_an_extent_as_a_number": 2,
    "tests/unit/expr/test_mma_cells.py::test_every_cell": 2,
    "tests/unit/jit/test_kinds_of_writes.py::test_the_output_is_written_and_the_input_read": 2,
    "tests/unit/nvvm/test_ptx_text.py::test_the_instruction_is_written": 2,
    "tests/unit/ops/test_replays.py::test_attention_is_repeated": 2,
    "tests/unit/ops/test_replays.py::test_calls_with_gradients_are_repeated": 2,
    **{f"tests/unit/sanitize/test_planted.py::test_{name}": 2 for name in (
        "a_right_program", "only_the_asked_check", "same_kernel_without_the_fault")},
    "tests/unit/target/test_mma_layouts.py": 3,
}  # fmt: skip
"""Tables of which a run takes one of so many cases, whatever they are called, other ones from seed to seed."""
TARGET = re.compile(r"gfx\w+|sm_\w+")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("FLYDSL_TEST_ALL") or any("[" in argument for argument in config.args):
        return
    left: list[pytest.Item] = []
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        test, of_table, _ = item.nodeid.partition("[")
        if of_table:
            tests.setdefault(test, []).append(item)
    folders: dict[str, list[list[pytest.Item]]] = {}
    for test, cases in tests.items():
        left += spared(test, cases, random_data.SEED)
        if test.startswith(TURNS) and not any(part in test for part in BY_THEMSELVES):
            folders.setdefault(test.partition("::")[0].rpartition("/")[0], []).append(cases)
    gone = set(map(id, left))
    for of_folder in folders.values():
        left += waiting([[case for case in cases if id(case) not in gone] for cases in of_folder], random_data.SEED)
    if left and len(left) < len(items):  # one that is named on the command line runs
        config.hook.pytest_deselected(items=left)
        gone = set(map(id, left))
        items[:] = [item for item in items if id(item) not in gone]


def spared(test: str, cases: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return cases of a test that a run goes without, whatever other tests have; at least one is left."""
    left: list[pytest.Item] = []
    share = next((share for prefix, share in SAMPLED.items() if test.startswith(prefix)), None)
    if share is not None:
        left += not_sampled(cases, share)
    elif test.startswith(CROSSED):
        left += spared_combinations(cases)
    gone = set(map(id, left))
    turns = next((turns for prefix, turns in IN_TURN.items() if test.startswith(prefix)), 1)
    return left + not_in_turn([case for case in cases if id(case) not in gone], turns, seed)


def _drawn(case: pytest.Item) -> int:
    """Return a number that is always the same for a case, and as good as random."""
    return zlib.crc32(case.nodeid.encode())


def not_sampled(cases: list[pytest.Item], share: int) -> list[pytest.Item]:
    """Return cases of a test that a run goes without if it takes one of so many, and one at least."""
    left = [case for case in cases if _drawn(case) % share]
    return left if len(left) < len(cases) else sorted(left, key=_drawn)[1:]


def not_in_turn(cases: list[pytest.Item], turns: int, seed: int) -> list[pytest.Item]:
    """Return cases of a test that a run goes without if it takes one of so many, others from seed to seed."""
    drawn = random.Random(f"{seed} {cases[0].nodeid.partition('[')[0]}")
    return drawn.sample(cases, len(cases) - -(-len(cases) // turns))


def spared_combinations(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return cases of a test that a run goes without: at most half, and no value of a parameter is in these alone."""
    seen: set[object] = set()
    others: list[pytest.Item] = []
    for case in sorted(cases, key=_drawn):
        values = _rows_of_tables(case)
        if values <= seen:
            others.append(case)
        seen |= values
    return others[: len(cases) // 2]


def waiting(tests: list[list[pytest.Item]], seed: int) -> list[pytest.Item]:
    """Return the cases of a folder's tests that have their turn with another seed. A run takes one of `SHARE` of each
    test, and as many more as have a target, or what parameters of their file name, that these have not."""
    left: list[pytest.Item] = []
    named: set[object] = set()
    names = {id(case): _named(case) for cases in tests for case in cases}
    for cases in tests:
        drawn = random.Random(f"{seed} {cases[0].nodeid.partition('[')[0]}")  # the same ones, whatever else runs
        cases = drawn.sample(cases, len(cases))
        count = -(-len(cases) // SHARE)
        named.update(*(names[id(case)] for case in cases[:count]))
        left += cases[count:]
    random.Random(seed).shuffle(left)
    missing = set[object]().union(*(names[id(case)] for case in left)) - named
    while missing:
        taken = max(left, key=lambda case: len(missing & names[id(case)]))
        missing -= names[id(taken)]
        left.remove(taken)
    return left


def _named(case: pytest.Item) -> set[object]:
    """Return the targets of a case, and of its file those parameters that are no numbers, extents or plans, of which
    there could be any."""
    params = case.callspec.params if hasattr(case, "callspec") else {}  # type: ignore[attr-defined]
    file = case.nodeid.partition("::")[0]
    targets = {value for value in params.values() if isinstance(value, str) and TARGET.fullmatch(value)}
    if file.startswith(PROPERTIES):
        return targets
    return targets | {(file, name, _member(value)) for name, value in params.items() if _is_name(value, targets)}


def _is_name(value: object, targets: set[str]) -> bool:
    if isinstance(value, tuple):
        return any(isinstance(part, (str, type)) for part in value)
    if isinstance(value, str):
        return value not in targets
    return value is None or isinstance(value, (bool, type, Enum)) or callable(value)


def _rows_of_tables(case: pytest.Item) -> set[object]:
    """Return what a case takes of each table of its test. Parameters that are listed together are one table."""
    callspec = getattr(case, "callspec", None)
    if callspec is None:
        return {case.nodeid}
    tables = [tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
              for names in (mark.args[0] for mark in case.iter_markers("parametrize"))]  # fmt: skip
    alone = [(name,) for name in callspec.params if not any(name in table for table in tables)]
    return {(table, *(_member(callspec.params[name]) for name in table)) for table in [*tables, *alone]}


def _member(value: object) -> object:
    """Return a value as a member of sets, by identity where it has no hash."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
ROOM = MEMORY // 3 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
"""Bytes that a process takes before it looks for garbage: all of a run together, a third of the machine's memory."""


@settings(max_examples=1, database=None)
@given(strategies.none())
def _first_draw(_: None) -> None:
    """Let Hypothesis look for garbage, as it does once in each process: now, and not among all that tests have left."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting makes stays to the end, so none of it is garbage. Nor is any looked for while there is room for
    it: freeing what tests leave takes a twentieth of their time, and the end of the process frees it for nothing."""
    _first_draw()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(0)
        gc.enable()


def pytest_runtest_teardown() -> None:
    """Once there is no more room, free what later tests leave. They make much that lives, so look rarely."""
    if not gc.get_threshold()[0] and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > ROOM:
        gc.freeze()
        gc.set_threshold(300_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Leave what is left: pytest looks for garbage five times more."""
    gc.freeze()


@pytest.fixture
def young_heap() -> None:
    """Garbage is looked for among what this test makes, in a hundredth of the time that all tests before it take."""
    gc.freeze()


def missing(what: str, remedy: str) -> None:
    """End the running test: a skip on a developer's machine, a failure in CI."""
    message = f"{what} is not installed: {remedy}"
    if IN_CI:
        pytest.fail(f"{message} (CI runs every test)", pytrace=False)
    pytest.skip(message)


def pytest_runtest_setup(item: pytest.Item) -> None:
    random_data.begin(item.nodeid)
    LOG.lines.clear()
    item.runtest = partial(in_one_piece, item.runtest)  # pytest alone fills most of a piece with frames
    if item.get_closest_marker("torch"):
        _need_torch()
    if item.get_closest_marker("large_shape") and os.environ.get("RUN_TESTS_FULL") != "1":
        pytest.skip("a large shape: RUN_TESTS_FULL=1 runs it")
    if item.get_closest_marker("gpu") and not _gpu_names():
        pytest.skip("no GPU: neither libcuda nor libamdhip64 reports a device")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure says what was logged, and how its random data is drawn again."""
    report = yield
    if report.failed:
        if LOG.lines:
            report.sections.append(("log", LOG.text))
        report.sections.append(("random data", f"drawn again by FLYDSL_TEST_SEED={random_data.SEED}"))
    return report


@pytest.fixture
def kept_log() -> Log:
    """What this test logs."""
    return LOG


@pytest.fixture
def rng() -> np.random.Generator:
    """The random numbers of this test; a failure prints the seed they came from."""
    return random_data.generator()


def _need_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        missing("torch", "run `TORCH=1 make test`")


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """The torch module."""
    _need_torch()
    return importlib.import_module("torch")


@pytest.fixture(scope="session")
def pycute() -> ModuleType:
    """NVIDIA's own layout algebra in Python, the oracle of the layout tests."""
    if importlib.util.find_spec("pycute") is None:
        missing("pycute", "run `pip install --no-deps nvidia-cutlass`")
    return importlib.import_module("pycute")


@cache
def _gpu_names() -> tuple[str, ...]:
    """The drivers that report at least one device. Asked of the drivers themselves, so our runtime is not trusted."""
    found: list[str] = []
    for library, init, count in (
        ("libcuda.so.1", "cuInit", "cuDeviceGetCount"),
        ("libamdhip64.so", "hipInit", "hipGetDeviceCount"),
    ):
        try:
            driver = ctypes.CDLL(library)
        except OSError:
            continue
        devices = ctypes.c_int(0)
        if getattr(driver, init)(0) == 0 and getattr(driver, count)(ctypes.byref(devices)) == 0 and devices.value:
            found.append(library)
    return tuple(found)


@pytest.fixture(scope="session", autouse=True)
def _isolated_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test sees the user's settings or writes into the user's home: not the cache, not dumps, not tuning results.

    What describes the machine (``ROCM_PATH``, …) stays. Each xdist worker has a home of its own.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for knob in knobs.TABLE.values():
            if knob.group != "machine":
                for name in (knob.name, *knob.aliases):
                    patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        patch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(home / "cache"))
        # A test of the compiler must not be served from disk; `fresh_cache` turns the cache on.
        patch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "0")
        _select_instructions_alike()
        patch.setattr(driver, "emit_object", _made_once(driver.emit_object))
        patch.setenv(knobs.NO_COLOR.name, "1")  # messages are compared as text, also under `pytest -s` on a terminal
        logging.getLogger().addHandler(LOG)
        yield
        logging.getLogger().removeHandler(LOG)


def _select_instructions_alike() -> None:
    """Let LLVM use one instruction selector at every level: the one AArch64 has for level 0 takes twice as long."""
    if "aarch64" in llvm_build.host_triple():
        llvm.set_option("flydsl tests", "-aarch64-enable-global-isel-at-O=-1")


def _made_once(emit: Callable[..., bytes]) -> Callable[..., bytes]:
    """Let LLVM make the object code of a text once: many tests have the same small kernel, and that it makes the same
    of it again is not ours to test."""
    made: dict[tuple[bytes, int], bytes] = {}

    def found(text: str, level: int) -> bytes:
        if llvm_options.active() or any(f"@{name}(" in text for name in device_libraries.called):
            return emit(text, level=level)
        key = hashlib.sha256(text.encode()).digest(), level
        if key not in made:
            made[key] = emit(text, level=level)
        return made[key]

    return found


UNOPTIMISED = ("tests/kernels/", "tests/unit/nvvm/", "tests/unit/ops/", "tests/unit/ranks/", "tests/unit/sanitize/",
               "tests/unit/expr/test_operators_",
               *(f"tests/benchmarks/test_benchmarks_start.py::test_it_runs_quickly[{name}]" for name in (
                   "allreduce", "attention", "moe", "row_ops", "rows")),
               *(f"tests/docs/test_docs.py::test_blocks_run[docs/{page}.md" for page in (
                   "amd_gemm", "attention", "hopper", "hopper_gemm", "many_gpus", "moe", "ops", "preshuffle_gemm",
                   "rdna_gemm")))  # fmt: skip
"""Where LLVM's optimiser, which is not ours, would take a third of the time. Examples, pages, other tests and fuzzers
compile at the levels that users have."""
MOSTLY_UNOPTIMISED = tuple(f"tests/unit/{room}/" for room in (
    "autotune", "composites", "control_flow", "copies", "errors", "export", "expr", "jit", "rocdl",
    "runtime"))  # fmt: skip
"""The same, where it would take half: three tests of four, always the same ones, and none in `make thorough`."""
OPTIMISED = tuple(f"tests/unit/{file}.py" for file in (
    "copies/test_written_twice", "jit/test_backends", "jit/test_specialisations"))  # fmt: skip
"""These count the instructions of kernels, or say which level is the default."""


def is_unoptimised(nodeid: str) -> bool:
    """Whether a test compiles for the virtual GPU without LLVM's optimiser."""
    if nodeid.startswith(UNOPTIMISED):
        return True
    chosen = zlib.crc32(nodeid.encode()) >> 8 & 3 and not os.environ.get("FLYDSL_TEST_ALL")
    return bool(chosen) and nodeid.startswith(MOSTLY_UNOPTIMISED) and not nodeid.startswith(OPTIMISED)


@pytest.fixture(autouse=True)
def _level(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile for the virtual GPU without LLVM's optimiser where a test is about what kernels compute."""
    with pytest.MonkeyPatch.context() as patch:  # its own: a test may undo what it patched half-way
        if is_unoptimised(request.node.nodeid):
            patch.setenv(knobs.COMPILE_OPT_LEVEL.name, "0")
        yield


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty disk cache for this test alone; the directory is returned and not made yet."""
    directory = tmp_path / "cache"
    monkeypatch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(directory))
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "1")
    return directory


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def mlir_opt() -> str:
    """An unmodified upstream ``mlir-opt`` of LLVM 22 (Debian's mlir-22-tools)."""
    found = shutil.which("mlir-opt-22")
    if found is None:
        missing("mlir-opt-22", "install Debian's mlir-22-tools")
    assert found is not None
    return found
