#ifndef FCN_PERMILLE_P4
#define FCN_PERMILLE_P4

#include "../../base/sizes.p4"
#include "link_types.p4"

// A binary digit of the quotient: switches do not divide.
#define PERMILLE_DIGIT(digit)                    \
    if (rest >= (whole << digit)) {              \
        rest = rest - (whole << digit);          \
        permille = permille | (10w1 << digit);   \
    }

// Permille: how much of the whole a part is.
// Reads:  both, in the same unit; the whole below 2^54.
// Writes: permille, rounded down; 1000 where the part is the whole or more.
// When:   the clock comes to a link, or begins a new round.
control Permille(in bit<64> part, in bit<64> whole, out permille_t permille) {
    apply {
        permille = 0;
        if (part >= whole) {
            permille = (permille_t)PERMILLE;
        } else {
            bit<64> rest = part * (bit<64>)PERMILLE;
            PERMILLE_DIGIT(9)
            PERMILLE_DIGIT(8)
            PERMILLE_DIGIT(7)
            PERMILLE_DIGIT(6)
            PERMILLE_DIGIT(5)
            PERMILLE_DIGIT(4)
            PERMILLE_DIGIT(3)
            PERMILLE_DIGIT(2)
            PERMILLE_DIGIT(1)
            PERMILLE_DIGIT(0)
        }
    }
}

#endif
