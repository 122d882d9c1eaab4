"""Private records, teachers on them, their votes, and students.

Records (`records`; `people`, with an attribute that attackers infer) are shared among teachers
(`partition`), who learn (`learners`, `teachers`) and vote (`votes`, `consensus`). A student buys
answers within a budget (`answers`), which have a cost at the votes too (`released`), and learns
from them (`student`); `taught` is the whole of it once.
"""
