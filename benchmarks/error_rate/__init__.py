"""How often correct mechanisms fail the gate."""
