"""Run ``penstock completion``: print what a shell runs to complete commands and options."""

import click
from click.shell_completion import get_completion_class

PROGRAM = "penstock"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completions of a shell.

    In bash or zsh run `eval "$(penstock completion bash)"`, for instance in the file that
    the shell reads when it starts; in fish run `penstock completion fish | source`.
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"There are no completions for {shell}.")
    variable = f"_{PROGRAM}_COMPLETE".replace("-", "_").upper()
    click.echo(made(context.find_root().command, {}, PROGRAM, variable).source())
