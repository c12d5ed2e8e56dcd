"""Storage: columns, vectors, postings, graph, event log, snapshot."""
