"""`miles-tui calibrate`: read healthy runs and learn a profile from them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from miles_tui.commands.arguments import given_name, given_path, parser
from miles_tui.config.profile_file import write_profile
from miles_tui.config.profile_store import place, replaced, save
from miles_tui.core.alerting.calibration import doubts, learn
from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.alerting.profile import Profile
from miles_tui.core.model.rollout import Rollout
from miles_tui.core.run.monitor import Monitor
from miles_tui.errors import NoMetric, UsageError
from miles_tui.ingest.discovery import Log, find_logs
from miles_tui.runs.read_run import read_to_end
from miles_tui.stdio import complain, one_line, say


def run(argv: Sequence[str]) -> int:
    """Print the profile, or write it where the options say; exit status 2 where that can't be done."""
    p = parser("calibrate", "Learn the ranges of your setup from two or three of your own healthy runs.")
    p.add_argument("logs", nargs="+", type=given_name, metavar="LOG")
    p.add_argument("--pause", metavar="REGEX", help="log lines that tell of a pause; kept in the profile")
    where = p.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", type=given_path, metavar="FILE", help="write the profile there")
    where.add_argument(
        "--name", type=given_name, metavar="NAME", help="keep it under this name: --profile NAME finds it"
    )
    a = p.parse_intermixed_args(argv)

    file = place(a.name) if a.name is not None else a.output
    old = None if file is None else replaced(file)
    called = a.name or (a.output.stem if a.output else "own")
    profile, text, warnings = learn_from(find_logs(a.logs), called, a.pause)
    for warning in warnings:
        complain(f"warning: {warning}")
    if file is None:
        say(text, end="")
        return 0
    from shlex import quote

    save(profile, file)
    if old is not None:
        complain(f"{file}: replaces the {old.origin}")
    say(f"{one_line(file)}: {profile.origin}\nuse it with --profile {quote(one_line(a.name or file))}")
    return 0


class Recorder(Judge):
    """A judge that keeps the rollouts it is shown, without those that a later attempt overtook."""

    def __init__(self, profile: Profile | None = None) -> None:
        super().__init__(profile)
        self.rollouts: list[Rollout] = []

    def trained(self, rollout: Rollout) -> None:
        self.rollouts.append(rollout)
        super().trained(rollout)

    def restarted(self, at: int, time: float | None, evidence: Evidence) -> None:
        self.rollouts = [r for r in self.rollouts if r.number < at]
        super().restarted(at, time, evidence)


def learn_from(logs: Sequence[Log], name: str, pause: str | None = None) -> tuple[Profile, str, list[str]]:
    """A profile of these runs, its text, and what speaks against it (a sentence each). `pause`: see `Profile.pause`.

    Raises UnreadableLog, and NoMetric for a log without a Miles metric.
    """
    try:
        known = Profile(name=name, pause=pause) if pause else None
    except ValidationError as error:
        said = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise UsageError(f"--pause {pause}: {said}") from None
    runs, raised, arguments, cut_short = [], [], [], list[str]()
    for log in logs:
        judge = Recorder(known)
        run = read_to_end(Monitor(known, judge=judge, keep_metrics=False), log)
        if not run.records:
            raise NoMetric(f"{log}: {run.why_empty}")
        runs.append(judge.rollouts)
        raised.append([a.condition for a in run.alerts if a.severity is not Severity.NOTICE])
        arguments.append(run.arguments)
        cut_short += run.cut_short
    names = [str(log) for log in logs]
    profile = learn(name, runs, names, arguments)
    if pause:
        profile = profile.model_copy(update={"pause": pause})
    return profile, write_profile(profile), cut_short + doubts(runs, raised, arguments, names)
