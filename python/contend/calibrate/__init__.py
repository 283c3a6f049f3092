"""Calibration: machine profiles from measurements.

The stages are in `pipeline.py`: direct identification (`identification.py`), screening and global fit
(`search.py`), posterior on an emulator (`emulator.py`, `posterior.py`), what the data can see (`sensitivity.py`), and
the profile that comes out (`profile.py`). How a dataset becomes a scenario is data (`mapping.py`,
calibration/mappings).
"""
