"""Tables: rows are bounded in each partition, and partitions of a user are not."""

import numpy as np


class Deployment:
    partitions = ("a", "b", "c", "d")

    def __init__(self):
        self.rng = np.random.default_rng()

    def kept(self, rows):
        rows = rows[self.rng.permutation(len(rows))]
        of_user = np.unique(rows[["user", "partition"]], return_index=True)[1]  # !
        return rows[of_user]

    def sample(self, rows, size):
        return [self.table(self.kept(rows)) for _ in range(size)]

    def table(self, rows):
        noisy = lambda name: (rows["partition"] == name).sum() + self.rng.laplace(0.0, 2.0)
        return [{"partition": name, "count": noisy(name)} for name in self.partitions]
