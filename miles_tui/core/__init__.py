"""The pure core: bytes in, records, series and alerts out. No disk, no clock, no Textual."""
