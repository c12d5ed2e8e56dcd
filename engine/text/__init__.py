"""Text: features, lists of English words, condensing."""
