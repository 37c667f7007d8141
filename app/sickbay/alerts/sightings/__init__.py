"""What rules see: one function for each kind of rule, all of them only read.

Add a kind by adding a member to ``RuleKind`` and a function to ``look.WATCHERS``.
"""
