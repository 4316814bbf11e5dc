"""The exit code of each outcome, by the outcome's name: known without importing the solver."""

EXIT_CODES = {
    "done": 0,
    "diverged": 3,
    "non-finite": 3,
    "stalled": 3,
    "out of space": 5,
    "not written": 5,
    "tolerance not reached": 6,
    "interrupted": 130,
}
