/*
 * beside-loop: does usual work and has 1, 10, 100 and 1000 functions for probes, none of which it calls.
 *
 * Use:   beside-loop OPERATIONS CPU LEVEL  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned.
 *                                          LEVEL is how many probes come and go meanwhile; it changes nothing here
 *        beside-loop --clock READS CPU     times READS reads of the clock itself
 *        beside-loop --quiet               sleeps until its parent ends
 * Needs: Linux, and leave to write `./quiet-loop`.
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is what so many microseconds of
 *        usual work take with what interrupted it, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   The kernel writes a user probe into every process that has the file mapped, so another program is needed to see
 *        what a process pays for a stranger's: a copy of this file, quiet-loop, which a child runs. stack.h says what the
 *        loop does, and places.h what is probed.
 */

#define PROGRAM "beside-loop"
#include "../../loop.h"
#include "../../stack.h"
#include "../../places.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define QUIET "./quiet-loop"

PROBED_PLACES

/* Writes a copy of this program: another file, so that a probe on it is none on us. */
static void copy_ourselves(void)
{
	int from = open_or_die("/proc/self/exe", O_RDONLY);
	struct stat facts;
	int to;

	if (unlink(QUIET) != 0 && errno != ENOENT)
		die(QUIET);
	to = open(QUIET, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (to < 0 || fstat(from, &facts) != 0)
		die(QUIET);
	while (facts.st_size > 0) {
		ssize_t copied = sendfile(to, from, NULL, (size_t)facts.st_size);

		if (copied <= 0)
			die(QUIET);
		facts.st_size -= copied;
	}
	if (close(to) != 0)
		die(QUIET);
	close(from);
}

static void run_quiet(void)
{
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		die("fork");
	if (child > 0)
		return;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	close(STDIN_FILENO);
	close(STDOUT_FILENO); /* whose reader waits for its end */
	execl(QUIET, QUIET, "--quiet", (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	long operations;

	if (argc == 2 && strcmp(argv[1], "--quiet") == 0)
		for (;;)
			pause();
	operations = begin(argc, argv, " LEVEL");
	copy_ourselves();
	run_quiet();
	prepare_work(1, 1);
	wait_to_be_sampled();
	print_run(operations, below(1, operations));
	return 0;
}
