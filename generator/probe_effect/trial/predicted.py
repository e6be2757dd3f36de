"""What `advise` says of a script for a command, before both are tried: the one place that knows of `advising`."""

from probe_effect.advising.machine import this_machine
from probe_effect.advising.script_answer import COMMAND_S, RunningSystem, ScriptQuestion, answer_script
from probe_effect.advising.script_words import headline
from probe_effect.calibration.kept import calibrated
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.live.count import Target
from probe_effect.store.places import DataFolder
from probe_effect.trial.result import SaidBefore
from probe_effect.trial.tracer import PID

SILENT = ("/bin/sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh")


def predicted(text: str, command: tuple[str, ...], data: DataFolder) -> SaidBefore:
    """The slowdown of the command, or why there is none; the command is run for it, for a minute at most."""
    question = ScriptQuestion(
        text=text.replace(PID, "1"), target=Target(command=(*SILENT, *command)), seconds=COMMAND_S, budget_ratio=0.01
    )
    try:
        answer = answer_script(question, data, RunningSystem(facts=this_machine(), calibrate=calibrated))
    except (UsageError, HostNotReady) as error:
        return SaidBefore(None, None, str(error))
    advice = answer.advice
    if advice.slowdown is None or not advice.is_whole:
        return SaidBefore(None, None, answer.not_counted or headline(answer))
    bases = dict.fromkeys(one.part.basis for one in advice.probes if one.part is not None)
    return SaidBefore(advice.slowdown, ", ".join(bases) or None)
