"""Themes: files, roles, and which one is worn."""
