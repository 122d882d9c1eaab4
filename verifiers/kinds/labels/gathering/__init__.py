"""How a run asks for labels, call by call, and shows them to its checks."""
