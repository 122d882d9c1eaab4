"""How soon the gate finds a fault, beside what others take or nobody can do without."""
