"""Remote devices: device servers that a command starts, in another environment or on another machine."""
