"""What a memory holds: columns, graph, vectors, postings, the log of events and the clock."""
