#!/usr/bin/env python3
"""What app/run would start, for many ways of calling it. Builds and starts nothing.

usage: app_run_test.py APP_RUN BUILD_DIRECTORY
"""
import os
import subprocess
import sys

APP_RUN, BUILD = sys.argv[1:3]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(APP_RUN)))
STOPLINE = f"{BUILD}/bin/stopline"
DEMO = f"{BUILD}/demo/rows"

# Arguments, and what is started with a display.
CASES = [
    ("", f"{STOPLINE} {DEMO}"),
    ("--style light", f"{STOPLINE} --style light {DEMO}"),
    ("--style=dark -n 8 --verbose", f"{STOPLINE} --style=dark -n 8 --verbose {DEMO}"),
    ("--run", f"{STOPLINE} --run {DEMO}"),
    ("--launcher-args --oversubscribe", f"{STOPLINE} --launcher-args --oversubscribe {DEMO}"),
    ("--batch some.script", f"{STOPLINE} --batch some.script {DEMO}"),
    ("--screenshots /tmp/x --session-script s", f"{STOPLINE} --screenshots /tmp/x --session-script s {DEMO}"),
    ("./my_app", f"{STOPLINE} ./my_app"),
    ("-n 4 ./my_app --style", f"{STOPLINE} -n 4 ./my_app --style"),
    ("mpirun -n 2 ./a : -n 2 ./b", f"{STOPLINE} mpirun -n 2 ./a : -n 2 ./b"),
    ("-- ./my_app", f"{STOPLINE} -- ./my_app"),
    ("--help", f"{STOPLINE} --help"),
    ("--version", f"{STOPLINE} --version"),
    ("--batch --help", f"{STOPLINE} --batch --help"),
]
# The same without one.
HEADLESS = [
    ("", f"headless {ROOT}/resources/demo/rows.session {DEMO}"),
    ("--style dark", f"headless {ROOT}/resources/demo/rows.session --style dark {DEMO}"),
    ("-n 8", f"headless {ROOT}/resources/demo/headless.session -n 8 {DEMO}"),
    ("-n 2 ./my_app", f"headless {ROOT}/resources/demo/headless.session -n 2 ./my_app"),
    ("--session-script s", f"{STOPLINE} --session-script s {DEMO}"),
    ("--batch some.script ./my_app", f"{STOPLINE} --batch some.script ./my_app"),
    ("--help", f"{STOPLINE} --help"),
]


def started(arguments, display):
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment["STOPLINE_BUILD"] = BUILD
    if display:
        environment["DISPLAY"] = ":0"
    done = subprocess.run([APP_RUN, "--dry-run", *arguments.split()], env=environment, capture_output=True, text=True,
                          timeout=120)
    return done.stdout.rstrip("\n") if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def main():
    failures = 0
    for cases, display in ((CASES, True), (HEADLESS, False)):
        for arguments, expected in cases:
            actual = started(arguments, display)
            if actual != expected:
                failures += 1
                print(f"app/run {arguments}\n  expected {expected}\n  got      {actual}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
