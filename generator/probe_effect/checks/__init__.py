"""What must hold for everything under `data/`: one rule per module, every problem reported with its place and mend."""
