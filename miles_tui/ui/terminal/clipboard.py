"""The clipboard in front of the person: the terminal's by OSC 52, and in tmux its own buffer.

By default (`set-clipboard external`) tmux ignores OSC 52 of the programs in it without a word, so it is given the
text by its own command; with `-w` it hands it on to the terminal around it, where that takes it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

SECONDS = 2.0  # for tmux, which answers in milliseconds or hangs
PASTES = "; tmux: prefix ] pastes"


def is_tmux(environment: Mapping[str, str]) -> bool:
    """Whether we run in a pane of tmux."""
    return bool(environment.get("TMUX"))


def give_to_tmux(text: str) -> bool:
    """Make it tmux's newest buffer; whether that was done. Blocks, up to twice `SECONDS`."""
    for options in (["-w"], []):  # before 3.2 tmux has no -w
        try:
            done = subprocess.run(
                ["tmux", "load-buffer", *options, "-"],
                input=text.encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode == 0:
            return True
    return False
