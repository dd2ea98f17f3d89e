"""What the first screen says of a run: the answer, why, what to do, what disturbs trust, the next command."""
