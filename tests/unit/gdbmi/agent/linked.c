/* A program as it is linked with MPI (LIBRARY: that library), with MPI inside (STATIC), or without any (WITHOUT). */
#if defined LIBRARY || defined STATIC
int PMPI_Init(int* argc, char*** argv) {
    return argc == 0 || argv == 0;
}
int MPI_Init(int* argc, char*** argv) {
    return PMPI_Init(argc, argv);
}
#endif
#ifndef LIBRARY
#ifndef STATIC
int MPI_Init(int* argc, char*** argv);
#endif
int main(int argc, char** argv) {
#ifdef WITHOUT
    return argc == 0 || argv == 0;
#else
    return MPI_Init(&argc, &argv);
#endif
}
#endif
