/*
 * program-loop: runs a real program, again and again, and times all of its rounds together.
 *
 * Use:    program-loop OPERATIONS CPU PROGRAM  waits on standard input for one byte ("go"), then runs PROGRAM so often
 *         program-loop --clock READS CPU       times READS reads of the clock itself
 *         PROGRAM: one of those below.
 * Needs:  what the program needs, by the names in suite.toml. No network: what serves listens on a Unix socket or on
 *         127.0.0.1.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time, U and S are
 *         the CPU time of this process and of all that it has started and waited for, servers too.
 * Why:    Everything runs on one CPU, the one that it was told: so the time of a round is the sum of what its processes
 *         take in turn, and what a probe adds to any of them is added to the round. The files that a program works on
 *         are made once, in a folder of its own beside this program, by commands that always make the same.
 */

#define PROGRAM "program-loop"
#include "../../loop.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

/* Commands of sh(1), each in the program's own folder. */
struct program {
	const char *name;
	const char *prepare; /* makes its files, once */
	const char *serve;   /* runs meanwhile, or NULL */
	const char *ready;   /* succeeds once that serves, or NULL */
	const char *once;    /* one operation */
};

/* 1,500 files of 40 lines each in 30 folders. */
#define TREE \
	"mkdir tree && awk 'BEGIN { for (d = 0; d < 30; d++) { system(\"mkdir tree/\" d); " \
	"for (f = 0; f < 50; f++) { name = \"tree/\" d \"/\" f \".txt\"; " \
	"for (l = 0; l < 40; l++) print \"line \" l \" of file \" f \" in folder \" d \" says \" (d * 2000 + f * 40 + l) % 9973 > name; " \
	"close(name) } } }'"

static const struct program programs[] = {
	{"cc",
	 "awk 'BEGIN { for (f = 0; f < 60; f++) { print \"int f\" f \"(int a, int b)\\n{\\n\\tint s = \" f \";\\n"
	 "\\tfor (int i = a; i < b; i++)\\n\\t\\ts += (i % 7) * (s ^ \" f \") - i / 3;\\n\\treturn s;\\n}\\n\" } }' > source.c",
	 NULL, NULL, "exec cc -O1 -c source.c -o source.o"},
	{"tar", TREE, NULL, NULL, "for round in 1 2 3 4; do tar -cf - tree | cat > /dev/null; done"},
	{"grep", TREE, NULL, NULL, "for round in 1 2 3 4 5; do grep -r 'says 997[0-3]' tree > /dev/null; done"},
	{"python-start", "true", NULL, NULL,
	 "for round in 1 2 3 4 5 6 7 8; do python3 -I -c pass; done"},
	{"python-loop",
	 "printf 'total = 0\\nfor number in range(1500000):\\n    total += number %% 7\\nprint(total)\\n' > loop.py",
	 NULL, NULL, "exec python3 -I loop.py > /dev/null"},
	{"sqlite",
	 "awk 'BEGIN { print \"PRAGMA synchronous = OFF; CREATE TABLE numbers (number INTEGER, name TEXT);\"; "
	 "for (t = 0; t < 100; t++) { print \"BEGIN;\"; for (r = 0; r < 200; r++) "
	 "print \"INSERT INTO numbers VALUES (\" t * 200 + r \", \\047name \" r \"\\047);\"; print \"COMMIT;\" } "
	 "print \"SELECT count(*) FROM numbers;\" }' > insert.sql",
	 NULL, NULL, "rm -f numbers.db && sqlite3 -bail numbers.db '.read insert.sql' > /dev/null"},
	{"redis", "true",
	 "exec redis-server --port 0 --unixsocket ./redis.sock --save '' --appendonly no --daemonize no > redis.log",
	 "redis-cli -s ./redis.sock ping > /dev/null 2>&1",
	 "exec redis-benchmark -s ./redis.sock -q -t set,get -c 10 -n 4000 > benchmark.log"},
	{"nginx",
	 "mkdir -p logs html && awk 'BEGIN { for (l = 0; l < 100; l++) print \"A line of the page, number \" l }' > html/index.html && "
	 "printf 'daemon off; master_process off; pid nginx.pid; error_log stderr; events { worker_connections 64; }\\n"
	 "http { access_log off; client_body_temp_path logs; proxy_temp_path logs; fastcgi_temp_path logs; "
	 "uwsgi_temp_path logs; scgi_temp_path logs; server { listen 127.0.0.1:18043; root html; } }\\n' > nginx.conf",
	 "exec nginx -e stderr -p \"$PWD\" -c \"$PWD/nginx.conf\" 2> nginx.log",
	 "ab -q -n 1 http://127.0.0.1:18043/ > /dev/null 2>&1",
	 "exec ab -q -c 4 -n 1500 http://127.0.0.1:18043/ > ab.log"},
	{"git",
	 TREE " && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null && cd tree && git init -q . && "
	 "git config user.name nobody && git config user.email nobody@localhost && git config gc.auto 0 && "
	 "for round in 1 2 3 4 5 6 7 8 9 10 11 12; do for folder in 1 2 3 4 5 6 7 8 9 10; do "
	 "echo \"round $round\" >> $folder/$round.txt; done; git add -A && git commit -q -m \"round $round\"; done",
	 NULL, NULL,
	 "cd tree && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null && for round in 1 2; do "
	 "git log -p > /dev/null && git status --porcelain > /dev/null && git grep -q -F 'says 9972'; done"},
	{"xz",
	 "awk 'BEGIN { for (l = 0; l < 60000; l++) print l, (l * 7919) % 10007, (l * 104729) % 65537 }' > numbers.txt",
	 NULL, NULL, "exec xz -2 -k -c numbers.txt > /dev/null"},
	/* Those that follow work at the bottom of a deep stack, for profilers. 50 parentheses around 200,000 sums, by recursive
	 * descent with frame pointers: 103 frames of its own. */
	{"parser",
	 "printf 'static const char *at;\nstatic long sum(void);\n"
	 "static long atom(void)\n{\n\tlong found;\n\n\tif (*at != 40)\n\t\treturn *at++ - 48;\n"
	 "\tat++;\n\tfound = sum();\n\tat++;\n\treturn found;\n}\n\n"
	 "static long sum(void)\n{\n\tlong found = atom();\n\n\twhile (*at == 43) {\n\t\tat++;\n\t\tfound += atom();\n\t}\n"
	 "\treturn found;\n}\n\n"
	 "int main(void)\n{\n\tstatic char text[1200101];\n\tlong end = 0, found = 0;\n\n"
	 "\tfor (int i = 0; i < 50; i++)\n\t\ttext[end++] = 40;\n"
	 "\tfor (int i = 0; i < 1200000; i++)\n\t\ttext[end++] = \"(1+2)+\"[i %% 6];\n"
	 "\tend--;\n\tfor (int i = 0; i < 50; i++)\n\t\ttext[end++] = 41;\n"
	 "\tfor (int i = 0; i < 20; i++) {\n\t\tat = text;\n\t\tfound += sum();\n\t}\n"
	 "\treturn found != 20 * 600000;\n}\n' > parser.c && cc -O1 -fno-omit-frame-pointer -fno-inline parser.c -o parser",
	 NULL, NULL, "exec ./parser"},
	{"python-deep",
	 "printf 'def work():\n    return sum(number %% 7 for number in range(1500000))\n\n\n"
	 "def deep(frames):\n    return max([frames], key=lambda one: deep(one - 1) if one else work())\n\n\ndeep(100)\n' > deep.py",
	 NULL, NULL, "exec python3 -I deep.py"},
	{"java-deep",
	 "printf 'public class Deep {\n    static long work() {\n        long total = 0;\n"
	 "        for (int number = 0; number < 150_000_000; number++)\n            total += number %% 7;\n        return total;\n    }\n\n"
	 "    static long deep(int frames) {\n        return frames > 0 ? deep(frames - 1) + 1 : work();\n    }\n\n"
	 "    public static void main(String[] words) {\n        System.out.println(deep(100));\n    }\n}\n' > Deep.java && "
	 "javac Deep.java",
	 NULL, NULL, "exec java -XX:+UseSerialGC -XX:+PreserveFramePointer Deep > /dev/null"},
	{"node-deep",
	 "printf 'function work() {\n  let total = 0;\n  for (let number = 0; number < 1e8; number++) total += number %% 7;\n"
	 "  return total;\n}\nfunction deep(frames) {\n  return frames > 0 ? deep(frames - 1) + 1 : work();\n}\n"
	 "console.log(deep(100));\n' > deep.js",
	 NULL, NULL, "exec node deep.js > /dev/null"},
};

#define READY_NS 10000000000ull /* a server that has not begun by then will not */

/* The system's own programs, whatever stands before them on the caller's path. */
#define SYSTEM_PATH "/usr/sbin:/usr/bin:/sbin:/bin"

static pid_t start(const char *command)
{
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		/* Whatever becomes of us: nothing that we started is left. */
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != us)
			_exit(126);
		if (dup2(open_or_die("/dev/null", O_RDONLY), STDIN_FILENO) < 0)
			_exit(126);
		setenv("PATH", SYSTEM_PATH, 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Whether a process has ended, and how, as waitpid(2) says it; 0 or WNOHANG: wait for it, or only look. */
static int has_ended(pid_t pid, int *status, int options)
{
	pid_t ended;

	do
		ended = waitpid(pid, status, options);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		die("waitpid");
	return ended == pid;
}

/* How a command ended. Until the run it is looked for and not waited for: whoever sees this program sleep takes it for
 * one that waits for its "go". */
static int prepared(const char *command)
{
	pid_t pid = start(command);
	int status;

	while (!has_ended(pid, &status, WNOHANG))
		sched_yield();
	return status;
}

static void insist(const char *command, int status)
{
	if (status != 0) {
		fprintf(stderr, PROGRAM ": `%s` ended with status %d\n", command, status);
		exit(1);
	}
}

/* Enters the folder of a program, with its files in it. They are made under another name first: a folder of the right
 * name is a whole one. */
static void prepare(const struct program *program)
{
	char made[64], making[96];

	snprintf(made, sizeof(made), "files-%s", program->name);
	if (chdir(made) == 0)
		return;
	snprintf(making, sizeof(making), "%s.%ld", made, (long)getpid());
	if (mkdir(making, 0700) != 0 || chdir(making) != 0)
		die(making);
	insist(program->prepare, prepared(program->prepare));
	if (chdir("..") != 0 || rename(making, made) != 0 || chdir(made) != 0)
		die(made);
}

static pid_t serve(const struct program *program)
{
	uint64_t start_ns = now_ns();
	pid_t server = start(program->serve);
	int status;

	while (prepared(program->ready) != 0)
		if (now_ns() - start_ns > READY_NS || has_ended(server, &status, WNOHANG)) {
			fprintf(stderr, PROGRAM ": `%s` does not serve\n", program->serve);
			exit(1);
		}
	return server;
}

static const struct program *program_called(const char *name)
{
	size_t many = sizeof(programs) / sizeof(*programs);

	for (size_t place = 0; place < many; place++)
		if (strcmp(programs[place].name, name) == 0)
			return &programs[place];
	fprintf(stderr, PROGRAM ": %s: expected the name of a program:", name);
	for (size_t place = 0; place < many; place++)
		fprintf(stderr, " %s", programs[place].name);
	fprintf(stderr, "\n");
	exit(2);
}

static uint64_t time_rounds(const char *command, long rounds)
{
	uint64_t start_ns = now_ns();

	while (rounds-- > 0) {
		int status;

		has_ended(start(command), &status, 0);
		insist(command, status);
	}
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
	long operations = begin(argc, argv, " PROGRAM");
	const struct program *program = program_called(argc > 3 ? argv[3] : "");
	pid_t server = 0;
	uint64_t wall_ns;

	prepare(program);
	if (program->serve != NULL)
		server = serve(program);
	wait_for_go();
	wall_ns = time_rounds(program->once, operations);
	if (server > 0) {
		int status;

		kill(server, SIGTERM);
		has_ended(server, &status, 0);
	}
	print_all(operations, wall_ns);
	return 0;
}
