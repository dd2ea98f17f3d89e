"""Stats."""
