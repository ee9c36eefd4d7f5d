"""How the terminal and the command are told of news. Pure: bytes go to `write`.

Herald.take(news, ...) -> bell, desktop notification, command
Herald.title(text)     -> the terminal's title, which tmux takes as the pane's
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.text.ascii import to_ascii
from miles_tui.core.text.cells import fit_text
from miles_tui.runs.alert_news import News
from miles_tui.runs.run_options import Notices
from miles_tui.ui.terminal.tty import POOR, is_utf8

BETWEEN_RINGS_SECONDS = 10.0  # between two rings: what comes meanwhile is told with the next
MOST_TEXT = 200  # characters of a desktop notification

PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"

LEAST_RANK = {"never": len(Severity), **{severity.value: severity.rank for severity in Severity}}  # that rings


class Herald:
    """Tells the terminal and the command. `write` takes text for the terminal, `run` an alert for the command."""

    def __init__(
        self,
        notices: Notices,
        environment: Mapping[str, str],
        write: Callable[[str], None],
        run: Callable[[News], None] | None = None,
    ) -> None:
        self._notices = notices
        self._write = write
        self._run = run
        self._tmux = bool(environment.get("TMUX"))
        self._ascii = not is_utf8(environment)
        self._titles = notices.title and environment.get("TERM", "dumb") not in POOR
        self._title = ""
        self._waiting: list[News] = []
        self._rang = float("-inf")

    def take(self, news: list[News], now: float) -> None:
        """Tell it now, or with the first call `BETWEEN_RINGS_SECONDS` after the last; with nothing, tell what waits."""
        told = [one for one in news if one.alert.severity is not Severity.NOTICE]
        if self._run is not None:
            for one in told:
                if one.runs:
                    self._run(one)
        desktop, least = self._notices.desktop != "off", LEAST_RANK[self._notices.bell]
        self._waiting += [one for one in told if one.rings and (desktop or one.alert.severity.rank >= least)]
        if not self._waiting or now - self._rang < BETWEEN_RINGS_SECONDS:
            return
        waiting, self._waiting, self._rang = self._waiting, [], now
        if any(one.alert.severity.rank >= least for one in waiting):
            self._write("\a")
        if desktop:
            self._write(self._notification(waiting))

    def title(self, text: str) -> None:
        """Put it into the terminal's title; nothing is written where it is there already."""
        if not self._titles or text == self._title:
            return
        before, self._title = self._title, text
        self._write(("" if before else PUSH_TITLE) + f"\x1b]2;{self._harmless(text)}\x1b\\")

    def restore(self) -> str:
        """What gives the terminal its title back: emptied first, for one that keeps no stack of titles."""
        had, self._title = self._title, ""
        return f"\x1b]2;\x1b\\{POP_TITLE}" if had else ""

    def _notification(self, news: list[News]) -> str:
        more = f" (and {len(news) - 1} more)" if len(news) > 1 else ""
        text = self._harmless(fit_text(news[0].text, MOST_TEXT) + more)
        body = f"9;miles-tui: {text}" if self._notices.desktop == "osc9" else f"777;notify;miles-tui;{text}"
        sequence = f"\x1b]{body}\a"
        # tmux hands on to its own terminal what is wrapped (with `allow-passthrough on`), each escape doubled.
        return f"\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}\x1b\\" if self._tmux else sequence

    def _harmless(self, text: str) -> str:
        """No control character, and no other letter than the locale knows."""
        text = "".join(char for char in text if char.isprintable())
        return to_ascii(text) if self._ascii else text
