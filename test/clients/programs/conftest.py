"""The fixtures that the tests of neon-api expect. The source package of neon-api contains the tests without them."""
import os
import random

import pytest
from neon_api import NeonAPI


@pytest.fixture
def neon():
    return NeonAPI(os.environ["API_KEY"], base_url=os.environ["BASE_URL"] + "/")


@pytest.fixture
def random_name():
    return lambda: f"pytest-{random.randint(0, 10000)}"


@pytest.fixture
def ensure_no_projects(neon):
    def delete_all():
        for project in neon.projects().projects:
            neon.project_delete(project.id)

    return delete_all
