"""Calibration: machine profiles from measurements.

The stages are in `pipeline.py`: direct identification (`identification.py`), the fit of each part of the rest
(`parts.py`, `part_fit.py`), and the profile that comes out (`profile.py`). A part has screening and global fit
(`search.py`), a posterior on an emulator (`posterior_rounds.py`, `emulator.py`, `posterior.py`), and what the data can
see (`sensitivity.py`). How a dataset becomes a scenario is data (`mapping.py`,
calibration/mappings).
"""
