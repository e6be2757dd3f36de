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
 * Why:    What is timed is the steady state; see rounds.h. A profiler outside finds the program by its parent.
 */

#define PROGRAM "profiled-loop"
#include "../../loop.h"
#include "../../rounds.h"

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
	"    rounds(int(line))\n"
	"for name in ('perf-%d.map', 'jit-%d.dump'):\n" /* of -X perf and -X perf_jit */
	"    if os.path.exists('/tmp/' + name % os.getpid()):\n"
	"        os.unlink('/tmp/' + name % os.getpid())\n";

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
	"for (let got; (got = fs.readSync(0, line)) > 0;) rounds(Number(line.toString('latin1', 0, got)));\n"
	"fs.rmSync(`/tmp/perf-${process.pid}.map`, { force: true });\n"; /* of --perf-basic-prof */

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

static const struct language languages[] = {
	{"python-allocating", "rounds.py", PYTHON, "true"},
	{"python312", "rounds.py", PYTHON, "true"},
	{"python313", "rounds.py", PYTHON, "true"},
	{"python", "rounds.py", PYTHON, "true"},
	{"java", "Rounds.java", JAVA, "exec javac Rounds.java"},
	{"node", "rounds.js", NODE, "true"},
	{"go", "rounds.go", GO, "GO111MODULE=off GOTOOLCHAIN=local exec go build -o rounds rounds.go"},
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
	{"python312", "perf-map", "exec python3.12 -X perf -I rounds.py $DEPTH"},
	{"python313", "perf-map", "exec python3.13 -X perf -I rounds.py $DEPTH"},
	{"python313", "jitdump", "exec python3.13 -X perf_jit -I rounds.py $DEPTH"},
	{"node", "perf-map", "exec node --perf-basic-prof rounds.js $DEPTH"},
	{"node", "jitdump", "exec node --perf-prof rounds.js $DEPTH"},
	{"java", "frame-pointers", "exec java -XX:+PreserveFramePointer Rounds $DEPTH"},
	{"go", "", "exec ./rounds $DEPTH"},
	{"go", "pprof", "exec ./rounds $DEPTH pprof"},
};

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

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " LANGUAGE-DEPTH [PROFILER]");
	const char *level = argc > 3 ? argv[3] : "";
	const struct language *language = language_of(level);
	const char *command = command_of(starts, MANY(starts), language, argc > 4 ? argv[4] : "");

	setenv("DEPTH", strrchr(level, '-') + 1, 1);
	return time_program(operations, language, command);
}
