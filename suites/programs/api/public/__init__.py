"""Public functions that call one raw op: twins of the specs of the ops."""
