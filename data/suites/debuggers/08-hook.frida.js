/*
 * 08-hook: Each call of the function prologue enters a script in the program itself, which counts it.
 *
 * Use:    frida -q -t inf -p PID -l 08-hook.frida.js, PID being the waiting user-loop
 * Needs:  frida, and a kernel that lets one process trace another (see kernel.yama.ptrace_scope).
 * Read:   "count N" at the end is the number of calls.
 * Source: Written for this suite; frida's JavaScript API, Interceptor.
 */

let count = 0;

Interceptor.attach(DebugSymbol.getFunctionByName('prologue'), {
	onEnter() {
		count++;
	},
});
rpc.exports.dispose = () => console.log('count ' + count);
console.log('live');
