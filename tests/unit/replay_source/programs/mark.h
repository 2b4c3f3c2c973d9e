/* Prints "line address function" for the line it is called from, as the test expects it to be found. */
#ifndef MARK_H
#define MARK_H

#ifdef __cplusplus
extern "C"
#endif
void mark(int line, const char *function);

/* Tells the test that all is printed, and waits until it closes our input. */
#ifdef __cplusplus
extern "C"
#endif
void wait_for_test(void);

#endif
