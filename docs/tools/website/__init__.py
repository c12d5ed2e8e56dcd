"""Parts of the site: docstrings, notebooks, the reference, links.  docs/build_site.py puts them
together.
"""
