"""Context assembly: choosing and formatting memories under a token budget."""
