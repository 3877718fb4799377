"""scikit-learn: staged transforms, metrics and kernels, in several processes too; estimators in staged functions."""

import numpy as np

from tests.ecosystem.probes import Probes, package

package("sklearn")
import sklearn.cluster
import sklearn.linear_model
import sklearn.metrics
import sklearn.model_selection
import sklearn.neighbors
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.svm

PROBES = Probes()

DATA = "np.random.default_rng(0).normal(size=(40, 3)), np.random.default_rng(1).integers(0, 2, 40)"


@PROBES(DATA)
def a_transformer(stage, x, y):
    @stage
    def clip(x):
        return np.where(x > 1, 1.0, x) if x.ndim == 2 else x

    pipe = sklearn.pipeline.make_pipeline(
        sklearn.preprocessing.FunctionTransformer(clip), sklearn.linear_model.LogisticRegression()
    )
    return pipe.fit(x, y).predict(x), pipe.score(x, y)


@PROBES(DATA)
def a_metric(stage, x, y):
    @stage
    def distance(a, b):
        total = 0.0
        for p, q in zip(a, b):
            total += abs(p - q) if p > q else 2 * abs(p - q)
        return total

    model = sklearn.neighbors.KNeighborsClassifier(3, metric=distance, algorithm="brute").fit(x, y)
    return model.predict(x[:5])


@PROBES(DATA)
def a_score_in_two_processes(stage, x, y):
    @stage
    def score(truth, guess):
        right = 0
        for t, g in zip(truth, guess):
            right += 1 if t == g else 0
        return right / len(truth)

    scorer = sklearn.metrics.make_scorer(score)
    model = sklearn.linear_model.LogisticRegression()
    return sklearn.model_selection.cross_val_score(model, x, y, cv=3, scoring=scorer, n_jobs=2)


@PROBES(DATA)
def a_search_in_two_processes(stage, x, y):
    scale = stage(lambda x: x / 2 if x.max() > 0 else x)
    pipe = sklearn.pipeline.Pipeline(
        [("f", sklearn.preprocessing.FunctionTransformer(scale)), ("m", sklearn.linear_model.Ridge())]
    )
    search = sklearn.model_selection.GridSearchCV(pipe, {"m__alpha": [0.1, 1.0]}, cv=2, n_jobs=2).fit(x, y)
    return search.best_params_, search.best_score_


@PROBES(DATA)
def a_kernel(stage, x, y):
    return sklearn.svm.SVC(kernel=stage(lambda a, b: (a @ b.T + 1) ** 2)).fit(x, y).predict(x)


@PROBES(DATA)
def estimators_in_a_staged_function(x, y):
    scaled = sklearn.preprocessing.StandardScaler().fit_transform(x)
    model = sklearn.linear_model.LogisticRegression().fit(scaled, y)
    wrong = 0
    for guess, truth in zip(model.predict(scaled), y):
        if guess != truth:
            wrong += 1
    return wrong, model.coef_, sklearn.metrics.accuracy_score(y, model.predict(scaled))


@PROBES("np.random.default_rng(0).normal(size=(20, 2))")
def clusters(x):
    found = sklearn.cluster.KMeans(2, n_init=1, random_state=0).fit(x)
    return sorted(np.bincount(found.labels_).tolist()), found.inertia_ > 0


test_probe = PROBES.test()
