/*
 * spans-loop: has a program call a small function again and again, with a span or a log call around it or without one.
 *
 * Use:    spans-loop OPERATIONS CPU LIBRARY [VARIANT]  waits on standard input for one byte ("go"), then has that many
 *                                                      calls made
 *         spans-loop --clock READS CPU                 times READS reads of the clock itself
 *         LIBRARY: one of the levels in suite.toml.
 *         VARIANT: disabled, unread, exported, context or hooks; the plain call, if none is named.
 * Needs:  what the library needs, by the names in suite.toml.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time from the
 *         order to the answer, U and S are the CPU time of this process and of the program, its start included.
 * Why:    The plain call is the same function in the same loop, so that what is left is the span or the log call alone.
 *         What is exported goes to /dev/null, or to an exporter that drops it: the disk and the network of whoever
 *         receives it are not in it.
 */

#define PROGRAM "spans-loop"
#include "../../loop.h"
#include "../../rounds.h"

/* All of Python's and Node's variants define `one`, which is one call; the others choose by their argument. */

#define PYTHON_LOOP                                                                                                  \
	"def rounds(many):\n"                                                                                        \
	"    for number in range(many):\n"                                                                           \
	"        one(number)\n"                                                                                      \
	"    os.write(1, b'!')\n"                                                                                    \
	"rounds(20000)\n"                                                                                            \
	"for line in sys.stdin:\n"                                                                                   \
	"    rounds(int(line))\n"

static const char PYTHON_LOGGING[] =
	"import logging, os, sys\n"
	"variant = sys.argv[1]\n"
	"log = logging.getLogger('requests')\n"
	"log.propagate = False\n"
	"log.setLevel(logging.WARNING if variant == 'disabled' else logging.INFO)\n"
	"if variant == 'unread':\n"
	"    log.addHandler(logging.NullHandler())\n"
	"if variant == 'exported':\n"
	"    log.addHandler(logging.StreamHandler(open('/dev/null', 'w')))\n"
	"def work(number):\n"
	"    return number * 31 % 1000003\n"
	"def plain(number):\n"
	"    return work(number)\n"
	"def logged(number):\n"
	"    log.info('request %d', number)\n"
	"    return work(number)\n"
	"one = plain if variant == 'plain' else logged\n" PYTHON_LOOP;

/* Without an SDK the API's own tracer answers: its spans record nothing. */
static const char PYTHON_OPENTELEMETRY[] =
	"import os, sys\n"
	"from opentelemetry import trace\n"
	"variant = sys.argv[1]\n"
	"if variant in ('unread', 'exported'):\n"
	"    from opentelemetry.sdk.trace import TracerProvider\n"
	"    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult\n"
	"    class Dropped(SpanExporter):\n"
	"        def export(self, spans):\n"
	"            return SpanExportResult.SUCCESS\n"
	"    provider = TracerProvider()\n"
	"    if variant == 'exported':\n"
	"        provider.add_span_processor(BatchSpanProcessor(Dropped()))\n"
	"    trace.set_tracer_provider(provider)\n"
	"tracer = trace.get_tracer('requests')\n"
	"def work(number):\n"
	"    return number * 31 % 1000003\n"
	"def plain(number):\n"
	"    return work(number)\n"
	"def spanned(number):\n"
	"    with tracer.start_as_current_span('request') as span:\n"
	"        span.set_attribute('number', number)\n"
	"        return work(number)\n"
	"one = plain if variant == 'plain' else spanned\n" PYTHON_LOOP;

static const char PYTHON_AWAIT[] =
	"import asyncio, contextvars, os, sys\n"
	"variant = sys.argv[1]\n"
	"request = contextvars.ContextVar('request')\n"
	"async def work(number):\n"
	"    return number * 31 % 1000003\n"
	"async def plain(number):\n"
	"    return await work(number)\n"
	"async def carried(number):\n"
	"    before = request.set(number)\n"
	"    try:\n"
	"        return await work(request.get())\n"
	"    finally:\n"
	"        request.reset(before)\n"
	"one = plain if variant == 'plain' else carried\n"
	"async def loop(many):\n"
	"    for number in range(many):\n"
	"        await one(number)\n"
	"def rounds(many):\n"
	"    asyncio.run(loop(many))\n"
	"    os.write(1, b'!')\n"
	"rounds(20000)\n"
	"for line in sys.stdin:\n"
	"    rounds(int(line))\n";

/* Each await waits for a promise that is resolved already, so that the loop turns once for each. */
static const char NODE_AWAIT[] =
	"const fs = require('fs'), readline = require('readline');\n"
	"const { AsyncLocalStorage, createHook } = require('async_hooks');\n"
	"const variant = process.argv[2], storage = new AsyncLocalStorage();\n"
	"if (variant === 'hooks') {\n"
	"    const nothing = () => {};\n"
	"    createHook({ init: nothing, before: nothing, after: nothing, destroy: nothing }).enable();\n"
	"}\n"
	"async function work(number) { return (number * 31) % 1000003; }\n"
	"async function carried(number) { return await work(number + storage.getStore() - number); }\n"
	"let sink = 0;\n"
	"async function rounds(many) {\n"
	"    for (let number = 0; number < many; number++)\n"
	"        sink += variant === 'context' ? await storage.run(number, carried, number) : await (async () => await work(number))();\n"
	"    fs.writeSync(1, '!');\n"
	"}\n"
	"(async () => {\n"
	"    await rounds(50000);\n"
	"    for await (const line of readline.createInterface({ input: process.stdin })) await rounds(Number(line));\n"
	"})();\n";

static const char GO_SLOG[] =
	"package main\n"
	"import (\"bufio\"; \"log/slog\"; \"os\"; \"strconv\")\n"
	"var sink int\n"
	"//go:noinline\n"
	"func work(number int) int { return number * 31 % 1000003 }\n"
	"//go:noinline\n"
	"func plain(number int) int { return work(number) }\n"
	"//go:noinline\n"
	"func logged(number int) int {\n"
	"    slog.Info(\"request\", \"number\", number)\n"
	"    return work(number)\n"
	"}\n"
	"func main() {\n"
	"    one := logged\n"
	"    null, err := os.OpenFile(\"/dev/null\", os.O_WRONLY, 0)\n"
	"    if err != nil { os.Exit(1) }\n"
	"    switch os.Args[1] {\n"
	"    case \"plain\": one = plain\n"
	"    case \"disabled\": slog.SetDefault(slog.New(slog.NewTextHandler(null, &slog.HandlerOptions{Level: slog.LevelWarn})))\n"
	"    case \"unread\": slog.SetDefault(slog.New(slog.DiscardHandler))\n"
	"    case \"exported\": slog.SetDefault(slog.New(slog.NewTextHandler(null, nil)))\n"
	"    }\n"
	"    rounds := func(many int) {\n"
	"        for number := 0; number < many; number++ { sink += one(number) }\n"
	"        os.Stdout.WriteString(\"!\")\n"
	"    }\n"
	"    rounds(20000)\n"
	"    for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {\n"
	"        many, _ := strconv.Atoi(lines.Text())\n"
	"        rounds(many)\n"
	"    }\n"
	"}\n";

static const char JAVA_LOGGING[] =
	"import java.io.*;\n"
	"import java.util.logging.*;\n"
	"public class Calls {\n"
	"    static final Logger LOG = Logger.getLogger(\"requests\");\n"
	"    static long sink;\n"
	"    static long work(long number) { return number * 31 % 1000003; }\n"
	"    static long plain(long number) { return work(number); }\n"
	"    static long logged(long number) {\n"
	"        LOG.log(Level.INFO, \"request {0}\", number);\n"
	"        return work(number);\n"
	"    }\n"
	"    static void rounds(int many, boolean isLogged) {\n"
	"        for (int number = 0; number < many; number++) sink += isLogged ? logged(number) : plain(number);\n"
	"        System.out.print('!');\n"
	"        System.out.flush();\n"
	"    }\n"
	"    public static void main(String[] words) throws IOException {\n"
	"        LOG.setUseParentHandlers(false);\n"
	"        LOG.setLevel(words[0].equals(\"disabled\") ? Level.WARNING : Level.INFO);\n"
	"        if (words[0].equals(\"exported\")) {\n"
	"            Handler handler = new StreamHandler(new FileOutputStream(\"/dev/null\"), new SimpleFormatter());\n"
	"            LOG.addHandler(handler);\n"
	"        }\n"
	"        boolean isLogged = !words[0].equals(\"plain\");\n"
	"        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));\n"
	"        rounds(200000, isLogged);\n"
	"        for (String line; (line = in.readLine()) != null;) rounds(Integer.parseInt(line), isLogged);\n"
	"    }\n"
	"}\n";

static const struct language languages[] = {
	{"python-logging", "calls.py", PYTHON_LOGGING, "true"},
	{"python-opentelemetry", "calls.py", PYTHON_OPENTELEMETRY, "true"},
	{"python-await", "calls.py", PYTHON_AWAIT, "true"},
	{"node-await", "calls.js", NODE_AWAIT, "true"},
	{"go-slog", "calls.go", GO_SLOG, "GO111MODULE=off GOTOOLCHAIN=local exec go build -o calls calls.go"},
	{"java-logging", "Calls.java", JAVA_LOGGING, "exec javac Calls.java"},
	{"rust-tracing", "built-beforehand", "", "true"},
	{"rust-log", "built-beforehand", "", "true"},
};

#define LOGS(language, command)                                                                                      \
	{language, "", "exec " command " plain"}, {language, "disabled", "exec " command " disabled"},                \
	{language, "unread", "exec " command " unread"}, {language, "exported", "exec " command " exported"}

static const struct start starts[] = {
	LOGS("python-logging", "python3 -I calls.py"),
	LOGS("python-opentelemetry", "python-opentelemetry -I calls.py"),
	LOGS("go-slog", "./calls"),
	LOGS("java-logging", "java Calls"),
	LOGS("rust-tracing", "rust-spans tracing"),
	LOGS("rust-log", "rust-spans log"),
	{"python-await", "", "exec python3 -I calls.py plain"},
	{"python-await", "context", "exec python3 -I calls.py context"},
	{"node-await", "", "exec node calls.js plain"},
	{"node-await", "context", "exec node calls.js context"},
	{"node-await", "hooks", "exec node calls.js hooks"},
};

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " LIBRARY [VARIANT]");
	const struct language *language = language_named(languages, MANY(languages), argc > 3 ? argv[3] : "");

	return time_program(operations, language, command_of(starts, MANY(starts), language, argc > 4 ? argv[4] : ""));
}
