"""What no claim says yet of the code that was read: code base, call, why."""

LATER = (
    (
        "fraboeni/individualized-pate",
        "VanishingGNMax, UpsamplingGNMax, WeightingGNMax",
        "votes are weighted, repeated or left out per teacher, and costs are per person; a claim "
        "has one histogram and one cost. They are mapped to votes before the aggregators above",
    ),
    (
        "jeremy43/Private_kNN",
        "knn.py",
        "neighbours come from a random subset of the records, drawn anew for each query; a claim "
        "takes the votes on an input as fixed",
    ),
    (
        "jeremy43/Private_kNN",
        "the charge of knn.py",
        "subsampling with replacement, charged as Poisson: no claim names the sampling",
    ),
    (
        "vanderschaarlab/synthcity",
        "PATEGAN.fit",
        "batches of which noisy labels are mostly ones are not charged: a charge by outcome",
    ),
    (
        "vanderschaarlab/mlforhealthlabpub",
        "the moments of pategan",
        "they are counted inside the training loop, and cannot be asked for alone",
    ),
    (
        "dmachooka/PATE-mlp",
        "the epsilons of its notebooks",
        "they are made of a whole run's votes, and are no charge of one query",
    ),
    (
        "kamathhrishi/PATE",
        "Teacher.analyze",
        "it is PySyft's analysis of a whole run; its moments stand in the row of PySyft",
    ),
    (
        "cleverhans-lab/capc-iclr",
        "learning/models.py, Ensemble_Model.query",
        "it counts and draws within loops over torch tensors, which has no small stand-in",
    ),
    (
        "tensorflow/privacy",
        "pate_2018 smooth_sensitivity.py",
        "a noisy epsilon is published: no claim has smooth sensitivity",
    ),
    (
        "smartnoise-synth 1.0.8",
        "pategan, patectgan",
        "not installed: it needs torch and opacus, an environment of gigabytes",
    ),
)
