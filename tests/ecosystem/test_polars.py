"""polars: functions of elements, groups and rows, and expressions."""

from tests.ecosystem.probes import Probes, package

pl = package("polars")
PROBES = Probes()

FRAME = "pl.DataFrame({'a': [1, -2, 3], 'b': [0.5, 1.5, 2.5], 'name': ['x', 'y', 'x']})"


@PROBES(FRAME)
def elements(stage, frame):
    double = stage(lambda x: x * 2 if x > 0 else -1)
    return frame.with_columns(frame["a"].map_elements(double, return_dtype=pl.Int64).alias("c"))


@PROBES(FRAME)
def batches(stage, frame):
    return frame.select(pl.col("b").map_batches(stage(lambda s: s - s.mean())))


@PROBES(FRAME)
def groups(stage, frame):
    largest = stage(lambda group: group.sort("a", descending=True).head(1))
    return frame.group_by("name", maintain_order=True).map_groups(largest)


@PROBES(FRAME)
def rows(frame):
    total, names = 0.0, []
    for row in frame.iter_rows(named=True):
        if row["a"] > 0:
            total += row["b"]
            names.append(row["name"])
    return total, names


@PROBES(FRAME)
def expressions(frame):
    kept = frame.filter(pl.col("a") > 0).with_columns((pl.col("a") * pl.col("b")).alias("c"))
    return kept, kept["c"].sum() if kept.height > 1 else None


test_probe = PROBES.test()
