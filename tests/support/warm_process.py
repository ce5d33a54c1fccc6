"""Programs in processes of their own that begin with the compiler in memory: forks of one process that has done so.

A Python program that compiles a kernel spends its first second on imports and the thread pool. `run` is
`subprocess.run` of ``python ARGUMENTS`` without that second; where a test is about what a start loads, it has no place.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from flydsl.base import knobs
from flydsl.codegen import exported_object

REPOSITORY = Path(__file__).resolve().parents[2]
PRELOADED = ("expr", "passes", "codegen", "dialects", "backends.host", "compiler", "kernels")
"""Packages of flydsl whose modules add nothing to the meaning of a program when they are loaded early."""


def run(
    arguments: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run a script, or ``-m`` and a module, with its arguments; the result has all that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        request = {"arguments": list(arguments), "cwd": str(cwd or Path.cwd()), "env": dict(env), "folder": folder}
        server = _server()
        assert server.stdin is not None and server.stdout is not None
        try:
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
        except BaseException:  # a time limit above all: what runs there must not answer the next caller
            server.kill()
            _server.cache_clear()
            raise
        out, err = (Path(folder, name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess([sys.executable, *arguments], code, out, err)


@cache
def _server() -> subprocess.Popen[str]:
    """The process that forks, to the end of this one."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "python"), str(REPOSITORY)])}
    command = [sys.executable, "-m", "tests.support.warm_process"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    atexit.register(server.communicate)  # closes its standard input
    return server


def serve() -> int:
    """Answer requests, one line each; in a fork this is the exit status of the program it ran."""
    for package in PRELOADED:
        found = importlib.import_module(f"flydsl.{package}")
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            importlib.import_module(module.name)
    exported_object.native_object = cache(exported_object.native_object)  # half a second, and the same for all
    for level in (0, int(knobs.COMPILE_OPT_LEVEL.default)):
        exported_object.native_object("host_pool", level)
    gc.freeze()  # else each fork looks through all of it at its end, which takes longer than most programs
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            return _run_here(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return 0


def _run_here(request: dict[str, object]) -> int:
    """Become the program of a request; an exception ends it as it ends any program, with a traceback."""
    arguments, env, folder = request["arguments"], request["env"], request["folder"]
    assert isinstance(arguments, list) and isinstance(env, dict)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT), number)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(env)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).parent)
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(serve())
