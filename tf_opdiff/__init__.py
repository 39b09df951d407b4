"""Differential testing of TensorFlow ops and gradient overrides across devices and execution modes.

`harness`, `reports` and `suites` are the folders of these names at the top of the repository.
"""
