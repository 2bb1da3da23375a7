/* Random numbers of the laboratory: integers only, so that they are the same on every machine. */
#ifndef LAB_RANDOM_H
#define LAB_RANDOM_H

#include <stdint.h>

typedef struct {
    uint64_t state;
} lab_random;

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t lab_random_next(lab_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* The generator of one of the actors of a simulation. */
static inline lab_random lab_random_of(uint64_t seed, uint32_t actor)
{
    lab_random r = {seed};
    uint64_t start = lab_random_next(&r);
    r.state = start ^ (uint64_t)actor * 0xd1b54a32d192ed03ULL;
    r.state = lab_random_next(&r);
    return r;
}

/* Exponentially distributed with this mean: von Neumann's method of comparisons (Various Techniques
 * Used in Connection with Random Digits, 1951). The mean must be below 2^57. */
static inline uint64_t lab_random_exponential(lab_random *r, uint64_t mean)
{
    for (uint64_t whole = 0;; whole += mean) {
        uint64_t fraction = lab_random_next(r), before = fraction, next;
        unsigned run = 1;
        while ((next = lab_random_next(r)) < before) {
            before = next;
            run++;
        }
        if (run & 1)
            return whole + (uint64_t)((unsigned __int128)fraction * mean >> 64);
    }
}
#endif
