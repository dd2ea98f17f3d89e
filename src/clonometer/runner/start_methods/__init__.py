"""Start methods, tried in a Python of the user's."""
