// Draws random numbers from everywhere that the system offers; which messages it sends and what it prints depends on them.
//
// Usage: seeds [pid]   `pid`: the number of the process counts as one of them
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <mpi.h>
#include <random>
#include <stdio.h>
#include <string.h>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace {

unsigned fromDescriptor(const char *path)
{
    unsigned value = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &value, sizeof value) != ssize_t(sizeof value)) {
        std::cerr << "no " << path << '\n';
    }
    close(fd);
    return value;
}

unsigned fromStream(const char *path)
{
    unsigned value = 0;
    FILE *file = fopen(path, "rb");
    if (file == nullptr || fread(&value, sizeof value, 1, file) != 1) {
        std::cerr << "no " << path << '\n';
    }
    if (file != nullptr) {
        fclose(file);
    }
    return value;
}

unsigned fromFstream(const char *path)
{
    unsigned value = 0;
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char *>(&value), sizeof value);
    return value;
}

unsigned fromOwnStream(const char *path)
{
    unsigned value = 0;
    const int fd = openat(AT_FDCWD, path, O_RDONLY);
    FILE *file = fdopen(fd, "r");
    if (fread(&value, sizeof value, 1, file) != 1 || fileno(file) != fd) {
        std::cerr << "no stream of " << path << '\n';
    }
    fclose(file);
    return value;
}

unsigned fromEntropy()
{
    unsigned value = 0;
    if (getentropy(&value, sizeof value) != 0) {
        std::cerr << "no entropy\n";
    }
    return value;
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<unsigned> values = {fromDescriptor("/dev/urandom"), std::random_device()()}; // before MPI_Init
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    values.push_back(fromDescriptor("/dev/random"));
    values.push_back(fromStream("/dev/urandom"));
    values.push_back(fromFstream("/dev/urandom"));
    values.push_back(fromOwnStream("/dev/urandom"));
    values.push_back(fromEntropy());
    values.push_back(std::random_device()());
    if (argc > 1 && strcmp(argv[1], "pid") == 0) {
        values.push_back(unsigned(getpid()));
    }
    std::ostringstream text;
    text << "rank " << rank << " drew";
    for (const unsigned value : values) {
        unsigned other = 0;
        MPI_Sendrecv(&value, 1, MPI_UNSIGNED, (rank + 1) % size, int(value % 1000), &other, 1, MPI_UNSIGNED,
                     (rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        text << ' ' << value << '/' << other;
    }
    std::cout << text.str() << std::endl;
    MPI_Finalize();
    return 0;
}
