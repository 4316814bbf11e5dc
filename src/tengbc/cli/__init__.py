"""The command line: `tengbc run heat-robin`."""

from tengbc.cli.entry import main as main
