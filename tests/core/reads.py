"""Lines of a log as a Ray job prints them, and what a reader makes of bytes."""

from __future__ import annotations

from miles_tui.core.model.records import Item, Record
from miles_tui.core.parsing.reader import Reader

D = "{'train/loss': 0.5, 'train/grad_norm': 12.75, 'train/step': 3}"
RAY = "\x1b[36m(MegatronTrainRayActor pid=2)\x1b[0m "
OTHER = "(SGLangEngine pid=3) "
LOG = "[2026-10-15 16:01:02.216 actor_cell0_rank0] model.py:854 - "
LINE = f"{RAY}{LOG}step 3: {D}"
NOISE = f'{OTHER}[2026-10-15 16:01:05] INFO:     127.0.0.1:4 - "POST /generate HTTP/1.1" 200 OK\n'
HALF = len(LINE) - 30


def read(data: bytes, size: int = 1 << 18, settle: bool = False) -> list[Item]:
    reader, items = Reader(), []
    for i in range(0, len(data), size):
        items += reader.feed(data[i : i + size])
        if settle:
            items += reader.settle()
    return items + reader.finish()


def records(items: list[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def numbers(text: str, size: int = 1 << 18) -> list[tuple[str, int]]:
    return [(r.kind, r.number) for r in records(read(text.encode(), size))]
