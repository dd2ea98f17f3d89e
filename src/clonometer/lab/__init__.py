"""The lab: lessons of 90 minutes, pages of Markdown in ``lessons/`` that become notebooks and teachers' sheets."""
