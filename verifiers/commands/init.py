"""`dpassay init`: a claim begun for a deployment, with what it shows of itself.

What asks and fits loads once it runs, so that `--help` answers at once.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..cli.exit_statuses import fail, on_stdout
from ..cli.options import Seconds, WholeNumber, option_with_default
from ..inputs.input_error import OptionsError

if TYPE_CHECKING:
    from ..claims.tables import HttpClaim
    from ..init.draft import Draft
    from ..init.look import Look
    from ..targets import Target
    from ..targets.http_options import HttpOptions
    from ..targets.release import Release

_CALLS, _MOST_CALLS = 600, 100_000


def _words(_context: click.Context, _option: click.Parameter, text: str | None) -> list[str]:
    """The words of `--with`. Raises click.BadParameter for one that is unknown."""
    from ..init.beside import BESIDE

    words = [] if text is None else [word.strip() for word in text.split(",")]
    for word in words:
        if word not in BESIDE:
            raise click.BadParameter(f"{word[:60]!r}: expected some of {', '.join(BESIDE)}")
    return list(dict.fromkeys(words))


@click.command()
@click.argument("target")
@option_with_default("--out", default="claim.toml", metavar="FILE", help="The claim, a new file.")
@click.option("--no-calls", is_flag=True, help="Ask TARGET nothing; look at its signature alone.")
@option_with_default(
    "--calls", type=WholeNumber(1, _MOST_CALLS), default=_CALLS, help="Answers asked for at most."
)
@click.option(
    "--with", "beside", metavar="LIST", callback=_words, help="pytest,github,gitlab,pre-commit"
)
@click.option(
    "--http",
    "http_file",
    metavar="FILE",
    help="Of a server: [http] of a claim, with headers by environment variables, and its route.",
)
@option_with_default("--timeout", type=Seconds(), default=30.0, help="Seconds for a call.")
def init(
    *,
    target: str,
    out: str,
    no_calls: bool,
    calls: int,
    beside: list[str],
    http_file: str | None,
    timeout: float,
) -> None:
    """Begin a claim for TARGET: what it shows is written, all else is left to be filled in.

    TARGET is as `dpassay verify` takes it. It is asked some hundred times, and noise is fitted to
    its answers, for comments: a claim is to say what was specified, not what was found. No file is
    overwritten. Exit 0 where a claim was written, else 2.
    """
    from ..init.beside import target_of, write_beside, write_new, write_target
    from ..init.look import looked_up
    from ..init.objects.said import Said
    from ..init.recognise import likely
    from ..targets import TargetError, open_target, shown_spec

    try:
        if Path(out).exists():
            raise OptionsError(f"--out {out}: it is there, and stays as it is: name another file")
        http = _read_http(http_file, target)
        look = looked_up(target)
        said = None if look.said is None else Said.from_json(look.said)
        if said is not None:
            draft = said.draft
        elif no_calls:
            draft = likely(look)
        else:

            def opened(release: "Release") -> "Target":
                options = check_route(http, release)
                return open_target(look.spec, timeout, http=options, release=release)

            click.echo(
                f"dpassay: asking {shown_spec(look.spec)} for {calls:,} answers at most, which "
                "spend its budget, if it has one (--no-calls asks nothing)",
                err=True,
            )
            draft = asked_for(look, opened, calls, timeout, http.body)
        draft.tables = [*draft.tables, *http_lines(http)]
    except (TargetError, ValueError) as error:
        if http_file is None and isinstance(error, TargetError) and "[http]" in str(error):
            error = TargetError(f"{error} (--http FILE gives init that table)", code=error.code)
        fail(error)
    spec = shown_spec(look.spec)
    asked = spec if said is None else "TARGET"
    if said is not None and said.stub is not None:
        asked = target_of(spec)
    try:
        write_new(Path(out), draft.text(spec, look.called))
    except OSError as error:
        fail(f"--out {out}: {error.strerror}", code="file-not-written")
    with on_stdout():
        if said is not None and said.stub is not None:
            click.echo(write_target(spec, str(look.called), said.stub))
        _tell(draft, spec, asked, out)
        if asked == "TARGET" and said is not None:
            click.echo(f"where TARGET is {said.where}")
        for line in write_beside(beside, asked, out):
            click.echo(line)


def _read_http(path: str | None, target: str) -> "HttpClaim":
    """`[http]` of a file, its defaults without one.

    Raises ClaimError, OptionsError where TARGET is no server, and TargetError where an environment
    variable is not set: what stands there as its name may then be the secret.
    """
    from ..claims.claim import read_http
    from ..claims.tables import HttpClaim
    from ..targets.spec import is_server

    if path is None:
        return HttpClaim()
    if not is_server(target):
        raise OptionsError("--http is of a server: expected http://host:port as TARGET")
    http = read_http(path)
    http.options(refuses=True).values()
    return http


def check_route(http: "HttpClaim", release: "Release") -> "HttpOptions":
    """The options of requests for a form of input; a mechanism may refuse queries, as it looks.

    Raises TargetError where the body of requests has another form.
    """
    from ..targets import TargetError
    from ..targets.http_route import check_template

    if http.body is not None:
        try:
            check_template(http.body, release.key)
        except ValueError as error:
            raise TargetError(f"http.{error}", code="target-option-wrong") from None
    return http.options(refuses=True)


def http_lines(http: "HttpClaim") -> list[str]:
    """The keys of `[http]` that were given, as lines of TOML: variables by name, no secret."""
    import json

    def toml(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
        return json.dumps(value, ensure_ascii=False)

    files = {key: value for key, value in asdict(http.tls).items() if value is not None}
    given = http.model_dump(exclude_unset=True) | files
    lines = [f"{key} = {toml(value)}" for key, value in given.items()]
    return ["", "[http]", *lines] if lines else []


def asked_for(
    look: "Look",
    opened: "Callable[[Release], Target]",
    calls: int,
    timeout: float,
    body: str | None = None,
) -> "Draft":
    """The draft of a claim, as far as a target answers.

    Args:
        look: how it is called.
        opened: opens it for a form of its input.
        calls: answers that are asked for at most.
        timeout: seconds of a call.
        body: of requests to a server, where it is of the server's own.

    Raises TargetError where nothing is learnt of what it releases.
    """
    from ...reference import BudgetExhausted
    from ..init.asking import Asker, StoppedError
    from ..init.recognise import recognise
    from ..targets import Refused, TargetError

    asker, known = Asker(opened, calls, timeout, body), None
    why = "it was interrupted"
    try:
        known = recognise(asker, look)
        known.gather()
        if asker.ended is not None:
            raise asker.ended
        why = ""
    except KeyboardInterrupt:
        pass
    except BudgetExhausted:
        why = f"the target's budget was spent, after {calls - asker.left:,} answers were asked for"
    except Refused as refusal:
        why = f"the target refused an input: {refusal}"
    except (StoppedError, TargetError) as error:
        if known is None and isinstance(error, TargetError):
            raise
        why = str(error)
    finally:
        asker.close()
    if known is None:
        raise TargetError(f"{look.spec}: nothing is known of what it releases: {why}")
    known.draft.stopped = why or None
    known.fill()
    if asker.largest_call is not None:
        known.draft.asked.append(
            f"in calls of {asker.largest_call:,} at most, as a larger one was refused "
            f"(largest_call = {asker.largest_call} in [gate] keeps a run to that)"
        )
    return known.draft


def _tell(draft: "Draft", spec: str, asked: str, out: str) -> None:
    """Prints what was found of a spec, and what to do next; asked: the target to verify."""
    import shlex

    click.echo(f"{spec}: {draft.what}")
    for line in draft.asked:
        click.echo(f"asked: {line}")
    for key in draft.keys:
        for line in key.lines():
            click.echo(f"  {line}")
    if draft.stopped:
        click.echo(f"stopped: {draft.stopped}")
    claim = shlex.quote(out)
    click.echo(f'wrote {out}; fill in what says "?", from the specification, then')
    click.echo(f"  dpassay plan --claim {claim}")
    click.echo(f"  dpassay verify {shlex.quote(asked)} --claim {claim}")
