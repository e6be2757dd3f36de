"""What happens on the running system now: how often probes would fire, and what is loaded and attached already."""
