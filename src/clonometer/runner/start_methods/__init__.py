"""Start methods of Python, tried in an interpreter of the user's."""
