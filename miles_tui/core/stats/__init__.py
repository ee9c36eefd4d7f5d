"""The mathematics of the rules: robust scales, baselines, tests for a change."""
