"""All that the author of a mechanism imports: hooks, columns, vocabulary, records and drafts."""
