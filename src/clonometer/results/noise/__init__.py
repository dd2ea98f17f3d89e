"""A machine against itself."""
