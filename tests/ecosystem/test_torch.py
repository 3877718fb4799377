"""PyTorch: tensors as arguments and in closures, modules, random numbers, and torch.compile.

The extra `ecosystem` leaves it out, for it is large.
"""

import numpy as np
import pytest

import autograph as ag
from tests.ecosystem.probes import Probes

torch = pytest.importorskip("torch", reason="torch is not installed; `pip install torch` brings it")
PROBES = Probes()
WEIGHTS = torch.tensor([1.0, -2.0, 0.5])


@PROBES("torch.tensor([1.0, 2.0, 3.0])", "torch.tensor([-5.0, 0.0, 0.0])")
def branches(x):
    return x * 2 if x.sum() > 0 else x * 0


@PROBES("torch.ones(2, 3)")
def loops(x):
    for i in range(3):
        x = x + i if x.mean() > 0 else x - i
    return x @ WEIGHTS


@PROBES("torch.arange(4.0)")
def items(x):
    total = 0.0
    for value in x:
        if value > 1:
            total += value.item()
    return total


@PROBES("torch.zeros(3), 2.0")
def in_place(x, k):
    x += k
    x[0] = -1
    return x.add_(1).sum()


@PROBES("torch.tensor([1.0, 2.0], requires_grad=True)")
def gradients(x):
    loss = (x**2).sum() if x.sum() > 0 else x.sum()
    loss.backward()
    return x.grad


@PROBES("np.arange(3.0)")
def from_numpy(x):
    t = torch.from_numpy(x) * 2
    return t.numpy() + 1 if t.max() > 1 else t.numpy()


@PROBES("0")
def random_numbers(seed):
    torch.manual_seed(seed)
    return torch.rand(2) + torch.randn(2), torch.randperm(4)


@PROBES("torch.ones(1, 3)")
def modules(stage, x):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        @stage
        def forward(self, x):
            y = self.layer(x)
            return y if y.sum() > 0 else -y

    torch.manual_seed(0)
    net = Net()
    net(x).sum().backward()
    return net(x).detach(), net.layer.weight.grad, len(list(net.parameters()))


@PROBES("torch.ones(3)")
def training(x):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = (model(x) - 1).pow(2).sum()
        if loss < 1e-6:
            break
        loss.backward()
        optimizer.step()
    return model.weight.detach(), loss.item()


@PROBES("torch.ones(2)")
def no_grad(x):
    with torch.no_grad():
        y = x * 2
    return y, y.requires_grad


test_probe = PROBES.test()


def test_random_numbers_are_drawn_at_each_call():
    staged = ag.function(lambda x: x + torch.rand(1).item())
    assert len({staged(1.0) for _ in range(5)}) == 5


@ag.function
def relu(x):
    return x * 2 if x.sum() > 0 else x * 0


@ag.function
def shift(x):
    for i in range(3):
        x = x + i
    return x


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    @ag.function
    def step(self, x):
        return x * 2 if x.shape[0] > 1 else x

    def forward(self, x):
        return relu(self.step(self.layer(x)))


def breaks(x):
    print("before")
    y = relu(x)
    return y + 1


def mapped(x):
    return sum(map(relu, [x, x + 1]))


COMPILED = [lambda x: shift(x) + 1, lambda x: relu(x) + 1, breaks, mapped, relu, shift, Module()]


@pytest.mark.parametrize("function", COMPILED)
def test_compile(function, capsys):
    compiled = torch.compile(function, backend="eager")
    for x in torch.ones(3), -torch.ones(3), torch.ones(4) if not isinstance(function, Module) else torch.ones(3):
        assert torch.equal(compiled(x), function(x))
    assert capsys.readouterr().out.count("before") in (0, 6)


def test_compile_sees_through_a_staged_function():
    x = torch.ones(3)
    assert torch.equal(torch.compile(lambda x: shift(x) * 2, backend="eager", fullgraph=True)(x), shift(x) * 2)
    assert isinstance(shift(2), int) and np.array_equal(shift(np.ones(2)), [4.0, 4.0])
