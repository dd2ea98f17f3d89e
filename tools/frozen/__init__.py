"""What users see of fixed inputs, written to a folder, so that two work trees can be compared byte for byte."""

import sys

# An editable install finds the package in the tree that it was made in, before any path: here each tree reads its own.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
