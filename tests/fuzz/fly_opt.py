"""Mutated IR for `fly-opt`: whatever it is given, it prints a result or a clean error, within a second of CPU time.

python -m tests.fuzz.fly_opt --count 100000 --seed 1

The inputs are the functions of the FileCheck tests with a few random edits, run through the passes those tests name or
through a random one. A case is made from the seed and its number alone, so ``--seed 1 --start 4711 --count 1`` repeats
one, and ``--show`` prints it.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import resource
import shlex
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import Any

from flydsl.backends.pipeline import PASSES
from flydsl.tools.fly_opt import run
from tests.filecheck.run_lines import run_lines

FOLDER = Path(__file__).parents[1] / "filecheck"
LIMIT_S = 1.0
GIVE_UP_S = 10.0
MEMORY = 4 << 30

_TOKEN = re.compile(r'"[^"\n]*"|[%@#!^]?[\w$.]+|->|\s+|.', re.DOTALL)
_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)
_ABOUT_FILES = ("--split-input-file", "--verify-diagnostics")
_NUMBERS = ("0", "-1", "1", "2", "7", "64", "65536", "2147483648", "9223372036854775808", "1e400", "0x7FC00000")
_BRACKETS = (("(", ")"), ("{", "}"), ("[", "]"), ("<", ">"), ("tuple<", ">"), ("((1,2),", ")"))
_PIECES = (
    '"', "\\", "^", "\0", "%", "#", "!", "@", "{", "}", "(", ")", "<", ">", "[", "]", ":", ",", "=", "?", "*", "->",
    "{-#", "#-}", "//", "é", "\ufeff", "²", "\r", "\t", "loc(", "dense<", "S<3,3,3>", "(4,(2,2)):(1,(4,8))", "i32",
    "f8E4M3FN", "vector<4xf32>", "index", "^bb0", "%0", "unit", "true", "affine_map<(d0) -> (d0)>", "memref<?xf32>",
)  # fmt: skip


@dataclass(frozen=True)
class Seed:
    """A piece of IR that is fine, and the command lines it is tested with."""

    text: str
    commands: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Case:
    """One command line and the mutated text it reads."""

    arguments: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Failure:
    """What was wrong with the outcome of one case."""

    number: int
    case: Case
    reason: str


class _TooLong(BaseException):
    """A case that went on for so long that it was stopped."""


# Inputs ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def seeds() -> tuple[Seed, ...]:
    """Every function and module of the FileCheck tests."""
    found: list[Seed] = []
    for file in sorted(FOLDER.rglob("*.mlir")):
        text = file.read_text(encoding="utf-8")
        commands = tuple(dict.fromkeys(_commands(text)))
        found += [Seed(piece, commands) for piece in _pieces(_COMMENT.sub("", text))]
    return tuple(found)


def _commands(text: str) -> list[tuple[str, ...]]:
    """The arguments of a file's `fly-opt` commands, without those about files and comments."""
    lines = [shlex.split(command) for line in run_lines(text) for command in line.split("|")]
    return [
        tuple(word for word in words[1:] if word.startswith("-") and word not in _ABOUT_FILES)
        for words in lines if words[0] == "fly-opt"
    ]  # fmt: skip


def _pieces(text: str) -> list[str]:
    """The top-level operations of a file, each behind the aliases it may need."""
    aliases = "".join(line for line in text.splitlines(keepends=True) if re.match(r"[#!]\w+ =", line))
    return [aliases + piece for piece in re.split(r"(?<=\n\})[^\n]*\n", text) if piece.strip()]


# Mutations -------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[str, ...]:
    words = {word for seed in seeds() for word in _TOKEN.findall(seed.text) if not word.isspace()}
    return (*sorted(words), *_PIECES, *_NUMBERS)


def _replace_token(text: str, random: Random) -> str:
    words = _TOKEN.findall(text)
    words[random.randrange(len(words))] = random.choice(_vocabulary())
    return "".join(words)


def _replace_number(text: str, random: Random) -> str:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    at = random.choice(found)
    return text[: at.start()] + random.choice(_NUMBERS) + text[at.end() :]


def _drop_token(text: str, random: Random) -> str:
    words = _TOKEN.findall(text)
    del words[random.randrange(len(words))]
    return "".join(words)


def _swap_tokens(text: str, random: Random) -> str:
    words = _TOKEN.findall(text)
    first, second = (random.randrange(len(words)) for _ in range(2))
    words[first], words[second] = words[second], words[first]
    return "".join(words)


def _insert(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_PIECES) * random.choice((1, 1, 1, 2, 40)) + text[at:]


def _drop_line(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    del lines[random.randrange(len(lines))]
    return "".join(lines)


def _repeat_line(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    lines.insert(random.randrange(len(lines) + 1), random.choice(lines))
    return "".join(lines)


def _foreign_line(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    other = random.choice(seeds()).text.splitlines(keepends=True)
    lines.insert(random.randrange(len(lines) + 1), random.choice(other))
    return "".join(lines)


def _cut(text: str, random: Random) -> str:
    return text[: random.randrange(len(text) + 1)]


def _nest(text: str, random: Random) -> str:
    opening, closing = random.choice(_BRACKETS)
    depth = random.choice((3, 300, 3000))
    at = random.randrange(len(text) + 1)
    return text[:at] + opening * depth + closing * depth + text[at:]


_MUTATIONS: tuple[tuple[Callable[[str, Random], str], int], ...] = (
    (_replace_token, 6), (_replace_number, 5), (_drop_token, 4), (_swap_tokens, 4), (_insert, 4), (_drop_line, 3),
    (_repeat_line, 2), (_foreign_line, 3), (_cut, 1), (_nest, 1),
)  # fmt: skip


def case(seed: int, number: int) -> Case:
    """The case of that number; the same one every time."""
    random = Random(f"{seed}:{number}")
    origin = random.choice(seeds())
    text = origin.text
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        (mutation,) = random.choices([m for m, _ in _MUTATIONS], [weight for _, weight in _MUTATIONS])
        text = mutation(text, random) or " "
    arguments: Sequence[str] = random.choice(origin.commands)
    if random.random() < 0.3:
        arguments = (f"--{random.choice(list(PASSES))}",)
    return Case(tuple(arguments), text)


# Outcomes --------------------------------------------------------------------------------------


def judge(case: Case) -> str:
    """What is wrong with what `fly-opt` does with a case; nothing for a result or a clean error."""
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, GIVE_UP_S)
    try:
        code, stdout, stderr = run(list(case.arguments), case.text)
    except _TooLong:
        return f"stopped after {GIVE_UP_S:g} s"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - start
    if seconds > LIMIT_S:
        return f"took {seconds:.1f} s"
    if "this is a bug" in stderr or "Traceback" in stderr:
        return stderr
    if code == 0:
        return "" if not stderr else f"succeeds, and says {stderr}"
    return "" if not stdout and ": error: " in stderr else f"fails with code {code} and says {stderr!r}"


def _stop(*_: Any) -> None:
    raise _TooLong


def failures(seed: int, count: int, start: int = 0, began: Callable[[int], Any] = lambda number: None) -> list[Failure]:
    """The cases of that many that do not end well; ``began`` is told the number of each."""
    before = signal.signal(signal.SIGPROF, _stop)
    try:
        found: list[Failure] = []
        for number in range(start, start + count):
            began(number)
            reason = judge(one := case(seed, number))
            if reason:
                found.append(Failure(number, one, reason))
                print(f"case {number}: {' '.join(one.arguments)}\n{reason}", file=sys.stderr, flush=True)
        return found
    finally:
        signal.signal(signal.SIGPROF, before)


def _write_number(file: int, number: int) -> None:
    os.pwrite(file, b"%12d" % number, 0)


def survivors(seed: int, count: int, start: int) -> int:
    """How many cases end badly, in a process of their own: one that ends the process counts, and the rest go on."""
    bad, end = 0, start + count
    with tempfile.TemporaryFile() as progress:
        while start < end:
            child = os.fork()
            if not child:
                gc.freeze()  # What the parent holds is not looked through again for garbage at a case's expense.
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                note = partial(_write_number, progress.fileno())
                os._exit(min(len(failures(seed, end - start, start, note)), 99))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code >= 0:
                return bad + code
            start = int(os.pread(progress.fileno(), 12, 0)) + 1
            bad += 1
            print(f"case {start - 1}: {case(seed, start - 1).arguments} ended the process: signal {-code}", flush=True)
    return bad


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--start", type=int, default=0)
    options.add_argument("--show", action="store_true", help="print the inputs")
    chosen = options.parse_args()
    if chosen.show:
        for number in range(chosen.start, chosen.start + chosen.count):
            print(f"// case {number}: {case(chosen.seed, number).arguments}\n{case(chosen.seed, number).text}")
    bad = survivors(chosen.seed, chosen.count, chosen.start)
    print(f"{chosen.count} inputs, {bad} without a clean end")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
