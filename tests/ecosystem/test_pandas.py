"""pandas: functions of rows, groups, windows and values; loops over rows; masks and labels."""

import numpy as np
import pytest

from autograph.runtime.dispatch.options import can_compile
from tests.ecosystem.probes import Probes, becomes_machine_code, package

pd = package("pandas")
PROBES = Probes()

FRAME = "pd.DataFrame({'a': [1.0, -2.0, 3.5], 'b': [4, 5, 6], 'name': ['x', 'y', 'x']}, index=[10, 20, 30])"
SERIES = "pd.Series([1.0, np.nan, 3.0, -4.0], index=list('wxyz'), name='s')"


@PROBES("pd.Series({'a': 1.0, 'b': 2.0})", "pd.Series({'a': -1, 'b': 2})")
def one_row(row):
    return row["a"] + 1 if row["a"] > 0 else row["b"]


@PROBES(FRAME)
def apply_to_rows(stage, frame):
    @stage
    def score(row):
        if row["a"] > 0:
            return row["a"] * row["b"]
        return -row["b"]

    return frame.apply(score, axis=1)


@PROBES(FRAME)
def apply_with_branches_on_text(stage, frame):
    @stage
    def label(row):
        if row["name"] == "x" and row.a > 2:
            return "big " + row["name"]
        return row["name"].upper()

    return frame.apply(label, axis=1)


@PROBES(FRAME)
def apply_to_columns(stage, frame):
    return frame[["a", "b"]].apply(stage(lambda column: column.max() - column.min()))


@PROBES(FRAME)
def apply_that_gives_rows(stage, frame):
    @stage
    def split(row):
        return pd.Series({"low": min(row["a"], row["b"]), "high": max(row["a"], row["b"])})

    return frame.apply(split, axis=1)


@PROBES(FRAME)
def groups_applied(stage, frame):
    @stage
    def spread(group):
        return group["a"].max() - group["a"].min() if len(group) > 1 else 0.0

    return frame.groupby("name")[["a", "b"]].apply(spread)


@PROBES(FRAME)
def groups_aggregated(stage, frame):
    @stage
    def clipped(values):
        total = 0.0
        for value in values:
            total += value if value > 0 else 0.0
        return total

    return frame.groupby("name")["a"].agg(clipped), frame.groupby("name")["b"].transform(stage(lambda x: x - x.mean()))


@PROBES(SERIES)
def windows(stage, series):
    return series.fillna(0.0).rolling(2).apply(stage(lambda x: x[0] - x[1] if x[0] > 0 else x.sum()), raw=True)


@PROBES(SERIES)
def windows_of_series(stage, series):
    return series.fillna(0.0).rolling(2).apply(stage(lambda x: x.iloc[-1] if x.iloc[0] > 0 else x.sum()), raw=False)


@PROBES(SERIES)
def mapped(stage, series):
    return series.map(stage(lambda x: x * 2 if x > 0 else 0.0)), series.apply(stage(abs_or_zero))


def abs_or_zero(x):
    if x != x:
        return 0.0
    return x if x > 0 else -x


@PROBES("pd.Series(['a', 'bb', ''])")
def mapped_texts(stage, series):
    return series.map(stage(lambda text: text[0] + str(len(text)) if text else "none"))


@PROBES(FRAME)
def loop_over_rows(frame):
    total, seen = 0.0, []
    for index, row in frame.iterrows():
        if row["a"] < 0:
            continue
        total += row["a"] * row["b"]
        seen.append((index, row["name"]))
    return total, seen


@PROBES(FRAME)
def loop_over_tuples(frame):
    best = None
    for row in frame.itertuples():
        if best is None or row.a > best.a:
            best = row
    return best.Index, best.a, best.name


@PROBES(FRAME)
def new_columns(frame):
    frame["c"] = frame["a"] * frame["b"]
    frame.loc[frame["a"] < 0, "c"] = 0.0
    frame["big"] = np.where(frame["b"] > 4, "yes", "no")
    return frame[frame["c"] > 1].sort_values("c", ascending=False)


@PROBES(FRAME)
def reductions(frame):
    means = frame[["a", "b"]].mean()
    if means["a"] > 0:
        return means, frame["b"].sum(), frame.describe().loc["std", "a"]
    return None


@PROBES(f"{FRAME}, 'b'", f"{FRAME}, 'none'")
def a_missing_column(frame, name):
    return frame[name].sum() if len(frame) > 1 else 0


@PROBES(SERIES)
def conversions(series):
    values = series.to_numpy()
    total = 0.0
    for value in values:
        if not np.isnan(value):
            total += value
    return total, series.dropna().values.sum(), series.index[0], list(series.items())


@PROBES("pd.date_range('2024-01-30', periods=3)")
def dates(days):
    return [day.day for day in days if day.month == 2], days[0] + pd.Timedelta(days=1), days.max() > days.min()


@PROBES(FRAME)
def merged(frame):
    other = pd.DataFrame({"name": ["x", "z"], "weight": [0.5, 2.0]})
    joined = frame.merge(other, on="name", how="left")
    return joined.fillna({"weight": 1.0}), pd.concat([frame, frame]).shape


@PROBES(FRAME)
def a_pipeline(stage, frame):
    @stage
    def cleaned(frame, limit):
        return frame[frame["a"] > limit] if limit < 100 else frame

    return frame.pipe(cleaned, -1).assign(d=stage(lambda f: f["a"] + f["b"]))


@PROBES(SERIES)
def numbers_of_a_series(series):
    x = series.iloc[0]
    y = series.get("z", 0.0)
    return x + y if x > y else x - y, float(series.max()), int(series.count())


test_probe = PROBES.test()


@pytest.mark.parametrize("times", [200])
def test_many_calls_of_a_row(times):
    import autograph as ag

    frame = pd.DataFrame({"a": np.arange(float(times)) - 5, "b": np.arange(times)})
    staged = ag.function(lambda row: row["a"] * 2 if row["a"] > 0 else row["b"])
    pd.testing.assert_series_equal(frame.apply(staged, axis=1), frame.apply(staged.python_function, axis=1))
    assert len(staged.traces) == 1


def decayed(frame):
    values = frame["b"].to_numpy()
    total = 0.0
    for value in values:
        total = total * 0.5 + value
    return total + frame["a"].sum()


def decayed_with_a_class(frame):
    class Summary:
        rows = len(frame)

    values = frame["b"].to_numpy()
    total = 0.0
    for value in values:
        total = total * 0.5 + value
    return total + frame["a"].sum() / Summary.rows


@pytest.mark.usefixtures("default_engine")
@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
@pytest.mark.parametrize("function", [decayed, decayed_with_a_class])
def test_by_default_a_loop_over_the_array_of_a_column_becomes_machine_code(function):
    frame = pd.DataFrame({"a": np.arange(20_000) % 7, "b": np.arange(20_000) * 0.5})
    assert becomes_machine_code(function, frame)
