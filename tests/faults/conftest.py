"""Many sessions in one process: what is compiled is compiled once, as it would be the same."""

import pytest

from tengbc.projection import Collocation
from tengbc.spaces.operators import FeatureDerivatives, LinearisedOperators
from tests.faults import cases


@pytest.fixture(scope="session")
def workshop():
    """`session(path, run)` of tests.faults.cases, without compiling the same programs anew."""
    patch, known = pytest.MonkeyPatch(), {}

    def once(owner, name, key):
        original = getattr(owner, name)

        def remembered(self, *arguments):
            place = (owner, name, *key(self))
            if place not in known:
                before = set(vars(self))
                original(self, *arguments)
                known[place] = {k: v for k, v in vars(self).items() if k not in before}
            else:
                vars(self).update(known[place])

        patch.setattr(owner, name, remembered)

    def rows(collocation):
        sizes = (len(collocation.parameters), len(collocation.interior))
        return (id(collocation.problem), *sizes, sum(map(len, collocation.boundary)))

    once(Collocation, "_compile", rows)
    once(LinearisedOperators, "_compile", lambda each: rows(each.collocation))
    once(FeatureDerivatives, "_compile", lambda each: (id(each.problem), len(each.parameters)))
    yield cases.session
    patch.undo()
