"""One builder of a document an answer."""
