/* Nobody dies, no ticks: whoever is enabled wakes. One permit, three who want it, anonymous ones among them. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define SLOTS 2
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 1, 1)
TAKER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
