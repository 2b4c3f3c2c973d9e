/* A library of the user's, outside the system's directories. */
int user_function(int a) {
    int twice = a * 2;
    return twice + 1; /* line: user library */
}
