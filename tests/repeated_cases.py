"""Cases of one claim, tried in one test: a case more costs no test more to collect and report."""

from functools import wraps
from inspect import Signature, signature


def for_each(argument, cases):
    """Return a decorator: one test tries all cases of an argument; a failure names its case."""

    def decorate(test):
        @wraps(test)
        def whole(**others):
            for case in cases:
                try:
                    test(**others, **{argument: case})
                except Exception as failure:
                    raise AssertionError(f"{argument}: {case!r}: {failure}") from failure

        asked = [each for each in signature(test).parameters.values() if each.name != argument]
        whole.__signature__ = Signature(asked)
        return whole

    return decorate
