"""Measuring real MPI libraries, locks and machines: what `contend measure` does.

From the outside in: `campaign` (what the user wants, JSON) is expanded by `plan` into cells; `session` launches them
one by one in random order through `runner`, watches the machine with `load`, and keeps everything in `journal`;
`dataset` turns the journal into files, `report` into a table and a picture. `libraries`, `building` and `transports`
know the MPI libraries; `sandbox` keeps what a run starts from outliving it.
"""
