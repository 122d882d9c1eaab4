"""Checks of a recorded or growing log of labels, without asking the deployment.

- `laws`: those that rows are held to, by histogram; `judge`: the e-processes over rows
- `reuse`: wagers on labels that are copies, and on shared noise; `changes`: on faults of one party,
  and the rows of a change
- `missing_noise`: where missing noise would have shown; `excluded`: what a pass excludes by it
- `costs`: the cost of rows, and what they charged; `certain_total`: its proof
- `verify_log`: a recorded log, from its rows to its report; `findings`: its results in words
- `monitor`: follows a growing log; `sources`, `followed_file`: reads it; `running_costs`: its costs
- `store`: the state of a monitor on disk; `saved`: it as bytes; `sealed`: its file, which detects
  damage
- `alarms`: lines and webhooks; `snapshot`: its figures, for a screen and Prometheus
"""
