"""The node that identifies base parameters from live recordings and bags."""
