"""The stopwatch: laps follow each other, and compilation is told apart. The deadline."""

import math
import time

import jax
import jax.numpy as jnp

from tengbc.timing import Deadline, Stopwatch, compile_clock


def test_compilation_is_told_apart():
    watch, programs = Stopwatch(), compile_clock.programs
    jax.jit(lambda x: jnp.sin(x) @ jnp.cos(x))(jnp.ones(7)).block_until_ready()
    assert compile_clock.programs > programs
    assert watch.compiling > 0 and watch.computing >= 0
    computing, compiling = watch.lap()
    assert computing >= 0 and compiling > 0
    assert watch.compiling == 0 and watch.computing < 0.5


def test_a_lap_begins_where_the_last_one_ended():
    watch = Stopwatch()
    time.sleep(0.02)
    first, _ = watch.lap()
    time.sleep(0.01)
    second, _ = watch.lap()
    assert first >= 0.02 and second >= 0.01
    assert watch.computing < first


def test_a_deadline_comes_when_its_seconds_have_passed():
    soon, never = Deadline(0.02), Deadline()
    assert 0 < soon.left <= 0.02 and not soon.over
    assert never.left == math.inf and not never.over
    time.sleep(0.03)
    assert soon.left == 0 and soon.over and not never.over
