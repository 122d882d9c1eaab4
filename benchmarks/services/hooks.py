"""What gunicorn calls as it forks: a worker learns its number, 1 for the first of a start."""

from typing import Any


def post_fork(_server: Any, worker: Any) -> None:
    from . import noises

    noises.noise.begin(worker.age)
