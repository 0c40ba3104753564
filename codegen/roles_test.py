# SPDX-License-Identifier: Apache-2.0
"""The meaning of calls: the vocabulary, its checks, and the table, on definitions of a few lines."""
import pathlib
import re
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import emit_roles  # noqa: E402
import idl  # noqa: E402
import model as model_module  # noqa: E402
import roles as roles_module  # noqa: E402

UUID = "[ uuid( 00000000-0000-0000-0000-00000000000%d ), object, local ]\n"
DEFINITIONS = """
typedef enum D3D12_PIPELINE_STATE_SUBOBJECT_TYPE { D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VS } D3D12_PIPELINE_STATE_SUBOBJECT_TYPE;
typedef struct D3D12_BOX { UINT Left; } D3D12_BOX;
interface ID3D12Resource;
""" + UUID % 1 + """
interface ID3D12CommandList : IUnknown { UINT GetType(); };
""" + UUID % 2 + """
interface ID3D12GraphicsCommandList : ID3D12CommandList
{
    void Copy([annotation("_In_")] ID3D12Resource* pTo, [annotation("_In_")] ID3D12Resource* pFrom, UINT Bytes);
    void SetTable(UINT Index, UINT64 Base);
    void Clear([annotation("_In_")] ID3D12Resource* pTo, const D3D12_BOX* pBox);
};
""" + UUID % 3 + """
interface ID3D12Resource : IUnknown { HRESULT Map(); void Make([in] REFIID riid, [out, iid_is(riid)] void** ppOther); };
""" + UUID % 4 + """
interface ID3D12ListTool : IUnknown { void Assert(); };
""" + UUID % 5 + """
interface ID3D12CommandQueue : IUnknown { void Signal(UINT64 Value); void SetMarker(); };
"""
ROLES = {
    "ID3D12CommandList::GetType": "question",
    "ID3D12GraphicsCommandList::Copy": {"role": "work", "reads": ["pFrom"], "writes": ["pTo"], "count": "Bytes"},
    "ID3D12GraphicsCommandList::SetTable": {"role": "state", "state": "root_argument", "root": "table",
                                            "point": "compute", "slot": "Index", "value": "Base"},
    "ID3D12GraphicsCommandList::Clear": {"role": "work", "view": "render_target", "writes": ["pTo"]},
    "ID3D12Resource::Map": "map",
    "ID3D12Resource::Make": "create",
    "ID3D12ListTool::*": "hint",
    "ID3D12CommandQueue::Signal": {"role": "signal", "value": "Value"},
    "ID3D12CommandQueue::SetMarker": "marker",
}


def build(change=None, without=(), definitions="", supplement="", **model):
    roles = {key: value for key, value in ROLES.items() if key not in without}
    roles.update(change or {})
    rules = {table: {} for table in ("creates", "returns", "manual", "policies", "as_is", "arguments", "counts", "unions",
                                     "special", "handles", "pipeline_subobjects", "state_subobjects", "lifetimes")}
    rules["creates"] = {"ID3D12Resource::Make": "ID3D12Resource"}
    rules["work"] = {"ID3D12GraphicsCommandList::Copy": "COPY_RESOURCE",
                     "ID3D12GraphicsCommandList::Clear": "CLEAR_RENDER_TARGET"}
    rules["interfaces"] = {"shared": ["ID3D12CommandList"], "passed": {},
                           "wrapped": ["ID3D12GraphicsCommandList", "ID3D12Resource", "ID3D12CommandQueue"],
                           "tear_offs": {"ID3D12ListTool": "ID3D12GraphicsCommandList"}}
    rules["roles"] = roles
    api = idl.Api()
    idl.parse_text(DEFINITIONS + definitions, "test.idl", api)
    idl.parse_text(supplement, "supplement/test.idl", api, supplement=True)
    return model_module.Model(api, rules, **model)


def row(model, name):
    text = emit_roles.roles_source(model)
    return re.search(rf"// {name}\n(.*?\}},)\n", text, re.S).group(1)


class Table(unittest.TestCase):
    def test_a_copy_names_what_it_reads_and_writes(self):
        self.assertEqual(
            "    {Role::kWork, Timeline::kList, Replay::kMake, Unrepeatable::kNone,\n"
            "     StateKind::kNone, RootArgumentKind::kNone, RootPoint::kNone,\n"
            "     ViewKind::kNone, ResourceMemory::kNone, false, false, false,\n"
            "     Chain::kID3D12GraphicsCommandList, -1, -1, -1, 2, -1, -1, 0x2, 0x1},",
            row(build(), "ID3D12GraphicsCommandList::Copy"))

    def test_a_root_argument_has_a_place(self):
        text = row(build(), "ID3D12GraphicsCommandList::SetTable")
        self.assertIn("StateKind::kRootArgument, RootArgumentKind::kTable, RootPoint::kCompute,", text)
        self.assertIn("-1, 1, 0, -1, -1, -1, 0x0, 0x0}", text)

    def test_only_what_is_recorded_is_of_a_list(self):
        model = build()
        for name, timeline in (("ID3D12CommandList::GetType", "kCpu"), ("ID3D12ListTool::Assert", "kCpu"),
                               ("ID3D12GraphicsCommandList::Copy", "kList"), ("ID3D12Resource::Map", "kCpu"),
                               ("ID3D12CommandQueue::Signal", "kQueue"), ("ID3D12CommandQueue::SetMarker", "kQueue")):
            self.assertIn(f"Timeline::{timeline},", row(model, name), name)

    def test_a_tear_off_is_of_the_chain_that_it_belongs_to(self):
        model = build()
        self.assertIn("Chain::kID3D12GraphicsCommandList,", row(model, "ID3D12ListTool::Assert"))
        self.assertIn("Chain::kNone,", row(model, "ID3D12CommandList::GetType"))

    def test_a_role_says_what_a_replay_does(self):
        self.assertIn("Replay::kMap,", row(build(), "ID3D12Resource::Map"))
        self.assertIn("Replay::kSkip,", row(build(), "ID3D12CommandList::GetType"))
        model = build({"ID3D12Resource::Map": {"role": "map", "replay": "cannot", "why": "cuda"}})
        self.assertIn("Replay::kCannot, Unrepeatable::kCuda,", row(model, "ID3D12Resource::Map"))

    def test_a_creation_says_where_the_object_comes_back(self):
        self.assertIn("-1, -1, -1, -1, -1, 1, 0x0, 0x0}", row(build(), "ID3D12Resource::Make"))

    def test_a_signal_signals(self):
        self.assertIn("ResourceMemory::kNone, false, true, false,", row(build(), "ID3D12CommandQueue::Signal"))

    def test_every_method_has_a_row(self):
        model = build()
        self.assertEqual([f"{i}::{m.name}" for i, m in model.methods()],
                         re.findall(r"^    // (\w+::\w+)$", emit_roles.roles_source(model), re.M))

    def test_enumerators_are_the_vocabulary(self):
        text = emit_roles.roles_header()
        for name, vocabulary, has_none, _ in emit_roles.ENUMS:
            found = re.findall(r"^  (k\w+),", re.search(rf"enum class {name} : uint8_t {{(.*?)}};", text, re.S).group(1),
                               re.M)
            self.assertEqual(["kNone"] * has_none + [emit_roles.enumerator(word) for word in vocabulary], found)


class Mistakes(unittest.TestCase):
    def refused(self, message, change=None, error=roles_module.RoleError, **others):
        with self.assertRaisesRegex(error, message):
            emit_roles.files(build(change, **others))

    def test_words_that_do_not_exist(self):
        key = "ID3D12GraphicsCommandList::Clear"
        self.refused("Clear: there is no role wrok", {key: "wrok"})
        self.refused("Clear: there is no word raeds", {key: {"role": "work", "raeds": ["pTo"]}})
        self.refused("Clear: there is no view target", {key: {"role": "work", "view": "target"}})
        self.refused("Clear has no parameter pFrom", {key: {"role": "work", "reads": ["pFrom"]}})

    def test_words_that_do_not_fit_the_role(self):
        self.refused("a call with the role map has no view", {"ID3D12Resource::Map": {"role": "map", "view": "sampler"}})
        key = "ID3D12GraphicsCommandList::SetTable"
        self.refused("its state is not said", {key: "state"})
        self.refused("point has to be graphics or compute", {key: {"role": "state", "state": "root_signature"}})
        self.refused("root belongs to root_argument", {key: {"role": "state", "state": "viewports", "root": "table"}})
        self.refused("its value is not said", {"ID3D12CommandQueue::Signal": "signal"})
        self.refused("its value is not said", {key: {"role": "state", "state": "viewports"}})
        self.refused("its slot is not said", {key: {"role": "state", "state": "vertex_buffers", "value": "Base"}})
        self.refused("its object is not said", {key: "bundle"})

    def test_parameters_of_the_wrong_kind(self):
        key = "ID3D12GraphicsCommandList::Copy"
        self.refused("object: Bytes is of kind unsigned", {key: {"role": "work", "object": "Bytes"}})
        self.refused("count: pTo is of kind object", {key: {"role": "work", "count": "pTo"}})
        self.refused("writes: Bytes is of kind unsigned", {key: {"role": "work", "writes": ["Bytes"]}})

    def test_a_reason_belongs_to_what_cannot_be_replayed(self):
        key = "ID3D12Resource::Map"
        self.refused("why belongs to", {key: {"role": "map", "why": "cuda"}})
        self.refused("why belongs to", {key: {"role": "map", "replay": "cannot"}})
        self.refused("is what its role says", {key: {"role": "map", "replay": "map"}})

    def test_roles_of_other_objects(self):
        self.refused("Map: list_close is a role of command lists", {"ID3D12Resource::Map": "list_close"})
        self.refused("SetTable: submit is a role of queues", {"ID3D12GraphicsCommandList::SetTable": "submit"})
        self.refused("Map: marker is a role of command lists and queues", {"ID3D12Resource::Map": "marker"})

    def test_other_tables_have_to_agree(self):
        self.refused("Copy: its role is marker, and it is in .work.", {"ID3D12GraphicsCommandList::Copy": "marker"})
        self.refused("SetTable: its role is work, and it is not in .work.", {"ID3D12GraphicsCommandList::SetTable": "work"})
        self.refused("Make: its role is question, and it gives out an object", {"ID3D12Resource::Make": "question"})
        self.refused("Map: its role is create, and it is in neither", {"ID3D12Resource::Map": "create"})

    def test_two_roles(self):
        self.refused("ID3D12Resource::M.* has a role already", {"ID3D12Resource::*": "question"})

    def test_names_that_do_not_exist(self):
        error = model_module.ModelError
        self.refused("ID3D12Resource has no method Unmap", {"ID3D12Resource::Unmap": "unmap"}, error)
        self.refused("there is no interface ID3D12Other", {"ID3D12Other::*": "hint"}, error)
        self.assertEqual(["ID3D12Resource7"], build({"ID3D12Resource7::*": "hint"}).missing)


class WithoutRole(unittest.TestCase):
    """A method whose meaning nobody said."""

    NEWER = UUID % 7 + "interface ID3D12Resource1 : ID3D12Resource { void A(); void B(); };"

    def refused(self, message, **build_arguments):
        with self.assertRaisesRegex(model_module.ModelError, message):
            build(**build_arguments)

    def test_a_forgotten_method_stops_the_generator(self):
        self.refused(r"roles\.toml: ID3D12Resource::Map has no role", without=["ID3D12Resource::Map"])
        self.refused("ID3D12CommandList::GetType has no role", without=["ID3D12CommandList::GetType"])
        self.refused("ID3D12Resource1::B has no role", definitions=self.NEWER,
                     change={"ID3D12Resource1::A": "question"})

    def test_our_own_definitions_have_roles(self):
        self.refused("ID3D12Resource1::A has no role", supplement=self.NEWER)

    def test_the_first_version_has_roles(self):
        self.refused("ID3D12ListTool: nobody said what its methods mean", without=["ID3D12ListTool::*"])

    def test_a_new_version_of_the_headers_is_left_out(self):
        model = build(definitions=self.NEWER)
        self.assertNotIn("ID3D12Resource1", model.chain_of)
        self.assertIn("ID3D12Resource1: nobody said what its methods mean", model.warnings[0])
        self.assertIn("ID3D12Resource1 and later versions are refused", model.warnings[0])

    def test_strictly_that_is_an_error_too(self):
        self.refused("ID3D12Resource1::A has no role", definitions=self.NEWER, strict=True)

    def test_an_interface_may_have_one_role_for_all(self):
        model = build({"ID3D12Resource1::*": "question"}, definitions=self.NEWER)
        self.assertIn("Role::kQuestion", row(model, "ID3D12Resource1::B"))


class OurRoles(unittest.TestCase):
    """roles.toml itself; that it fits the headers is what the build shows."""

    def test_one_role_says_all_of_an_interface_or_each_method_has_its_own(self):
        path = pathlib.Path(__file__).resolve().parent / "roles.toml"
        with open(path, "rb") as file:
            roles = tomllib.load(file)["roles"]
        whole = {key.partition("::")[0] for key in roles if key.endswith("::*")}
        self.assertEqual(set(), {key for key in roles if not key.endswith("::*") and key.partition("::")[0] in whole})
        for key, value in roles.items():
            roles_module.check_words(key, roles_module.as_words(key, value))


if __name__ == "__main__":
    unittest.main()
