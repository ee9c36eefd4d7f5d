"""What rings and what does not: news of a run, the terminal's sequences, the command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from miles_tui.commands.check import report_of
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.model.chunks import Data, Items
from miles_tui.core.model.records import Event, EventKind
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.ingest.follow.follower import Batch
from miles_tui.present.alerts.alert_report import told_report
from miles_tui.runs.alert_news import RINGS_AGAIN_SECONDS, Known, News, Watcher, as_json
from miles_tui.runs.run_options import Notices
from miles_tui.runs.session import Session
from miles_tui.ui.notify.alert_hook import MOST_WAITING, Command
from miles_tui.ui.notify.herald import BETWEEN_RINGS_SECONDS, Herald
from miles_tui.ui.notify.notifier import Noticing, title_of

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
UTF8 = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def run() -> RunState:
    return RunState(Judge())


def begins(news: list[News]) -> list[tuple[str, bool]]:
    return [(one.alert.condition, one.begins) for one in news]


def to_whom(news: list[News]) -> list[tuple[bool, str]]:
    return [(one.begins, " ".join(["rings"] * one.rings + ["runs"] * one.runs)) for one in news]


# -- what is news ----------------------------------------------------------------------------------


def test_an_alert_is_told_when_it_fires_and_when_it_is_over_once_each(run: RunState) -> None:
    watcher = Watcher("a.log")
    assert not watcher.look(snapshot_of(run), 0, live=True)
    run.judge.raise_("not-finite", 3, None, Evidence(text="loss is nan"))
    assert begins(watcher.look(snapshot_of(run), 1, live=True)) == [("not-finite", True)]
    assert not watcher.look(snapshot_of(run), 2, live=True)
    run.judge.clear("not-finite", 5, None)
    (over,) = watcher.look(snapshot_of(run), 3, live=True)
    assert (over.begins, over.text) == (False, "a.log: not-finite resolved at rollout 5")
    assert not watcher.look(snapshot_of(run), 4, live=True)


def test_an_old_log_never_rings(run: RunState) -> None:
    """Read in pieces, as a long log is: only what comes after the first catch-up is news."""
    data = (LOGS / "gap-jump.log").read_bytes()
    watcher, reader = Watcher("a.log"), Reader()
    for at in range(0, len(data), 4096):
        run.feed(reader.feed(data[at : at + 4096]), 0.0)
        assert not watcher.look(snapshot_of(run), 0, live=False)
    assert not watcher.look(snapshot_of(run), 1, live=True)
    assert run.firing, "there is something to ring for"
    run.judge.raise_("not-finite", 50, None, Evidence(text="loss is nan"))
    assert begins(watcher.look(snapshot_of(run), 2, live=True)) == [("not-finite", True)]


def test_what_was_firing_at_the_start_is_told_when_it_is_over(run: RunState) -> None:
    watcher = Watcher("a.log")
    run.judge.raise_("stalled", 3, None, Evidence(text="silent"))
    assert not watcher.look(snapshot_of(run), 0, live=True)
    run.judge.clear("stalled", 4, None)
    assert begins(watcher.look(snapshot_of(run), 1, live=True)) == [("stalled", False)]


def test_an_alert_that_flaps_rings_once_in_a_while_and_one_that_gets_worse_at_once(run: RunState) -> None:
    watcher = Watcher("a.log")
    watcher.look(snapshot_of(run), 0, live=True)
    run.judge.raise_("signal-lost", 3, None, Evidence(text="no gap"))
    (alert,) = run.alerts
    assert begins(watcher.look(snapshot_of(run), 1, live=True)) == [("signal-lost", True)]
    alert.resolve(4, None)
    assert begins(watcher.look(snapshot_of(run), 2, live=True)) == [("signal-lost", False)]
    alert.reopen(5, Evidence(text="again"))
    assert to_whom(watcher.look(snapshot_of(run), 3, live=True)) == [(True, "runs")]
    alert.resolve(5, None)
    over = to_whom(watcher.look(snapshot_of(run), 4, live=True))
    assert over == [(False, "runs")], "who was not told that it is back need not be told that it is over"
    alert.reopen(5, Evidence(text="again"))
    assert to_whom(watcher.look(snapshot_of(run), 5, live=True)) == [(True, "runs")]
    assert to_whom(watcher.look(snapshot_of(run), 1 + RINGS_AGAIN_SECONDS, live=True)) == [(True, "rings")]
    alert.severity = type(alert.severity)("critical")
    assert to_whom(watcher.look(snapshot_of(run), 2 + RINGS_AGAIN_SECONDS, live=True)) == [(True, "rings runs")]


def test_all_that_became_of_an_alert_within_one_batch_is_told_in_its_order(run: RunState) -> None:
    watcher = Watcher("a.log")
    watcher.look(snapshot_of(run), 0, live=True)
    run.judge.raise_("not-finite", 3, None, Evidence(text="loss is nan"))
    alert = run.alerts[0]
    run.judge.clear("not-finite", 5, None)
    news = watcher.look(snapshot_of(run), 1, live=True)
    assert to_whom(news) == [(True, "rings runs"), (False, "rings runs")]
    assert [(one.report.state, one.report.raised_step, one.report.resolved_step) for one in news] == [
        ("firing", 3, None),
        ("resolved", 3, 5),
    ]
    alert.reopen(7, Evidence(text="nan again"))
    alert.resolve(8, None)
    alert.reopen(9, Evidence(text="nan once more"))
    news = watcher.look(snapshot_of(run), 2, live=True)
    assert to_whom(news) == [(True, "runs"), (False, "runs"), (True, "runs")]
    assert [one.report.evidence for one in news] == [
        "loss is nan; back at rollout 7: nan again",
        "loss is nan; back at rollout 7: nan again",
        "loss is nan; back at rollout 9: nan once more",
    ]
    assert news[1].text == "a.log: not-finite resolved at rollout 8"
    assert not watcher.look(snapshot_of(run), 3, live=True)


def test_an_alert_that_came_and_went_while_it_was_kept_quiet_is_no_news(run: RunState) -> None:
    watcher = Watcher("a.log")
    run.judge.at = 3
    watcher.look(snapshot_of(run), 0, live=True)
    run.judge.raise_("stalled", 3, None, Evidence(text="silent"))
    run.alerts[0].snooze(10, run.judge.at)
    run.judge.clear("stalled", 4, None)
    assert not watcher.look(snapshot_of(run), 1, live=True)
    run.judge.at = 20
    assert not watcher.look(snapshot_of(run), 2, live=True)


def test_of_a_log_that_was_read_before_all_is_news_that_was_not_open_then(run: RunState) -> None:
    run.judge.raise_("stalled", 3, None, Evidence(text="silent"))
    watcher = Watcher("a.log", Known.of(snapshot_of(run), grew=False))
    assert not watcher.look(snapshot_of(run), 0, live=False)
    run.judge.raise_("not-finite", 5, None, Evidence(text="nan"))
    run.judge.raise_("signal-lost", 5, None, Evidence(text="no gap"))
    assert not watcher.look(snapshot_of(run), 1, live=False)
    run.judge.clear("signal-lost", 6, None)
    assert begins(watcher.look(snapshot_of(run), 2, live=True)) == [("not-finite", True)]
    assert not watcher.look(snapshot_of(run), 3, live=True)
    run.judge.clear("stalled", 7, None)
    assert begins(watcher.look(snapshot_of(run), 4, live=True)) == [("stalled", False)]


def test_what_the_person_did_is_no_news(run: RunState) -> None:
    watcher = Watcher("a.log")
    watcher.look(snapshot_of(run), 0, live=True)
    run.judge.raise_("not-finite", 3, None, Evidence(text="nan"))
    run.judge.raise_("stalled", 3, None, Evidence(text="silent"))
    assert len(watcher.look(snapshot_of(run), 1, live=True)) == 2
    run.judge.switch("not-finite", on=False)
    assert not watcher.look(snapshot_of(run), 2, live=True)
    run.judge.at = 7
    run.judge.rebase()
    run.judge.clear("stalled", 7, None)
    assert not watcher.look(snapshot_of(run), 3, live=True)


def test_a_snoozed_alert_is_quiet(run: RunState) -> None:
    watcher = Watcher("a.log")
    run.judge.at = 3
    watcher.look(snapshot_of(run), 0, live=True)
    run.judge.raise_("stalled", 3, None, Evidence(text="silent"))
    run.alerts[0].snooze(10, run.judge.at)
    assert not watcher.look(snapshot_of(run), 1, live=True)
    run.judge.at = 13
    assert begins(watcher.look(snapshot_of(run), 2, live=True)) == [("stalled", True)]


# -- the terminal ----------------------------------------------------------------------------------


class Heard:
    """A herald whose words are kept."""

    def __init__(self, run: RunState, notices: Notices, env: dict[str, str] | None = None) -> None:
        self.written: list[str] = []
        self.commands: list[News] = []
        self.run = run
        self.watcher = Watcher("a.log")
        self.watcher.look(snapshot_of(run), -1, live=True)
        self.herald = Herald(notices, env or UTF8, self.written.append, self.commands.append)

    def at(self, now: float) -> list[str]:
        self.written.clear()
        self.herald.take(self.watcher.look(snapshot_of(self.run), now, live=True), now)
        return list(self.written)


def test_only_what_is_critical_rings_the_bell_by_default(run: RunState) -> None:
    heard = Heard(run, Notices())
    run.judge.raise_("signal-lost", 3, None, Evidence(text="no gap"))
    run.judge.raise_("restarted", 3, None, Evidence(text="attempt 2"))
    assert heard.at(0) == []
    run.judge.raise_("not-finite", 3, None, Evidence(text="nan"))
    assert heard.at(1) == ["\a"]
    assert [one.alert.condition for one in heard.commands] == ["signal-lost", "not-finite"], "a notice runs nothing"


@pytest.mark.parametrize(("bell", "rings"), [("critical", []), ("warning", ["\a"]), ("never", [])])
def test_the_bell_is_set_by_severity(run: RunState, bell: str, rings: list[str]) -> None:
    heard = Heard(run, Notices(bell=bell))
    run.judge.raise_("signal-lost", 3, None, Evidence(text="no gap"))
    assert heard.at(0) == rings


def test_rings_are_limited_and_what_waits_is_told_later(run: RunState) -> None:
    heard = Heard(run, Notices(desktop="osc9"))
    run.judge.raise_("not-finite", 3, None, Evidence(text="nan"))
    assert len(heard.at(0)) == 2
    run.judge.raise_("stalled", 3, None, Evidence(text="silent"))
    run.judge.raise_("crashed", 3, None, Evidence(text="boom"))
    assert heard.at(1) == []
    assert heard.at(BETWEEN_RINGS_SECONDS - 0.1) == []
    bell, note = heard.at(BETWEEN_RINGS_SECONDS)
    assert bell == "\a"
    assert note == "\x1b]9;miles-tui: a.log: stalled at rollout 3: silent (and 1 more)\a"
    assert heard.at(BETWEEN_RINGS_SECONDS * 3) == []


def test_desktop_notifications_are_wrapped_for_tmux(run: RunState) -> None:
    heard = Heard(run, Notices(bell="never", desktop="osc777"), {**UTF8, "TMUX": "/tmp/s,1,0"})
    run.judge.raise_("signal-lost", 3, None, Evidence(text="no gap"))
    (note,) = heard.at(0)
    assert note == "\x1bPtmux;\x1b\x1b]777;notify;miles-tui;a.log: signal-lost at rollout 3: no gap\a\x1b\\"


def test_log_text_in_a_notification_can_not_act(run: RunState) -> None:
    heard = Heard(run, Notices(bell="never", desktop="osc9"))
    run.judge.raise_("crashed", 3, None, Evidence(text="evil \x1b]0;x\x07 \x9d \x1b[2J key " + "hf_" + "a1B2" * 9))
    (note,) = heard.at(0)
    body = note.removeprefix("\x1b]9;").removesuffix("\a")
    assert body.isprintable()
    assert "a1B2a1B2" not in body


def test_the_title_is_written_when_it_changes_and_given_back(run: RunState) -> None:
    heard = Heard(run, Notices())
    assert heard.herald.restore() == "", "who wrote no title restores none"
    for _ in range(3):
        heard.herald.title("▲2 gap-jump · 31/48")
    assert "".join(heard.written) == "\x1b[22;2t\x1b]2;▲2 gap-jump · 31/48\x1b\\"
    heard.written.clear()
    heard.herald.title("● healthy · 32/48")
    assert heard.written == ["\x1b]2;● healthy · 32/48\x1b\\"]
    assert heard.herald.restore() == "\x1b]2;\x1b\\\x1b[23;2t"
    assert heard.herald.restore() == ""


@pytest.mark.parametrize("env", [{"TERM": "linux"}, {"TERM": "dumb"}, {}])
def test_a_terminal_without_a_title_gets_none(run: RunState, env: dict[str, str]) -> None:
    heard = Heard(run, Notices(), {"LC_ALL": "C.UTF-8", **env})
    heard.herald.title("x")
    assert heard.written == []


def test_a_title_without_utf8_is_ascii(run: RunState) -> None:
    heard = Heard(run, Notices(), {"TERM": "xterm", "LC_ALL": "C"})
    heard.herald.title("▲2 gap-jump · 31/48")
    assert heard.written[0].isascii()
    off = Heard(run, Notices(title=False))
    off.herald.title("x")
    assert off.written == []


def test_the_title_speaks_of_the_run_that_fires_worst() -> None:
    calm, bad = (Session(name, Monitor()) for name in ("a.log", "b.log"))
    assert title_of(calm, [calm]) == "○ waiting · –"
    bad.watch_from_here()
    bad.monitor.state.judge.raise_("not-finite", 3, None, Evidence(text="nan"))
    bad.monitor.apply(Items([Event(EventKind.CLOCK)]))
    assert title_of(calm, [calm, bad]) == "▲1 not-finite · – · b.log"


def batch(*pieces: bytes) -> Batch:
    return Batch([Data(piece) for piece in pieces], True, 1, 1, "")


def test_an_old_logs_alerts_are_no_news_for_the_title_until_it_grows() -> None:
    """The run on the screen keeps the title, its own past or not; what fires there later takes it."""
    noticing = Noticing(Notices(), UTF8, lambda _: None, lambda _: None)
    live, old = (Session(name, Monitor()) for name in ("live.log", "old.log"))
    old.take(batch((LOGS / "gap-jump.log").read_bytes()), 0.0)
    live.take(batch((LOGS / "plain-seed1.log").read_bytes()), 0.0)
    for session in (live, old):
        noticing.heard(session, 0.0)
    assert old.snapshot.firing
    assert not old.news
    assert title_of(live, [live, old]) == "✓ finished · 47/48 · live.log"
    old.monitor.state.judge.raise_("stalled", 47, None, Evidence(text="silent"))
    old.monitor.apply(Items([Event(EventKind.CLOCK)]))
    assert [alert.condition for alert in old.news] == ["stalled"]
    old.monitor.state.judge.clear("stalled", 47, None)
    old.monitor.apply(Items([Event(EventKind.CLOCK)]))
    assert not old.news
    old.take(batch(b"still here\n"), 1.0)
    assert [alert.condition for alert in old.news] == ["gap-jump"]
    assert title_of(live, [live, old]) == "▲1 gap-jump · 47/48 · old.log"


# -- the command -----------------------------------------------------------------------------------


def finished(command: Command, texts: list[str]) -> None:
    for text in texts:
        command.put(text, {"MILES_TUI_LOG": "a.log"})
    done = threading.Thread(target=command.wait, daemon=True)
    done.start()
    done.join(20)
    assert not done.is_alive(), "the command goes on"


def test_the_alert_as_json_is_what_check_prints(run: RunState) -> None:
    run.feed(Reader().feed((LOGS / "gap-jump.log").read_bytes()))
    alert = run.firing[0]
    printed = json.loads(report_of(snapshot_of(run), "train.log", live=True).to_json())["alerts"]
    row = json.loads(as_json(told_report(alert.snapshot())))
    assert row in printed
    assert row["raised_step"] == alert.raised_step


def test_the_command_reads_the_alert_and_can_not_touch_the_terminal(tmp_path: Path) -> None:
    said: list[str] = []
    out = tmp_path / "out"
    command = Command(f'cat >> {out}; echo "$MILES_TUI_LOG" >> {out}; echo noise; : < /dev/tty', 10, said.append)
    finished(command, ["one\n", "two\n"])
    assert out.read_text() == "one\na.log\ntwo\na.log\n"
    assert len(said) == 2
    assert all(re.search("on-alert: status .*/dev/tty", line) for line in said), said


def test_never_more_than_one_at_a_time(tmp_path: Path) -> None:
    said: list[str] = []
    command = Command(f"mkdir {tmp_path}/lock && cat && rmdir {tmp_path}/lock", 10, said.append)
    finished(command, [f"{n}\n" for n in range(8)])
    assert said == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("echo no such channel >&2; exit 3", "on-alert: status 3: no such channel"),
        ("exit 4", "on-alert: status 4"),
        ("kill -9 $$", "on-alert: signal 9"),
        ("printf '\\033[2Jboo\\n' >&2; exit 1", "on-alert: status 1: boo"),
        ("true", ""),
    ],
)
def test_a_failure_is_said_in_a_line(line: str, says: str) -> None:
    said: list[str] = []
    finished(Command(line, 10, said.append), ["{}\n" * 50_000])
    assert "".join(said) == says


def test_the_time_limit_ends_the_command_with_its_children(tmp_path: Path) -> None:
    said: list[str] = []
    began = time.monotonic()
    finished(Command(f"sleep 600 & echo $! > {tmp_path}/pid; trap '' TERM; wait; sleep 600", 0.2, said.append), ["x"])
    assert time.monotonic() - began < 15
    assert said == ["on-alert: ended after 0.2 s"]
    pid = int((tmp_path / "pid").read_text())
    assert gone(pid), "a child lives on"


def gone(pid: int, seconds: float = 10) -> bool:
    """Whether a process ended; one that waits to be reaped has."""
    deadline = time.monotonic() + seconds
    stat = Path(f"/proc/{pid}/stat")
    while time.monotonic() < deadline:
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        threading.Event().wait(0.02)
    return False


def file_with_text(path: Path, seconds: float = 20) -> str:
    deadline = time.monotonic() + seconds
    while not path.exists() or not path.read_text().endswith("\n"):
        assert time.monotonic() < deadline, f"{path.name} was not written within {seconds} s"
        threading.Event().wait(0.02)
    return path.read_text()


LEAVES = """
import sys, time
from pathlib import Path
from miles_tui.ui.notify.alert_hook import Command
command = Command(sys.argv[1], float(sys.argv[2]), print)
for alert in ("first\\n", "waits\\n"):
    command.put(alert, {})
while not Path(sys.argv[3]).exists():
    time.sleep(0.01)
command.leave()
command.leave()
"""


def test_what_runs_at_the_end_has_the_rest_of_its_time_limit(tmp_path: Path) -> None:
    """We are gone: it may go on, complain and end; what is too slow is ended with its children."""
    pid, told = tmp_path / "pid", tmp_path / "told"
    line = f"echo $$ > {pid}; cat > {tmp_path}/alert; sleep 1; echo complaint >&2; cat {tmp_path}/alert >> {told}"
    subprocess.run([sys.executable, "-c", LEAVES, line, "30", str(pid)], check=True, timeout=20)
    assert file_with_text(told) == "first\n"
    assert gone(int(file_with_text(pid)))
    pid.unlink()
    line = f"sleep 601 & echo $! > {pid}; wait; sleep 601"
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", LEAVES, line, "2", str(pid)], check=True, timeout=20)
    assert gone(int(file_with_text(pid))), "a child lives on"
    assert time.monotonic() - began > 1.5, "it had its time"
    assert told.read_text() == "first\n", "what waited is left out"


def test_too_many_alerts_are_left_out_and_said(tmp_path: Path) -> None:
    said: list[str] = []
    gate = tmp_path / "gate"
    command = Command(f"until [ -e {gate} ]; do sleep 0.02; done", 20, said.append)
    for _ in range(MOST_WAITING + 3):
        command.put("x", {})
    assert 2 <= len(said) <= 3
    assert "left out" in said[0]
    gate.touch()
    command.wait()
