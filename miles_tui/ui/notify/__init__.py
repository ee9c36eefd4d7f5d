"""Alerts when nobody looks: bell, title, desktop, the person's command."""
