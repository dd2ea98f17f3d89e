"""Start methods of languages, tried in a runtime of the user's."""
