"""Sites: what the source says about one `if`, loop or conditional expression of a rewritten function.

The rewriter in the compiler makes them from the AST; control flow reads them while tracing. A rule that only
matters under a run-time condition is written down here as a :class:`Refusal` and raised when the condition
turns out to be one.
"""

from __future__ import annotations

from collections.abc import Mapping

from flydsl.base.errors import FlyDSLError, SourceLocation
from flydsl.base.records import dataclass, field

RESULT = "_fly_result"
"""The variable that holds what a function with conditional `return`s gives."""
FLAG = "_fly_left"
"""How the names of variables begin that say whether a jump left a function, a loop or an iteration."""


@dataclass(frozen=True)
class Refusal:
    """Something in the source that a run-time condition or loop does not allow."""

    error: type[FlyDSLError]
    message: str
    hint: str
    location: SourceLocation

    def exception(self) -> FlyDSLError:
        return self.error(self.message, hint=self.hint, location=self.location)


@dataclass(frozen=True)
class Site:
    """One piece of control flow of the function ``owner`` (its qualified name), or of a function nested in it.

    ``names`` are the variables assigned inside; ``live`` those whose value is read afterwards; ``carried`` those that a
    loop must hand from one iteration to the next, or past its end. ``changed`` are objects changed in place, ``x`` or
    ``self.x``. ``lines`` says where each name is last assigned, in the first and in the second branch (0: nowhere).
    ``left`` says of both branches whether a jump leaves them, so that what follows is not reached from there.
    ``within`` are the numbers of the sites around this one.
    """

    kind: str
    location: SourceLocation
    owner: str = ""
    names: tuple[str, ...] = ()
    live: frozenset[str] = frozenset()
    carried: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    lines: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    left: tuple[bool, bool] = (False, False)
    refusals: tuple[Refusal, ...] = ()
    within: tuple[int, ...] = ()

    def check(self) -> None:
        """Raise what a run-time condition does not allow here."""
        for refusal in self.refusals:
            raise refusal.exception()

    def at(self, line: int) -> SourceLocation:
        """Return a line of the same function; the site's own place for line 0."""
        if not line:
            return self.location
        return SourceLocation(self.location.file, line, function=self.location.function)

    def line_of(self, name: str) -> int:
        """Return where a name is assigned inside, or the line of the site."""
        first, second = self.lines.get(name, (0, 0))
        return second or first or self.location.line

    @property
    def what(self) -> str:
        """The construct as a message names it."""
        return f"`{self.kind}`" if " " not in self.kind else self.kind
