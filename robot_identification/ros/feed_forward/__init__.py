"""The node that feeds a model forward along a trajectory."""
