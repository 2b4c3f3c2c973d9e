#!/usr/bin/env python3
"""Scripts neither read nor write what people have set for themselves: the same session twice, once with settings that
would change all that is seen, once with none. The pictures are equal, and no file of the settings has been touched.

usage: settings_test.py STOPLINE
"""
import filecmp
import os
import subprocess
import sys
import tempfile

STOPLINE = sys.argv[1]
PROGRAM = "/bin/true"  # without debug information: no source comes into view sooner or later
ATTEMPTS = 4  # a cursor may blink just when a picture is taken; settings that are read are read each time

SCRIPT = """resize 1200 800
dock log
style dark
screenshot dark
style light
screenshot light
"""
# Of a user who has changed what can be changed.
SETTINGS = f"""[keys]
scheme=eclipse
changed\\runOrContinue=F12

[stack]
showInternal=true

[variables]
watches=left_over, another
watchesByProgram="@ByteArray([{{\\"program\\":\\"{PROGRAM}\\",\\"expressions\\":[\\"left_over\\"]}}])"

[window]
style=dark
splitter=@ByteArray(nonsense)

[launch]
recent="@ByteArray([{{\\"program\\":\\"/bin/true\\"}}])"
"""


def tree(directory):
    found = {}
    for folder, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, directory)] = (f.read(), os.stat(path).st_mtime_ns)
    return found


def perform(home, batch):
    config = os.path.join(home, "config")
    os.makedirs(config, exist_ok=True)
    script = os.path.join(home, "script")
    with open(script, "w") as f:
        f.write("echo nothing to do\n" if batch else SCRIPT)
    environment = dict(os.environ, HOME=home, XDG_CONFIG_HOME=config, XDG_CONFIG_DIRS=config, QT_QPA_PLATFORM="offscreen",
                       LC_ALL="C.UTF-8")
    environment.pop("XDG_RUNTIME_DIR", None) # Qt would say that it takes another directory
    options = ["--batch", script] if batch else ["--session-script", script, "--screenshots", os.path.join(home, "pictures")]
    done = subprocess.run([STOPLINE, *options, "-n", "2", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    if done.stderr:
        sys.exit(f"said on standard error: {done.stderr}")


def same_pictures(one, other):
    return all(filecmp.cmp(os.path.join(one, "pictures", name), os.path.join(other, "pictures", name), shallow=False)
               for name in ("dark.png", "light.png"))


def main():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        config = os.path.join(one, "config")
        os.makedirs(os.path.join(config, "stopline"))
        with open(os.path.join(config, "stopline", "stopline.conf"), "w") as f:
            f.write(SETTINGS)
        before = tree(config)
        for home in (one, other):
            perform(home, batch=True)
        equal = False
        for _ in range(ATTEMPTS):
            for home in (one, other):
                perform(home, batch=False)
            equal = same_pictures(one, other)
            if equal:
                break
        wrong = []
        if tree(config) != before:
            wrong.append("the settings have been changed")
        if tree(os.path.join(other, "config")):
            wrong.append(f"settings have been written: {sorted(tree(os.path.join(other, 'config')))}")
        if not equal:
            wrong.append("the pictures differ: settings have been read")
        if wrong:
            print("\n".join(wrong))
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
