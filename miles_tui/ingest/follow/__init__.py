"""A log that grows: each byte once and in order, whatever happens to its file."""
