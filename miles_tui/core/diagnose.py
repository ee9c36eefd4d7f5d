"""A log without a single metric: which usual cause does it look like?"""

from __future__ import annotations

import re

from miles_tui.core.lines import clean

_LOGGER = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]*\] [\w./-]+\.py:\d+ - ")
_ENGINE = re.compile(
    r"HTTP/1\.1\"|Decode batch|Prefill batch|server is fired up|Uvicorn running|SGLangEngine|sglang", re.IGNORECASE
)
_TABLE = re.compile(
    r"-{4,} ?arguments ?-{4,}|^ {1,4}(?:num_rollout|rollout_batch_size|actor_num_nodes) \.{3,}", re.MULTILINE
)
_TRAFFIC = re.compile(r"(?:POST|GET) /\w+[^\n]{0,40} HTTP/1\.1|Decode batch")
_TRAFFIC_WITHOUT_METRIC = 40  # a first rollout prints fewer engine lines than this while it starts
_JSON_METRIC = re.compile(r"^[^\n]{0,200}\{[^\n]*\"(?:train|rollout|perf|eval)/[^\n]*\}", re.MULTILINE)
_JSON_LINE = re.compile(r"^\s*\{\"[^\n]*\}\s*$", re.MULTILINE)
_STDOUT_ONLY = (
    "Only standard output seems to be captured; Miles logs its metrics to standard error: "
    "start it with `> train.log 2>&1`."
)
_OTHERS = (
    ("verl", re.compile(r"\bstep:\d+ - [\w./]+:|verl\.|\(TaskRunner pid=")),
    ("prime-rl", re.compile(r"\bStep \d+ \| Time: [\d.]+s \| ")),
    ("ms-swift", re.compile(r"\"global_step/max_steps\": ?\"")),
    ("TRL or another Hugging Face trainer", re.compile(r"^\{'loss': [^\n]*'epoch': ", re.MULTILINE)),
    ("Megatron pretraining", re.compile(r"\biteration +\d+/ *\d+ \| consumed samples:")),
    ("MMEngine", re.compile(r"\bEpoch ?\[\d+\]\[\d+/\d+\]")),
    ("OpenRLHF", re.compile(r"openrlhf", re.IGNORECASE)),
)


def diagnose(sample: bytes) -> str | None:
    """One sentence on why `sample` (a log's beginning, or that and its end) has no metric; None if unclear."""
    if not sample.strip(b"\0 \r\n\t"):
        return "The log is empty so far."
    if is_binary(sample):
        return "This is a binary file, not a log."
    text = "\n".join(clean(line) for line in re.split(rb"[\r\n]+", sample))
    logged, engine = _LOGGER.search(text) is not None, _ENGINE.search(text) is not None
    if _TABLE.search(text) and not logged:
        return _STDOUT_ONLY
    if not logged:
        for name, sign in _OTHERS:
            if sign.search(text):
                return f"It looks like a log of {name}, not of Miles."
        if _JSON_METRIC.search(text) or len(_JSON_LINE.findall(text)) > text.count("\n") // 2:
            return "Its lines are wrapped in JSON in a form that is not known here: follow the plain log instead."
        if len(_TRAFFIC.findall(text)) >= _TRAFFIC_WITHOUT_METRIC:
            return _STDOUT_ONLY
    elif len(_TRAFFIC.findall(text)) >= _TRAFFIC_WITHOUT_METRIC:
        return "No metric yet: the first rollout is not done, or a custom log function prints its own form."
    if logged or engine:
        return "Only the start of a run so far: engines and workers come up, the first rollout is not done."
    return None


def is_binary(sample: bytes) -> bool:
    """Whether these bytes are no text. NULs alone do not say so: a log may have a hole of them."""
    body = sample.replace(b"\0", b"")
    if not body:
        return False
    controls = len(body) - len(body.translate(None, bytes(range(1, 7)) + bytes(range(14, 27)) + bytes(range(28, 32))))
    unreadable = body.decode("utf-8", "replace").count("\ufffd")
    return controls * 20 > len(body) or unreadable * 8 > len(body)
