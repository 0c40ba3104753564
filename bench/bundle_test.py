#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import bundle


class BundleTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.build = self.folder / "build"
        (self.build / "bin").mkdir(parents=True)
        # A program that needs more than the C library.
        shutil.copy(pathlib.Path(sys.executable).resolve(), self.build / "bin/program")
        self.script = self.folder / "script"
        self.script.write_text("a script\n")

    def test_programs_run_from_the_folder(self):
        target = self.folder / "bundle"
        bundle.make(target, self.build, ["bin/program"], [], [self.script])
        self.assertEqual((target / "script").read_text(), "a script\n")
        told = subprocess.run([target / "bin/program", "-c", "print(6 * 7)"], stdout=subprocess.PIPE, text=True,
                              env=bundle.environment_of(target), check=True)
        self.assertEqual(told.stdout, "42\n")
        for library in bundle.needed_libraries(self.build / "bin/program"):
            self.assertTrue((target / bundle.NEEDED / library.name).is_file(), library)

    def test_a_missing_file_leaves_nothing_behind(self):
        target = self.folder / "bundle"
        with self.assertRaisesRegex(bundle.MissingError, "bin/other is missing"):
            bundle.make(target, self.build, ["bin/program", "bin/other"], [], [self.script])
        self.assertFalse(target.exists())

    def test_scripts_of_a_bundle_use_its_programs(self):
        target = self.folder / "bundle"
        self.assertEqual(bundle.default_build(self.folder / "bench"), self.build)
        bundle.make(target, self.build, ["bin/program"], [], [self.script])
        self.assertEqual(bundle.default_build(target), target)

    def test_only_a_bundle_changes_where_libraries_are_found(self):
        self.assertEqual(bundle.environment_of(self.build), dict(os.environ))
        target = self.folder / "bundle"
        bundle.make(target, self.build, ["bin/program"], [], [])
        first = bundle.environment_of(target)["LD_LIBRARY_PATH"].split(":")[0]
        self.assertEqual(first, str(target / bundle.NEEDED))


if __name__ == "__main__":
    unittest.main()
