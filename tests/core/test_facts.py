from __future__ import annotations

import pytest

from miles_tui.core.facts import Searcher, diagnose, last_stamp
from miles_tui.core.records import Fact, FactKind

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


def facts(text: str, launching: bool = True) -> list[Fact]:
    searcher = Searcher()
    searcher.launching = launching
    return searcher.search(text.encode()) + searcher.finish()


def of(kind: FactKind, text: str, launching: bool = True) -> list[Fact]:
    return [f for f in facts(text, launching) if f.kind is kind]


# -- arguments and launches ----------------------------------------------------------------------


def test_the_argument_table() -> None:
    found = facts(TABLE)
    assert [f.kind for f in found] == [FactKind.LAUNCH, FactKind.SECRET, FactKind.ARGS]
    args = found[2].data
    assert args["num_rollout"] == "3000"
    assert args["hf_checkpoint"] == "/models/Qwen3-4B"
    assert args["wandb_key"] == "***"
    assert args["use_fault_tolerance_with_a_name_longer_than_48_x"] == "False"


def test_a_table_that_arrives_in_pieces() -> None:
    searcher, found = Searcher(), []
    for line in TABLE.splitlines(keepends=True):
        found += searcher.search(line.encode())
    (args,) = (f for f in found if f.kind is FactKind.ARGS)
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
    (args,) = of(FactKind.ARGS, line + "\n")
    assert {k: args.data[k] for k in ("colocate", "num_rollout", "lr")} == {
        "colocate": "True",
        "num_rollout": "3000",
        "lr": "2e-6",
    }
    assert len(of(FactKind.LAUNCH, line + "\n")) == 1


def test_values_of_a_flag() -> None:
    (args,) = of(
        FactKind.ARGS, "+ python3 train.py --data aime /d/a.jsonl --x -1.5 --flag --wandb-key " + "0a" * 20 + "\n"
    )
    assert args.data == {"data": "aime /d/a.jsonl", "x": "-1.5", "flag": "True", "wandb_key": "***"}


def test_a_launch_opens_the_search_for_keys_again() -> None:
    before, after = f"export HF_TOKEN={HUB}\n", f"token {HUB}\n"
    text = f"{before}Running entrypoint for job x: python3 train.py --lr 1\n{after}"
    (secret,) = of(FactKind.SECRET, text, launching=False)
    assert secret.text == "token hf_***"


def test_explained_messages() -> None:
    text = (
        "TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'\n"
        "wandb: W&B offline mode enabled. Data will be saved locally.\n"
        "Saving tensorboard log to /root/lab/runs/plain/tb.\n"
    )
    assert [f.data["id"] for f in of(FactKind.MESSAGE, text)] == ["wandb-group", "wandb-offline", "tensorboard"]
    assert of(FactKind.MESSAGE, text, launching=False) == []


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
    ],
)
def test_trouble(text: str, said: str, driver: str) -> None:
    found = of(FactKind.TROUBLE, text, launching=False)
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
    ],
)
def test_what_is_no_trouble(line: str) -> None:
    assert of(FactKind.TROUBLE, line + "\n") == []


def test_a_traceback_without_its_end() -> None:
    (found,) = of(FactKind.TROUBLE, "Traceback (most recent call last):\n  File x\n")
    assert found.text.startswith("Traceback")


def test_the_job_s_last_word() -> None:
    assert [f.kind for f in facts("Job 'raysubmit_x' failed\n", launching=False)] == [FactKind.JOB_FAILED]
    assert [f.kind for f in facts("Job 'raysubmit_x' succeeded\n", launching=False)] == [FactKind.JOB_DONE]


# -- phase and clock -----------------------------------------------------------------------------


def test_timers_and_the_bar() -> None:
    text = (
        f"{RAY}[2026-09-02 18:03:01.107 a] timer.py:31 - Timer update_weights start\n"
        f"{RAY}[2026-09-02 18:03:02.107 a] timer.py:42 - Timer update_weights end (elapsed: 1.0s)\n"
        f"{RAY}\rRollout generation:   3%|▎         | 8/256 [00:01<00:31,  2.7it/s]\r"
        "Rollout generation:   6%|▋         | 16/256 [00:02<00:30,  2.7it/s]\r"
    )
    found = facts(text, launching=False)
    assert [f.kind for f in found] == [FactKind.TIMER_START, FactKind.TIMER_END, FactKind.PROGRESS, FactKind.CLOCK]
    assert [f.text for f in found[:2]] == ["update_weights", "update_weights"]
    assert found[0].source.role == "RolloutManager"
    assert found[2].data == {"done": "16", "total": "256"}
    assert found[3].time == found[1].time


def test_the_last_stamp_is_the_last_in_the_text() -> None:
    assert last_stamp(b"[2026-10-15 18:00:00] a\n[2026-10-15 16:00:00] b\nno stamp, 20 of 20\n") == 1792080000.0
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
