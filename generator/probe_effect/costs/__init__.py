"""What one event costs: a table for each machine or kind of machines and tracer, made of all that is known."""
