"""Arrays ready to plot, and what is fitted through them."""
