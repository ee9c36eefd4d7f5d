"""Alerts in words: their evidence, a line or a paragraph each, and the form for programs."""
