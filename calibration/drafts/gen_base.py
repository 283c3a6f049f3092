"""calibration/profiles/vm-2core.json: what a calibration of the measured virtual machine begins with."""
import json,sys
a=json.load(open('calibration/profiles/alembert.json'))
a["name"]="vm-2core"
a["description"]="Virtual machine with two cores, Linux 6.18, where validation/data/vm-2core was measured: what a calibration begins with. Prices of sockets, shared memory and the scheduler are defaults of kernel and libraries or guesses; contend calibrate replaces what the measurements determine. Values of the interface are those of alembert and mean nothing here."
a["cpu"]="Intel Xeon, 2 virtual cores (KVM)"; a["network"]="loopback device and shared memory"
a["topology"]={"sockets":1,"cores_per_socket":2,"threads_per_core":1}
def e(v,src,unc,basis="guess",rng=None,note=None):
    d={"value":v,"source":src,"uncertainty":unc,"basis":basis}
    if rng: d["range"]=rng
    if note: d["note"]=note
    return d
if "scheduler" in a:
    s=a["scheduler"]
    s["policy"]=e("eevdf","Linux 6.18","certain","literature")
    s["slice"]=e("1.4 ms","Linux 6.18: sched_base_slice 0.7 ms x 2 (1 + log2 of two processors)","exact for the kernel's defaults","literature",["1.4 ms","3 ms"])
    s["tick"]=e("4 ms","kernel configured with HZ=250","certain","literature",["1 ms","4 ms"])
    s["context_switch"]=e("300 ns","contend measure: sched_yield from one thread to the next takes 0.47 us, alone 0.16 us","±20 %","measured",["200 ns","1 us"])
    s["yield_call"]=e("163 ns","contend measure: sched_yield alone on the core","±5 %","measured",["150 ns","180 ns"])
T={"send_call":e("2.1 us","contend measure, primitives: MPI_Isend over TCP less that over shared memory","±30 %","measured",["500 ns","10 us"]),
 "full_send_call":e("600 ns","a system call that finds the socket's buffer full","-50 %, +300 %","guess",["200 ns","5 us"]),
 "receive_call":e("1 us","half of what a message of a stream costs more than over shared memory","-70 %, +200 %","guess",["200 ns","10 us"]),
 "poll_call":e("170 ns","contend measure, primitives: MPI_Test over TCP less that over shared memory","±50 %","measured",["50 ns","2 us"]),
 "poll_socket":e("0 ns","epoll: sockets without data cost nothing","libraries with poll() pay for each","guess",["0 ns","100 ns"]),
 "dispatch":e("100 ns","from the event library to the transport's callback","-70 %, +200 %","guess",["30 ns","300 ns"]),
 "copy_bandwidth":e("8 GB/s","contend measure: copy of 4 KiB that no cache of the core holds","±15 %","measured",["6 GB/s","12 GB/s"]),
 "buffer":e("256 KiB","Linux: a connection begins with 16 KiB for sending and 128 KiB for receiving, and grows","-50 %, +900 %","guess",["128 KiB","2 MiB"]),
 "packet":e("1280 B","Linux: truesize of a small packet, buffer and bookkeeping","-40 %, +80 %","guess",["768 B","2304 B"]),
 "receive_size":e("30 KiB","Open MPI, btl/tcp: btl_tcp_endpoint_cache","a run-time option","literature",["30 KiB","30 KiB"])}
S={"box_write":e("10 ns","a fifth of a message of a stream over shared memory","-80 %, +300 %","guess",["2 ns","200 ns"]),
 "box_read":e("10 ns","a fifth of a message of a stream over shared memory","-80 %, +300 %","guess",["2 ns","200 ns"]),
 "queue_write":e("30 ns","fragment from a free list and an atomic exchange","-70 %, +300 %","guess",["5 ns","500 ns"]),
 "queue_read":e("30 ns","as queue_write","-70 %, +300 %","guess",["5 ns","500 ns"]),
 "poll_box":e("3 ns","a load and a branch","±50 %","guess",["1 ns","10 ns"]),
 "poll_queue":e("5 ns","two loads and a branch","±50 %","guess",["2 ns","15 ns"]),
 "copy_call":e("400 ns","system call and page look-up of process_vm_readv","±50 %","guess",["200 ns","1 us"]),
 "copy_bandwidth":e("8 GB/s","contend measure: copy of 4 KiB that no cache of the core holds","±15 %","measured",["6 GB/s","12 GB/s"]),
 "box_messages":e(64,"Open MPI, btl/sm: fast box of 4 KiB, 64 B for a small message","±50 %","literature",[32,128]),
 "box_limit":e("1 KiB","Open MPI, btl/sm: quarter of a fast box","a run-time option","literature",["1 KiB","1 KiB"]),
 "box_threshold":e(16,"Open MPI, btl/sm: btl_sm_fbox_threshold","a run-time option","literature",[16,16]),
 "fragments":e(512,"Open MPI, btl/sm: btl_sm_free_list_max","a run-time option","literature",[512,512]),
 "poll_batch":e(31,"Open MPI, btl/sm: fragments of one call of progress","certain for the default build","literature",[31,31])}
out={}
for k,v in a.items():
    if k in("tcp","shared_memory"): continue
    out[k]=v
    if k=="nic":
        out["tcp"]=T; out["shared_memory"]=S
open('calibration/profiles/vm-2core.json','w').write(json.dumps(out,indent=2,ensure_ascii=False)+"\n")
