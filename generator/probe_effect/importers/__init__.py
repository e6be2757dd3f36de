"""Others' results as published sources: one module per format, and what each format does not carry."""
