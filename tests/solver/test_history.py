"""A history is a list of records that takes less room."""

import numpy as np
import pytest

from tengbc.solver.history import History
from tengbc.solver.record import Record

RECORDS = [
    Record(1, 0.1, 1e-7, 40, 1e6, {"left": 1e-9, "right": 0.0}),
    Record(2, 0.2, 2e-7, 41, float("inf"), {"left": 2e-9, "right": 1e-300}, 3e-5, 4e-5, 0, 7),
    Record(3, 0.30000000000000004, 3e-7, 42, 1e8, {"left": 3e-9, "right": 1.0}, estimate=1e-5),
]


@pytest.mark.parametrize("expected", [1, 2, 3, 100])
def test_gives_back_what_was_appended(expected):
    history = History(RECORDS, expected)
    assert list(history) == RECORDS and len(history) == 3
    assert (
        history[-1] == RECORDS[-1] and history[-2:] == RECORDS[-2:] and history[::2] == RECORDS[::2]
    )
    assert all(type(record.rank) is int for record in history)


def test_an_index_past_the_end_is_an_error():
    with pytest.raises(IndexError):
        History(RECORDS, 100)[3]


def test_no_conditions_no_segments():
    record = Record(1, 0.1, 1e-7, 40, 1e6)
    assert list(History([record, record])) == [record, record]


def test_its_table_makes_it_again():
    history = History(RECORDS)
    again = History.of_table(history.segments, history.table, 10)
    again.append(RECORDS[0])
    assert list(again) == [*RECORDS, RECORDS[0]]


def test_a_march_of_known_length_takes_its_room_at_the_start():
    history = History(RECORDS[:1], 1000)
    before = history._rows
    for record in RECORDS * 333:
        history.append(record)
    assert history._rows is before and len(history) == 1000
    assert np.isfinite(history.table[:, 0]).all()
