/*
 * agent-loop: serves a request many times, and times the loop: what an agent that stays attached may watch.
 *
 * Use:   agent-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        agent-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   A request reads 500 bytes from /dev/zero and writes them to /dev/null: such are the records of dd in
 *        falcosecurity/falco, issue 1404. A request is a function of its own, with what stands for its path as an
 *        argument, so that a probe on its entry and return fires once an operation.
 */

#define PROGRAM "agent-loop"
#include "../../loop.h"

#define BLOCK_BYTES 500

static int in, out;

/* Not `static`: probes find it by its name. */
__attribute__((noinline, aligned(64))) void serve(const char *path)
{
	char block[BLOCK_BYTES];

	__asm__ volatile("" : : "r"(path));
	if (read(in, block, sizeof(block)) != (ssize_t)sizeof(block))
		die("read /dev/zero");
	if (write(out, block, sizeof(block)) != (ssize_t)sizeof(block))
		die("write /dev/null");
}

static uint64_t time_operations(long operations)
{
	static const char PATH[] = "/api/items/42";
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		serve(PATH);
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, "");

	in = open_or_die("/dev/zero", O_RDONLY);
	out = open_or_die("/dev/null", O_WRONLY);
	wait_for_go();
	print_run(operations, time_operations(operations));
	return 0;
}
