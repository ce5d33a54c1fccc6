"""`python -m flydsl COMMAND`: what can be done with this package from a shell."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from flydsl.base.errors import FlyDSLError
from flydsl.base.lazy import lazy_module

if TYPE_CHECKING:
    from flydsl.tools import cache_command
else:
    cache_command = lazy_module("flydsl.tools.cache_command")

COMMANDS: Mapping[str, tuple[ModuleType, str]] = {
    "cache": (cache_command, "look at the disk cache, check it or clear it"),
}
"""The module whose `main` runs each command, and what the command is for."""


def main(arguments: Sequence[str]) -> int:
    """Run a command; its exit status."""
    if arguments and arguments[0] in COMMANDS:
        try:
            return COMMANDS[arguments[0]][0].main(arguments[1:])
        except FlyDSLError as error:
            print(error, file=sys.stderr)
            return 2
    print("usage: python -m flydsl COMMAND ...\n")
    for name, (_, what) in COMMANDS.items():
        print(f"  {name:8} {what}")
    return 0 if arguments in ([], ["-h"], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
