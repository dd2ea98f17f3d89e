"""`make runtimes-doc`: what a launch costs each language by the size of its heap; writes docs/runtimes.md."""
