"""Pages of runs: values and rules, without a file or a parser."""
