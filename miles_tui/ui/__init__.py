"""The Textual screens. Nothing below this package knows Textual."""
