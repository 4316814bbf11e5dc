"""The command line: `tengbc run heat-robin`."""

from tengbc.cli.app import main as main
