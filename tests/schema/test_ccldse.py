"""test_ccldse.py: contrib/python/ccldse.py against the program $CCLDSE, with the cards of the tests ($CCLDSE_CONFIGS), in the
current folder."""
import contextlib
import io
import json
import os
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "contrib" / "python"))
import ccldse


class Reader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.redirect_stderr(io.StringIO()):
            cls.swept = ccldse.sweep("small", "ring8", db="py.db", recompute="no")

    def test_sweep_and_export_and_best_have_the_same_points(self):
        stored = ccldse.export("py.db")
        ranked = ccldse.best("py.db", top=0)
        self.assertEqual(self.swept["points"], len(stored))
        self.assertEqual(sorted(r["wall_time"] for r in stored), [r["wall_time"] for r in ranked])
        self.assertEqual(self.swept["best"]["wall_time"], ranked[0]["wall_time"])
        self.assertEqual(ranked[0]["rank"], 1)

    def test_options_become_words(self):
        step = ccldse.simulate("small", "ring8", dp=4, tp=2, set={"layers": 2, "network.bandwidth": [25]})
        self.assertEqual(step["config"]["model"]["layers"], 2)
        self.assertEqual(step["config"]["system"]["network.bandwidth"], [25])
        self.assertEqual(list(ccldse._words({"all": True, "hbm": None, "dp": [1, 2], "set": {"a": False}})),
                         ["--all", "--dp", "1", "--dp", "2", "--set", "a=false"])

    def test_files_are_read_as_the_program_is(self):
        rows = ccldse.export("py.db")
        pathlib.Path("py.json").write_text(json.dumps(rows))
        os.system('"$CCLDSE" export --db py.db --output py.csv')
        self.assertEqual(ccldse.read("py.json"), rows)
        self.assertEqual(ccldse.read("py.db"), rows)
        for a, b in zip(ccldse.read("py.csv"), rows):
            self.assertEqual(a["wall_time"], b["wall_time"])
            self.assertEqual(a["recompute"], b["recompute"])

    def test_names_that_look_like_numbers_stay_names(self):
        pathlib.Path("names.csv").write_text("point,configuration,dp,mfu,note\n16_1_1_1_0,123e4567,16,5e1,\n")
        self.assertEqual(ccldse.read("names.csv"),
                         [{"point": "16_1_1_1_0", "configuration": "123e4567", "dp": 16, "mfu": 50.0, "note": None}])

    def test_a_failure_is_told_in_the_programs_words(self):
        with self.assertRaises(ccldse.Error) as caught:
            ccldse.simulate("no_such_model", "ring8")
        self.assertIn("no_such_model", str(caught.exception))
        self.assertEqual(caught.exception.code, 3)
        with self.assertRaises(ccldse.Error) as caught:
            ccldse.run("best", program="./no_such_program")
        self.assertIn("CCLDSE", str(caught.exception))

    def test_rows_of_other_documents(self):
        self.assertEqual(ccldse.rows({"trace": "t", "metrics": {"a": {"value": 1}, "b": {"absent": "no steps"}}}),
                         [{"trace": "t", "metric": "a", "value": 1}, {"trace": "t", "metric": "b", "absent": "no steps"}])
        self.assertEqual(ccldse.rows({"tables": [{"title": "x", "rows": [{"run": "a"}]}]}), [{"table": "x", "run": "a"}])
        self.assertEqual(ccldse.rows({"fit": 1, "ranking": [{"rank": 1}]}), [{"rank": 1}])
        self.assertEqual(ccldse.rows({"points": 3}), [{"points": 3}])
        self.assertEqual(ccldse.rows(ccldse.run("topology", "show", system="ring8"))[0]["n_npus"], 8)

    def test_frames_are_made_where_pandas_is(self):
        kept = sys.modules.get("pandas")
        try:
            sys.modules["pandas"] = types.SimpleNamespace(DataFrame=lambda rows: ("frame", len(rows)))
            self.assertEqual(ccldse.frame([{"a": 1}, {"a": 2}]), ("frame", 2))
            sys.modules["pandas"] = None
            with self.assertRaises(ImportError):
                ccldse.frame([])
        finally:
            sys.modules.pop("pandas")
            if kept:
                sys.modules["pandas"] = kept


if __name__ == "__main__":
    unittest.main()
