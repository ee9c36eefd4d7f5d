"""Disk and asyncio: one file's bytes, whatever happens to the file."""
