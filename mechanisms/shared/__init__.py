"""What several mechanisms share and the engine does not need.  Mechanisms import it; it imports only the engine."""
