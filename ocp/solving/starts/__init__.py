"""Starting points of a solve: warm, predicted, random, from postures or contacts."""
