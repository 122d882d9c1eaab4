"""How findings are shown: at a terminal, as a page, as XML for CI; whole files or none."""
