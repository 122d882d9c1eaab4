"""`dpassay explain`: what a code of a report means, and of some how they are mended."""

import click

from ..cli.exit_statuses import fail, on_stdout


@click.command()
@click.argument("code")
def explain(*, code: str) -> None:
    """Say what CODE of a report means, and of some how they are mended."""
    from ..findings.codes import codes
    from ..findings.fixes import explained, nearest
    from ..targets.replies import shown_repr

    if code not in codes():
        near = nearest(code)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        fail(f"{shown_repr(code)} is no code{meant}", code="code-unknown")
    with on_stdout():
        for paragraph in explained(codes()[code]).split("\n\n"):
            as_it_is = paragraph.startswith(("```", "- ", "### "))
            text = paragraph.replace("**", "").replace("`", "").removeprefix("### ")
            if paragraph.startswith("```"):
                text = "\n".join(f"    {line}" for line in paragraph.splitlines()[1:-1])
            click.echo(text if as_it_is else click.wrap_text(text, 78))
            click.echo()
