/*
 * switch-loop: sends a byte to another process on the same CPU and waits for it to come back, many times, and times that.
 *
 * Use:   switch-loop OPERATIONS CPU [RATE]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        switch-loop --clock READS CPU      times READS reads of the clock itself
 *        RATE: of no meaning here; the level of the suite, which every workload is told
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of this process by getrusage(2), without the other's.
 * Why:   Each operation takes the CPU from one process and gives it back: two context switches, between two processes
 *        that a tool may watch. The other one is started before the wait, so that tools find it.
 */

#define PROGRAM "switch-loop"
#include "../../loop.h"

#include <signal.h>
#include <sys/prctl.h>

static void echo(int in, int out)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static uint64_t time_operations(long operations, int out, int in)
{
	char byte = 0;
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
			die("a byte there and back");
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [RATE]");
	int there[2], back[2];
	pid_t other;

	if (pipe(there) != 0 || pipe(back) != 0 || (other = fork()) < 0)
		die("another process");
	if (other == 0) {
		close(there[1]);
		echo(there[0], back[1]);
	}
	wait_for_go();
	print_run(operations, time_operations(operations, there[1], back[0]));
	kill(other, SIGKILL);
	return 0;
}
