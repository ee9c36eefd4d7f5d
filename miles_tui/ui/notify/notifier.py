"""Notices of all sessions together: what is news, told to the terminal and the command; the title of now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from miles_tui.present.status_line import status_line
from miles_tui.runs.alert_news import News, Watcher, as_json
from miles_tui.runs.dormant_runs import Listed
from miles_tui.runs.run_options import Notices
from miles_tui.runs.session import Session
from miles_tui.ui.notify.alert_hook import Command
from miles_tui.ui.notify.herald import Herald


class Noticing:
    """`write` takes text for the terminal, `failed` a line for the screen (from any thread)."""

    def __init__(
        self,
        notices: Notices,
        environment: Mapping[str, str],
        write: Callable[[str], None],
        failed: Callable[[str], None],
    ) -> None:
        self.command = Command(notices.command, notices.seconds, failed) if notices.command else None
        self.herald = Herald(notices, environment, write, self._run if self.command else None)
        self._watchers: dict[int, Watcher] = {}

    def heard(self, session: Session, now: float) -> None:
        """A session took a batch, or time went by: tell what is news. `now` is a monotonic clock in seconds."""
        watcher = self._watchers.setdefault(id(session), Watcher(session.name, session.known))
        status = session.status
        live = session.live and status.caught_up and (status.position > 0 or bool(session.monitor.records))
        if live:
            session.watch_from_here()
        self.herald.take(watcher.look(session.snapshot, now, live=live), now)

    def retitle(self, shown: Session, sessions: Sequence[Session], beyond: Sequence[Listed] = ()) -> None:
        """The title says the run on the screen, or the one that fires worst where that one is quiet."""
        if shown.status.percent is None:
            self.herald.title(title_of(shown, sessions, beyond))

    def forget(self, session: Session) -> None:
        """It is followed no more."""
        self._watchers.pop(id(session), None)

    def leave(self) -> None:
        """The dashboard ends: the command keeps its time limit."""
        if self.command is not None:
            self.command.leave()

    def _run(self, news: News) -> None:
        if self.command is not None:
            self.command.put(as_json(news.report), {"MILES_TUI_LOG": news.log})


def title_of(shown: Session, sessions: Sequence[Session], beyond: Sequence[Listed] = ()) -> str:
    """`▲2 gap-jump · 31/48`; with several runs the name of the one that it speaks of: `… · b.log`.

    It speaks of the run on the screen, unless another has worse news: past is no news there either.
    """
    told = max([shown, *sessions], key=lambda session: session.news_rank)
    line, name = status_line(told.snapshot), told.name
    far = max(beyond, key=lambda listed: listed.news, default=None)
    if far is not None and far.news > told.news_rank:
        line, name = far.line, far.feed.name
    return line + (f" · {name}" if len(sessions) + len(beyond) > 1 else "")
