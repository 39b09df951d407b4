"""Run pages: the page of a run, and the further pages that it links to."""
