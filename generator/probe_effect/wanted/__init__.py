"""What the site lacks, by its own data: machines and cases without a time, and in which order to measure them."""
