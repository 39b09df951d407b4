"""The harness: runs specs under plans, judges the results and stores the records. Imports go down this list of rooms.

run, repro, sweep, judge, store, device, spec, system, paths.
"""
