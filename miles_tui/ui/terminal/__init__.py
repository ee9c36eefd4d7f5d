"""The terminal itself: what it can, its input, and writing only the cells that differ."""
