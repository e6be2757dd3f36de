"""From the rows of a submission to its numbers, each with the blocks that it is made of."""
