"""Many runs of one problem: what to vary, the processes that do it, one table of what came out."""
