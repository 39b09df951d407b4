"""The graph of a function that failed is no evidence about the next function."""


def test_the_graph_of_a_failed_function_is_not_taken_for_that_of_the_next(run_module):
    records = run_module("tf_opdiff.harness.tests.planted_servers.planted_failed_graph", modes=("function",))
    assert {(record.spec, record.verdict, record.detail) for record in records if record.spec == "works"} == {
        ("works", "match", "")
    }
    assert {record.verdict for record in records if record.spec == "fails"} == {"match"}
