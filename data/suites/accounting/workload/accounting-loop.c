/*
 * accounting-loop: makes context switches or writes, while the kernel keeps one more account of them or not.
 *
 * Use:    accounting-loop OPERATIONS CPU EVENT [ACCOUNT]  waits on standard input for one byte ("go"), then runs
 *         accounting-loop --clock READS CPU               times READS reads of the clock itself
 *         EVENT: switch, a byte to another process on the same CPU, and back; write, 64 bytes to a file.
 *         ACCOUNT: of switch: delays (kernel.task_delayacct) or schedstats (kernel.sched_schedstats); of write:
 *         marker-off or marker (trace_marker of an instance of tracefs, whose tracing is off or on). Without one the
 *         kernel's switch is off, and what is written goes to /dev/null.
 * Needs:  Linux and root; a kernel with the account.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *         loop alone, U and S are the CPU time of this process by getrusage(2), without the other's.
 * Why:    Tasks are given their account of delays when they are forked (kernel/delayacct.c), so the other process is
 *         started after the switch is set. The switch is put back by a process that waits for our end, however we end.
 */

#define PROGRAM "accounting-loop"
#include "../../loop.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

#define INSTANCES "/sys/kernel/tracing/instances"
#define WRITTEN_BYTES 64

struct account {
	const char *event;
	const char *name;
	const char *file; /* the kernel's switch */
	const char *value;
};

static const struct account accounts[] = {
	{"switch", "", "/proc/sys/kernel/task_delayacct", "0"},
	{"switch", "delays", "/proc/sys/kernel/task_delayacct", "1"},
	{"switch", "schedstats", "/proc/sys/kernel/sched_schedstats", "1"},
	{"write", "", NULL, NULL},
	{"write", "marker-off", "tracing_on", "0"},
	{"write", "marker", "tracing_on", "1"},
};

static char instance[64]; /* of tracefs: our own, by our number */

static const struct account *account_of(const char *event, const char *name)
{
	for (size_t place = 0; place < sizeof(accounts) / sizeof(*accounts); place++)
		if (strcmp(accounts[place].event, event) == 0 && strcmp(accounts[place].name, name) == 0)
			return &accounts[place];
	fprintf(stderr, PROGRAM ": %s %s: expected switch with delays or schedstats, or write with marker-off or marker\n",
	        event, name);
	exit(2);
}

static void set(const char *file, const char *value)
{
	int fd = open_or_die(file, O_WRONLY);

	if (write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		die(file);
	close(fd);
}

struct guard {
	pid_t pid;
	int ours; /* the end of a pipe that is open as long as we live */
};

/* Starts a process that sets the switch back, or removes the instance, when we have ended, however we end. */
static struct guard guard(const char *file)
{
	char before[16] = "", end;
	struct guard made;
	int fd = open_or_die(file, O_RDONLY), ends[2];

	if (read(fd, before, sizeof(before) - 1) <= 0)
		die(file);
	close(fd);
	if (pipe2(ends, O_CLOEXEC) != 0 || (made.pid = fork()) < 0)
		die("another process");
	if (made.pid == 0) {
		setsid();
		/* Whoever waits for the end of what we print does not wait for this one. */
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		close(ends[1]);
		while (read(ends[0], &end, 1) < 0 && errno == EINTR)
			continue;
		if (*instance == '\0')
			set(file, before);
		while (*instance != '\0' && rmdir(instance) != 0 && errno == EBUSY)
			usleep(1000);
		_exit(0);
	}
	close(ends[0]);
	made.ours = ends[1];
	return made;
}

/* Sets the switch of an account, in an instance of our own where it is one of ftrace's. */
static struct guard switch_to(const struct account *account)
{
	char file[128];
	struct guard made;

	if (account->file == NULL)
		return (struct guard){-1, -1};
	snprintf(file, sizeof(file), "%s", account->file);
	if (strcmp(account->event, "write") == 0) {
		snprintf(instance, sizeof(instance), INSTANCES "/probe-effect-%d", (int)getpid());
		if (mkdir(instance, 0700) != 0)
			die(instance);
		snprintf(file, sizeof(file), "%s/%s", instance, account->file);
	}
	made = guard(file);
	set(file, account->value);
	return made;
}

static void echo(int in, int out)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static uint64_t time_switches(long operations)
{
	int there[2], back[2];
	uint64_t start_ns;
	char byte = 0;
	pid_t other;

	if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0 || (other = fork()) < 0)
		die("another process");
	if (other == 0) {
		close(there[1]);
		echo(there[0], back[1]);
	}
	wait_for_go();
	start_ns = now_ns();
	for (long done = 0; done < operations; done++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("a byte there and back");
	start_ns = now_ns() - start_ns;
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return start_ns;
}

static uint64_t time_writes(long operations)
{
	char path[128] = "/dev/null";
	static const char line[WRITTEN_BYTES + 1] = "B|4711|a section of a program that marks what it does as many do";
	uint64_t start_ns;
	int fd;

	if (*instance != '\0')
		snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open_or_die(path, O_WRONLY);
	wait_for_go();
	start_ns = now_ns();
	for (long done = 0; done < operations; done++) {
		ssize_t written = write(fd, line, WRITTEN_BYTES);

		/* Where tracing is off, trace_marker refuses each write with EBADF (tracing_mark_write, trace.c). */
		if (written != WRITTEN_BYTES && !(written < 0 && errno == EBADF))
			die(path);
	}
	start_ns = now_ns() - start_ns;
	close(fd); /* an instance with an open file is not removed */
	return start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " EVENT [ACCOUNT]");
	const struct account *account = account_of(argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
	struct guard guard = switch_to(account);
	int is_switch = strcmp(account->event, "switch") == 0;
	uint64_t wall_ns = is_switch ? time_switches(operations) : time_writes(operations);

	print_run(operations, wall_ns);
	if (guard.pid > 0) {
		close(guard.ours);
		waitpid(guard.pid, NULL, 0);
	}
	return 0;
}
