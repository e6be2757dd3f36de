/*
 * build-loop: builds a project with make on every CPU that it may use, and times the whole build.
 *
 * Use:    build-loop 1 CPU TREE         waits on standard input for one byte ("go"), then runs make in the folder TREE
 *         build-loop --clock READS CPU  times READS reads of the clock itself
 * Needs:  a make that takes -j, and what the project needs. TREE is clean, and make knows what to build in it.
 * Read:   {"operations": 1, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time, U and S are
 *         the CPU time of this process and of all that it has started and waited for.
 * Why:    The whole build is the operation: make -j with as many jobs as there are CPUs, as somebody types it who waits
 *         for it. A second build would find everything built, so each run has a fresh tree. What make prints, and the
 *         compiler's own files, lie beside the tree. Variables that a user has set for make reach it in no run.
 */

#define PROGRAM "build-loop"
#include "../../loop.h"

#include <limits.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#if defined(__linux__)
#include <sys/prctl.h>
#elif defined(__FreeBSD__)
#include <sys/procctl.h>
#endif

/* The system's own programs, whatever stands before them on the caller's path. */
#define SYSTEM_PATH "/usr/sbin:/usr/bin:/sbin:/bin"

/* By this variable the harness finds what a killed run has left. */
#define MARK "PROBE_EFFECT_PID"

#define SAID "../make.log"
#define LAST_BYTES 300

/* Whoever ends us ends compilers too: all that we start is of our process group. */
static void end_all(int number)
{
	signal(number, SIG_DFL);
	kill(0, number);
}

static int cpus(void)
{
#if defined(__linux__)
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		die("sched_getaffinity");
	return CPU_COUNT(&set);
#else
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

/* Has the kernel end this process when its parent is gone. Where it cannot, a build that loses us goes on to its end. */
static int die_with_parent(void)
{
#if defined(__linux__)
	return prctl(PR_SET_PDEATHSIG, SIGTERM);
#elif defined(__FreeBSD__)
	int number = SIGTERM;

	return procctl(P_PID, 0, PROC_PDEATHSIG_CTL, &number);
#else
	return 0;
#endif
}

/* The environment is the same wherever and by whomever the build is run. */
static void set_environment(const char *tree)
{
	extern char **environ;
	static char *nothing[] = {NULL};
	const char *mark = getenv(MARK);
	char own_mark[32], beside[PATH_MAX];

	snprintf(own_mark, sizeof(own_mark), "%s", mark ? mark : "");
	snprintf(beside, sizeof(beside), "%s/..", tree);
	environ = nothing; /* clearenv(3) is not POSIX's */
	if (setenv("PATH", SYSTEM_PATH, 1) != 0 || setenv("LC_ALL", "C", 1) != 0 || setenv("TMPDIR", beside, 1) != 0 ||
	    setenv(MARK, own_mark, 1) != 0)
		die("environment");
}

static pid_t start_make(const char *jobs)
{
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int said = open(SAID, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		/* Whatever becomes of us: make ends, and its jobs with it. */
		if (die_with_parent() != 0 || getppid() != us)
			_exit(126);
		signal(SIGTERM, SIG_DFL);
		if (said < 0 || dup2(open_or_die("/dev/null", O_RDONLY), STDIN_FILENO) < 0 || dup2(said, STDOUT_FILENO) < 0 ||
		    dup2(said, STDERR_FILENO) < 0)
			_exit(126);
		execlp("make", "make", jobs, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* How make ended, as waitpid(2) says it. */
static int has_ended(pid_t pid)
{
	pid_t ended;
	int status;

	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		die("waitpid");
	return status;
}

/* Ends with what make said last. */
static void complain(const char *jobs, int status)
{
	char last[LAST_BYTES + 1] = "";
	int said = open_or_die(SAID, O_RDONLY);

	if (lseek(said, -LAST_BYTES, SEEK_END) < 0)
		lseek(said, 0, SEEK_SET);
	if (read(said, last, LAST_BYTES) < 0)
		die(SAID);
	fprintf(stderr, PROGRAM ": `make %s` ended with status %d: %s\n", jobs, status, last);
	exit(1);
}

static uint64_t time_build(void)
{
	char jobs[16];
	uint64_t start_ns, wall_ns;
	int status;

	snprintf(jobs, sizeof(jobs), "-j%d", cpus());
	start_ns = now_ns();
	status = has_ended(start_make(jobs));
	wall_ns = now_ns() - start_ns;
	if (status != 0)
		complain(jobs, status);
	return wall_ns;
}

static void print_all(long operations, uint64_t wall_ns)
{
	struct rusage own, theirs;

	if (getrusage(RUSAGE_SELF, &own) != 0 || getrusage(RUSAGE_CHILDREN, &theirs) != 0)
		die("getrusage");
	printf("{\"operations\": %ld, \"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 "}\n", operations,
	       wall_ns, in_ns(own.ru_utime) + in_ns(theirs.ru_utime), in_ns(own.ru_stime) + in_ns(theirs.ru_stime));
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " TREE");

	if (argc != 4 || operations != 1) {
		fprintf(stderr, PROGRAM ": expected one operation, a build, and the folder of a source tree\n");
		exit(2);
	}
	if (getpgrp() == getpid())
		signal(SIGTERM, end_all);
	if (chdir(argv[3]) != 0)
		die(argv[3]);
	set_environment(argv[3]);
	wait_for_go();
	print_all(operations, time_build());
	return 0;
}
