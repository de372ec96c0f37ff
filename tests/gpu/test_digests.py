"""The bits of the scores on a GPU, and its plans, against those that were recorded on one of the same kind."""

import pytest
import recorded
from hashed import CARRIED_OUT_ON_GPU, CARRIERS, ON_GPU
from test_plan_digests import plans


def known_of(stem, cupy):
    found = recorded.read(stem, "cuda")
    if not found:
        pytest.skip(
            f"nothing is recorded of {recorded.kind_of_gpu()}; python tests/test_{stem}.py --device cuda records it"
        )
    return found


@pytest.fixture(scope="module")
def known(cupy):
    return known_of("score_hashes", cupy)


def test_each_digest_has_its_call(known):
    assert sorted(call.name for calls in ON_GPU.values() for call in calls) == sorted(known)


@pytest.mark.parametrize("family", ON_GPU)
def test_bits(family, known):
    assert not [call.name for call in ON_GPU[family] if call.perform() != known[call.name]]


@pytest.mark.parametrize("call", CARRIED_OUT_ON_GPU, ids=lambda call: call.name)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_bits_do_not_depend_on_who_computes(call, carrier, tmp_path, known):
    assert CARRIERS[carrier](call, tmp_path) == known[call.name]


@pytest.mark.filterwarnings("ignore:.*goes with the next release")
def test_plans(cupy):
    assert plans("cuda") == known_of("plan_digests", cupy)
