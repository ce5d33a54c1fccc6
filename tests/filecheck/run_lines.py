"""Run the ``// RUN:`` lines of a .mlir file in this process: about 10 ms a file, where lit takes half a second.

A line is a pipe of these commands::

    fly-opt ARGS            flydsl.tools.fly_opt.run(args, stdin_text) -> (code, stdout, stderr)
    FileCheck FILE ARGS     the Python package `filecheck` (spelled `filecheck` too)
    mlir-opt ARGS           upstream's, as a child process: that what we print is real MLIR
    not COMMAND             the command must fail

``%s`` is the file, ``%t`` a scratch path, ``2>&1`` joins stderr to what the next command reads, and a backslash at the
end of a RUN line continues it on the next one. As with lit, every command of a pipe must succeed.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

_RUN = re.compile(r"^\s*(?://|#|;)\s*RUN:\s*(?P<command>.*?)\s*$")


class Result(NamedTuple):
    code: int
    stdout: str
    stderr: str


Command = Callable[[list[str], str], Result]


class MissingTool(Exception):
    """A command that this machine does not have."""


def run_lines(text: str) -> list[str]:
    """The RUN lines of a file, continued ones joined."""
    lines: list[str] = []
    joining = False
    for line in text.splitlines():
        if not (match := _RUN.match(line)):
            continue
        command = match["command"]
        piece = command.removesuffix("\\").rstrip()
        lines[-1:] = [f"{lines[-1]} {piece}"] if joining else [*lines[-1:], piece]
        joining = command.endswith("\\")
    if joining:
        raise ValueError("the last RUN line ends with a backslash")
    return lines


def fly_opt(arguments: list[str], stdin: str) -> Result:
    from flydsl.tools.fly_opt import run  # here, so that a file of other commands does not need it

    return Result(*run(arguments, stdin))


def file_check(arguments: list[str], stdin: str) -> Result:
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        options = parse_argv_options(["FileCheck", *arguments])
        if options.input_file == "-":
            source = FInput("-", FInput.canonicalize_line_ends(stdin))
        else:
            source = FInput.from_opts(options)
        code = Matcher(options, source, Parser.from_opts(options)).run()
    shown = f"the input was:\n{source.content}" if code else ""
    return Result(code, "", f"{err.getvalue()}{shown}")


def mlir_opt(arguments: list[str], stdin: str) -> Result:
    program = shutil.which("mlir-opt-22")
    if program is None:
        raise MissingTool("mlir-opt-22")
    done = subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True)
    return Result(done.returncode, done.stdout, done.stderr)


COMMANDS: dict[str, Command] = {
    "fly-opt": fly_opt,
    "FileCheck": file_check,
    "filecheck": file_check,
    "mlir-opt": mlir_opt,
}


def _run_command(words: list[str], stdin: str, commands: dict[str, Command]) -> Result:
    """One command of a pipe, ``not`` in front of it included."""
    joined = "2>&1" in words
    words = [word for word in words if word != "2>&1"]
    inverted = words[:1] == ["not"]
    name, *arguments = words[1:] if inverted else words
    if name not in commands:
        raise ValueError(f"RUN lines know no command {name!r}, only {', '.join(commands)} and not")
    code, stdout, stderr = commands[name](arguments, stdin)
    if inverted:
        code, stderr = int(code == 0), stderr if code else f"{stderr}{name} succeeded, and it must fail\n"
    return Result(code, stdout + stderr if joined else stdout, stderr)


def run_pipe(line: str, file: Path, scratch: Path, commands: dict[str, Command] | None = None) -> Result:
    """Run one RUN line. The result is that of the first command that fails, else the last one's."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    pipe: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            pipe.append([])
        else:
            pipe[-1].append(word.replace("%s", str(file)).replace("%t", str(scratch)))
    if not all(pipe):
        raise ValueError(f"an empty command in: {line}")
    result = Result(0, "", "")
    failed: Result | None = None
    for words in pipe:
        result = _run_command(words, result.stdout, commands or COMMANDS)
        if result.code and failed is None:
            failed = result
    return failed or result
