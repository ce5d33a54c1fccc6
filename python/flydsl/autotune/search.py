"""The search: run each configuration that has no timing yet, drop those that fail or compute something else.

The user's own arrays are used, so their contents are copied first and put back after every trial: a search leaves no
trace in them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from flydsl.autotune import store
from flydsl.autotune.agreement import Agreement
from flydsl.autotune.bench import do_bench
from flydsl.autotune.buffers import Snapshot, buffer_of
from flydsl.autotune.call import Call, call_with
from flydsl.autotune.compile_ahead import compile_ahead
from flydsl.autotune.config import Config
from flydsl.autotune.options import Options
from flydsl.autotune.reporting import Progress, warn
from flydsl.base.errors import DriverError, DslRuntimeError, DslValueError, FlyDSLError
from flydsl.base.log import get_logger


def run_once(call: Call, config: Config, options: Options) -> None:
    """One run as the user sees it: buffers zeroed, hooks around it."""
    for name in options.reset_to_zero:
        if name in call.views:
            buffer_of(call.views[name]).zero(call.stream)
    if options.pre_hook is None and options.post_hook is None and config.pre_hook is None:
        call.run(config)
        return
    arguments = call.all_arguments(config)
    for hook in (options.pre_hook, config.pre_hook):
        if hook is not None:
            call_with(hook, arguments)
    failure: Exception | None = None
    try:
        call.run(config)
    except Exception as error:
        failure = error
        raise
    finally:
        if options.post_hook is not None:
            call_with(options.post_hook, arguments, failure)


class Search:
    """Finds the fastest configuration for one call."""

    def __init__(self, call: Call, configs: Sequence[Config], options: Options, key: dict[str, Any] | None) -> None:
        """``key`` finds the timings on disk; None where what is tuned cannot be told from others of its name."""
        if not configs:
            raise DslValueError(
                f"no configuration is left to tune '{call.function.__name__}' over",
                hint="give at least one Config, and leave at least one when pruning",
            )
        self.call = call
        self.configs = list(dict.fromkeys(configs))
        self.options = options
        self.key = key
        self.name = call.function.__name__
        self.results = store.load_results(self.name, key) if key is not None else {}
        self._failures: dict[str, Exception] = {}
        self._log = get_logger(__name__)

    def best(self) -> Config:
        """Return the fastest configuration, measured now or known."""
        known = dict(self.results)
        self._measure([config for config in self.configs if config.text not in known])
        if self.fastest() is None:
            # Others may have failed for a reason that this call does not share, such as a static shape.
            self._measure([config for config in self.configs if config.text in known])
        winner = self.fastest()
        if winner is None:
            raise DslRuntimeError(
                f"no configuration of '{self.name}' works:\n" + "\n".join(map(self._failure_of, self.configs)),
                hint="run one of them alone to see the whole error",
            )
        return winner

    def fastest(self) -> Config | None:
        """Return the fastest of those whose time is known."""
        timed = [config for config in self.configs if "ms" in self.results.get(config.text, {})]
        return min(timed, key=lambda config: self.results[config.text]["ms"], default=None)

    def _measure(self, todo: list[Config]) -> None:
        if not todo:
            return
        self.call.refuse_during_capture(todo[0])
        compile_ahead(self.call, todo, self.options.executor)
        snapshot = Snapshot(self.call.views, self.call.device)
        agreement = Agreement(snapshot, self.options.check)
        tried: list[Config] = []
        try:
            if agreement.wanted:
                self._run_reference(snapshot, agreement)
            with Progress(self.name, len(todo)) as progress:
                for config in todo:
                    progress.step(config, self._try(config, snapshot, agreement))
                    tried.append(config)
        finally:
            snapshot.restore()
            self._keep(tried)  # also when the user has interrupted the search
        self._warn_about_differences(tried)

    def _keep(self, tried: list[Config]) -> None:
        """Write what became of configurations to the disk."""
        new = {config.text: self.results[config.text] for config in tried if config.text in self.results}
        if self.key is not None and new:
            winner = self.fastest()
            store.save_results(self.name, self.key, new, None if winner is None else winner.to_dict())

    def _run_reference(self, snapshot: Snapshot, agreement: Agreement) -> None:
        """Take the outputs of the reference: the one named, else the first that is known to work."""
        known = [config for config in self.configs if "ms" in self.results.get(config.text, {})]
        reference = self.options.reference or next(iter(known), None)
        if reference is None:
            return
        try:
            run_once(self.call, reference, self.options)
            self.call.device.synchronize()  # a kernel that fails says so here
        except Exception as error:
            raise DslRuntimeError(
                f"the reference configuration {reference!r} of '{self.name}' failed: {error}",
                hint="fix it, name another with reference=, or turn the check off with check=False",
            ) from error
        agreement.take_reference()
        snapshot.restore()

    def _try(self, config: Config, snapshot: Snapshot, agreement: Agreement) -> str:
        """Run, check and measure one configuration; notes the result and says it in a few words."""
        try:
            result = self._trial(config, snapshot, agreement)
        except Exception as error:
            self._failures[config.text] = error
            self._log.warning("%s: %r is skipped, it failed: %s", self.name, config, _first_line(error))
            if _is_lasting(error):
                self.results[config.text] = {"failed": str(error)}
            return f"failed: {_first_line(error)}"
        finally:
            snapshot.restore()
        self.results[config.text] = result
        return f"{result['ms']:.4g} ms" if "ms" in result else result["differs"]

    def _trial(self, config: Config, snapshot: Snapshot, agreement: Agreement) -> dict[str, Any]:
        device = self.call.device
        self.call.compile(config)
        run_once(self.call, config, self.options)
        device.synchronize()
        if agreement.wanted and not agreement.has_reference:
            agreement.take_reference()
        elif agreement.wanted:
            found = agreement.disagreement()
            if found is not None:
                return {"differs": found}
        snapshot.restore()
        return {"ms": self._time(config, snapshot, device)}

    def _time(self, config: Config, snapshot: Snapshot, device: Any) -> float:
        options = self.options

        def prepare() -> None:
            snapshot.restore(options.restore_value)

        def run() -> None:
            run_once(self.call, config, options)

        def prepare_and_run() -> None:
            prepare()
            run()

        if options.do_bench is None:
            ms: Any = do_bench(
                run,
                options.warmup,
                options.rep,
                device=device,
                stream=self.call.stream,
                prepare=prepare if options.restore_value else None,
            )
        else:
            prepare_and_run.config = config  # type: ignore[attr-defined]  # a scripted clock wants to know
            ms = _custom_bench(options.do_bench, prepare_and_run, options)
        return _checked_time(ms)

    def _warn_about_differences(self, todo: list[Config]) -> None:
        for config in todo:
            found = self.results.get(config.text, {}).get("differs")
            if found is not None:
                text = f"the configuration {config!r} of '{self.name}' is dropped, its result is not the reference's: "
                warn(text + found)

    def _failure_of(self, config: Config) -> str:
        why: Any = self._failures.get(config.text) or self.results[config.text]["differs"]
        kind = f"{type(why).__name__}: " if isinstance(why, Exception) else ""
        return f"  {config!r}: {kind}{_first_line(why)}"


def _checked_time(ms: Any) -> float:
    """Return the time a clock gave, the first of several; what is no time must not win."""
    ms = ms[0] if isinstance(ms, (list, tuple)) and ms else ms
    if isinstance(ms, bool) or not isinstance(ms, Real) or not math.isfinite(ms) or ms < 0:
        raise DslRuntimeError(
            f"do_bench gave {ms!r}, which is no time in milliseconds",
            hint="a clock gives a number that is not negative",
        )
    return float(ms)


def _custom_bench(bench: Callable[..., Any], run: Callable[[], None], options: Options) -> Any:
    """Call a user's clock with the counts, where it takes them."""
    try:
        parameters = inspect.signature(bench).parameters
    except (TypeError, ValueError):
        return bench(run)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    counts = {"warmup": options.warmup, "rep": options.rep}
    return bench(run, **{name: value for name, value in counts.items() if takes_all or name in parameters})


def _is_lasting(error: Exception) -> bool:
    """Return whether the same kernel fails the same way tomorrow: what the compiler refuses, not what a machine ran out
    of."""
    return isinstance(error, FlyDSLError) and not isinstance(error, (DriverError, DslRuntimeError))


def _first_line(error: Any) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
