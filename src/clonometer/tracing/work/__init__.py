"""Why workers that are threads and workers that are processes take different times."""
