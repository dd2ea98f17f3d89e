"""Which design a server should have for its load: from this machine's measured terms, by a simulated queue."""
