from __future__ import annotations
from miles_tui.core.records import Fact


class Searcher:
    launching = True

    def search(self, text: bytes) -> list[Fact]:
        return []

    def finish(self) -> list[Fact]:
        return []
