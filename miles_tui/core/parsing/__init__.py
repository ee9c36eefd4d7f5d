"""Bytes become records and events, whatever form the lines have."""
