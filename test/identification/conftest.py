"""What tests of identification share."""

from undiagnosed import undiagnosed

__all__ = ["undiagnosed"]
