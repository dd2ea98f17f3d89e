# Notes the targets and lines of a makefile that execute something, for `clonometer census`, which has put this file into
# MAKEFILES. Any make may read it. It has an empty rule, so that no rule of the program tries to make it.
$(lastword $(MAKEFILE_LIST)) $(CLONOMETER_LIBRARY): ;
ifneq ($(and $(CLONOMETER_LIBRARY),$(filter load,$(.FEATURES)),$(filter undefined,$(origin IFS))),)
-load $(CLONOMETER_LIBRARY)(clonometer_make_begin)
unexport IFS
IFS = ${clonometer- }
endif
MAKEFILE_LIST :=
