"""One run or many, read and followed: sessions, sources, those beyond, what is news."""
