/*
 * bystander-loop: two processes on one CPU: one to be watched, which is quiet, and one that works beside it.
 *
 * Use:    bystander-loop OPERATIONS CPU WORK  waits on standard input for one byte ("go"), then has the bystander work
 *         bystander-loop --clock READS CPU    times READS reads of the clock itself
 *         WORK: one of those below.
 * Needs:  Linux; for `starts` the program /bin/true.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *         bystander's loop alone, U and S are the CPU time of the bystander and of all that it has started.
 * Why:    The process that was started is the one that tracers are told of, with its children; so the bystander is
 *         nobody's child: whoever started it is gone. Its name is another one, for filters on names. It ends with the
 *         watched process, however that goes.
 */

#define PROGRAM "bystander-loop"
#include "../../loop.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

#define NAME "bystander"
#define TINY "/bin/true"
#define PAGES 16 /* of one mapping */

static int zero;

static void calls(long operations)
{
	while (operations-- > 0)
		syscall(SYS_getppid);
}

static void reads(long operations)
{
	char byte;

	while (operations-- > 0)
		if (read(zero, &byte, 1) != 1)
			die("read /dev/zero");
}

static void starts(long operations)
{
	static char *const arguments[] = {"true", NULL}, *const environment[] = {NULL};

	while (operations-- > 0) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			execve(TINY, arguments, environment);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			die(TINY);
		if (status != 0) {
			fprintf(stderr, PROGRAM ": %s ended with status %d\n", TINY, status);
			exit(1);
		}
	}
}

static void faults(long operations)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	while (operations > 0) {
		long pages = operations < PAGES ? operations : PAGES;
		char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			die("mmap");
		for (size_t touched = 0; touched < (size_t)pages; touched++)
			((volatile char *)memory)[touched * page] = 1;
		if (munmap(memory, PAGES * page) != 0)
			die("munmap");
		operations -= pages;
	}
}

struct work {
	const char *name;
	void (*perform)(long operations);
};

static const struct work works[] = {
	{"calls", calls},
	{"reads", reads},
	{"starts", starts},
	{"faults", faults},
};

static const struct work *work_called(const char *name)
{
	size_t many = sizeof(works) / sizeof(*works);

	for (size_t place = 0; place < many; place++)
		if (strcmp(works[place].name, name) == 0)
			return &works[place];
	fprintf(stderr, PROGRAM ": %s: expected what the bystander does:", name);
	for (size_t place = 0; place < many; place++)
		fprintf(stderr, " %s", works[place].name);
	fprintf(stderr, "\n");
	exit(2);
}

static void print_all(long operations, uint64_t wall_ns)
{
	struct rusage own, theirs;

	if (getrusage(RUSAGE_SELF, &own) != 0 || getrusage(RUSAGE_CHILDREN, &theirs) != 0)
		die("getrusage");
	printf("{\"operations\": %ld, \"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 "}\n",
	       operations, wall_ns, in_ns(own.ru_utime) + in_ns(theirs.ru_utime), in_ns(own.ru_stime) + in_ns(theirs.ru_stime));
}

/* The watched process holds the other end of our standard input: when it goes, the kernel sends SIGIO, and we end. */
static void end_with_the_watched(void)
{
	struct pollfd end = {.fd = STDIN_FILENO};

	if (fcntl(STDIN_FILENO, F_SETOWN, getpid()) != 0 || fcntl(STDIN_FILENO, F_SETFL, O_ASYNC) != 0)
		die("fcntl");
	if (poll(&end, 1, 0) != 0)
		exit(1); /* it has gone meanwhile */
}

/* The bystander: `go` is its standard input and `line` its standard output. */
static void work_beside(const struct work *work, long operations, int go, int line)
{
	uint64_t start_ns, wall_ns;

	if (dup2(go, STDIN_FILENO) < 0 || dup2(line, STDOUT_FILENO) < 0)
		die("dup2");
	/* Each page is to be a fault of its own. */
	if (prctl(PR_SET_NAME, NAME) != 0 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
		die("prctl");
	zero = open_or_die("/dev/zero", O_RDONLY);
	if (write(STDOUT_FILENO, "r", 1) != 1)
		die("standard output");
	wait_for_go();
	end_with_the_watched();
	start_ns = now_ns();
	work->perform(operations);
	wall_ns = now_ns() - start_ns;
	print_all(operations, wall_ns);
	exit(0);
}

/* Starts the bystander by way of a process that ends at once, and returns when it waits for its go. It is looked at and
 * not waited for: whoever sees this program sleep takes it for one that waits for its own. */
static void start_bystander(const struct work *work, long operations, const int go[2], const int line[2])
{
	struct pollfd ready = {.fd = line[0], .events = POLLIN};
	pid_t between = fork(), ended;
	int status;
	char byte;

	if (between < 0)
		die("fork");
	if (between == 0) {
		pid_t bystander = fork();

		if (bystander == 0) {
			close(go[1]);
			close(line[0]);
			work_beside(work, operations, go[0], line[1]);
		}
		_exit(bystander < 0);
	}
	close(go[0]);
	close(line[1]);
	while ((ended = waitpid(between, &status, WNOHANG)) == 0)
		sched_yield();
	if (ended < 0)
		die("waitpid");
	while (poll(&ready, 1, 0) == 0)
		sched_yield();
	if (read(line[0], &byte, 1) != 1) {
		fprintf(stderr, PROGRAM ": the bystander ended before it was ready\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " WORK");
	const struct work *work = work_called(argc > 3 ? argv[3] : "");
	int go[2], line[2], status = 1;
	char text[160];
	ssize_t got;

	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(line, O_CLOEXEC) != 0)
		die("pipe2");
	start_bystander(work, operations, go, line);
	wait_for_go();
	if (write(go[1], "g", 1) != 1)
		die("go");
	while ((got = read(line[0], text, sizeof(text))) > 0) {
		if (write(STDOUT_FILENO, text, (size_t)got) != got)
			die("standard output");
		status = 0;
	}
	return status;
}
