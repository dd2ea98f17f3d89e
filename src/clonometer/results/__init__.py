"""Results: cells by name, comparisons, findings, arrays ready to plot, and the scheduler."""
