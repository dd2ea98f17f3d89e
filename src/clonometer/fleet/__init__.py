"""Fleets: many machines measured, and what was measured on them."""
