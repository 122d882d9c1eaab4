"""The gate on services with several workers, as they run behind gunicorn and uvicorn."""
