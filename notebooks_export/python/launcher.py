#!python
"""The command szego that pip installs: becomes the program in the package's folder. It does not import the
package, because NumPy would take longer than most commands. Commands that the package carries out run under this
interpreter, unless SZEGO_PYTHON names another one."""
import importlib.util
import os
import sys

package = importlib.util.find_spec("szego")
if package is None:
    sys.exit(f"szego: {sys.executable} finds no package szego: install it again (pip install --force-reinstall)")
program = os.path.join(os.path.dirname(package.origin), "bin", "szego")
if sys.executable:
    os.environ.setdefault("SZEGO_PYTHON", sys.executable)
try:
    os.execv(program, ["szego", *sys.argv[1:]])
except OSError as error:
    sys.exit(f"{program}: {error.strerror}: the package found there was not installed by pip: correct PYTHONPATH")
