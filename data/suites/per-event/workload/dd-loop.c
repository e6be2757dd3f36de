/*
 * dd-loop: reads one byte from /dev/zero and writes one byte to /dev/null, many times, and times the loop.
 *
 * Use:   dd-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        dd-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   dd differs among systems and releases, and its start and end cannot be told from its loop.
 *        Reads and writes go through the C library, so that a probe on its `read` fires once an operation.
 */

#define PROGRAM "dd-loop"
#include "../../loop.h"

static uint64_t time_operations(long operations, int in, int out)
{
	char byte = 0;
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++) {
		if (read(in, &byte, 1) != 1)
			die("read /dev/zero");
		if (write(out, &byte, 1) != 1)
			die("write /dev/null");
	}
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, "");
	int in = open_or_die("/dev/zero", O_RDONLY), out = open_or_die("/dev/null", O_WRONLY);

	wait_for_go();
	print_run(operations, time_operations(operations, in, out));
	return 0;
}
