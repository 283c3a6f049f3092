"""What foreign benchmark programs print, one run each, and a way to import it."""

from pathlib import Path

from contend.cli import main

MULTIRATE = "1\t20\t1\t20\t0\t128\t0.00 Gbps\t7.13 usec\t140199.00 msg/s\n"
MBW_MR = """# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2
# [ pairs: 4 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                      12.35       12345678.90
8                      98.00       12250000.00
"""
LATENCY_MT = """# Number of Sender threads: 1
# Number of Receiver threads: 4
# OSU MPI Multi-threaded Latency Test v5.6.3
# Size          Latency (us)
0                       3.89
1024                    4.25
"""
RMA_MT = """##########################################
# RMA-MT Bandwidth
#
# Operation: put
# Sync: flush
# Thread count: 16
# Number of MPI process pairs: 1
# Iterations: 1000
# Bind worker threads: yes
# Number of windows: 1
# Unique displacement per thread: no
##########################################
  BpT(16)\t  BxT(16)\tBandwidth(MiB/s)\tMessage_Rate(M/s)
        1\t       16\t        1.302\t\t  1364736.838
        2\t       32\t        2.647\t\t  1387855.707
"""
RMA_MT_CSV = (
    RMA_MT.split("  BpT", maxsplit=1)[0]
    + "BpT(16),BxT(16),Bandwidth(MiB/s),Message_Rate(M/s)\n1,16,1.302,1364736.838\n"
)
IMB_MT = """
#-----------------------------------------------------------------------------
# Benchmarking UniBandMT
# #processes = 2 (threads: 4)
# window_size = 64
#-----------------------------------------------------------------------------
       #bytes #repetitions    Mbytes/sec       Msg/sec
            0         1000          0.00       2500000
           32         1000         20.00       2400000
"""
UCX = """+--------------+--------------+------------------------------+---------------------+-----------------------+
| API:          protocol layer                                                                                  |
| Test:         tag match bandwidth                                                                             |
| Message size: 8                                                                                               |
+--------------+--------------+------------------------------+---------------------+-----------------------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
[thread 0]           5000000      0.120     0.126     0.126       60.00      60.55     7936508     7936508
Final:               5000000      0.120     0.126     0.126       60.00      60.55     7936508     7936500
"""
UCX_OF_THREADS = (
    UCX.rpartition("Final:")[0]
    + """\
[thread 1]           1000000      0.610     0.630     0.630       12.10      12.11     1587301     1587301
Final:               2000000                         0.630                  24.22                 3174603
"""
)
GOOD = {
    "multirate": MULTIRATE, "osu-mbw-mr": MBW_MR, "osu-latency-mt": LATENCY_MT, "rma-mt": RMA_MT, "imb-mt": IMB_MT,
    "ucx-perftest": UCX,
}  # fmt: skip


def importing(kind: str, text: str, tmp_path: Path, *options: str) -> Path:
    source = tmp_path / "output.txt"
    source.write_text(text)
    out = tmp_path / "made.json"
    assert main(["import", kind, str(source), "-o", str(out), *options]) == 0
    return out
