"""A log without a single metric: which usual cause does it look like?"""

from __future__ import annotations

import re

from miles_tui.core.parsing.line_splitter import clean
from miles_tui.core.parsing.wrapped import Unwrap

_ANY_LOGGER = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]\n]{0,80}\] [\w./-]+\.py:\d+ - ")
_ENGINE = re.compile(
    r"HTTP/1\.1\"|Decode batch|Prefill batch|server is fired up|Uvicorn running|SGLangEngine|sglang", re.IGNORECASE
)
_TABLE = re.compile(
    r"---- ?arguments ?----|^ {1,4}(?:num_rollout|rollout_batch_size|actor_num_nodes) \.{3,}", re.MULTILINE
)
_TRAFFIC = re.compile(r"(?:POST|GET) /\w+[^\n]{0,40} HTTP/1\.1|Decode batch")
_TRAFFIC_WITHOUT_METRIC = 40  # a first rollout prints fewer engine lines than this while it starts
_JSON_METRIC = re.compile(r"^[^\n{]{0,200}\{[^\n]{0,4000}?\"(?:train|rollout|perf|eval)/", re.MULTILINE)
_JSON_LINE = re.compile(r"^[ \t]*\{\"[^\n]*\}[ \t]*$", re.MULTILINE)
_STDOUT_ONLY = (
    "Only standard output seems to be captured; Miles logs its metrics to standard error: "
    "start it with `> train.log 2>&1`."
)
_STRANGE = (
    "Its lines are wrapped in a form that is not known here (JSON, a table with commas): take them out, for instance "
    "with `jq -r '.. | strings' LOG > NEW.log`."
)
# A metric line inside something else, and a line of JSON whose text no field is known for.
_METRIC = re.compile(rb"\b(?:step|rollout|perf|eval) \d{1,9}: ?\{\\?['\"]")
_NO_LOGGER = re.compile(rb"\s*(?:[\"{\d]|\[\D)")  # what a logger's line does not begin with, nor Ray's
_OPENS = re.compile(rb"[\xef\xbb\xbf\s\0]*[\[{]\s*[{\"]")
_OTHERS = (
    ("verl", re.compile(r"\bstep:\d+ - [\w./]+:|verl\.|\(TaskRunner pid=")),
    ("prime-rl", re.compile(r"\bStep \d+ \| Time: [\d.]+s \| ")),
    ("ms-swift", re.compile(r"\"global_step/max_steps\": ?\"")),
    ("TRL or another Hugging Face trainer", re.compile(r"^\{'loss': [^\n]*'epoch': ", re.MULTILINE)),
    ("Megatron pretraining", re.compile(r"\biteration +\d+/ *\d+ \| consumed samples:")),
    ("MMEngine", re.compile(r"\bEpoch ?\[\d+\]\[\d+/\d+\]")),
    ("OpenRLHF", re.compile(r"openrlhf", re.IGNORECASE)),
)
# Longest first: a mark of UTF-16 begins UTF-32's.
_CAUSES = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_WIDE_SAMPLE = 4096


def diagnose(sample: bytes) -> str | None:
    """One sentence on why `sample` (a log's beginning, or that and its end) has no metric; None if unclear."""
    if not sample.strip(b"\0 \r\n\t"):
        return "The log is empty so far."
    if (encoding := wide_encoding(sample)) is not None:
        return f"The log is {encoding}, not UTF-8; convert it: `iconv -f {encoding} -t UTF-8 LOG > NEW.log`."
    if is_binary(sample):
        return "This is a binary file, not a log."
    unwrap = Unwrap()
    plain = bytes(unwrap.feed(sample)) + unwrap.rest()
    if _is_strange(sample, plain):
        return _STRANGE
    text = "\n".join(clean(line) for line in re.split(rb"[\r\n]+", plain))
    logged, engine = _ANY_LOGGER.search(text) is not None, _ENGINE.search(text) is not None
    if _TABLE.search(text) and not logged:
        return _STDOUT_ONLY
    if not logged:
        for name, sign in _OTHERS:
            if sign.search(text):
                return f"It looks like a log of {name}, not of Miles."
        if _JSON_METRIC.search(text) or len(_JSON_LINE.findall(text)) > text.count("\n") // 2:
            return _STRANGE
        if len(_TRAFFIC.findall(text)) >= _TRAFFIC_WITHOUT_METRIC:
            return _STDOUT_ONLY
    elif len(_TRAFFIC.findall(text)) >= _TRAFFIC_WITHOUT_METRIC:
        return "No metric yet: the first rollout is not done, or a custom log function prints its own form."
    if logged or engine:
        return "Only the start of a run so far: engines and workers come up, the first rollout is not done."
    return None


def _is_strange(sample: bytes, plain: bytes) -> bool:
    """Whether the log's own lines stand in something that can't be taken off them: none of them was a metric."""
    if (metric := _METRIC.search(plain)) is not None:
        begin = plain.rfind(b"\n", 0, metric.start()) + 1
        return _NO_LOGGER.match(plain, begin) is not None
    if not _OPENS.match(sample):
        return False
    if plain is not sample and not plain.strip():
        return True
    from miles_tui.core.parsing.metric_line import logged_text  # it brings pydantic's core: not before the first paint

    lines = [clean(line) for line in re.split(rb"[\r\n]+", plain[:_WIDE_SAMPLE]) if line.lstrip().startswith(b"{")]

    return bool(lines) and all(logged_text(line) == line for line in lines)


def is_binary(sample: bytes) -> bool:
    """Whether these bytes are no text. NULs alone do not say so: a log may have a hole of them."""
    body = sample.replace(b"\0", b"")
    if not body:
        return False
    controls = len(body) - len(body.translate(None, bytes(range(1, 7)) + bytes(range(14, 27)) + bytes(range(28, 32))))
    unreadable = body.decode("utf-8", "replace").count("\ufffd")
    return controls * 20 > len(body) or unreadable * 8 > len(body)


def wide_encoding(sample: bytes) -> str | None:
    """The name that iconv has for an encoding of two or four bytes a character, or None: a shell on Windows writes so.

    A byte order mark says it, or, without one, a NUL in nearly every second byte and hardly any between.
    """
    for mark, name in _CAUSES:
        if sample.startswith(mark):
            return name
    head = sample[:_WIDE_SAMPLE].lstrip(b"\0") or b"x"
    at = len(sample[:_WIDE_SAMPLE]) - len(head)
    even, odd = sample[at - at % 2 :][:_WIDE_SAMPLE:2], sample[at - at % 2 + 1 :][:_WIDE_SAMPLE:2]
    if len(odd) < 8:
        return None
    high, low = even.count(0) / len(even), odd.count(0) / len(odd)
    if max(high, low) < 0.8 or min(high, low) > 0.1:
        return None
    return "UTF-16BE" if high > low else "UTF-16LE"
