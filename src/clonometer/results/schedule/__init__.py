"""Which target is measured next, and when that is enough."""
