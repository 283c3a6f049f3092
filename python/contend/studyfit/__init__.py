"""Prices of a machine that are fitted to some of a study's numbers; everything else that it says is then a prediction.

Every price is expected where its source has it, and the ends of its range in the profile lie two standard deviations
away, on a logarithmic scale: what the study's numbers do not tell apart stays there. `description.py` reads what is
fitted to what, `trials.py` simulates sets of prices, `search.py` finds the most probable one, `posterior.py` how
probable the others are, and `draws.py` what statements and predictions come out at over them.
"""
