"""Messages, requests, a collective and a communicator of mpi4py. Two ranks."""
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
other = 1 - rank
data = array("i", [rank, rank])
if rank == 0:
    comm.Send([data, MPI.INT], dest=1, tag=3)
    comm.Recv([data, MPI.INT], source=1, tag=4)
else:
    comm.Recv([data, MPI.INT], source=0, tag=3)
    comm.Send([data, MPI.INT], dest=0, tag=4)
answer = comm.sendrecv({"from": rank}, dest=other, sendtag=5, source=other, recvtag=5)
assert answer == {"from": other}
request = comm.Isend([data, MPI.INT], dest=other, tag=6)
comm.Recv([data, MPI.INT], source=MPI.ANY_SOURCE, tag=6)
request.Wait()
assert comm.allreduce(rank + 1) == 3
pair = comm.Dup()
pair.Barrier()
pair.Free()
if rank == 0:
    print("python: all is well")
