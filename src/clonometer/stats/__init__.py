"""Statistics: quantiles, ranks, bootstrap, effective sample size, distributions and lines.

Knows no path, no Parquet and no workload; every estimator stands in docs/methods.md, or where it
serves one family in docs/workloads.md.
"""
