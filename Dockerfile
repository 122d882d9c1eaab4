# The gate in a container, as a user that is not root:
#   docker build -t dpassay .
#   docker run --rm --user "$(id -u)" -v "$PWD:/work" dpassay verify aggregator.py:aggregate --claim claim.toml
FROM python:3.11-slim AS wheel
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 assayer
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl
USER assayer
WORKDIR /work
ENTRYPOINT ["dpassay"]
CMD ["verify"]
