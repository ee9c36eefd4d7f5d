"""Charts and sparklines drawn in characters."""
