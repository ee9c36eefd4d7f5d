"""Settings that were wrong at the start: their file is looked at while the program runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miles_tui.config.paths import config_dir
from miles_tui.errors import BadSetting

if TYPE_CHECKING:
    from miles_tui.present.header import Words

MENDED = ("settings mended: the next start takes them", "settings mended: start anew", "settings mended")


class SettingsWatch:
    """What was wrong with the settings at the start, until the file is mended."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        self.wrong = tuple(wrong)
        self.words: Words = _words(self.wrong)
        self._file = config_dir() / "config.toml"
        self._seen = self._stamp()

    def mended(self) -> bool:
        """Look at the file again where something is or was wrong with it; whether `words` are others now."""
        if self._seen == (stamp := self._stamp()) or not any(self.words):
            return False
        self._seen, before = stamp, self.words
        from miles_tui.config.settings import in_force  # loaded by now: something was wrong

        try:
            self.wrong = tuple(in_force(self._file)[1])
        except BadSetting:
            self.wrong = (self._file.name,)
        self.words = _words(self.wrong) if self.wrong else MENDED
        return self.words != before

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._file)  # noqa: PTH116
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _words(wrong: tuple[str, ...]) -> Words:
    """Which settings are wrong, from the longest way to say it to the shortest; `miles-tui config` tells why."""
    if not wrong:
        return "", "", ""
    wrong = tuple(sorted(wrong, key=lambda key: key != "profile"))  # what the run is judged by comes first
    more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    said = f"wrong settings: {', '.join(wrong)} (see miles-tui config)"
    return said, f"wrong settings: {wrong[0]}{more}", f"{len(wrong)} wrong setting{'s' if len(wrong) > 1 else ''}"
