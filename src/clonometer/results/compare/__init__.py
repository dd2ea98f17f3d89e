"""Runs against a run, and cells of a run against each other."""
