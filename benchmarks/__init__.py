"""Benchmarks: data sets, systems, execution, designs, scores, reports and speed."""
