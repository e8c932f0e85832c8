"""Whether a robot touches itself or its cell: shapes, distances, and bounds for whole motions."""
