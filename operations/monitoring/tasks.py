"""What a task's lines in the log share: the task's own name, where no request has one."""

from django.tasks import TaskResult
from django.tasks.signals import task_finished, task_started

from pagecache import request_log


def begin(task_result: TaskResult[..., object], **sent: object) -> None:
    """Open a note for a task of a worker; one that runs inside a request shares the request's."""
    if request_log.note() is None:
        request_log.begin(task_result.id).view = task_result.task.module_path


def end(task_result: TaskResult[..., object], **sent: object) -> None:
    found = request_log.note()
    if found is not None and found.request == task_result.id:
        request_log.end()


def follow() -> None:
    """Let every task be named. The last line of a task is written by Django, before its note is closed."""
    task_started.connect(begin, dispatch_uid="task_note")
    task_finished.connect(end, dispatch_uid="task_note")
