"""What must hold for everything under `data/`: rules by what they look at, every problem with its place and mend."""
