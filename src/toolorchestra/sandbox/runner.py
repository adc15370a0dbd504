"""The program inside the sandbox: gives up its rights, then runs code as a notebook cell would.

It is handed to the interpreter as source text, so it imports nothing of this project and little of
the standard library: every import costs start-up time in every run.

Arguments: uid to become (0: stay), bytes of memory, bytes of a file, seconds of processor time (0:
unlimited), file descriptor of the status channel, "session" or "once", and, where nobody else sets
it, the filter of system calls in hexadecimal.
Requests arrive on standard input: a line of the largest number of processes, whether all processes
in sight are the runner's (0 or 1) and the length in bytes, then the code. The status channel gets
the line "ready", then per request two lines: begun, once the code has come and before it runs; and
ok, error or memory, with a message.
"""

import _ast
import os
import resource
import sys

CELL = "<code>"


def confine(uid: int, memory_bytes: int, file_bytes: int, cpu_s: int) -> None:
    """Become an unprivileged user and lower every limit for good."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # If the machine runs out of memory, this process goes first.
    except OSError:
        pass
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_AS: memory_bytes,
    }
    if cpu_s:
        limits[resource.RLIMIT_CPU] = cpu_s
    for limit, value in limits.items():
        lower(limit, value)


def lower(limit: int, value: int) -> None:
    """Set a limit for good, unless it is lower already."""
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def filter_system_calls(program: bytes) -> None:
    """Have the kernel judge every later system call by a program in classic BPF."""
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("operations", ctypes.c_void_p)]

    operations = ctypes.create_string_buffer(program, len(program))
    told = Program(len(program) // 8, ctypes.addressof(operations))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_filter, filter_mode = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(
        set_filter, filter_mode, ctypes.byref(told), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")


def run_cell(code: str, namespace: dict[str, object]) -> None:
    """Run the code; print the value of its last statement if that is an expression."""
    tree = compile(code, CELL, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, _ast.Module)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, _ast.Expr):
        del tree.body[-1]
    exec(compile(tree, CELL, "exec", dont_inherit=True), namespace)
    if isinstance(last, _ast.Expr):
        expression = compile(_ast.Expression(last.value), CELL, "eval", dont_inherit=True)
        value = eval(expression, namespace)
        if value is not None:
            sys.stdout.write(repr(value) + "\n")


def describe(error: BaseException) -> str:
    """The last line of a traceback."""
    try:
        text = str(error)
        if isinstance(error, SyntaxError) and error.msg:
            text = f"{error.msg} (line {error.lineno})" if error.lineno else error.msg
    except Exception:  # The program's own __str__ may raise anything.
        text = "<unprintable>"
    name = type(error).__name__
    return " ".join(f"{name}: {text}".split()) if text else name


def show_traceback(error: BaseException, code: str) -> None:
    """Write the traceback to standard error, without the frames of this file."""
    try:
        import linecache
        import traceback

        linecache.cache[CELL] = (len(code), None, code.splitlines(keepends=True), CELL)
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != CELL:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
    except BaseException:  # A program at its limits may leave no room for a traceback.
        pass


def attempt(payload: bytes, namespace: dict[str, object]) -> tuple[str, str]:
    """Run one request. Returns its status and message."""
    code = ""
    try:
        code = payload.decode("utf-8", "surrogatepass")
        run_cell(code, namespace)
    except MemoryError:
        return "memory", ""
    except SystemExit as error:
        if error.code in (None, 0):
            return "ok", ""
        return "error", describe(error)
    except BaseException as error:  # Whatever the program raises is its result.
        show_traceback(error, code)
        return "error", describe(error)
    return "ok", ""


def flush() -> None:
    """Write out what the program printed, through whatever streams it left in place."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except BaseException:  # The program may have closed or replaced the stream.
            continue


def end_other_processes() -> None:
    """Kill all that the request left running. Only ever inside a process namespace of our own."""
    if os.getpid() > 64:  # In one, the interpreter is among the first.
        return
    try:
        os.kill(-1, 9)
        while True:
            os.waitpid(-1, 0)  # A zombie still counts as a process.
    except (ProcessLookupError, PermissionError, ChildProcessError):
        return


def main() -> None:
    """Confine this process, then serve requests until standard input ends."""
    *limits, status_fd = (int(text) for text in sys.argv[1:6])
    is_session = sys.argv[6] == "session"
    requests = os.fdopen(os.dup(0), "rb")
    os.close(0)
    os.open("/dev/null", os.O_RDONLY)  # Takes the lowest free number: standard input is empty.
    os.set_inheritable(0, True)
    os.set_inheritable(status_fd, False)
    own_pid = os.getpid()
    confine(*limits)
    if sys.argv[7:] and sys.argv[7]:
        filter_system_calls(bytes.fromhex(sys.argv[7]))
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    os.write(status_fd, b"ready\n")
    while header := requests.readline():
        max_processes, owns_namespace, length = map(int, header.split())
        lower(resource.RLIMIT_NPROC, max_processes)
        code = requests.read(length)
        os.write(status_fd, b"begun\n")
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        status, message = attempt(code, module.__dict__)
        flush()
        if os.getpid() != own_pid:  # A child that the program forked.
            os._exit(0)
        if is_session and owns_namespace:
            end_other_processes()
        os.write(status_fd, f"{status} {message[:2000]}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
