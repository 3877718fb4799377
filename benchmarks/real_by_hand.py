"""Example calls of public functions that have none of their own, by folder and file: the last call of each text."""

from __future__ import annotations

_TABLEAU = "import numpy as np; tableau = np.arange(1.0, 61.0).reshape(5, 12) % 7 + 1"
_MATRICES = "ArrayList(12, 12, [[1.0 + (5 * i + 3 * j) % 11 + 20 * (i == j) for j in range(12)] for i in range(12)])"
_POINTS = "[GVector(0.1 * i, 0.2 * i * i, 0.3) for i in range(8)], 3, [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]"
_STATE = (
    "fixed = fixeddata_t(59, stats_t(40, 44, 56, 50), 11, NOMODS, 115);"
    "half = halfstate_t(fixed, 40, 0, NOMODS, stats_t(40, 44, 56, 50))"
)
_PUZZLE = "board, cti, pieces = get_puzzle(WIDTH, HEIGHT); fps = get_footprints(board, cti, pieces)"
_SCENE = """
scene = Scene(); scene.addLight(Point(30, 30, 10)); scene.lookAt(Point(0, 3, 0))
scene.addObject(Sphere(Point(1, 3, -10), 2), SimpleSurface())
scene.addObject(Halfspace(Point(0, 0, 0), Vector.UP), CheckerboardSurface())
"""

PYPERFORMANCE = {
    "bm_barnes_hut": [
        "create_deterministic_galaxy(50, 400, 400)",
        "particles = create_deterministic_galaxy(30, 400, 400); calculate_system_energy(particles)",
        "particles = create_deterministic_galaxy(30, 400, 400); advance_system(particles, 0.5, 0.1, 800, 800)",
    ],
    "bm_bpe_tokeniser": [
        "bpe_train('the theme of these themes is the thesis ' * 5, 262, r' ?[a-z]+')",
        "ranks = bpe_train('the theme of these themes ' * 5, 262, r' ?[a-z]+'); bpe_encode(ranks, b'themes thesis')",
    ],
    "bm_chaos": [
        "GVector.Mag(GVector(1.0, 2.0, 3.0))",
        "GVector.dist(GVector(1.0, 2.0, 3.0), GVector(2.0, 1.0, 0.5))",
        "GVector.__add__(GVector(1.0, 2.0, 3.0), GVector(2.0, 1.0, 0.5))",
        "GVector.linear_combination(GVector(1.0, 2.0, 3.0), GVector(2.0, 1.0, 0.5), 0.25)",
        f"spline = Spline({_POINTS}); Spline.__call__(spline, 1.25)",
        f"spline = Spline({_POINTS}); Spline.GetIndex(spline, 1.25)",
        f"spline = Spline({_POINTS}); Spline.GetDomain(spline)",
    ],
    "bm_comprehensions": ["make_some_widgets()", "WidgetTray._any_knobby(WidgetTray(1, make_some_widgets()), [None])"],
    "bm_decimal_factorial": ["factorial(200, 0)"],
    "bm_decimal_pi": ["pi_decimal()"],
    "bm_deltablue": ["chain_test(20)", "projection_test(20)", "delta_blue(10)"],
    "bm_fannkuch": ["fannkuch(6)"],
    "bm_float": [
        "benchmark(200)",
        "maximize([Point(i) for i in range(50)])",
        "Point.normalize(Point(3))",
        "Point.maximize(Point(3), Point(4))",
    ],
    "bm_generators": ["tree(range(20))"],
    "bm_go": ["to_pos(3, 4)", "to_xy(40)", "computer_move(Board())", "Board.useful_moves(Board())"],
    "bm_hexiom": [
        "solve_file(LEVELS[2][0].strip(), Done.FIRST_STRATEGY, DESCENDING, io.StringIO())",
        "check_valid(read_file(LEVELS[2][0].strip()))",
        "read_file(LEVELS[2][0].strip())",
        "pos = read_file(LEVELS[2][0].strip()); constraint_pass(pos)",
        "pos = read_file(LEVELS[2][0].strip()); find_moves(pos, Done.FIRST_STRATEGY, DESCENDING)",
        "pos = read_file(LEVELS[2][0].strip()); solved(pos, io.StringIO())",
    ],
    "bm_mdp": [
        "graph = {i: (i // 2, i // 3) for i in range(1, 40)} | {0: ()}; topoSort([*graph], graph.get)",
        "getDamages(11, 40, 44, 65, True, 2)",
        "getCritDist(11, Fraction(115, 512), 40, 40, 44, 44, 65, True, 2)",
        "plus12(40)",
        f"{_STATE}; applyHPChange(half, -12)",
        "applyBadgeBoosts((True, False, True, False), stats_t(40, 44, 56, 50))",
        f"{_STATE}; _applyActionSide1((half, half, 0), 'Slash')",
        f"{_STATE}; _applyAction((half, half, 0), 1, 'Bubblebeam')",
    ],
    "bm_meteor_contest": [
        "rotate([E, E, E, SE])",
        "flip([E, E, E, SE])",
        "permute([E, E, E, SE], [E, E, SW, SE])",
        "convert([E, E, SW, SE])",
        f"{_PUZZLE}; get_footprints(board, cti, pieces)",
        f"{_PUZZLE}; get_senh(board, cti)",
        "get_puzzle(WIDTH, HEIGHT)",
        f"{_PUZZLE}; senh = get_senh(board, cti);"
        "solve(2, 0, frozenset(range(len(board))), [-1] * len(board), list(range(10)), [], fps, senh)",
    ],
    "bm_nbody": [
        "import copy; bodies = copy.deepcopy(SYSTEM); pairs = combinations(bodies); advance(0.01, 20, bodies, pairs)",
        "import copy; bodies = copy.deepcopy(SYSTEM); pairs = combinations(bodies); report_energy(bodies, pairs)",
        "import copy; bodies = copy.deepcopy(SYSTEM); offset_momentum(bodies[0], bodies)",
        "combinations(list(range(8)))",
    ],
    "bm_nqueens": ["bench_n_queens(6)", "bench_n_queens(5)"],
    "bm_pidigits": ["compose((1, 2, 0, 3), (4, 5, 0, 6))", "extract((1, 2, 3, 4), 3)", "calc_ndigits(50)"],
    "bm_pyflate": [
        "reverse_bits(0b1011001, 8)",
        "reverse_bytes(0x1234, 16)",
        "printbits(1234, 16)",
        "code_length_orders(5)",
        "distance_base(12)",
        "length_base(270)",
        "extra_distance_bits(12)",
        "extra_length_bits(270)",
        "move_to_front(list(range(20)), 7)",
        "bwt_transform(b'annb$aa' * 20)",
        "bwt_reverse(b'annb$aa' * 20, 4)",
    ],
    "bm_raytrace": [
        "firstIntersection([(None, 3.0, None), (None, None, None), (None, 2.0, None), (None, 5.0, None)])",
        "Vector.dot(Vector(1.0, 2.0, 3.0), Vector(3.0, 2.0, 1.0))",
        "Vector.cross(Vector(1.0, 2.0, 3.0), Vector(3.0, 2.0, 1.0))",
        "Vector.normalized(Vector(1.0, 2.0, 3.0))",
        "Vector.reflectThrough(Vector(1.0, 2.0, 3.0), Vector(0.0, 1.0, 0.0))",
        "Sphere.intersectionTime(Sphere(Point(1, 3, -10), 2), Ray(Point(0, 3, 0), Vector(0.1, 0, -1)))",
        _SCENE + "Scene.render(scene, Canvas(12, 12))",
    ],
    "bm_richards": ["Richards.run(Richards(), 1)"],
    "bm_scimark": [
        f"matrix = {_MATRICES}; SOR_execute(1.25, matrix, 3, ArrayList)",
        f"matrix = {_MATRICES}; LU_factor(matrix, array('i', [0]) * 12)",
        f"matrix = {_MATRICES}; LU(ArrayList(12, 12), matrix, array('i', [0]) * 12)",
        "copy_vector(Random(7).RandomVector(50))",
        "MonteCarlo(200)",
        "int_log2(1024)",
        "FFT_num_flops(1024)",
        "FFT_transform_internal(64, Random(7).RandomVector(128), -1)",
        "FFT_bitreverse(64, Random(7).RandomVector(128))",
        "FFT_transform(64, Random(7).RandomVector(128))",
        "FFT_inverse(64, Random(7).RandomVector(128))",
        "Random.nextDouble(Random(7))",
        "Random.RandomVector(Random(7), 40)",
    ],
    "bm_spectral_norm": [
        "eval_A(3, 4)",
        "eval_times_u(part_A_times_u, [1.0] * 30)",
        "eval_AtA_times_u([1.0] * 30)",
        "part_A_times_u((3, [1.0] * 30))",
        "part_At_times_u((3, [1.0] * 30))",
    ],
}

QUANTECON = {
    "quantecon/quad.py": [
        "gammaln(7.5)",
        "fix(-2.5)",
        "_qnwcheb1(15, 0.0, 2.0)",
        "_qnwlege1(15, 0.0, 2.0)",
        "_qnwnorm1(15)",
        "_qnwsimp1(15, 0.0, 2.0)",
        "_qnwtrap1(15, 0.0, 2.0)",
        "_qnwbeta1(9, 2.0, 3.0)",
        "_qnwgamma1(9, 2.0, 3.0)",
    ],
    "quantecon/_inequality.py": [
        "import numpy as np; lorenz_curve(np.arange(1.0, 200.0) ** 1.5)",
        "import numpy as np; gini_coefficient(np.arange(1.0, 60.0) ** 1.5)",
    ],
    "quantecon/_lss.py": [
        "import numpy as np; A = np.eye(3) * 0.5 + 0.1; simulate_linear_model(A, np.ones(3), np.ones((3, 60)), 60)"
    ],
    "quantecon/_gridtools.py": [
        "simplex_grid(4, 6)",
        "num_compositions_jit(4, 6)",
        "import numpy as np; _repeat_1d(np.arange(10.0), 4, np.empty(80))",
    ],
    "quantecon/_graph_tools.py": [
        "import numpy as np; row = np.empty(45, int); col = np.empty(45, int);"
        "_populate_random_tournament_row_col(10, np.arange(45.0) / 45, row, col)"
    ],
    "markov/approximation.py": [
        "std_norm_cdf(0.7)",
        "import numpy as np; x = np.linspace(-2, 2, 12); _fill_tauchen(x, np.empty((12, 12)), 12, 0.9, 0.3, 0.18)",
        "rouwenhorst(9, 0.9, 0.2, 0.1)",
        "tauchen(9, 0.9, 0.2)",
    ],
    "markov/core.py": [
        "import numpy as np; cdfs = np.cumsum(np.ones((5, 5)) / 5, axis=1); out = np.empty((4, 50), int);"
        "_generate_sample_paths(cdfs, np.arange(4), np.arange(196.0).reshape(4, 49) % 11 / 11, out)"
    ],
    "markov/gth_solve.py": [
        "import numpy as np; A = np.ones((12, 12)) / 12 + np.eye(12); _gth_solve_jit(A, np.zeros(12))",
        "import numpy as np; gth_solve(np.ones((12, 12)) / 12)",
    ],
    "markov/utilities.py": [
        "sa_indices(8, 5)",
        "import numpy as np; s, a = sa_indices(8, 5); _has_sorted_sa_indices(s, a)",
        "import numpy as np; s, a = sa_indices(8, 5); _generate_a_indptr(8, s, np.empty(9, int))",
        "import numpy as np; s, a = sa_indices(8, 5);"
        "_s_wise_max(a, np.arange(0, 41, 5), np.sin(np.arange(40.0)), np.empty(8))",
        "import numpy as np; s, a = sa_indices(8, 5);"
        "_s_wise_max_argmax(a, np.arange(0, 41, 5), np.sin(np.arange(40.0)), np.empty(8), np.empty(8, int))",
    ],
    "markov/estimate.py": [
        "import numpy as np; _count_transition_frequencies(np.arange(200) * 7 % 5, np.zeros((5, 5)))"
    ],
    "optimize/pivoting.py": [
        f"{_TABLEAU}; _pivoting(tableau, 3, 2)",
        f"{_TABLEAU}; _lex_min_ratio_test(tableau, 3, 5, np.empty(5, int))",
        f"{_TABLEAU}; _min_ratio_test_no_tie_breaking(tableau, 3, -1, np.arange(5), 5)",
    ],
    "optimize/minmax.py": ["import numpy as np; minmax(np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]]))"],
    "optimize/root_finding.py": [
        "newton(lambda x: x**3 - x - 2, 1.0, lambda x: 3 * x**2 - 1)",
        "newton_halley(lambda x: x**3 - x - 2, 1.0, lambda x: 3 * x**2 - 1, lambda x: 6 * x)",
        "newton_secant(lambda x: x**3 - x - 2, 1.0)",
        "bisect(lambda x: x**3 - x - 2, 0.0, 4.0)",
        "brentq(lambda x: x**3 - x - 2, 0.0, 4.0)",
    ],
    "optimize/scalar_maximization.py": ["brent_max(lambda x: -(x - 1.5) ** 2, -3.0, 4.0)"],
    "optimize/nelder_mead.py": [
        "import numpy as np; nelder_mead(lambda x: -((x[0] - 1) ** 2) - (x[1] - x[0] ** 2) ** 2, np.array([0.5, 2.0]))",
        "import numpy as np; _initialize_simplex(np.array([0.5, 2.0, 0.0]), np.array([[], []]).T)",
        "import numpy as np; _check_params(1.0, 2.0, 0.5, 0.5, np.array([[], []]).T, 3)",
    ],
    "game_theory/normal_form_game.py": [
        "import numpy as np; best_response_2p(np.arange(30.0).reshape(6, 5) % 7, np.ones(5) / 5)"
    ],
    "game_theory/vertex_enumeration.py": [
        "import numpy as np; _ints_arr_to_bits(np.arange(12).reshape(4, 3), np.empty(4, int))"
    ],
    "util/array.py": ["import numpy as np; searchsorted(np.arange(50.0), 33.3)"],
    "util/combinatorics.py": [
        "import numpy as np; next_k_array(np.array([0, 1, 3, 4]))",
        "import numpy as np; k_array_rank_jit(np.array([0, 1, 3, 7]))",
    ],
    "util/numba.py": ["comb_jit(20, 6)"],
    "random/utilities.py": [
        "import numpy as np; _sample_without_replacement(20, np.arange(5.0) / 5, np.empty(5, int))"
    ],
}

CALLS = {f"{folder}/run_benchmark.py": texts for folder, texts in PYPERFORMANCE.items()} | QUANTECON
