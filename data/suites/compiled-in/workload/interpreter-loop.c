/*
 * interpreter-loop: has one of several builds of Python do a benchmark, again and again, and times all of its rounds.
 *
 * Use:    interpreter-loop OPERATIONS CPU BENCHMARK [BUILD]  waits on standard input for one byte ("go"), then has
 *                                                            python-BUILD do that many rounds; BUILD: plain, if none
 *                                                            is named
 *         interpreter-loop --clock READS CPU                 times READS reads of the clock itself
 *         BENCHMARK: one of those below.
 * Needs:  Linux, and the interpreters that build-interpreters.sh beside the suite builds.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time, U and S are
 *         the CPU time of this process and of the interpreter, its start too.
 * Why:    The interpreter is started, has its modules and has done some rounds before the "go": only its rounds are
 *         timed. What Python takes from the environment is the same in every run, the seed of its hashes too. It first
 *         looks into its own file: the build with static probes must have some, and the others none.
 */

#define PROGRAM "interpreter-loop"
#include "../../loop.h"

#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>

#define FOLDER "/opt/probe-effect/bin"
#define WITH_PROBES "dtrace"

/* By this variable the harness finds what a killed run has left. */
#define MARK "PROBE_EFFECT_PID"

static const char *const builds[] = {"plain", WITH_PROBES, "reversed", "sorted", NULL};

struct benchmark {
	const char *name;
	const char *code; /* defines work(), which is one round */
};

static const struct benchmark benchmarks[] = {
	{"calls",
	 "def fibonacci(n):\n"
	 "    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)\n"
	 "def work():\n"
	 "    assert fibonacci(20) == 6765\n"},
	{"generators",
	 "def tree(depth):\n"
	 "    if depth:\n"
	 "        yield from tree(depth - 1)\n"
	 "        yield depth\n"
	 "        yield from tree(depth - 1)\n"
	 "def work():\n"
	 "    assert sum(tree(12)) == 8178\n"},
	{"attributes",
	 "class Point:\n"
	 "    def __init__(self):\n"
	 "        self.x, self.y = 1, 2\n"
	 "def work():\n"
	 "    point = Point()\n"
	 "    for _ in range(20000):\n"
	 "        point.x = point.y + 1\n"
	 "        point.y = point.x - 1\n"
	 "    assert point.y == 2\n"},
	{"classes",
	 "class Account:\n"
	 "    def __init__(self, start):\n"
	 "        self.balance = start\n"
	 "    def pay(self, amount):\n"
	 "        self.balance += amount\n"
	 "    @property\n"
	 "    def is_rich(self):\n"
	 "        return self.balance > 1000\n"
	 "class Saver(Account):\n"
	 "    def pay(self, amount):\n"
	 "        super().pay(amount + 1)\n"
	 "def work():\n"
	 "    accounts = [Saver(n) if n % 2 else Account(n) for n in range(100)]\n"
	 "    for amount in range(50):\n"
	 "        for account in accounts:\n"
	 "            account.pay(amount)\n"
	 "    assert all(account.is_rich for account in accounts)\n"},
	{"gc",
	 "import gc\n"
	 "class Node:\n"
	 "    pass\n"
	 "def work():\n"
	 "    for _ in range(10):\n"
	 "        for _ in range(200):\n"
	 "            first, second = Node(), Node()\n"
	 "            first.other, second.other = second, first\n"
	 "        gc.collect()\n"},
	{"json",
	 "import json\n"
	 "DATA = [{'number': n, 'name': 'name %d' % n, 'share': n / 7, 'tags': ['a', 'b', None]} for n in range(300)]\n"
	 "def work():\n"
	 "    assert json.loads(json.dumps(DATA)) == DATA\n"},
	{"regex",
	 "import re\n"
	 "TEXT = ' '.join('%d: name%d@host%d.example says %d' % (n, n, n % 7, n * n) for n in range(500))\n"
	 "PATTERN = re.compile(r'(\\w+)@(\\w+)\\.example says (\\d+)')\n"
	 "def work():\n"
	 "    assert len(PATTERN.findall(TEXT)) == 500\n"},
	{"import",
	 "import sys\n"
	 "def work():\n"
	 "    for name in ('colorsys', 'keyword', 'reprlib', 'token'):\n"
	 "        sys.modules.pop(name, None)\n"
	 "        __import__(name)\n"},
};

/* Its argument says whether it must have static probes. It answers with a point when it is ready and when it is done. */
static const char first_lines[] =
	"import sys\n"
	"with open(sys.executable, 'rb') as file:\n"
	"    has_probes = b'stapsdt' in file.read()\n"
	"if has_probes != (sys.argv[1] == '1'):\n"
	"    sys.exit(sys.executable + (' has' if has_probes else ' has no') + ' static probes')\n";
static const char last_lines[] =
	"def rounds(number):\n"
	"    for _ in range(number):\n"
	"        work()\n"
	"rounds(3)\n"
	"print(end='.', flush=True)\n"
	"rounds(int(input()))\n"
	"print(end='.', flush=True)\n";

struct interpreter {
	pid_t pid;
	int to, from;
};

static const char *code_of(const char *name)
{
	size_t many = sizeof(benchmarks) / sizeof(*benchmarks);

	for (size_t place = 0; place < many; place++)
		if (strcmp(benchmarks[place].name, name) == 0)
			return benchmarks[place].code;
	fprintf(stderr, PROGRAM ": %s: expected the name of a benchmark:", name);
	for (size_t place = 0; place < many; place++)
		fprintf(stderr, " %s", benchmarks[place].name);
	fprintf(stderr, "\n");
	exit(2);
}

static const char *build_called(const char *name)
{
	for (const char *const *build = builds; *build != NULL; build++)
		if (strcmp(*build, name) == 0)
			return *build;
	fprintf(stderr, PROGRAM ": %s: expected plain, dtrace, reversed or sorted\n", name);
	exit(2);
}

static void set_environment(void)
{
	const char *mark = getenv(MARK);
	char own_mark[32];

	snprintf(own_mark, sizeof(own_mark), "%s", mark ? mark : "");
	if (clearenv() != 0 || setenv("LC_ALL", "C", 1) != 0 || setenv("PYTHONHASHSEED", "0", 1) != 0 ||
	    setenv(MARK, own_mark, 1) != 0)
		die("environment");
}

static void become(const char *build, const char *benchmark)
{
	char path[PATH_MAX], code[8192];

	snprintf(path, sizeof(path), FOLDER "/python-%s", build);
	snprintf(code, sizeof(code), "%s%s%s", first_lines, code_of(benchmark), last_lines);
	set_environment();
	execl(path, path, "-S", "-s", "-P", "-c", code, strcmp(build, WITH_PROBES) == 0 ? "1" : "0", (char *)NULL);
	die(path);
}

static struct interpreter start(const char *build, const char *benchmark)
{
	pid_t us = getpid(), pid;
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		die("fork");
	if (pid == 0) {
		/* Whatever becomes of us: the interpreter ends too. */
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != us)
			_exit(126);
		if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0)
			die("dup2");
		become(build, benchmark);
	}
	close(to[0]);
	close(from[1]);
	return (struct interpreter){pid, to[1], from[0]};
}

/* Waits until it answers; what it has to complain of it has said itself. */
static void hear(struct interpreter one)
{
	char answer;
	ssize_t got;

	do {
		got = read(one.from, &answer, 1);
		if (got < 0 && errno == EAGAIN)
			sched_yield();
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	if (got != 1) {
		fprintf(stderr, PROGRAM ": the interpreter has ended before its time\n");
		exit(1);
	}
}

/* Until the run we look for its answer and do not sleep: whoever sees this program sleep takes it for one that waits
 * for its "go". */
static struct interpreter made_ready(const char *build, const char *benchmark)
{
	struct interpreter one = start(build, benchmark);

	if (fcntl(one.from, F_SETFL, O_NONBLOCK) != 0)
		die("fcntl");
	hear(one);
	if (fcntl(one.from, F_SETFL, 0) != 0)
		die("fcntl");
	return one;
}

static uint64_t time_rounds(struct interpreter one, long rounds)
{
	char words[32];
	int length = snprintf(words, sizeof(words), "%ld\n", rounds);
	uint64_t start_ns = now_ns();

	if (write(one.to, words, (size_t)length) != length)
		die("the interpreter");
	hear(one);
	return now_ns() - start_ns;
}

static void insist(struct interpreter one)
{
	int status;

	if (waitpid(one.pid, &status, 0) < 0)
		die("waitpid");
	if (status != 0) {
		fprintf(stderr, PROGRAM ": the interpreter ended with status %d\n", status);
		exit(1);
	}
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
	long operations = begin(argc == 5 ? 4 : argc, argv, " BENCHMARK [BUILD]");
	const char *benchmark = argc > 3 ? argv[3] : "";
	struct interpreter one;
	uint64_t wall_ns;

	(void)code_of(benchmark);
	one = made_ready(build_called(argc > 4 ? argv[4] : builds[0]), benchmark);
	wait_for_go();
	wall_ns = time_rounds(one, operations);
	insist(one);
	print_all(operations, wall_ns);
	return 0;
}
