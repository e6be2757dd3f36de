/*
 * attach-loop: has 1, 10, 100 and 1000 functions for probes, calls none of them, and times a loop of another one.
 *
 * Use:   attach-loop OPERATIONS CPU LEVEL  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned.
 *                                          LEVEL is how many probes there are; it changes nothing here
 *        attach-loop --clock READS CPU     times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   A wildcard matches as many functions of places.h as a level says. The loop makes no system call, so that no
 *        probe on one fires in it. An operation is a thousand calls, so that the first trial run is long enough: with a
 *        thousand probes another one would take minutes.
 */

#define PROGRAM "attach-loop"
#include "../../loop.h"
#include "../../places.h"

PLACE(unprobed)
PROBED_PLACES

#define CALLS 1000 /* of an operation */

extern void unprobed(void);

static __attribute__((noinline)) uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		for (int call = 0; call < CALLS; call++)
			unprobed();
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " LEVEL");

	wait_for_go();
	print_run(operations, time_operations(operations));
	return 0;
}
