"""Rows of a run: groups of valid samples to estimates, with what weakens them."""
