"""Pages: self-contained HTML documents that fetch nothing, returned as text."""
