"""Order: what runs when, and what reaches what, computed from declarations."""
