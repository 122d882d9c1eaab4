"""The commands of `dpassay` beside `verify`, and how a command takes options and ends."""
