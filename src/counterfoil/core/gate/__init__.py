"""What stands between a command that was asked for and its run: policy, levels, grants."""
