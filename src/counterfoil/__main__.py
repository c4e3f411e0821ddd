"""From the arguments of the process to a face."""

import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] == ["--version"]:  # answered before anything is imported for it
        from counterfoil.core.version import VERSION

        sys.stdout.write(f"counterfoil {VERSION}\n")
        return
    from counterfoil.faces.cli import main as run
    from counterfoil.wiring import WiredApplication

    sys.exit(run(WiredApplication()))


if __name__ == "__main__":
    main()
