"""What an answer costs: published analyses, exact divergences, composition, and a ledger."""
