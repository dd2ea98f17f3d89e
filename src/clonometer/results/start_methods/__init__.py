"""Start methods of Python: what they cost and break, and their ranking."""
