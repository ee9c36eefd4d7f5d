"""`miles-tui profiles`: the ranges that are known here."""

from __future__ import annotations

from collections.abc import Sequence

from miles_tui.commands.arguments import parser
from miles_tui.stdio import complain, one_line, say


def run(argv: Sequence[str]) -> int:
    """List them; exit status 2 where a folder can't be read."""
    parser("profiles", "The ranges that are known here: your own, and the bundled ones.").parse_args(argv)
    from miles_tui.config.profile_store import known_profiles

    closed: list[str] = []
    for found in known_profiles(closed):
        where, name = "bundled" if found.bundled else one_line(found.path), one_line(found.name)
        if found.profile is None:
            say(f"{name:16} can't be used: {one_line(found.error)}")
            continue
        say(f"{name:16} {found.profile.rollouts} rollouts, {len(found.profile.signals)} signals ({where})")
        for line in (found.profile.about, found.profile.warning):
            if line:
                say(f"{'':16} {line}")
    for said in closed:
        complain(said)
    return 2 if closed else 0
