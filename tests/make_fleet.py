"""Let many runs grow in a folder, made of the sample logs: each gets a rollout about every so many seconds.

    python tests/make_fleet.py FOLDER [RUNS] [--seconds 20] [--for SECONDS] [--ill N]

Each run begins with some rollouts of its own; those of the last `--ill` names are `gap-jump.log`'s, whose gap jumps
some rollouts later. What is written, and when, is a line on standard output: seconds since 1970, name, rollout.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from growing import rollouts

LOGS = Path(__file__).resolve().parent.parent / "sample_logs"
HEALTHY = ("plain-seed1.log", "plain-seed2.log", "plain-seed3.log")
ILL = "gap-jump.log"
FIRST = 18  # rollouts that are there to begin with; some runs have a few less


class Fleet:
    """Runs in a folder, by their names: what of each is still to be written."""

    def __init__(self, folder: Path, runs: int, ill: int = 0) -> None:
        texts = {name: rollouts((LOGS / name).read_bytes()) for name in (*HEALTHY, ILL)}
        self.left: dict[Path, Iterator[tuple[int, bytes]]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(runs):
            path = folder / f"run-{i:03}.log"
            blocks = texts[ILL if i >= runs - ill else HEALTHY[i % len(HEALTHY)]][
                :-1
            ]  # the end of the job is no rollout
            first = FIRST - i % 5
            path.write_bytes(b"".join(blocks[:first]))
            self.left[path] = iter([*enumerate(blocks)][first:])

    def grow(self, path: Path) -> int | None:
        """Write the next rollout of a run; its number, None where there is none."""
        number, block = next(self.left[path], (None, b""))
        with path.open("ab") as file:
            file.write(block)
        return number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("runs", type=int, nargs="?", default=300)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--for", type=float, default=600.0, dest="whole")
    parser.add_argument("--ill", type=int, default=1)
    args = parser.parse_args()
    fleet = Fleet(args.folder, args.runs, args.ill)
    paths, begin = list(fleet.left), time.time()
    turn = 0
    while time.time() < begin + args.whole:
        path = paths[turn % len(paths)]
        number = fleet.grow(path)
        if number is not None:
            print(f"{time.time():.3f} {path.name} {number}", flush=True)
        turn += 1
        time.sleep(max(0.0, begin + turn * args.seconds / len(paths) - time.time()))


if __name__ == "__main__":
    main()
