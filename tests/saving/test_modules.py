"""`ag.save` and `ag.load` of modules and other objects: attributes, variables, staged methods, what is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import SaveError, SignatureError

BATCH = np.random.default_rng(0).normal(size=(8, 3))


class Model(ag.Module):
    """Two layers that share a variable with a list, and a state that a method changes."""

    def __init__(self) -> None:
        super().__init__(name="demo")
        self.layers = [ag.nn.Dense(3, 4, activation=np.tanh), ag.nn.Dense(4, 1)]
        self.scale = ag.Variable(2.0, trainable=False, name="scale")
        self.shared = {"first": self.layers[0].w}
        self.rate = 0.1
        self.log: list[str] = []
        self.file = open  # noqa: SIM115  (something that is no data)

    @ag.function
    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x * self.scale

    @ag.function
    def step(self, x: Any, y: Any) -> Any:
        loss, gradients = ag.value_and_grad(lambda: ((self(x) - y) ** 2).mean(), wrt=self.trainable_variables)()
        for variable, gradient in zip(self.trainable_variables, gradients):
            variable.assign_sub(self.rate * gradient)
        return loss


@pytest.fixture
def model() -> Model:
    made = Model()
    made(BATCH)
    made.step(BATCH, np.ones((8, 1)))
    return made


@pytest.fixture
def loaded(model: Model, tmp_path: Path) -> Any:
    ag.save(model, tmp_path / "model")
    return ag.load(tmp_path / "model")


def test_attributes_and_variables_are_as_they_were(model: Model, loaded: Any) -> None:
    assert isinstance(loaded, ag.Module) and type(loaded).__name__ == "Model" and loaded.name == "demo"
    assert list(loaded.named_variables()) == list(model.named_variables())
    assert [each.trainable for each in loaded.variables] == [each.trainable for each in model.variables]
    assert loaded.scale.name == "scale" and loaded.rate == 0.1
    for path, array in model.state_dict().items():
        np.testing.assert_array_equal(loaded.state_dict()[path], array)
    assert isinstance(loaded.layers[1], ag.nn.Dense)


def test_methods_do_what_they_did(model: Model, loaded: Any) -> None:
    np.testing.assert_array_equal(loaded(BATCH), model(BATCH))
    for _ in range(3):
        assert loaded.step(BATCH, np.ones((8, 1))) == model.step(BATCH, np.ones((8, 1)))
    np.testing.assert_array_equal(loaded(BATCH), model(BATCH))


def test_what_is_shared_stays_shared(loaded: Any) -> None:
    assert loaded.shared["first"] is loaded.layers[0].w
    before = loaded(BATCH)
    loaded.layers[0].w.assign(loaded.layers[0].w.numpy() * 2)
    assert not np.array_equal(before, loaded(BATCH))


def test_it_can_be_trained_further_in_other_functions(model: Model, loaded: Any) -> None:
    def loss(module: Any) -> Any:
        return lambda x: (module(x) ** 2).sum()

    for mine, theirs in zip(
        ag.grad(loss(loaded), wrt=loaded.trainable_variables)(BATCH),
        ag.grad(loss(model), wrt=model.trainable_variables)(BATCH),
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_an_attribute_that_is_part_of_a_graph_must_stay_as_it_is(loaded: Any) -> None:
    loaded.rate = 0.5
    with pytest.raises(SignatureError, match="the attribute self.rate changed"):
        loaded.step(BATCH, np.ones((8, 1)))


def test_what_is_no_data_is_left_out_and_named(loaded: Any) -> None:
    with pytest.raises(AttributeError, match="no attribute 'file', since it was .*open, which cannot be saved"):
        loaded.file


def test_saved_again_it_is_the_same(model: Model, loaded: Any, tmp_path: Path) -> None:
    loaded(BATCH), loaded.step(BATCH, np.ones((8, 1)))
    ag.save(loaded, tmp_path / "again")
    again = ag.load(tmp_path / "again")
    np.testing.assert_array_equal(again(BATCH), loaded(BATCH))
    assert list(again.named_variables()) == list(model.named_variables())


def test_methods_without_traces_are_saved_for_given_signatures(tmp_path: Path) -> None:
    class Fresh(Model):     # whose methods no other instance has run
        __call__ = ag.function(Model.__call__.python_function)
        step = ag.function(Model.step.python_function)

    model = Fresh()
    with pytest.raises(SaveError, match="has no graph yet"):
        ag.save(model, tmp_path / "model")
    spec = ag.TensorSpec((None, 3), "f8")
    calls = {"__call__": [(spec,)], "step": [(spec, ag.TensorSpec((None, 1), "f8"))]}
    ag.save(model, tmp_path / "model", signatures=calls)
    loaded = ag.load(tmp_path / "model")
    for n in (1, 5):
        np.testing.assert_array_equal(loaded(BATCH[:n]), model(BATCH[:n]))


class Trainer(ag.Module):
    """An optimizer with its state, noise from a generator, and a property that only the graph needs."""

    def __init__(self) -> None:
        self.model, self.optimizer, self.random = ag.nn.Dense(3, 1), ag.optim.Adam(0.1), np.random.default_rng(3)
        self.optimizer.init(self.model.trainable_variables)

    @property
    def weights(self) -> Any:
        return self.model.trainable_variables

    @ag.function
    def step(self, x: Any, y: Any) -> Any:
        noisy = x + self.random.normal(size=x.shape)
        loss, gradients = ag.value_and_grad(lambda: ((self.model(noisy) - y) ** 2).mean(), wrt=self.weights)()
        self.optimizer.update(self.weights, gradients)
        return loss


def test_training_goes_on_where_it_was(tmp_path: Path) -> None:
    trainer, y = Trainer(), np.ones((8, 1))
    trainer.step.compile(BATCH, y)
    trainer.step(BATCH, y)
    ag.save(trainer, tmp_path / "trainer")
    loaded = ag.load(tmp_path / "trainer")
    assert isinstance(loaded.optimizer, ag.optim.Adam)
    for _ in range(3):
        assert loaded.step(BATCH, y) == trainer.step(BATCH, y)
    np.testing.assert_array_equal(loaded.model.w, trainer.model.w)


class Counter:
    def __init__(self) -> None:
        self.count = 0
        self.seen: list[Any] = []

    @ag.function
    def add(self, x: Any) -> Any:
        self.count += 1
        self.seen.append(x)
        return self.count


def test_other_objects_with_staged_methods(tmp_path: Path) -> None:
    counter = Counter()
    counter.add(5)
    ag.save(counter, tmp_path / "counter")
    loaded = ag.load(tmp_path / "counter")
    assert [loaded.add(6), loaded.add(7)] == [2, 3]
    assert (loaded.count, loaded.seen) == (3, [5, 6, 7]) and (counter.count, counter.seen) == (1, [5])


def test_state_dicts_are_read_by_other_frameworks(model: Model, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    fresh = Model()
    fresh.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    np.testing.assert_array_equal(fresh(BATCH), model(BATCH))
