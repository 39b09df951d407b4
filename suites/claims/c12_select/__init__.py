"""The gradient of Select itself, and of SelectV2, which broadcasts."""
