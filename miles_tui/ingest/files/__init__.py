"""A log on the disk: opened, known again, its rotations found, read from either end."""
