"""Long work in parts, over threads, processes or Dask: `workers`, `executors`, `progress`."""
