"""From measured runs to what they mean: cost, slowdown at a rate, thresholds, grades; published figures recomputed."""
