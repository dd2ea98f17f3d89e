"""`make servers-doc`: servers of other people under load, as processes, threads or pools; writes docs/servers.md."""
