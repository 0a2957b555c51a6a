/* The capacity goes from 2 to 1 and up again, while others acquire, take and post. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define SLOTS 4
#define SETTER
#define ORPHANS
#include "../tsem.pml"

HOLDER(first, 1, 1)
TAKER(second, 2, 1)

proctype setter(byte me)
{
	LOCALS;
	set_capacity(1);
	set_capacity(2);
	END
}

init { atomic { run first(0); run second(1); run setter(2); run rest() } }
