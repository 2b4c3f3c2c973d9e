/* Arithmetic modulo a prime: elimination without rounding, so that answers are known to the last digit. */
#ifndef MODULAR_H
#define MODULAR_H

#include <stdint.h>

enum { PRIME = 1000003 };

static inline int64_t power_of(int64_t base, int exponent)
{
    int64_t result = 1;
    for (; exponent > 0; exponent /= 2) {
        result = exponent % 2 == 1 ? result * base % PRIME : result;
        base = base * base % PRIME;
    }
    return result;
}

static inline int64_t inverse_of(int64_t value)
{
    return power_of(value, PRIME - 2);
}

/* 0 to PRIME - 1, the same for the same place. */
static inline int64_t chance(int row, int column)
{
    uint32_t x = (uint32_t)row * 2654435761u ^ ((uint32_t)column * 40503u + 12345u);
    x ^= x >> 13;
    x *= 0x5bd1e995u;
    x ^= x >> 15;
    return x % PRIME;
}

/* The matrices are products of a lower triangle with ones on its diagonal and an upper one without zeros there: no
 * elimination needs to look for a pivot, and the determinant is the product of the diagonal of the upper one. */
static inline int64_t lower_part(int row, int column)
{
    return column < row ? chance(row, column) : column == row;
}

static inline int64_t upper_part(int row, int column)
{
    return column < row ? 0 : column == row ? 1 + chance(row, column) % (PRIME - 1) : chance(row, column);
}

static inline int64_t entry_of_product(int row, int column)
{
    int64_t sum = 0;
    for (int k = 0; k <= row && k <= column; k++) {
        sum = (sum + lower_part(row, k) * upper_part(k, column)) % PRIME;
    }
    return sum;
}

#endif
