"""A run against its baseline: whether anything takes longer, and what would be seen."""
