"""Two sides that were started in turn: their pairs, their verdicts, and when that is enough."""
