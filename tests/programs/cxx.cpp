// C++ with classes, templates and lambdas around MPI calls, and a shared library of the user's own (libuser.so).
#include "user_library.h"

#include <cstdio>
#include <functional>
#include <map>
#include <string>

namespace {

class World {
  public:
    World(int& argc, char**& argv)
    {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World() { MPI_Finalize(); }

    int rank = 0;
    int size = 1;
};

template <typename T>
T sumOver(const World& world, T own, MPI_Datatype type)
{
    T total{};
    MPI_Reduce(&own, &total, 1, type, MPI_SUM, 0, MPI_COMM_WORLD);
    return world.rank == 0 ? total : own;
}

} // namespace

int main(int argc, char** argv)
{
    World world(argc, argv);
    std::map<std::string, std::function<void()>> actions;
    int token = world.rank;
    actions["broadcast"] = [&token] { MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD); };
    actions["broadcast"]();

    std::vector<double> cells(10, world.rank + 1.0);
    workshop::Exchanger exchanger(MPI_COMM_WORLD, 3);
    const double own = exchanger.run(cells);
    const double total = sumOver(world, own, MPI_DOUBLE);
    if (world.rank == 0) {
        std::printf("total = %.1f, token = %d\n", total, token);
    }
    return 0;
}
