#!/bin/sh
# The documentation site, from mkdocs.yml: links and anchors that lead nowhere are errors.
# The theme's makers advertise their next project at every start; the variable stops that.
NO_MKDOCS_2_WARNING=1 exec "$1/mkdocs" build --strict --quiet
