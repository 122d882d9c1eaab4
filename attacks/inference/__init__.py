"""What an attacker says about people, and how well.

A sensitive attribute from votes (`attribute`), who was a training record from votes or released
labels (`membership`), what privacy bounds (`attack_cost`), and how attacks are judged
(`measures`).
"""
