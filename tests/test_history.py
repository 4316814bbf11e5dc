"""A history is a list of records that takes less room."""

import numpy as np
import pytest

from tengbc.history import History, Record

RECORDS = [
    Record(1, 0.1, {"fit_residual": 1e-7, "rank": 40, "boundary_left": 0.0}),
    Record(2, 0.2, {"fit_residual": 2e-7, "rank": np.inf, "boundary_left": 1e-300}),
    Record(3, 0.30000000000000004, {"fit_residual": 3e-7, "boundary_left": 1.0}),
]


@pytest.mark.parametrize("expected", [1, 2, 3, 100])
def test_gives_back_what_was_appended(expected):
    history = History(RECORDS, expected)
    assert list(history) == RECORDS and len(history) == 3
    assert (
        history[-1] == RECORDS[-1] and history[-2:] == RECORDS[-2:] and history[::2] == RECORDS[::2]
    )
    assert all(type(record.step) is int for record in history)


def test_an_index_past_the_end_is_an_error():
    with pytest.raises(IndexError):
        History(RECORDS, 100)[3]


def test_nothing_measured():
    record = Record(1, 0.1)
    assert list(History([record, record])) == [record, record]


def test_its_table_makes_it_again():
    history = History(RECORDS)
    again = History.of_table(history.names, history.table, 10)
    again.append(RECORDS[0])
    assert list(again) == [*RECORDS, RECORDS[0]]


def test_a_march_of_known_length_takes_its_room_at_the_start():
    history = History(RECORDS[:1], 1000)
    before = history._rows
    for record in RECORDS * 333:
        history.append(record)
    assert history._rows is before and len(history) == 1000
    assert np.isfinite(history.table[:, 0]).all()
