"""What a log says besides metrics: arguments, launches, trouble, keys that leaked, times."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from costs import grows_less

from miles_tui.core.model.records import Event, EventKind, Source
from miles_tui.core.parsing.events import Searcher, diagnose
from miles_tui.core.parsing.last_stamp import last_stamp

RAY = "\x1b[36m(RolloutManager pid=9)\x1b[0m "
HUB = "hf_" + "a1B2c3D4e5F6g7H8" * 2
TABLE = """------------------------ arguments ------------------------
  colocate ........................................ True
  hf_checkpoint ................................... /models/Qwen3-4B
  num_rollout ..................................... 3000
  rollout_batch_size .............................. 32
  wandb_key ....................................... %s
  use_fault_tolerance_with_a_name_longer_than_48_x  False
-------------------- end of arguments ---------------------
""" % ("0123456789abcdef" * 2)


def facts(text: str, launching: bool = True) -> list[Event]:
    searcher = Searcher()
    searcher.launching = launching
    return searcher.search(text.encode()) + searcher.finish()


def of(kind: EventKind, text: str, launching: bool = True) -> list[Event]:
    return [f for f in facts(text, launching) if f.kind is kind]


# -- arguments and launches ----------------------------------------------------------------------


def test_the_argument_table() -> None:
    found = facts(TABLE)
    assert [f.kind for f in found] == [EventKind.LAUNCH, EventKind.ARGS]
    args = found[1].data
    assert args["num_rollout"] == "3000"
    assert args["hf_checkpoint"] == "/models/Qwen3-4B"
    assert args["wandb_key"] == "***"
    assert args["use_fault_tolerance_with_a_name_longer_than_48_x"] == "False"


def test_a_table_that_arrives_in_pieces() -> None:
    searcher, found = Searcher(), []
    for line in TABLE.splitlines(keepends=True):
        found += searcher.search(line.encode())
    (args,) = (f for f in found if f.kind is EventKind.ARGS)
    assert len(args.data) == 6


@pytest.mark.parametrize(
    "line",
    [
        "+ ray job submit --address=http://127.0.0.1:8265 -- python3 train.py --colocate --num-rollout 3000 --lr 1e-6 "
        "--lr 2e-6",
        'EXEC: export A=1 && ray job submit --address="http://127.0.0.1:8265" -- python3 /root/miles/train.py '
        "--colocate --num-rollout=3000 --lr 2e-6",
        "Running entrypoint for job raysubmit_Kt5: python3 train_async.py --colocate --num-rollout 3000 --lr 2e-6",
        "+ bash -c 'ray job submit -- python3 train.py --colocate --num-rollout 3000 --lr 2e-6'",
    ],
)
def test_the_command_line(line: str) -> None:
    (args,) = of(EventKind.ARGS, line + "\n")
    assert {k: args.data[k] for k in ("colocate", "num_rollout", "lr")} == {
        "colocate": "True",
        "num_rollout": "3000",
        "lr": "2e-6",
    }
    assert len(of(EventKind.LAUNCH, line + "\n")) == 1


def test_values_of_a_flag() -> None:
    (args,) = of(
        EventKind.ARGS, "+ python3 train.py --data aime /d/a.jsonl --x -1.5 --flag --wandb-key " + "0a" * 20 + "\n"
    )
    assert args.data == {"data": "aime /d/a.jsonl", "x": "-1.5", "flag": "True", "wandb_key": "***"}


def test_explained_messages() -> None:
    text = (
        "TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'\n"
        "wandb: W&B offline mode enabled. Data will be saved locally.\n"
        "Saving tensorboard log to /root/lab/runs/plain/tb.\n"
    )
    assert [f.data["id"] for f in of(EventKind.MESSAGE, text)] == ["wandb-group", "wandb-offline", "tensorboard"]
    assert of(EventKind.MESSAGE, text, launching=False) == []


# -- trouble -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said", "driver"),
    [
        ("Traceback (most recent call last):\n  File x\n    y()\nValueError: no\n", "ValueError: no", "1"),
        (f"{RAY}Traceback (most recent call last):\n{RAY}  File x\n{RAY}KeyError: 'a'\n", "KeyError: 'a'", ""),
        (
            "Traceback (most recent call last):\n2026-03-12 10:44:18\n\n71ac…q\n  File x\n71ac…q\nqueue.Empty\n",
            "queue.Empty",
            "1",
        ),
        ("Traceback (most recent call last):\n  File x\nKeyboardInterrupt\n", "KeyboardInterrupt", "1"),
        (
            f"Traceback (most recent call last):\n{RAY}ValueError: the worker's\n  File x\nhttpx.ReadTimeout: late\n",
            "httpx.ReadTimeout: late",
            "1",
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried\n",
            "torch.OutOfMemoryError: CUDA out of memory. Tried",
            "1",
        ),
        (
            "ray.exceptions.RayTaskError(ValueError): \x1b[36mray::A.train()\x1b[39m (pid=6, ip=192.0.2.4, id=a)\n",
            "ray.exceptions.RayTaskError(ValueError): ray::A.train() (pid=6, ip=192.0.2.4, id=a)",
            "1",
        ),
        ("2026-08-01T12:00:00.1Z ##[error]AssertionError: ppo_kl\n", "AssertionError: ppo_kl", "1"),
        ("AssertionError\n", "AssertionError", "1"),
        (
            "(raylet, ip=192.0.2.8) 1 Workers killed due to memory pressure (OOM)\n",
            "1 Workers killed due to memory pressure (OOM)",
            "",
        ),
        ("[rank2]:[E903 x.cpp:744] Some NCCL operations have failed or timed out.\n", "[E903", ""),
        (
            "slurmstepd: error: *** JOB 12 ON n3 CANCELLED AT 2026-10-15T16:00:00 DUE TO TIME LIMIT ***\n",
            "slurmstepd",
            "1",
        ),
        (f"{RAY}Fatal async misuse, aborting: coroutine 'A.b' was never awaited\n", "Fatal async misuse", ""),
        ("terminate called without an active exception\n", "terminate called", "1"),
        ("terminate called after throwing an instance of 'std::bad_alloc'\n", "terminate called", "1"),
        ("command terminated with exit code 137\n", "command terminated", "1"),
        ("trainer-0  0/1  OOMKilled  0  3h\n", "trainer-0", "1"),
        ("Out of memory: Killed process 4411 (python3) total-vm:1kB\n", "Out of memory", "1"),
        *(
            (f"{a}Traceback (most recent call last):\n{b}  File x\n{b}ValueError: no\n", "ValueError: no", "1")
            for a, b in (
                ('{app="miles"} ', '{app="miles"} '),
                ('2026-09-02T18:00:00Z {app="miles", pod="a-0"}  ', '2026-09-02T18:00:01Z {app="miles", pod="a-0"}  '),
                ('{app="a \\"b\\"",stream="stderr"} ', '{app="a \\"b\\"",stream="stderr"} '),
            )
        ),
    ],
)
def test_trouble(text: str, said: str, driver: str) -> None:
    found = of(EventKind.TROUBLE, text, launching=False)
    assert found[-1].text.startswith(said)
    assert found[-1].data["driver"] == driver


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
        "+ TAU2_MAX_ERRORS=10",
        f"{RAY}[torch_memory_saver.cpp] TorchMemorySaver::malloc return OOM since memory_margin_bytes=1",
        f"{RAY}[2026-09-02 18:01:30.107 r] http_utils.py:226 - Error: Server error '503' for url 'x', retrying",
        f"{RAY}[2026-09-02 18:01:30.107 r] agentic.py:83 - Agent function failed: ReadTimeout('')",
        "  ValueError: indented, a part of something else",
        "RuntimeWarning: overflow",
        "Exceptional results: none",
        "NCCL INFO Channel 00/24",
        "the words Fatal async misuse alone",
        "Killed process 12 (chrome)",
    ],
)
def test_what_is_no_trouble(line: str) -> None:
    assert of(EventKind.TROUBLE, line + "\n") == []


def test_a_traceback_without_its_end() -> None:
    (found,) = of(EventKind.TROUBLE, "Traceback (most recent call last):\n  File x\n")
    assert found.text.startswith("Traceback")


def test_the_job_s_last_word() -> None:
    assert [f.kind for f in facts("Job 'raysubmit_x' failed\n", launching=False)] == [EventKind.JOB_FAILED]
    assert [f.kind for f in facts("Job 'raysubmit_x' succeeded\n", launching=False)] == [EventKind.JOB_DONE]


# -- phase and clock -----------------------------------------------------------------------------


def test_timers_and_the_bar() -> None:
    text = (
        f"{RAY}[2026-09-02 18:03:01.107 a] timer.py:31 - Timer update_weights start\n"
        f"{RAY}[2026-09-02 18:03:02.107 a] timer.py:42 - Timer update_weights end (elapsed: 1.0s)\n"
        f"{RAY}\rRollout generation:   3%|▎         | 8/256 [00:01<00:31,  2.7it/s]\r"
        "Rollout generation:   6%|▋         | 16/256 [00:02<00:30,  2.7it/s]\r"
    )
    found = facts(text, launching=False)
    assert [f.kind for f in found] == [EventKind.TIMER_START, EventKind.TIMER_END, EventKind.PROGRESS, EventKind.CLOCK]
    assert [f.text for f in found[:2]] == ["update_weights", "update_weights"]
    assert found[0].source.role == "RolloutManager"
    assert found[2].data == {"done": "16", "total": "256"}
    assert found[3].time == found[1].time


def test_the_last_stamp_is_the_last_in_the_text() -> None:
    text = b"[2026-10-15 18:00:00] a\n(Trainer pid=7) [2026-10-15 16:00:00] b\nno stamp, 20 of 20\n"
    assert last_stamp(text) == Event(EventKind.CLOCK, time=1792080000.0, source=Source("Trainer", "7"))
    assert last_stamp(text, end=text.find(b"(Trainer")) == Event(EventKind.CLOCK, time=1792087200.0)
    assert last_stamp(b"nothing 20\n") is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (TABLE + f'{RAY}[2026-09-02 18:00:30] INFO:     192.0.2.11:4 - "GET /health HTTP/1.1" 200 OK\n', "2>&1"),
        ("step:1 - global_seqlen/min:471180.000 - actor/entropy:0.323\n", "verl"),
        ("16:43:41 SUCCESS Step 13 | Time: 6.92s | Reward: 0.7114\n", "prime-rl"),
        ("{'loss': 0.0632, 'grad_norm': 0.2, 'learning_rate': 6.4e-06, 'epoch': 0.45}\n", "TRL"),
        (" iteration     4310/  200000 | consumed samples:        34480 |\n", "Megatron"),
        ('{"step": 3, "train/loss": 0.5}\n' * 3, "JSON"),
        ("[2026-09-02 18:00:00.107 main] placement_group.py:113 - Creating placement group with 8 GPUs...\n", "start"),
        ("", "empty"),
    ],
)
def test_why_a_log_has_no_metric(text: str, word: str) -> None:
    said = diagnose(text.encode())
    assert said is not None
    assert word in said
    assert said.endswith(".")


def test_a_binary_file_is_no_log() -> None:
    said = diagnose(bytes(range(256)) * 20)
    assert said is not None
    assert "binary" in said
    assert diagnose("ein ganz gewöhnlicher Text, 普通的文本\n".encode()) is None


# -- whatever stands before a line ---------------------------------------------------------------

STAMP = "2026-10-15T16:01:02.5Z"
STORY = f"""{TABLE}Running entrypoint for job raysubmit_x: python3 train.py --rollout-batch-size 32 --lr 1e-6
Timer train start
Traceback (most recent call last):
  File "x.py", line 3, in y
  ValueError: a part of the code that is shown
my.errors.BadThing: dead
Job 'raysubmit_x' failed
"""
FORMS: dict[str, Callable[[int, str], str]] = {
    "awk": lambda i, t: f"{i}:{t}",
    "grep -C": lambda i, t: f"{i}{'-:'[i % 2]}{t}",
    "grep file": lambda i, t: f"run.log:{i}:{t}",
    "nl": lambda i, t: f"{i:6}\t{t}",
    "srun": lambda i, t: f"0: {t}",
    "docker": lambda i, t: json.dumps({"log": f"{t}\n", "stream": "stdout", "time": STAMP}, separators=(",", ":")),
    "logger": lambda i, t: json.dumps({"level": "INFO", "message": t, "ts": STAMP}),
    "compose": lambda i, t: f"trainer-1  | {t}",
    "stern": lambda i, t: f"miles-head-0 ray-head {t}",
    "kubectl": lambda i, t: f"[pod/a-0/b] {STAMP} {t}",
    "CRI": lambda i, t: f"{STAMP} stdout F {t}",
    "pdsh": lambda i, t: f"host: {t}",
    "loguru": lambda i, t: f"2026-10-15 16:01:{i % 60:02}.123 | INFO     | miles.main:run:{i} - {t}",
    "wandb": lambda i, t: f"wandb: {t}",
    "Ray": lambda i, t: f"{RAY}{t}",
    "nobody's": lambda i, t: f"<<{i}>> some label = {t}",
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_facts_are_read_behind_any_prefix(form: str) -> None:
    text = "".join(FORMS[form](i, line) + "\n" for i, line in enumerate(STORY.splitlines(), 7))
    said: dict[str, str] = {}
    for fact in of(EventKind.ARGS, text):
        said |= fact.data
    assert said["num_rollout"] == "3000"
    assert said["use_fault_tolerance_with_a_name_longer_than_48_x"] == "False"
    assert (said["rollout_batch_size"], said["lr"]) == ("32", "1e-6")
    assert said["wandb_key"] == "***"
    assert [f.text for f in of(EventKind.TIMER_START, text)] == ["train"]
    (trouble,) = of(EventKind.TROUBLE, text)
    assert trouble.text.endswith("my.errors.BadThing: dead")
    assert trouble.data["driver"] == ("" if form == "Ray" else "1")
    assert [f.text for f in of(EventKind.JOB_FAILED, text)] == ["Job 'raysubmit_x' failed"]
    assert len(of(EventKind.LAUNCH, text)) == 2


def test_many_rows_in_one_object_are_read() -> None:
    text = json.dumps({"level": "ERROR", "message": STORY, "time": STAMP}) + "\n"
    assert [f.text for f in of(EventKind.TROUBLE, text)] == ["my.errors.BadThing: dead"]
    assert of(EventKind.ARGS, text)[0].data["num_rollout"] == "3000"


def test_a_prompt_in_an_object_is_no_log_text() -> None:
    assert of(EventKind.TROUBLE, json.dumps({"prompt": "?", "text": STORY}) + "\n") == []


def test_another_process_s_row_is_none_of_a_table() -> None:
    rows = TABLE.splitlines(keepends=True)
    text = "".join([*rows[:3], f"{RAY}  loading ........... 4\n", *rows[3:]])
    (args,) = of(EventKind.ARGS, text)
    assert "loading" not in args.data
    assert args.data["num_rollout"] == "3000"


@pytest.mark.parametrize("line", ["------- arguments -------\n", "Traceback (most recent call last):\n", "-" * 999])
def test_heads_without_end_cost_in_proportion(line: str) -> None:
    def work(times: int) -> None:
        facts(line * times + "\n")

    assert grows_less(work, 2000)


# -- whose clock ---------------------------------------------------------------------------------

OWN = "[2026-10-15 16:01:02.5 actor] model.py:1 - "


@pytest.mark.parametrize(
    ("line", "first", "later"),
    [
        (f"{OWN}x", True, True),
        (f"{RAY}{OWN}x", True, True),
        (f"{RAY}[2026-10-15 16:01:02.5 TP0] Decode batch", True, True),
        (f"some label: {OWN}x", True, True),
        (f"2026-10-14T01:01:02Z {RAY}{OWN}x", True, True),
        (f"{STAMP} INFO: x", True, False),
        (f"{STAMP} stderr F x", True, False),
        ("2026-10-15 16:01:02,500\tINFO worker.py:1852 -- Started a local Ray instance.", True, False),
        (json.dumps({"log": "x\n", "stream": "stdout", "time": STAMP}), True, False),
        ('sample: "The meeting on 2026-10-15 16:01:02.5 was long"', False, False),
        ("sample: the meeting of [2026-10-15 16:01:02.5] was long", False, False),
        (f"{RAY}it begins at 2026-10-15 16:01:02.5 or so", False, False),
        (f'sample: "{OWN}step"', False, False),
    ],
)
def test_only_a_stamp_at_a_line_s_head_is_the_clock(line: str, first: bool, later: bool) -> None:
    for bracketed, counts in ((False, first), (True, later)):
        searcher = Searcher()
        searcher.bracketed = bracketed
        clock = [f.time for f in searcher.search(f"{line}\n".encode()) if f.kind is EventKind.CLOCK]
        assert clock == ([1792080062.5] if counts else [])
        assert searcher.time(line) is None or counts


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE"), ("utf-32", "UTF-32")],
)
def test_a_log_of_wide_characters_is_named(encoding: str, word: str) -> None:
    said = diagnose(f"{OWN}step 3: {{'train/loss': 0.5}}\n".encode(encoding))
    assert said is not None
    assert f"iconv -f {word} -t UTF-8" in said


def test_a_hole_of_nuls_is_no_encoding() -> None:
    said = diagnose(b"\0" * 5000 + f"{OWN}x\n".encode())
    assert said is not None
    assert "iconv" not in said
