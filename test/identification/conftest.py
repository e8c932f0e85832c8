"""What tests of identification share."""

from undiagnosed import module_undiagnosed as undiagnosed

__all__ = ["undiagnosed"]
