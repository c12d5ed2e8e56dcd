"""Parts of the site: docstrings, notebooks, the reference, links.  docs/tools/build_site.py puts
them together.
"""
