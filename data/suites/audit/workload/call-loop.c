/*
 * call-loop: makes the cheapest system call, getppid, many times, and times the loop.
 *
 * Use:   call-loop OPERATIONS CPU [daemon]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned.
 *        call-loop --clock READS CPU        times READS reads of the clock itself
 *        daemon: starts auditd first, and times until it has written its last record; in an emulated machine only
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   What auditing adds, it adds to every system call alike; the less the call does itself, the better it shows.
 *        A daemon that reads records is behind the loop, and what it takes is a part of their cost all the same. When its
 *        log has not grown for STILL_NS it has written all, and the time is that when it was last seen to grow.
 */

#define PROGRAM "call-loop"
#include "../../loop.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LOG "/dev/shm/call-loop-audit.log"
#define SETTINGS "auditd.conf"
#define LOOK_NS 200000
#define STILL_NS 20000000
#define START_NS 20000000000

/* Debian's, but for what it does when the file is large or the disk full: the log is in memory. */
static const char settings[] =
	"log_file = " LOG "\n"
	"log_format = ENRICHED\n"
	"flush = INCREMENTAL_ASYNC\n"
	"freq = 50\n"
	"priority_boost = 4\n"
	"max_log_file_action = IGNORE\n"
	"space_left = 75\n"
	"admin_space_left = 50\n"
	"space_left_action = IGNORE\n"
	"admin_space_left_action = IGNORE\n"
	"disk_full_action = IGNORE\n"
	"disk_error_action = IGNORE\n";

static off_t log_size(void)
{
	struct stat log;

	return stat(LOG, &log) == 0 ? log.st_size : 0;
}

/* Looks now and then until the log has not grown for a while: when it was last seen to grow. Before the run nothing may
 * sleep: whoever sees this program sleep takes it for one that waits for its "go". */
static uint64_t await_log(int may_sleep)
{
	struct timespec pause = {0, LOOK_NS};
	uint64_t grew_ns = now_ns(), looked_ns = grew_ns;
	off_t size = log_size(), seen;

	while (now_ns() - grew_ns < STILL_NS) {
		if (may_sleep)
			nanosleep(&pause, NULL);
		else
			while (now_ns() - looked_ns < LOOK_NS)
				sched_yield();
		looked_ns = now_ns();
		seen = log_size();
		if (seen != size)
			grew_ns = looked_ns;
		size = seen;
	}
	return grew_ns;
}

/* Starts auditd on the CPUs that are not ours, and returns when a call of ours is in its log. */
static pid_t start_daemon(long cpu)
{
	uint64_t start_ns = now_ns();
	pid_t us = getpid(), pid;
	cpu_set_t others;
	off_t before;
	FILE *file;

	unlink(LOG);
	file = fopen(SETTINGS, "w");
	if (file == NULL || fputs(settings, file) < 0 || fclose(file) != 0 || chmod(SETTINGS, 0600) != 0)
		die(SETTINGS);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != us)
			_exit(126);
		memset(&others, 0xff, sizeof(others));
		if (cpu >= 0)
			CPU_CLR((size_t)cpu, &others);
		if (sched_setaffinity(0, sizeof(others), &others) != 0 || dup2(open_or_die("/dev/null", O_RDONLY), STDIN_FILENO) < 0 ||
		    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			die("auditd");
		execlp("auditd", "auditd", "-n", "-s", "nochange", "-c", ".", (char *)NULL);
		die("auditd");
	}
	do {
		if (waitpid(pid, NULL, WNOHANG) != 0 || now_ns() - start_ns > START_NS) {
			fprintf(stderr, PROGRAM ": auditd does not read\n");
			exit(1);
		}
		await_log(0);
		before = log_size();
		syscall(SYS_getppid);
		await_log(0);
	} while (log_size() == before);
	return pid;
}

static uint64_t time_operations(long operations, int reads)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		syscall(SYS_getppid);
	return (reads ? await_log(1) : now_ns()) - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [daemon]");
	pid_t reader = argc > 3 ? start_daemon(number(argv[2], -1)) : 0;
	uint64_t wall_ns;

	wait_for_go();
	wall_ns = time_operations(operations, reader != 0);
	if (reader != 0 && (kill(reader, SIGTERM) != 0 || waitpid(reader, NULL, 0) != reader))
		die("auditd");
	print_run(operations, wall_ns);
	return 0;
}
