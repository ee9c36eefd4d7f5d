"""The keys in a log, looked for in all of its text at 0.3 s a gigabyte (half of it to see that it is UTF-8).

Twenty literals searched one by one would cost more than all other reading. One search for all of them at once is in
pydantic's core, which is here anyway: it holds a text against a pattern by Rust's `regex`, which looks for the
beginnings of some twenty words with vector instructions. It only says whether a text has one: a text that has is
halved until its lines are found, and `text.secrets` decides about the line.

- In the whole log: `EVERYWHERE` (variables of the environment, passwords, API keys, `Authorization`, private keys; the
  tokens of Hugging Face, OpenAI and those like it, GitHub, GitLab, AWS, NVIDIA, Google, Slack; JSON web tokens), and
  `URLS` with a user or a password in them.
- Before the first record also `FIRST`: every other name and token that `mask` knows (0.5 s a gigabyte more).

All are masked wherever they are shown. What is found does not depend on how the bytes were cut: lines are looked at
whole and in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from miles_tui.core.model.records import Event, EventKind
from miles_tui.core.parsing.fast_json import compiled
from miles_tui.core.parsing.line_prefix import source_of
from miles_tui.core.parsing.line_splitter import Buffer, clean, line_end, line_start
from miles_tui.core.parsing.metric_line import logged_text
from miles_tui.core.text.sanitize import plain
from miles_tui.core.text.secrets import HIDDEN, mask

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

MOST_FALSE = 20_000  # lines of a log that had a form and held no key, 50 us each, until that form is given up
MOST_LINES = 1000  # lines with a key, until nothing is searched for any more: enough was said
MOST_KINDS = 16  # that are told apart
LEAK_PIECE = 1 << 16  # bytes of a line that are read at once
OVER = 1 << 10  # bytes that two such pieces have in common: no key is longer
SHOWN = 400  # characters of a line

# This choice of words costs 0.1 s a gigabyte more than looking for a byte that isn't there; with `-key` and `_token`
# beside them, or with thirty words, it would cost three times as much.
EVERYWHERE = (
    "(?:_KEY|_TOKEN|SECRET|PASSWORD|_PASS|_PWD|password|passphrase|api_key|api-key|secret_key|access_token)"
    "[^A-Za-z0-9_]|uthorization: |PRIVATE KEY-|hf_[A-Za-z0-9]{30}|sk-[A-Za-z0-9_-]{20}|ghp_[A-Za-z0-9]{20}"
    "|AKIA[A-Z0-9]{16}|github_pat_|glpat-|nvapi-|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{8}|xoxb-"
)
URLS = "://[^ \t\r\n@]+@"
NAMES = (
    "(?:KEY|_key|-key|[it]Key|TOKEN|_token|-token|hToken|secret|PASS|_pass|-pass|PWD|assword|assphrase|PHRASE)"
    "[^A-Za-z0-9_]|AUTHORIZATION|earer | login |sshpass"
)
TOKENS = (
    "hf_oauth_|gh[ousr]_[A-Za-z0-9]{20}|wandb_v1_|A[SBC][IC]A[A-Z0-9]{16}|[sr]k_(?:live|test|prod)_|gsk_|r8_"
    "[A-Za-z0-9]{20}|xox[a-z]-|xapp-|ya29\\.|GOCSPX-|npm_[A-Za-z0-9]{30}|pypi-Ag|hv[sbr]\\.|dapi[a-f0-9]{32}|dckr_"
    "|rubygems_|gl[a-z]{2,5}-|_v1_[a-f0-9]{20}|lsv2_|pplx-|xai-[A-Za-z0-9]{20}|pcsk_|tvly-|sntry|LTAI[A-Za-z0-9]{12}"
    "|_PW[^A-Za-z0-9_]|密码|口令|curl |AGE-SECRET|hooks\\.slack|/webhooks/|/hook/"
)
FIRST = (NAMES, TOKENS)
_NO_UTF8 = "string_unicode"

Has = Callable[[Buffer | str], bool]


class Leaks:
    """The keys in one log, looked for region by region: `look`, then `before` each record and at the region's end.

    `launching`: no record came yet. `waiting`: lines of the region that have a form and were not read yet.
    """

    __slots__ = ("_has", "_kinds", "_left", "_lines", "launching", "waiting")

    def __init__(self) -> None:
        self.launching = True
        self.waiting: list[tuple[int, list[str]]] = []  # where a line begins, and its forms; the last line first
        self._left = dict.fromkeys((EVERYWHERE, URLS, *FIRST), MOST_FALSE)
        self._has: dict[str, Has] = {}
        self._lines = MOST_LINES
        self._kinds: set[str] = set()

    def look(self, data: Buffer, start: int, end: int) -> None:
        """Find the lines of `data[start:end]`, complete ones, that have a form of a key."""
        found: dict[int, list[str]] = {}
        for form in self._left if self._lines else ():
            if self._given_up(form) or (form is URLS and data.find(b"@", start, end) < 0):
                continue
            has = self._has.get(form) or self._has.setdefault(form, _searched(form))
            if has(data):
                for at in _lines_with(has, data, start, end):
                    found.setdefault(at, []).append(form)
        self.waiting = sorted(found.items(), reverse=True)

    def before(self, data: Buffer, stop: int, time: Callable[[str], float | None]) -> list[Event]:
        """A fact for each kind of key in the waiting lines that begin before `stop`; `time` is a line's, if it has."""
        facts: list[Event] = []
        while self.waiting and self.waiting[-1][0] < stop:
            at, forms = self.waiting.pop()
            forms = [form for form in forms if not self._given_up(form)]
            if not forms or not self._lines:
                continue
            for line in _halves(data, at):
                kinds: list[str] = []
                hidden = mask(line, kinds.append)
                facts += (
                    Event(EventKind.SECRET, _shown(hidden), time(hidden), {"id": kind}, source_of(hidden))
                    for kind in dict.fromkeys(map(self._known, kinds))
                )
                if kinds:
                    self._lines -= 1
                    break
            else:
                for form in forms:
                    self._left[form] -= 1
        return facts

    def _given_up(self, form: str) -> bool:
        return self._left[form] <= 0 or (form in FIRST and not self.launching)

    def _known(self, kind: str) -> str:
        if len(self._kinds) < MOST_KINDS:
            self._kinds.add(kind)
        return kind if kind in self._kinds else "other"


def _halves(data: Buffer, start: int) -> Iterator[str]:
    """The text of the line that begins at `start`: in one piece, but for a very long one."""
    end = line_end(data, start, len(data))
    for at in range(start, max(end - OVER, start + 1), LEAK_PIECE - OVER):
        line = clean(data[at : min(at + LEAK_PIECE, end)])
        yield plain(logged_text(line) if '{"' in line else line)


def _shown(hidden: str) -> str:
    """The part of a line in which the key was."""
    begin = max(0, hidden.find(HIDDEN) - SHOWN // 2) if len(hidden) > SHOWN else 0
    text = ("..." if begin else "") + hidden[begin:]
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _lines_with(has: Has, data: Buffer, start: int, end: int) -> Iterator[int]:
    """Where the lines begin that have the form, rising."""
    open_ = [(start, end)]
    while open_:
        start, end = open_.pop()
        if not has(data[start:end]):
            continue
        middle = line_start(data, start, (start + end) // 2)
        if middle <= start:
            middle = line_end(data, (start + end) // 2, end) + 1
        if middle >= end:
            yield start
        else:
            open_ += (middle, end), (start, middle)


def _searched(pattern: str) -> Has:
    core = compiled()
    validator: SchemaValidator = core.SchemaValidator({"type": "str", "pattern": pattern, "regex_engine": "rust-regex"})
    wrong: type[Exception] = core.ValidationError

    def has(text: Buffer | str) -> bool:
        try:
            validator.validate_python(text)
        except wrong as error:
            said = error.errors(include_url=False, include_context=False, include_input=False)  # type: ignore[attr-defined]
            # Not a text in UTF-8: one byte a letter then, at four times the cost.
            return not isinstance(text, str) and said[0]["type"] == _NO_UTF8 and has(text.decode("latin-1"))
        return True

    return has
