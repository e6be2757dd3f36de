"""`probe-effect lab`: repeat a historical experiment on this machine, and see it beside what was printed then."""

from pathlib import Path

import click

from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.cli.laboratories import LABORATORIES

BLOCKS = 20
"""Rounds: some twenty seconds, and an interval that is no wider than it must be."""


@click.command()
@click.argument("name", type=click.Choice(list(LABORATORIES)), metavar="|".join(LABORATORIES))
@click.option("--blocks", type=click.IntRange(1, 1000), default=BLOCKS, show_default=True, help="Rounds.")
@click.option("--seed", type=click.IntRange(0, 2**53), help="Seed of the random order. [default: a fresh one]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Keep the rows in this folder, as a submission. [default: none kept]"
)
@data_option
def lab(name: str, blocks: int, seed: int | None, out: Path | None, data_path: Path | None) -> None:
    """Repeat an experiment that others published: looper, dd or usdt. It takes less than two minutes.

    Prints what it cost here with its interval, beside what was printed then, and what to try next.
    """
    data = data_folder(data_path, only_asks=True)

    from probe_effect.cli.lab_run import run

    run(data, LABORATORIES[name], blocks, seed, out)
