"""Guards that read the same attribute or item read it once."""

from autograph.runtime.tracing.environment.common_paths import statements


def test_a_path_that_several_conditions_read():
    found = statements(["type(a0.next) is Node", "a0.next.value is one", "a0.next.next is None"], "return")
    assert found == [
        "ag_0 = a0.next",
        "if not (type(ag_0) is Node and ag_0.value is one and ag_0.next is None):",
        " return",
        "ag_0 = None",
    ]


def test_conditions_come_before_what_they_ensure():
    found = statements(["type(a0) is Node", "type(a0.x) is int", "a0.x == 1"], "return")
    assert found[:3] == ["if not (type(a0) is Node):", " return", "ag_0 = a0.x"]


def test_items_and_names_of_modules():
    found = statements(["module_2['a b'][0] is x", "module_2['a b'][1] is y"], "return")
    assert found[:2] == ["ag_0 = module_2['a b']", "if not (ag_0[0] is x and ag_0[1] is y):"]


def test_what_may_not_be_read_stays():
    conditions = ["a0 is None or a0.x is y", "a0 is None or a0.x is z", "a0.x.keys() == 'a0.x'", "b.a0.x == c"]
    found = statements(conditions, "return")
    assert found[:3] == [f"if not ({conditions[0]} and {conditions[1]}):", " return", "ag_0 = a0.x"]
    assert found[3] == "if not (ag_0.keys() == 'a0.x' and b.a0.x == c):"


def test_nothing_in_common():
    assert statements(["a0.x is y", "a1.x is y"], "return") == ["if not (a0.x is y and a1.x is y):", " return"]
    assert statements([], "return") == []


def test_a_long_chain_is_read_in_linear_time():
    chain = [f"type(a0{'.next' * depth}) is Node" for depth in range(1, 100)]
    found = statements(chain, "return")
    assert sum(line.count(".next") for line in found) == 99
