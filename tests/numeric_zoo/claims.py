"""What the aggregators claim: tables `[mechanism]` in TOML."""

HISTOGRAM = 'name = "noisy-histogram"\nnoise = "laplace:2"\nadjacency = "add-remove"\ncells = 10'
GAUSSIAN = HISTOGRAM.replace("laplace:2", "gaussian:3")
EXACT_HISTOGRAM = HISTOGRAM + '\nfloating_point = "exact"'
EXACT_GAUSSIAN = GAUSSIAN + '\nfloating_point = "exact"'
WHOLE = HISTOGRAM.replace("laplace:2", "discrete-laplace:2")
ROUNDED = HISTOGRAM.replace("laplace:2", "laplace:2;round")
CUT = HISTOGRAM.replace("laplace:2", "laplace:2;cut")
COUNT = 'name = "noisy-count"\nnoise = "discrete-laplace:1"\nadjacency = "add-remove"'
PRIVATE = "\n[privacy]\nepsilon = {}\ndelta = 1e-6\nqueries = {}"
SUM = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
    "dimensions = 3\nlower = -1.0\nupper = 1.0"
)
REPLACED = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "replace-one"\n'
    "dimensions = 1\nlower = 0.0\nupper = 2.0"
)
WHOLE_BALL = (
    'name = "noisy-sum"\nnoise = "discrete-laplace:20"\nadjacency = "add-remove"\n'
    "dimensions = 3\nclip_norm = 1.0"
)
CLAMPED_SUM = (
    'name = "noisy-sum"\nnoise = "discrete-laplace:20;min=0;max=50"\nadjacency = "add-remove"\n'
    "dimensions = 1\nlower = 0.0\nupper = 0.7"
)
DIAMOND = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
    "dimensions = 6\nclip_norm1 = 1.0"
)
BALL = (
    'name = "noisy-sum"\nnoise = "gaussian:2"\nadjacency = "replace-one"\n'
    "dimensions = 4\nclip_norm = 1.0"
)
MEAN = (
    'name = "noisy-mean"\nnoise = "laplace:0.5"\nadjacency = "replace-one"\n'
    "dimensions = 2\nlower = 0.0\nupper = 1.0\ndivide_by = 24"
)
GRADIENT = (
    'name = "noisy-gradient"\nnoise = "gaussian:1.1"\nadjacency = "add-remove"\n'
    "shapes = [[4, 3], [3]]\nclip_norm = 1.0\ndivide_by = 32"
)
