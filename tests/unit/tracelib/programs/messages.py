"""Messages, requests, a collective and a communicator of mpi4py, without what depends on how Python packs things. Two
ranks."""
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
other = 1 - rank
data = array("i", [rank, rank])
got = array("i", [0, 0])
if rank == 0:
    comm.Send([data, MPI.INT], dest=1, tag=3)
    comm.Recv([data, MPI.INT], source=1, tag=4)
else:
    comm.Recv([data, MPI.INT], source=0, tag=3)
    comm.Send([data, MPI.INT], dest=0, tag=4)
request = comm.Isend([data, MPI.INT], dest=other, tag=6)
comm.Recv([got, MPI.INT], source=MPI.ANY_SOURCE, tag=6)
request.Wait()
# An object takes a matched probe, so that its size is known.
sent = comm.isend(bytes(10), dest=other, tag=7)
assert comm.recv(source=other, tag=7) == bytes(10)
sent.wait()
total = array("i", [0])
comm.Allreduce([array("i", [rank + 1]), MPI.INT], [total, MPI.INT])
assert total[0] == 3
pair = comm.Dup()
pair.Barrier()
pair.Free()
try:
    comm.Send([data, MPI.INT], dest=5, tag=0)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK
if rank == 0:
    print("python: all is well")
