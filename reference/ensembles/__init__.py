"""Private records, teachers on them, their votes, and students.

Records (`records`, also with an attribute that attackers infer) are shared among teachers
(`teachers`), who learn and vote (`votes`). A student buys answers within a budget, which have a
cost at the votes too (`released`), and learns from them; `taught` is the whole of it once.
"""
