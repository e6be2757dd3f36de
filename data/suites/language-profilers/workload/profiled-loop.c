/*
 * profiled-loop: has a program in Python, Java, JavaScript or Go do its rounds, and times all of them together.
 *
 * Use:    profiled-loop OPERATIONS CPU LANGUAGE-DEPTH [PROFILER]
 *                                              waits on standard input for one byte ("go"), then has the rounds done
 *         profiled-loop --clock READS CPU      times READS reads of the clock itself
 *         LANGUAGE-DEPTH: such as python-200, whose work is done below 200 frames of recursion.
 *         PROFILER: one that runs in the program itself, by the names below; none by default.
 *         python-allocating-10 is a Python whose work allocates 2,000 bytes at each step and gives them back.
 * Needs:  what the language needs, by the names in suite.toml.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time from the
 *         order to the answer, U and S are the CPU time of this process and of the program, its start included.
 * Why:    The program is started, and its compiler has seen enough rounds, before this program waits for its go: what
 *         is timed is the steady state. It is the one child of this program, so a profiler finds it by its parent. It
 *         has all its threads on the one CPU that it was told: what a profiler does in it makes the rounds longer.
 */

#define PROGRAM "profiled-loop"
#include "../../loop.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

/* Each program does some rounds, says "!", and for each line with a number does so many and says "!" again. */

static const char PYTHON[] =
	"import os, sys\n"
	"def step(number):\n"
	"    return number % 7\n"
	"if 'allocating' in sys.argv:\n"
	"    def step(number):\n"
	"        return len(bytearray(2000))\n"
	"def work():\n"
	"    total = 0\n"
	"    for number in range(60000):\n"
	"        total += step(number)\n"
	"    return total\n"
	"def descend(frames):\n"
	"    return work() if frames <= 1 else descend(frames - 1)\n"
	"def rounds(many):\n"
	"    for _ in range(many):\n"
	"        descend(int(sys.argv[1]))\n"
	"    os.write(1, b'!')\n"
	"if 'setprofile' in sys.argv:\n"
	"    sys.setprofile(lambda frame, event, argument: None)\n"
	"if 'monitoring' in sys.argv:\n"
	"    told = sys.monitoring\n"
	"    answer = told.DISABLE if 'once' in sys.argv else None\n"
	"    told.use_tool_id(told.PROFILER_ID, 'rounds')\n"
	"    for event in (told.events.PY_START, told.events.PY_RETURN):\n"
	"        told.register_callback(told.PROFILER_ID, event, lambda *words: answer)\n"
	"    told.set_events(told.PROFILER_ID, told.events.PY_START | told.events.PY_RETURN)\n"
	"rounds(5)\n"
	"for line in sys.stdin:\n"
	"    rounds(int(line))\n";

static const char JAVA[] =
	"import java.io.*;\n"
	"public class Rounds {\n"
	"    static long sink;\n"
	"    static long step(long number, long total) { return (total * 31 + number) % 1000003; }\n"
	"    static long work() {\n"
	"        long total = 0;\n"
	"        for (long number = 0; number < 400000; number++) total = step(number, total);\n"
	"        return total;\n"
	"    }\n"
	"    static long descend(int frames) { return frames <= 1 ? work() : descend(frames - 1) + 1; }\n"
	"    static void rounds(int many, int frames) {\n"
	"        for (int done = 0; done < many; done++) sink += descend(frames);\n"
	"        System.out.print('!');\n"
	"        System.out.flush();\n"
	"    }\n"
	"    public static void main(String[] words) throws IOException {\n"
	"        int frames = Integer.parseInt(words[0]);\n"
	"        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));\n"
	"        rounds(100, frames);\n"
	"        for (String line; (line = in.readLine()) != null;) rounds(Integer.parseInt(line), frames);\n"
	"    }\n"
	"}\n";

static const char NODE[] =
	"const fs = require('fs');\n"
	"const frames = Number(process.argv[2]), line = Buffer.alloc(32);\n"
	"let sink = 0;\n"
	"const step = (number, total) => (total * 31 + number) % 1000003;\n"
	"function work() {\n"
	"    let total = 0;\n"
	"    for (let number = 0; number < 400000; number++) total = step(number, total);\n"
	"    return total;\n"
	"}\n"
	"function descend(left) { return left <= 1 ? work() : descend(left - 1) + 1; }\n"
	"function rounds(many) {\n"
	"    for (let done = 0; done < many; done++) sink += descend(frames);\n"
	"    fs.writeSync(1, '!');\n"
	"}\n"
	"rounds(100);\n"
	"for (let got; (got = fs.readSync(0, line)) > 0;) rounds(Number(line.toString('latin1', 0, got)));\n";

static const char GO[] =
	"package main\n"
	"import (\"bufio\"; \"os\"; \"runtime/pprof\"; \"strconv\")\n"
	"var sink int64\n"
	"//go:noinline\n"
	"func step(number, total int64) int64 { return (total*31 + number) % 1000003 }\n"
	"func work() int64 {\n"
	"    var total int64\n"
	"    for number := int64(0); number < 400000; number++ { total = step(number, total) }\n"
	"    return total\n"
	"}\n"
	"func descend(frames int) int64 {\n"
	"    if frames <= 1 { return work() }\n"
	"    return descend(frames-1) + 1\n"
	"}\n"
	"func rounds(many, frames int) {\n"
	"    for done := 0; done < many; done++ { sink += descend(frames) }\n"
	"    os.Stdout.WriteString(\"!\")\n"
	"}\n"
	"func main() {\n"
	"    frames, _ := strconv.Atoi(os.Args[1])\n"
	"    if len(os.Args) > 2 {\n"
	"        file, err := os.Create(\"rounds.pprof\")\n"
	"        if err != nil || pprof.StartCPUProfile(file) != nil { os.Exit(1) }\n"
	"        defer pprof.StopCPUProfile()\n"
	"    }\n"
	"    rounds(100, frames)\n"
	"    for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {\n"
	"        many, _ := strconv.Atoi(lines.Text())\n"
	"        rounds(many, frames)\n"
	"    }\n"
	"}\n";

struct language {
	const char *name;
	const char *file;
	const char *text;
	const char *build; /* a command of sh(1), in the folder of the file */
};

static const struct language languages[] = {
	{"python-allocating", "rounds.py", PYTHON, "true"},
	{"python312", "rounds.py", PYTHON, "true"},
	{"python313", "rounds.py", PYTHON, "true"},
	{"python", "rounds.py", PYTHON, "true"},
	{"java", "Rounds.java", JAVA, "exec javac Rounds.java"},
	{"node", "rounds.js", NODE, "true"},
	{"go", "rounds.go", GO, "GO111MODULE=off GOTOOLCHAIN=local exec go build -o rounds rounds.go"},
};

/* How a program is started, with its own profiler or without one; sh(1) knows its depth. */
struct start {
	const char *language;
	const char *profiler;
	const char *command;
};

static const struct start starts[] = {
	{"python", "", "exec python3 -I rounds.py $DEPTH"},
	{"python", "cprofile", "exec python3 -I -m cProfile -o rounds.profile rounds.py $DEPTH"},
	{"python", "setprofile", "exec python3 -I rounds.py $DEPTH setprofile"},
	{"python312", "", "exec python3.12 -I rounds.py $DEPTH"},
	{"python312", "cprofile", "exec python3.12 -I -m cProfile -o rounds.profile rounds.py $DEPTH"},
	{"python312", "setprofile", "exec python3.12 -I rounds.py $DEPTH setprofile"},
	{"python312", "monitoring", "exec python3.12 -I rounds.py $DEPTH monitoring"},
	{"python312", "monitoring-once", "exec python3.12 -I rounds.py $DEPTH monitoring once"},
	{"python313", "", "exec python3.13 -I rounds.py $DEPTH"},
	{"python313", "cprofile", "exec python3.13 -I -m cProfile -o rounds.profile rounds.py $DEPTH"},
	{"python313", "setprofile", "exec python3.13 -I rounds.py $DEPTH setprofile"},
	{"python313", "monitoring", "exec python3.13 -I rounds.py $DEPTH monitoring"},
	{"python313", "monitoring-once", "exec python3.13 -I rounds.py $DEPTH monitoring once"},
	{"python", "memray", "exec memray run --quiet --force --output rounds.bin rounds.py $DEPTH"},
	{"python", "memray-native", "exec memray run --quiet --force --native --output rounds.bin rounds.py $DEPTH"},
	{"python", "scalene-cpu", "exec scalene run --cpu-only --outfile rounds.json rounds.py $DEPTH"},
	{"python", "scalene", "exec scalene run --outfile rounds.json rounds.py $DEPTH"},
	{"python-allocating", "", "exec python3 -I rounds.py $DEPTH allocating"},
	{"python-allocating", "memray", "exec memray run --quiet --force --output rounds.bin rounds.py $DEPTH allocating"},
	{"python-allocating", "memray-native", "exec memray run --quiet --force --native --output rounds.bin rounds.py $DEPTH allocating"},
	{"python-allocating", "scalene-cpu", "exec scalene run --cpu-only --outfile rounds.json rounds.py $DEPTH allocating"},
	{"python-allocating", "scalene", "exec scalene run --outfile rounds.json rounds.py $DEPTH allocating"},
	{"java", "", "exec java Rounds $DEPTH"},
	{"java", "flight-recorder",
	 "exec java -Xlog:jfr+startup=off -XX:StartFlightRecording=filename=rounds.jfr,settings=default Rounds $DEPTH"},
	{"java", "flight-recorder-profile",
	 "exec java -Xlog:jfr+startup=off -XX:StartFlightRecording=filename=rounds.jfr,settings=profile Rounds $DEPTH"},
	{"node", "", "exec node rounds.js $DEPTH"},
	{"node", "cpu-prof", "exec node --cpu-prof --cpu-prof-name=rounds.cpuprofile rounds.js $DEPTH"},
	{"node", "cpu-prof-slow",
	 "exec node --cpu-prof --cpu-prof-name=rounds.cpuprofile --cpu-prof-interval=10000 rounds.js $DEPTH"},
	{"go", "", "exec ./rounds $DEPTH"},
	{"go", "pprof", "exec ./rounds $DEPTH pprof"},
};

#define MANY(array) (sizeof(array) / sizeof(*(array)))

/* The system's own programs, whatever stands before them on the caller's path, and those that were put there for suites;
 * a profiler that is installed apart is on the caller's. */
#define SYSTEM_PATH "/usr/sbin:/usr/bin:/sbin:/bin:/opt/probe-effect/bin"

static const struct language *language_of(const char *level)
{
	for (size_t place = 0; place < MANY(languages); place++) {
		const struct language *language = &languages[place];
		size_t length = strlen(language->name);

		if (strncmp(level, language->name, length) == 0 && level[length] == '-') {
			number(level + length + 1, 1);
			return language;
		}
	}
	fprintf(stderr, PROGRAM ": %s: expected a language and a depth, such as python-200\n", level);
	exit(2);
}

static const char *command_of(const struct language *language, const char *profiler)
{
	for (size_t place = 0; place < MANY(starts); place++)
		if (strcmp(starts[place].language, language->name) == 0 && strcmp(starts[place].profiler, profiler) == 0)
			return starts[place].command;
	fprintf(stderr, PROGRAM ": %s: %s has no such profiler here\n", profiler, language->name);
	exit(2);
}

/* Starts a command of sh(1), with these for its standard input and output. */
static pid_t start(const char *command, int in, int out)
{
	const char *callers = getenv("PATH");
	char path[8192];
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		/* Whatever becomes of us: nothing that we started is left. */
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != us)
			_exit(126);
		if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
			_exit(126);
		snprintf(path, sizeof(path), "%s:%s", SYSTEM_PATH, callers != NULL ? callers : "");
		setenv("PATH", path, 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Waits for the end of a command. Until the run it is looked for and not slept for: whoever sees this program sleep
 * takes it for one that waits for its "go". */
static void insist(const char *command, pid_t pid, int options)
{
	pid_t ended;
	int status;

	while ((ended = waitpid(pid, &status, options)) == 0 || (ended < 0 && errno == EINTR))
		sched_yield();
	if (ended < 0)
		die("waitpid");
	if (status != 0) {
		fprintf(stderr, PROGRAM ": `%s` ended with status %d\n", command, status);
		exit(1);
	}
}

/* Enters the folder of a language, with its program in it. It is made under another name first: a folder of the right
 * name is a whole one. */
static void prepare(const struct language *language)
{
	char made[64], making[96];
	FILE *file;

	snprintf(made, sizeof(made), "rounds-%s", language->name);
	if (chdir(made) == 0)
		return;
	snprintf(making, sizeof(making), "%s.%ld", made, (long)getpid());
	if (mkdir(making, 0700) != 0 || chdir(making) != 0)
		die(making);
	file = fopen(language->file, "w");
	if (file == NULL || fputs(language->text, file) < 0 || fclose(file) != 0)
		die(language->file);
	insist(language->build, start(language->build, open_or_die("/dev/null", O_RDONLY), STDERR_FILENO), WNOHANG);
	if (chdir("..") != 0 || rename(making, made) != 0 || chdir(made) != 0)
		die(made);
}

/* Returns when the program has said "!"; a descriptor that does not block is looked at again and again. */
static void await(int answers)
{
	char said = 0;
	ssize_t got;

	while (said != '!') {
		got = read(answers, &said, 1);
		if (got < 0 && errno == EAGAIN)
			sched_yield();
		else if (got < 0 && errno != EINTR)
			die("read");
		else if (got == 0) {
			fprintf(stderr, PROGRAM ": the program ended before its rounds were done\n");
			exit(1);
		}
	}
}

static uint64_t time_rounds(long rounds, int orders, int answers)
{
	uint64_t start_ns = now_ns();

	if (dprintf(orders, "%ld\n", rounds) < 0)
		die("write");
	await(answers);
	return now_ns() - start_ns;
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
	long operations = begin(argc == 5 ? 4 : argc, argv, " LANGUAGE-DEPTH [PROFILER]");
	const char *level = argc > 3 ? argv[3] : "";
	const struct language *language = language_of(level);
	const char *command = command_of(language, argc > 4 ? argv[4] : "");
	int orders[2], answers[2];
	uint64_t wall_ns;
	pid_t program;

	prepare(language);
	if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
		die("pipe");
	setenv("DEPTH", strrchr(level, '-') + 1, 1);
	signal(SIGPIPE, SIG_IGN);
	program = start(command, orders[0], answers[1]);
	close(orders[0]);
	close(answers[1]);
	fcntl(answers[0], F_SETFL, O_NONBLOCK);
	await(answers[0]);
	fcntl(answers[0], F_SETFL, 0);
	wait_for_go();
	wall_ns = time_rounds(operations, orders[1], answers[0]);
	close(orders[1]);
	insist(command, program, 0);
	print_all(operations, wall_ns);
	return 0;
}
