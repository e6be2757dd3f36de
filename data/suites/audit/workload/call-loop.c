/*
 * call-loop: makes the cheapest system call, getppid, many times, and times the loop.
 *
 * Use:   call-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned.
 *        call-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   What auditing adds, it adds to every system call alike; the less the call does itself, the better it shows.
 */

#define PROGRAM "call-loop"
#include "../../loop.h"

#include <sys/syscall.h>

static uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		syscall(SYS_getppid);
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, "");

	wait_for_go();
	print_run(operations, time_operations(operations));
	return 0;
}
