"""Private prediction audited: what teachers are, and what adversaries do to them."""
