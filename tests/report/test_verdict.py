"""The first words of a report: true ones."""

import pytest

from tengbc.outcome import Outcome
from tengbc.report.verdict import facts, verdict


def said(**changes):
    usual = {
        "outcome": "done",
        "message": "",
        "rtol": 1e-6,
        "relative_l2_max": 2e-7,
        "error_estimate_max": 3e-7,
        "seconds": {"total": 12.0},
    }
    found = verdict(usual | changes)
    return found.kind, found.headline, " ".join(found.sentences).replace("\N{NO-BREAK SPACE}", " ")


def test_solved():
    kind, headline, text = said()
    assert (kind, headline) == ("good", "Solved")
    assert "stays within 2.0 × 10⁻⁷ at all times, where 10⁻⁶ was asked for" in text
    assert "took 12 s" in text


def test_an_estimate_is_called_one():
    kind, _, text = said(relative_l2_max=None)
    assert kind == "good" and "is estimated to stay within 3.0 × 10⁻⁷" in text
    kind, _, text = said(relative_l2_max=None, error_estimate_max=None, rtol=None)
    assert kind == "good" and "The error is not known" in text


def test_an_estimate_that_proved_wrong_is_admitted():
    kind, headline, text = said(relative_l2_max=5e-5)
    assert kind == "doubtful" and "than the estimate promised" in headline
    assert "Solved" not in headline
    assert "reaches 5.0 × 10⁻⁵" in text


def test_a_tolerance_missed():
    message = "the error is near 5.0e-05 where 1.0e-06 was asked for; give a smaller dt."
    kind, headline, text = said(
        outcome="tolerance not reached", message=message, relative_l2_max=5e-5
    )
    assert kind == "doubtful" and headline == "Less accurate than asked"
    assert "Give a smaller dt." in text and text.count("asked for") == 1


def test_out_of_time_with_an_answer():
    message = "the error is near 5.0e-05 where 1.0e-06 was asked for; max_seconds were over: more."
    summary = {"outcome": "out of time", "relative_l2_max": 5e-5, "t_end": 1.0, "t_reached": 1.0}
    kind, headline, text = said(message=message, **summary)
    assert kind == "doubtful" and headline == "Stopped: max_seconds were over"
    assert "Max_seconds were over: more." in text and text.count("asked for") == 1
    assert ("solved to", "t = 1") in facts(summary, 10)


def test_out_of_time_on_the_way():
    message = "the march came to t = 0.5 of 1; max_seconds were over."
    summary = {"outcome": "out of time", "t_end": 1.0, "t_reached": 0.5, "steps": 20}
    _, _, text = said(message=message, **summary)
    assert "The march came to t = 0.5 of 1; max_seconds were over." in text
    shown = dict(facts(summary, 10))
    assert "solved to" not in shown and shown["steps"] == "10 of 20"


def test_a_failure_states_no_error():
    kind, headline, text = said(outcome="diverged", message="the fit was lost at t = 0.1")
    assert kind == "bad" and headline.startswith("Not solved")
    assert "The fit was lost at t = 0.1." in text and "relative error" not in text


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_headline(outcome):
    assert said(outcome=outcome.value)[1] == outcome.headline
