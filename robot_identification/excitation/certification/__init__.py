"""The certificate of a motion and the checks that it consists of."""
