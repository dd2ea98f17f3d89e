"""`make cases`: real programs before and after a mend of how they launch, measured in pairs; writes docs/cases."""
