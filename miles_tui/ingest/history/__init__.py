"""A log that is read from its past: all of it, its newest part, the lines around a rollout."""
