# Stops at each static probe that a run of TSEM meets, and prints a line: the name of the probe, the first bytes
# of the UUID of its semaphore, and its other arguments as numbers.
set pagination off
set confirm off
set debuginfod enabled off
set breakpoint pending off
python
import gdb

class Watch(gdb.Breakpoint):
    def __init__(self, name, arguments):
        self.name = name
        self.arguments = arguments
        super().__init__("-probe-stap tsem:" + name)

    def stop(self):
        said = [str(int(gdb.parse_and_eval(f"$_probe_arg{i}"))) for i in range(1, self.arguments)]
        handle = int(gdb.parse_and_eval("$_probe_arg0"))
        inferior = gdb.selected_inferior()
        header = int.from_bytes(inferior.read_memory(handle, 8), "little")
        uuid = bytes(inferior.read_memory(header + 16, 16)).hex()
        with open("probes", "a") as log:
            print(self.name, uuid, *said, file=log)
        return False

for name, arguments in ("take", 1), ("post", 1), ("wait", 3), ("admit", 3), ("abandon", 3), ("recover", 3):
    Watch(name, arguments)
end
run
