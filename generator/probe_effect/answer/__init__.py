"""From a question to its answer: cost to slowdown, compositions, alternatives, and the words for them."""
