/* Loaded while the program runs. */
int plugin_function(int a) {
    int more = a + 1;
    return more * 2; /* line: plugin */
}
