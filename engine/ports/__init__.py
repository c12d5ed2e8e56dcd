"""Models from outside: embedders, rerankers and language models, with their caches."""
