/*
 * idle-loop: keeps so many processes that do nothing, for somebody who watches them, and sleeps a little itself.
 *
 * Use:   idle-loop OPERATIONS CPU [PROCESSES]  starts PROCESSES, waits on standard input for one byte ("go"), then runs
 *        idle-loop --clock READS CPU           times READS reads of the clock itself
 *        PROCESSES: 0 by default, and no more than MOST
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of this process alone by getrusage(2).
 * Why:   Each process waits for a signal that never comes, so that it uses memory and no CPU. The kernel ends them when
 *        this program ends, however it ends; where it ends by itself, it has waited for each, so that the next run
 *        finds none of them.
 */

#define PROGRAM "idle-loop"
#include "../../loop.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MOST 30000 /* below 32,768, at which the ids of many systems end */
#define REST_NS 1000000

/* In a process of its own, for ever. It holds no pipe of ours open. */
static void be_idle(pid_t us, atomic_long *idle)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != us)
		_exit(1);
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	atomic_fetch_add(idle, 1);
	for (;;)
		pause();
}

static void refuse_more_than_allowed(long processes)
{
	struct rlimit limit;

	if (processes > MOST) {
		fprintf(stderr, PROGRAM ": %ld processes: expected no more than %d\n", processes, MOST);
		exit(2);
	}
	if (getrlimit(RLIMIT_NPROC, &limit) != 0)
		die("getrlimit");
	if (geteuid() != 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t)processes) {
		fprintf(stderr, PROGRAM ": %ld processes: this user may have %ju; raise it with ulimit -u\n", processes,
		        (uintmax_t)limit.rlim_cur);
		exit(1);
	}
}

/* Starts them, and returns when each is idle. Until then it never sleeps: whoever sees this program sleep takes it for
 * one that waits for its "go". */
static void start(pid_t *pids, long processes)
{
	atomic_long *idle = mmap(NULL, sizeof(*idle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t us = getpid();

	if (idle == MAP_FAILED)
		die("mmap");
	for (long place = 0; place < processes; place++) {
		pids[place] = fork();
		if (pids[place] < 0) {
			fprintf(stderr,
			        PROGRAM ": process %ld of %ld: %s; look at ulimit -u, at kernel.pid_max and kernel.threads-max, and at "
			                "pids.max of the control group\n",
			        place + 1, processes, strerror(errno));
			exit(1);
		}
		if (pids[place] == 0)
			be_idle(us, idle);
	}
	while (atomic_load(idle) < processes) {
		if (waitpid(-1, NULL, WNOHANG) > 0) {
			fprintf(stderr, PROGRAM ": a process ended that should have been idle\n");
			exit(1);
		}
		sched_yield();
	}
}

static void end(const pid_t *pids, long processes)
{
	for (long place = 0; place < processes; place++)
		kill(pids[place], SIGKILL);
	for (long place = 0; place < processes; place++)
		while (waitpid(pids[place], NULL, 0) < 0 && errno == EINTR)
			continue;
}

static uint64_t time_rests(long rests)
{
	const struct timespec rest = {0, REST_NS};
	uint64_t start_ns = now_ns();

	while (rests-- > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [PROCESSES]");
	long processes = argc > 3 ? number(argv[3], 0) : 0;
	uint64_t wall_ns;
	pid_t *pids;

	refuse_more_than_allowed(processes);
	pids = calloc((size_t)processes + 1, sizeof(*pids));
	if (pids == NULL)
		die("calloc");
	start(pids, processes);
	wait_for_go();
	wall_ns = time_rests(operations);
	end(pids, processes);
	print_run(operations, wall_ns);
	return 0;
}
