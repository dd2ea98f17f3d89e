"""Costs that belong to no other family."""

from clonometer.families.types import Family

FAMILY = Family("other", title="Other", explanation="Costs other than launches.", order=130)
