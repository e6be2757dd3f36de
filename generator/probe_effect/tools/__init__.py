"""What is known of each tracer, in one record that all other packages read; nothing is started or looked for."""
