"""What an attacker says about people from votes or labels, and how well (`measures`)."""
