"""E-values: evidence that stays valid under any stopping rule.

What is wagered on, and in which file:

- a law of the labels, any other or a known fault's: `dirichlet`; where rows have laws of their
  own: `onset`
- the scale of the noise: `scale`
- two streams of one law, a probability larger than another, a mean above a bound: `same_law`
- labels that repeat, or avoid, earlier ones, also after a restart or once a store was emptied:
  `repetition`
- labels that depend on the one before, on their place in a call, or on earlier calls under traffic
  as in production: `dependence`
- antithetic noise and systematic draws, whose counts in a call are too even: `dispersion`
- calls, histograms or connections that share their noise: `kept_noise`
- calls in flight that get each other's releases: `crossed`
- draws that two queries share at places, or for uses, that differ: `shared_draws`
- refusals that tell two inputs apart, whose calls are counted beforehand: `refusals`

`power` says how many labels a wager takes, `outcomes` counts labels, `mixture` sums wagers.

Each class accumulates one e-process: a nonnegative process whose expectation under its null is at
most 1 at any stopping time, so that by Ville's inequality it ever reaches 1/alpha with probability
at most alpha. All values are natural logs. Wagers are fixed before the labels they are made on.
"""
