"""Results of searches in the demo, which must be the same on every database."""

import pytest

from conference.models import Edition
from operations.indexing.update import refresh
from search.hits import find_documents
from search.models import Document
from search.query import parse_query
from tests.demo.programs import import_demo

OUTSTANDING = {
    "2021": ["cortex", "data-movement", "panama", "tiramisu-cost-model", "tt-rec"],
    "2022": ["gpu-semiring", "ml-exray", "pathways", "quadralib", "robe"],
}


def search_results(text: str, year: str = "") -> list[str]:
    edition = Edition.objects.get(slug=year).pk if year else None
    keys = [
        (hit.kind, hit.object_id)
        for hit in find_documents(parse_query(text), edition=edition, limit=100).page
    ]
    documents = [Document.objects.get(kind=kind, object_id=key) for kind, key in keys]
    return sorted(f"{document.kind} {document.key.removeprefix('mlsys')}" for document in documents)


def papers(year: str, *uids: str) -> list[str]:
    return [f"paper {year}-{uid}" for uid in uids]


CASES = [
    ("tensor", "2021", papers("2021", "adasum", "micronets", "tflite-micro", "tpu-concurrency", "tt-rec")),
    (
        "compil",
        "2021",
        [
            *papers("2021", "code-ensembles", "cortex", "learned-fitness", "tiramisu-cost-model"),
            "session 2021-compilers",
        ],
    ),
    ("award:outstanding year:2022", "", papers("2022", *OUTSTANDING["2022"])),
    ("award:outstanding", "2021", papers("2021", *OUTSTANDING["2021"])),
    ("wu carole", "2021", [*papers("2021", "tt-rec"), "person p-carole-jean-wu"]),
    ("speaker:dally", "", ["person p-william-dally", "session 2021-dally"]),
    ("dally", "", ["person p-william-dally", "session 2021-dally", "session 2021-opening-remarks"]),
    ("sparse matrix", "", papers("2023", "nmsparse")),
    ("topic:compilers", "2023", papers("2023", "alcop", "sirius", "x-rlflow")),
    (
        '"deep learning" -recommendation',
        "2021",
        [*papers("2021", "cortex", "tiramisu-cost-model"), "session 2021-dally"],
    ),
    ("poster", "", ["page getting-started", "page help"]),
    ("sparse steam engines", "", []),
]


@pytest.mark.django_db
def test_search_results_of_the_demo() -> None:
    import_demo()
    refresh()

    assert [(text, year, search_results(text, year)) for text, year, _ in CASES] == CASES
