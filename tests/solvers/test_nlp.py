"""The solver behind one door.

Options by name, statuses as data, interruption, and the first-order certificate.
"""

import os
import signal
from contextlib import suppress
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import Attempt, prepare, solve
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.solvers import (
    NLP,
    Solver,
    feasibility,
    keep_interrupts,
    kkt_residual,
    minimize,
    with_rows,
)
from ocp.solvers.nlp import Values
from ocp.solvers.progress import Record
from ocp.transcription import transcribe_phase


def small_program(objective=None):
    """min (x0 - 1)^2 + x1^2 with x0 x1 = 1 and x0 <= 3, derivatives left to the solver."""
    x = ca.MX.sym("x", 2)
    f = (x[0] - 1) ** 2 + x[1] ** 2 if objective is None else objective(x)
    return NLP(
        lower=np.array([-np.inf, -np.inf]),
        upper=np.array([3.0, np.inf]),
        g_lower=np.ones(1),
        g_upper=np.ones(1),
        objective=ca.Function("f", [x], [f]),
        constraints=ca.Function("g", [x], [x[0] * x[1]]),
    )


def test_a_program_is_minimised_and_its_first_order_conditions_hold():
    nlp = small_program()
    outcome = minimize(nlp, Solver(), [2.0, 2.0])
    assert outcome.success and outcome.status == "Solve_Succeeded"
    assert kkt_residual(nlp, outcome.x, outcome.x_multipliers, outcome.g_multipliers) < 1e-7
    assert abs(outcome.x.prod() - 1) < 1e-8


def test_a_wrong_multiplier_fails_the_first_order_conditions():
    nlp = small_program()
    outcome = minimize(nlp, Solver(), [2.0, 2.0])
    assert kkt_residual(nlp, outcome.x, outcome.x_multipliers, outcome.g_multipliers + 0.1) > 0.05
    assert kkt_residual(nlp, outcome.x + 0.1, outcome.x_multipliers, outcome.g_multipliers) > 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"plugin": "ipop"}, "plugin: expected one of auto, snopt, structured, alpaqa, "),
        ({"plugin": "../x"}, "plugin: expected one of auto"),
        ({"hessian": "bfgs"}, "hessian: expected one of"),
        ({"options": {"max_iterr": 5}}, "option 'max_iterr' = 5: refused by plugin 'ipopt'"),
        (
            {"options": {"max_iterations": 5}},
            "option 'max_iterations' = 5: refused by plugin 'ipopt': No such IPOPT option: "
            "max_iterations (did you mean 'max_iter'",
        ),
        (
            {"options": {"max_iters": 5, "tol": "tight"}},
            "option 'max_iters' = 5: .*\noption 'tol' = 'tight': refused by plugin 'ipopt'",
        ),
        (
            {"options": {"tol": 1e-6, "mu_strategy": "sometimes"}},
            "option 'mu_strategy' = 'sometimes'",
        ),
        ({"options": {"tol": float("nan")}}, "option 'tol': expected a number, got nan"),
        ({"options": {"tol": -1.0}}, "option 'tol' = -1.0: refused"),
        ({"options": {"tol": "small"}}, "option 'tol' = 'small'"),
        (
            {"plugin": "sleqp", "hessian": "lbfgs"},
            "hessian 'lbfgs': plugin 'sleqp' has no limited-memory mode",
        ),
        (
            {"plugin": "alpaqa", "hessian": "gauss-newton"},
            "hessian 'gauss-newton': plugin 'alpaqa' does not take",
        ),
        ({"plugin": "sqpmethod", "options": {"nonesuch": 1}}, "option 'nonesuch'"),
        (
            {"plugin": "fatrop", "options": {"tolerance": 1e-6, "nonesuch": 1}},
            "option 'nonesuch' = 1: refused by plugin 'fatrop'",
        ),
        (
            {"plugin": "alpaqa", "options": {"nonesuch": 1}},
            "option 'nonesuch' = 1: refused by plugin 'alpaqa'",
        ),
    ],
)
def test_a_wrong_setting_is_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        Solver(**arguments)


def test_an_unknown_plugin_lists_those_that_there_are():
    with pytest.raises(ValueError) as error:
        Solver(plugin="ipop")
    listed, _, rest = str(error.value).removeprefix("plugin: expected one of ").partition(", or a ")
    assert rest == "Backend, got 'ipop' (did you mean 'ipopt'?)"
    casadis = set(listed.split(", ")) - {"auto", "snopt", "structured"}
    assert "sqpmethod" in casadis and all(ca.has_nlpsol(name) for name in casadis)


def test_gauss_newton_needs_residuals():
    with pytest.raises(ValueError, match="leaves its derivatives to the solver"):
        minimize(small_program(), Solver(hessian="gauss-newton"), [2.0, 2.0])


def asked_of(kinds):
    """The small program with derivatives of its own, which notes the kinds of Hessian asked of it;
    "gauss-newton" leaves the curvature of the constraint out."""
    nlp = small_program()
    x, p = ca.MX.sym("x", 2), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", 1)
    f, g = nlp.objective(x), nlp.constraints(x)
    first = [["x", "p"], ["f", "grad_f_x"]], [["x", "p"], ["g", "jac_g_x"]]

    def hessian(kind):
        kinds.append(kind)
        weighed = lam_f * f + (lam_g * g if kind == "exact" else 0)
        upper = ca.triu(ca.hessian(weighed, x)[0])
        names = ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
        return ca.Function("hess_lag", [x, p, lam_f, lam_g], [upper], *names)

    return replace(
        nlp,
        gradient=ca.Function("grad_f", [x, p], [f, ca.gradient(f, x)], *first[0]),
        jacobian=ca.Function("jac_g", [x, p], [g, ca.jacobian(g, x)], *first[1]),
        hessian=hessian,
    )


@pytest.mark.parametrize("change", [lambda nlp: nlp, feasibility])
@pytest.mark.parametrize("kind", ["exact", "gauss-newton"])
def test_a_solver_gets_the_kind_of_hessian_that_it_was_asked_to_take(kind, change):
    kinds = []
    outcome = minimize(change(asked_of(kinds)), Solver(hessian=kind), [2.0, 2.0])
    assert outcome.success and {*kinds} == {kind}


def test_gauss_newton_goes_another_way_than_the_exact_hessian():
    exact, quasi = (
        minimize(asked_of([]), Solver(hessian=kind), [2.0, 2.0])
        for kind in ("exact", "gauss-newton")
    )
    assert quasi.f == pytest.approx(exact.f, abs=1e-7)
    assert [step.objective for step in quasi.history[:4]] != [
        step.objective for step in exact.history[:4]
    ]


def test_options_reach_the_plugin():
    assert (
        minimize(small_program(), Solver(options={"max_iter": 1}), [2.0, 2.0]).status
        == "Maximum_Iterations_Exceeded"
    )


def test_lbfgs_reaches_the_same_optimum():
    exact, lbfgs = (
        minimize(small_program(), Solver(hessian=hessian), [2.0, 2.0])
        for hessian in ("exact", "lbfgs")
    )
    assert lbfgs.success and abs(lbfgs.f - exact.f) < 1e-7


def test_every_iteration_is_seen_and_kept():
    seen = []
    outcome = minimize(small_program(), Solver(), [2.0, 2.0], watch=seen.append)
    assert tuple(seen) == outcome.history and len(seen) == outcome.iterations + 1
    assert seen[0].violation == pytest.approx(3.0, rel=0.1) and seen[-1].violation < 1e-8


def test_a_solver_that_shows_few_iterates_numbers_them_as_they_are():
    each = minimize(small_program(), Solver(), [2.0, 2.0])
    seldom = minimize(small_program(), Solver(options={"iteration_callback_step": 3}), [2.0, 2.0])
    assert seldom.f == each.f and len(each.history) > 4
    for shown in seldom.history:
        assert shown.number % 3 == 0 and shown.objective == each.history[shown.number].objective


def test_interrupted_between_iterates_that_are_shown_the_last_one_counts_too(monkeypatch):
    def interrupted_later(record, f, iterate, see=Record.see):
        see(record, f, iterate)
        record.interrupted = True
        return False

    whole = minimize(small_program(), Solver(), [2.0, 2.0])
    monkeypatch.setattr(Record, "see", interrupted_later)
    seldom = Solver(options={"iteration_callback_step": 100})
    outcome = minimize(small_program(), seldom, [2.0, 2.0])
    assert outcome.status == "User_Requested_Stop" and not outcome.success
    assert outcome.f == whole.f and len(outcome.history) == 1


@pytest.fixture
def heard():
    """Ctrl-C is heard, also by tests that run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("fails", [False, True])
def test_a_ctrl_c_that_is_swallowed_while_graphs_are_built_is_raised_at_the_end(heard, fails):
    def build():
        with suppress(KeyboardInterrupt):  # as CasADi's wrappers do
            signal.raise_signal(signal.SIGINT)
        if fails:
            raise NotImplementedError("wrong number of arguments")  # as they say then

    with pytest.raises(KeyboardInterrupt), keep_interrupts():
        build()
    assert signal.getsignal(signal.SIGINT) is heard


def test_who_listens_already_is_left_alone(heard):
    calls = []
    signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    with keep_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert calls == [1]


def test_ctrl_c_returns_the_best_iterate_with_its_status(heard):
    def interrupt(iteration):
        if iteration.number == 4:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    outcome = minimize(small_program(), Solver(), [2.9, 2.0], watch=interrupt)
    assert outcome.status == "User_Requested_Stop" and not outcome.success
    assert len(outcome.history) <= 7
    least = min(step.violation for step in outcome.history)
    assert abs(outcome.x.prod() - 1) <= max(1e-6, 1.01 * least)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("plugin", ["ipopt", "sqpmethod", "sleqp", "structured"])
def test_what_a_watch_raises_stops_the_solver_and_reaches_the_caller(plugin, error):
    raised, seen = error("of the watch"), []

    def watch(iteration):
        seen.append(iteration.number)
        if iteration.number == 2:
            raise raised

    transcribed = transcribe_phase(two_link_lift(points=8))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(error) as caught:
        minimize(transcribed.nlp, Solver(plugin=plugin), transcribed.guess, watch=watch)
    assert caught.value is raised and caught.traceback[-1].name == "watch"
    assert seen == [0, 1, 2] and signal.getsignal(signal.SIGINT) is before


def test_a_plan_whose_watch_has_raised_solves_as_before():
    def watch(iteration):
        raise LookupError(f"at {iteration.number}")

    plan = prepare(two_link_lift(points=8))
    first = plan.solve()
    with pytest.raises(LookupError, match="at 0"):
        plan.solve(watch=watch)
    assert plan.solve().objective == first.objective


def test_a_plugin_that_raises_becomes_a_status():
    outcome = minimize(
        small_program(), Solver(plugin="blocksqp", options={"schur": True}), [2.0, 2.0]
    )  # needs ma27, not in the wheel
    assert not outcome.success and "ma27" in outcome.status
    assert outcome.x.tolist() == [2.0, 2.0]


def test_not_a_number_is_a_status():
    outcome = minimize(small_program(lambda x: ca.log(x[0] - 10)), Solver(), [2.0, 2.0])
    assert not outcome.success and outcome.status == "Invalid_Number_Detected"


@pytest.mark.parametrize("plugin", ["sqpmethod", "sleqp"])
def test_other_plugins_agree(plugin):
    reference = minimize(small_program(), Solver(), [2.0, 2.0])
    outcome = minimize(small_program(), Solver(plugin=plugin), [1.5, 1.0])
    assert outcome.success and abs(outcome.f - reference.f) < 1e-6


def test_the_feasibility_program_has_the_same_constraints_and_no_objective():
    transcribed = transcribe_phase(two_link_lift())
    first = minimize(feasibility(transcribed.nlp), Solver(), transcribed.guess)
    assert first.success and first.f == 0 and first.iterations < 20
    assert (
        kkt_residual(
            feasibility(transcribed.nlp), first.x, first.x_multipliers, first.g_multipliers
        )
        < 1e-7
    )
    second = minimize(transcribed.nlp, Solver(), first.x)
    assert second.f == pytest.approx(solve(two_link_lift()).objective, rel=1e-8)
    both = solve(two_link_lift(), attempts=[Attempt(feasible_first=True)])
    assert both.statistics["stages"] == ["Solve_Succeeded"] * 2
    assert both.objective == pytest.approx(second.f, rel=1e-10)


def test_the_graph_of_a_function_is_built_for_expressions_alone():
    """Numbers are given by its fast version, also after rows were left out."""
    x, calls = ca.MX.sym("x", 2), []
    fast = ca.Function("g", [x], [ca.vertcat(x[0] * x[1], x[0])])

    def graph():
        calls.append("built")
        return ca.Function("g", [x], [ca.vertcat(x[0] * x[1], x[0])])

    nlp = replace(
        small_program(), constraints=Values(fast, graph), g_lower=np.ones(2), g_upper=np.ones(2)
    )
    fewer = with_rows(nlp, np.array([1]))
    assert float(fewer.constraints([2.0, 3.0])) == 2.0 and calls == []
    assert float(ca.Function("g", [x], [fewer.constraints(x)])([2.0, 3.0])) == 2.0
    assert calls == ["built"]
