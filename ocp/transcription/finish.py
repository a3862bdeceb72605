"""What kernels run on: CasADi's virtual machine, or machine code where there is a compiler."""

from ocp.progress import say
from ocp.solvers import NoCompiler


class Finish:
    """What finishes kernels as machine code, and says how they run.

    After the first trouble it leaves them as they are.
    """

    def __init__(self, compiled):
        self.compiled, self.trouble, self.count = compiled, None, 0

    def __call__(self, kernel_function):
        from ocp.transcription.compiled import compile_function  # loads when asked for

        finished = self._made(compile_function, kernel_function)
        return kernel_function if finished is None else finished

    def placed(self, given, wheres, count):
        """Return products of kernels' values put in their places, as `scattered` does, or None
        where that is left to the virtual machine."""
        from ocp.transcription.scatter import scattered  # loads when asked for

        return self._made(scattered, given, wheres, count) if self.compiled else None

    def _made(self, make, *what):
        if self.trouble is None:
            self.count += 1
            say(f"compiles kernels, the {self.count}. of them")
            try:
                return make(*what)
            except NoCompiler as reason:
                self.trouble = str(reason)
        return None

    def words(self):
        """Return how kernels run."""
        if not self.compiled:
            return "virtual machine"
        return "compiled" if self.trouble is None else f"virtual machine: {self.trouble}"
