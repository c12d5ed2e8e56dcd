"""What every probe shares: the record, the driver of a memory, bands, the runner and the
reports.
"""
