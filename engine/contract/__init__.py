"""All that the author of a mechanism imports: hooks, columns, shared vocabulary, records, drafts
and offers.
"""
