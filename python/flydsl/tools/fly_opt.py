"""`fly-opt`: parse IR, verify it, run passes by name, print the result.

    fly-opt kernel.mlir --fly-canonicalize --fly-layout-lowering
    fly-opt kernel.mlir --pass-pipeline="builtin.module(fly-canonicalize,gpu.module(canonicalize))"

Whatever it prints it reads back. A mistake in the input ends with exit code 1 and
``file:line:column: error: …`` on stderr.
"""

from __future__ import annotations

import io
import sys
import traceback
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError
from flydsl.base.own_code import VERSION
from flydsl.base.records import dataclass, field
from flydsl.dialects.mlir_names import MlirPrinter
from flydsl.tools.ir_diagnostics import IrDiagnostic, IrError, expectations, unmet
from flydsl.tools.ir_reader import read_module, verify
from flydsl.tools.pass_selection import Step, UnknownPassError, parse_pipeline, pass_names, step

_SEPARATOR = "// -----"
_FLAGS = {
    "split-input-file": "treat the parts between lines '// -----' as separate inputs",
    "verify-diagnostics": "succeed when exactly the errors of 'expected-error' comments are found",
    "verify-each": "verify after every pass (the default; --verify-each=false turns it off)",
    "allow-unregistered-dialect": "accept operations of dialects that are not known",
    "print-op-generic": "print every operation in generic form",
    "print-debuginfo": "print locations",
    "as-compiled": "run passes in the forms that the compiler uses, where the original's fly-opt prints others",
    "keep-names": "print values by the names that the input has for them, where it has one",
    "print-ir-after-all": "print the IR after every pass, to stderr",
}
_MLIR_SPELLINGS = {f"mlir-{name}": name for name in ("print-op-generic", "print-debuginfo", "print-ir-after-all")}
_USAGE = "usage: fly-opt [options] [passes] [FILE]    (stdin when FILE is absent or '-')"


class UsageError(Exception):
    """A command line that cannot be understood."""


@dataclass
class Options:
    """A command line: what to read, what to run, how to print."""

    file: str = "-"
    output: str = ""
    steps: list[Step] = field(default_factory=list)
    flags: dict[str, bool] = field(default_factory=lambda: {"verify-each": True})

    def on(self, flag: str) -> bool:
        return self.flags.get(flag, False)


# The command line ------------------------------------------------------------------------------


def parse_options(argv: list[str]) -> Options:
    options = Options()
    words = iter(argv)
    positional: list[str] = []
    for word in words:
        if not word.startswith("-") or word == "-":
            positional.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = _MLIR_SPELLINGS.get(name, name)
        if name in _FLAGS:
            options.flags[name] = _truth(name, value) if equals else True
        elif name in ("pass-pipeline", "o"):
            argument = value if equals else next(words, None)
            if argument is None:
                raise UsageError(f"{word} needs a value")
            if name == "o":
                options.output = argument
            else:
                options.steps += parse_pipeline(argument)
        else:
            options.steps.append(step(name, value))
    if len(positional) > 1:
        raise UsageError(f"one input at a time, got {', '.join(positional)}")
    options.file = positional[0] if positional else "-"
    return options


def _truth(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false", "1", "0"):
        raise UsageError(f"--{name} is true or false, not '{value}'")
    return value.lower() in ("true", "1")


def usage() -> str:
    rows = [
        _USAGE, "", "options:",
        *(f"  --{name:<28} {text}" for name, text in _FLAGS.items()),
        f"  {'--pass-pipeline=TEXT':<30} passes as builtin.module(a,gpu.module(b))",
        f"  {'-o FILE':<30} write there instead of stdout",
        f"  {'--help, --version':<30} this text; the version",
        "", "passes, run in the order given:",
        *(f"  --{name:<36} {text}" for name, text in pass_names().items()),
    ]  # fmt: skip
    return "\n".join(rows) + "\n"


# One input -------------------------------------------------------------------------------------


def _print(module: ModuleOp, options: Options) -> str:
    stream = io.StringIO()
    printer = (Printer if options.on("keep-names") else MlirPrinter)(
        stream, print_generic_format=options.on("print-op-generic"), print_debuginfo=options.on("print-debuginfo")
    )
    printer.print_op(module)
    return stream.getvalue() + "\n"


def _run_steps(module: ModuleOp, options: Options, file: str, log: list[str]) -> None:
    for each in options.steps:
        try:
            each.run(module, options.on("as-compiled"))
        except FlyDSLError as error:
            raise IrError([_from_error(error, file)]) from error
        except Exception as error:
            if knobs.DEBUG_TRACEBACK.get():
                log.append(traceback.format_exc())
            why = f"{each.name} failed on this input ({type(error).__name__}: {error}); this is a bug, please report it"
            raise IrError([IrDiagnostic(file, 0, 0, why)]) from error
        if options.on("verify-each"):
            verify(module, file, each.name)
        if options.on("print-ir-after-all"):
            log.append(f"// ----- IR after {each.name}\n{_print(module, options)}")


def _from_error(error: FlyDSLError, file: str) -> IrDiagnostic:
    text = error.message + (f"\n  help: {error.hint}" if error.hint else "")
    where = error.location
    return IrDiagnostic(file, 0, 0, text) if where is None else IrDiagnostic(where.file, where.line, where.column, text)


def _process(text: str, options: Options, file: str, log: list[str]) -> tuple[str, list[IrDiagnostic]]:
    """Return the output of one input, and what is wrong with it."""
    try:
        module = read_module(text, file, options.on("allow-unregistered-dialect"))
        verify(module, file)
        _run_steps(module, options, file, log)
        return _print(module, options), []
    except IrError as error:
        return "", error.found


def _parts(text: str, split: bool) -> list[str]:
    """Return the inputs in a file, each padded with newlines so that its line numbers are those of the file."""
    parts, current, start = [], [], 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        if split and line.strip() == _SEPARATOR:
            parts.append("\n" * start + "".join(current))
            current, start = [], number + 1
        else:
            current.append(line)
    return [*parts, "\n" * start + "".join(current)]


def run(argv: list[str], stdin_text: str) -> tuple[int, str, str]:
    """`fly-opt` in this process: exit code, stdout and stderr."""
    if {"--help", "-help", "-h"} & set(argv):
        return 0, usage(), ""
    if "--version" in argv:
        return 0, f"fly-opt of flydsl {VERSION}\n", ""
    try:
        options = parse_options(argv)
        text = stdin_text if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    except (UsageError, UnknownPassError) as error:
        return 1, "", f"fly-opt: {error}\n"
    except (OSError, UnicodeDecodeError) as error:
        return 1, "", f"fly-opt: cannot read the input: {error}\n"
    file = "<stdin>" if options.file == "-" else options.file
    outputs: list[str] = []
    log: list[str] = []
    wrong: list[IrDiagnostic] = []
    for part in _parts(text, options.on("split-input-file")):
        output, found = _process(part, options, file, log)
        outputs.append(output)
        wrong += unmet(expectations(part), found, file) if options.on("verify-diagnostics") else found
    code = 1 if wrong else 0
    printed = f"{_SEPARATOR}\n".join(outputs)
    if options.output and not code:
        try:
            Path(options.output).write_text(printed, encoding="utf-8")
        except OSError as error:
            return 1, "", f"fly-opt: cannot write the output: {error}\n"
        printed = ""
    return code, printed, "".join(f"{line}\n" for line in (*log, *wrong))


def _reads_stdin(argv: list[str]) -> bool:
    try:
        return parse_options(argv).file == "-"
    except (UsageError, UnknownPassError):
        return False


def main() -> None:
    """The console script."""
    argv = sys.argv[1:]
    code, stdout, stderr = run(argv, sys.stdin.read() if _reads_stdin(argv) else "")
    sys.stdout.write(stdout)
    sys.stderr.write(stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
