"""Which of the devices that a test names this machine has. With none of them the test is skipped (exit status 77)."""
import sys


def present(h, backends):
    """Names as --backend takes them: `cpu`, `vulkan:0`, or `vulkan:SwiftShader`, a part of a device's name. Mocks are listed nowhere."""
    _, out, _ = h.run("device", "list")
    lines = out.decode("utf-8", "replace").lower().splitlines()
    found = []
    for backend in backends:
        plugin, _, part = backend.partition(":")
        if plugin == "mock" or any(line.startswith(plugin + ":") and (part.isdigit() and line.startswith(backend + " ") or part.lower() in line
                                                                    and not part.isdigit()) for line in lines):
            found.append(backend)
        else:
            print(f"not here: {backend}")
    if not found:
        sys.exit(77)
    return found
