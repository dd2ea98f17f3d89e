"""Many runs as a database: summaries of a folder of run files, hosts as units, series in time, what is published."""
