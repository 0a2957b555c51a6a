/* Two uses of the same record, by the same process, and a helper of another: stale tags, generations. Counts 2 and 1. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 2
#define SLOTS 2
#define CRASHES 1
#include "../tsem.pml"

HOLDER(first, 2, 3)
HOLDER(second, 1, 2)

init { atomic { run first(0); run second(1); run rest() } }
