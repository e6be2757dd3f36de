"""Planning and running a suite: interleaved blocks, a journal on disk, and a submission at the end."""
