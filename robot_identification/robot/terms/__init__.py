"""Terms of joints and springs: what the model of a robot has beyond rigid bodies."""
