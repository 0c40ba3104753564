# SPDX-License-Identifier: Apache-2.0
"""The reader of interface definitions and the model, on definitions of a few lines."""
import copy
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import emit_supplement  # noqa: E402
import emit_tables  # noqa: E402
import emit_thin  # noqa: E402
import emit_unwrap  # noqa: E402
import emit_values  # noqa: E402
import idl  # noqa: E402
import model as model_module  # noqa: E402

IUNKNOWN_UUID = "[ uuid( 00000000-0000-0000-0000-00000000000%d ), object, local ]\n"

DEFINITIONS = """
import "oaidl.idl";
const UINT D3D12_SLOTS = 2;
typedef enum D3D12_KIND { D3D12_KIND_THING, D3D12_KIND_OTHER = ( 1 << 3 ), D3D12_KIND_LAST, } D3D12_KIND;
typedef enum D3D12_PIPELINE_STATE_SUBOBJECT_TYPE { D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VS } D3D12_PIPELINE_STATE_SUBOBJECT_TYPE;
typedef enum D3D12_FLAGS { D3D12_FLAG_NONE = 0x0, D3D12_FLAG_A = 0x1 } D3D12_FLAGS;
cpp_quote( "DEFINE_ENUM_FLAG_OPERATORS( D3D12_FLAGS );" )
interface ID3D12Thing;
typedef struct D3D12_HELD { ID3D12Thing* pThing; UINT Low : 24; UINT High : 8; } D3D12_HELD;
typedef struct D3D12_DESC
{
    D3D12_KIND Kind;
    union
    {
        D3D12_HELD Held;
        UINT64 Number;
    };
    UINT Count;
    [annotation("_Field_size_full_(Count)")] ID3D12Thing** ppThings;
    FLOAT Values[ D3D12_SLOTS ];
} D3D12_DESC;
""" + IUNKNOWN_UUID % 1 + """
interface ID3D12Thing : IUnknown
{
    // A comment with a ; in it.
    void Use([annotation("_In_reads_(Number)")] const D3D12_DESC* pDescs, UINT Number, ID3D12Thing* pOther);
    D3D12_DESC GetDesc();
}
""" + IUNKNOWN_UUID % 2 + """
interface ID3D12Thing1 : ID3D12Thing
{
    HRESULT Make([in] REFIID riid, [out, iid_is(riid), annotation("_COM_Outptr_opt_")] void** ppThing);
};
"""

OVERRIDES = {
    "interfaces": {"shared": [], "wrapped": ["ID3D12Thing"], "tear_offs": {}, "passed": {}},
    "creates": {"ID3D12Thing1::Make": "ID3D12Thing"},
    "unions": {"D3D12_DESC": {"tag": "Kind", "members": {"Held": ["D3D12_KIND_THING"]}}},
}


def parse(text):
    api = idl.Api()
    idl.parse_text(text, "test.idl", api)
    return api


def build(overrides=None, definitions=DEFINITIONS, supplement=""):
    rules = copy.deepcopy(OVERRIDES)
    rules.update(overrides or {})
    for table in ("creates", "returns", "manual", "policies", "as_is", "work", "arguments", "counts", "unions",
                  "special", "handles", "pipeline_subobjects", "state_subobjects", "lifetimes"):
        rules.setdefault(table, {})
    api = parse(definitions)
    idl.parse_text(supplement, "supplement/test.idl", api, supplement=True)
    rules["roles"] = {f"{name}::*": "question" for name in api.interfaces}  # roles_test.py is about them
    return model_module.Model(api, rules)


class Reader(unittest.TestCase):
    def test_enums_count_on_and_evaluate(self):
        self.assertEqual([("D3D12_KIND_THING", 0), ("D3D12_KIND_OTHER", 8), ("D3D12_KIND_LAST", 9)],
                         parse(DEFINITIONS).enums["D3D12_KIND"].enumerators)

    def test_flags_are_known_from_their_operators(self):
        enums = parse(DEFINITIONS).enums
        self.assertTrue(enums["D3D12_FLAGS"].flags)
        self.assertFalse(enums["D3D12_KIND"].flags)

    def test_structs_have_unions_annotations_and_arrays(self):
        fields = parse(DEFINITIONS).structs["D3D12_DESC"].fields
        self.assertEqual(["Kind", "", "Count", "ppThings", "Values"], [field.name for field in fields])
        self.assertTrue(fields[1].is_union)
        self.assertEqual("_Field_size_full_(Count)", fields[3].annotation)
        self.assertEqual("ID3D12Thing**", fields[3].type.spelled())
        self.assertEqual(("D3D12_SLOTS",), fields[4].dims)

    def test_interfaces_have_bases_identifiers_and_methods(self):
        thing = parse(DEFINITIONS).interfaces["ID3D12Thing1"]
        self.assertEqual("ID3D12Thing", thing.base)
        self.assertEqual("00000000-0000-0000-0000-000000000002", thing.iid)
        out = thing.methods[0].parameters[1]
        self.assertEqual(("out", "iid_is(riid)"), out.attributes)
        self.assertEqual("_COM_Outptr_opt_", out.annotation)

    def test_const_pointers_keep_their_place(self):
        api = parse(IUNKNOWN_UUID % 1 + "interface ID3D12A : IUnknown {"
                    " void F(ID3D12A*const* a, const UINT *b, const ID3D12A* const * c); };")
        self.assertEqual(["ID3D12A* const*", "const UINT*", "const ID3D12A* const*"],
                         [p.type.spelled() for p in api.interfaces["ID3D12A"].methods[0].parameters])

    def test_what_is_not_understood_stops_with_file_and_line(self):
        for text in ("\nnonsense here;", "\ntypedef struct D3D12_A { UINT };", "\n@"):
            with self.assertRaisesRegex(idl.IdlError, r"^test\.idl:2: "):
                parse(text)

    def test_an_end_in_the_middle_is_an_error(self):
        with self.assertRaisesRegex(idl.IdlError, "ends in the middle"):
            parse("typedef struct D3D12_A { UINT a;")


class Model(unittest.TestCase):
    def test_later_versions_join_the_chain(self):
        self.assertEqual(["ID3D12Thing", "ID3D12Thing1"], build().chains[0].members)

    def test_a_version_that_gives_out_unknown_objects_is_left_out(self):
        model = build({"creates": {}})
        self.assertEqual(["ID3D12Thing"], model.chains[0].members)
        self.assertIn("ID3D12Thing1::Make", model.warnings[0])

    def test_a_typing_error_is_an_error(self):
        for table, names, message in (
                ("work", {"ID3D12Thing::Use1": "DRAW"}, "ID3D12Thing has no method Use1"),
                ("work", {"ID3D12Thnig::Use": "DRAW"}, "there is no interface ID3D12Thnig"),
                ("counts", {"D3D12_DESC.ppThing": "Count"}, "D3D12_DESC has no field ppThing"),
                ("as_is", {"ID3D12Thing::Use.pOthr": "why"}, "has no parameter pOthr"),
                ("special", {"D3D12_DSEC": "why"}, "there is no struct D3D12_DSEC")):
            with self.assertRaisesRegex(model_module.ModelError, message):
                build({table: names})

    def test_what_other_headers_have_is_a_warning(self):
        model = build({"work": {"ID3D12Thing7::Use": "DRAW", "ID3D12Other::Use": "DRAW"},
                       "optional": {"names": ["ID3D12Other"]}})
        self.assertEqual(["ID3D12Thing7", "ID3D12Other"], model.missing)

    def test_layouts_follow_the_compiler(self):
        model = build()
        self.assertEqual((16, 8), (model.layout("D3D12_HELD").size, model.layout("D3D12_HELD").alignment))
        self.assertEqual([0, 8, 24, 32, 40], [f.offset for f in model.layout("D3D12_DESC").fields])
        self.assertEqual(48, model.layout("D3D12_DESC").size)
        low, high = model.layout("D3D12_HELD").fields[1:]
        self.assertEqual((8, 0, 8, 24), (low.offset, low.bit, high.offset, high.bit))

    def test_slots_start_behind_iunknown(self):
        model = build()
        method = model.api.interfaces["ID3D12Thing1"].methods[0]
        self.assertEqual(5, model.slot("ID3D12Thing1", method))


class Output(unittest.TestCase):
    def test_a_thin_method_unwraps_what_it_passes(self):
        text = emit_thin.thin_header(build({"work": {"ID3D12Thing::Use": "DISPATCH"}}), build().chains[0])
        self.assertIn("""  void STDMETHODCALLTYPE Use(const D3D12_DESC* pDescs, UINT Number, ID3D12Thing* pOther) override {
    CallScope call(*this, Method::ID3D12Thing_Use, pDescs, Number, pOther);
    const WorkScope work(*this, CAIRN_MARKER_DISPATCH);
    Scratch scratch;
    if (!work.left_out()) real()->Use(UnwrapArray(scratch, pDescs, Number), Number, Unwrap(pOther));
  }
""", text)

    def test_aggregates_come_back_through_a_pointer(self):
        text = emit_thin.thin_header(build(), build().chains[0])
        self.assertIn("D3D12_DESC* STDMETHODCALLTYPE GetDesc(D3D12_DESC* RetVal) override", text)

    def test_a_manual_method_stays_abstract(self):
        model = build({"manual": {"ID3D12Thing::Use": "a reason"}})
        self.assertRegex(emit_thin.thin_header(model, model.chains[0]), r"a reason\.\n.*Use\([^)]*\) override = 0;")

    def test_only_the_member_that_the_tag_names_is_unwrapped(self):
        text = emit_unwrap.unwrap_source(build())
        self.assertIn("""  switch (NumberOf(copy.Kind)) {
    case D3D12_KIND_THING:
      UnwrapFields(scratch, copy.Held);
      break;
    default:
      break;
  }
""", text)


class Supplement(unittest.TestCase):
    """What stands in for newer headers counts where these lack it."""

    NEWER = IUNKNOWN_UUID % 2 + """
        interface ID3D12Thing1 : ID3D12Thing { void Other(); };
        """ + IUNKNOWN_UUID % 3 + """
        interface ID3D12Thing2 : ID3D12Thing1 {
            HRESULT Give([annotation("_In_")] UINT Number, [annotation("_Out_")] ID3D12Thing** ppThing);
            D3D12_NEW Get();
        };
        typedef enum D3D12_KIND { D3D12_KIND_OTHER = 8, D3D12_KIND_NEWEST = 12 } D3D12_KIND;
        typedef struct D3D12_HELD { UINT Nothing; } D3D12_HELD;
        typedef void (__stdcall* PFN_NEW)(const D3D12_DESC* pDesc);
        typedef struct D3D12_NEW { PFN_NEW Function; union { UINT a : 3; INT b[2]; }; } D3D12_NEW;
        """

    def test_new_versions_join_and_known_ones_stay(self):
        model = build(supplement=self.NEWER, overrides={"creates": {
            "ID3D12Thing1::Make": "ID3D12Thing", "ID3D12Thing2::Give": "ID3D12Thing"}})
        self.assertEqual(["ID3D12Thing", "ID3D12Thing1", "ID3D12Thing2"], model.chains[0].members)
        self.assertEqual(["Make"], [m.name for m in model.api.interfaces["ID3D12Thing1"].methods])
        self.assertEqual(48, model.layout("D3D12_DESC").size)
        self.assertEqual([("interface", "ID3D12Thing2"), ("enumerator", ("D3D12_KIND", "D3D12_KIND_NEWEST")),
                          ("callback", "PFN_NEW"), ("struct", "D3D12_NEW")], model.api.supplement)

    def test_an_output_says_by_its_type_what_is_created(self):
        rules = {"creates": {"ID3D12Thing1::Make": "ID3D12Thing", "ID3D12Thing2::Give": "ID3D12Thing"}}
        model = build(supplement=self.NEWER, overrides=rules)
        self.assertIn("CreateTyped<ID3D12Thing>(*this, ppThing, [&](ID3D12Thing** real_object) {\n"
                      "      return real()->Give(Number, real_object);", emit_thin.thin_header(model, model.chains[0]))
        # Nobody said what it is: then no object may come out without its wrapper.
        self.assertEqual("ID3D12Thing1", build(supplement=self.NEWER).chains[0].newest)

    def test_what_a_method_says_of_a_resource_is_handed_on(self):
        def facts(*names):
            parameters = [types.SimpleNamespace(name=name) for name in names]
            return emit_thin.creation_facts(types.SimpleNamespace(parameters=parameters))
        self.assertEqual("", facts("pDesc", "riid"))
        self.assertEqual("", facts("pHeap"))
        self.assertEqual(", {.initial_state = static_cast<uint32_t>(InitialState), .heap = pHeap, "
                         ".heap_offset_bytes = HeapOffset}", facts("pHeap", "HeapOffset", "pDesc", "InitialState"))
        self.assertEqual(", {.initial_state = StateOfLayout(static_cast<uint32_t>(InitialLayout))}",
                         facts("pDesc", "InitialLayout"))

    def test_only_what_is_new_is_declared(self):
        text = emit_supplement.supplement_header(build(supplement=self.NEWER))
        self.assertIn("inline constexpr D3D12_KIND D3D12_KIND_NEWEST =\n    std::bit_cast<D3D12_KIND>(uint32_t{12});", text)
        self.assertIn("typedef void(STDMETHODCALLTYPE* PFN_NEW)(const D3D12_DESC * pDesc);", text)
        self.assertIn("struct D3D12_NEW {\n  PFN_NEW Function;\n  union {\n    UINT a : 3;\n    INT b[2];\n  };\n};", text)
        self.assertIn("ID3D12Thing2 : public ID3D12Thing1 {", text)
        self.assertIn("virtual D3D12_NEW* STDMETHODCALLTYPE Get(D3D12_NEW* RetVal) = 0;", text)
        for known in ("D3D12_HELD", "ID3D12Thing1 :", "D3D12_KIND_OTHER"):
            self.assertNotIn(known, text)

    def test_what_dxguids_leaves_out_becomes_known(self):
        model = build(supplement=self.NEWER)
        known = [name for name in model.api.interfaces if name != "ID3D12Thing1"]
        idl.find_without_uuid("".join(f"WINADAPTER_IID({name}, 0x1, 0x2);\n" for name in known), model.api)
        self.assertEqual(["ID3D12Thing1"], model.api.without_uuid)
        text = emit_supplement.supplement_header(model)
        self.assertIn("__CRT_UUID_DECL(ID3D12Thing1, 0x", text)
        self.assertEqual(1, text.count("__CRT_UUID_DECL(ID3D12Thing2, 0x"))

    def test_another_value_of_a_known_enumerator_is_an_error(self):
        with self.assertRaisesRegex(idl.IdlError, "D3D12_KIND_OTHER is 9 here and 8 in the definitions"):
            build(supplement="typedef enum D3D12_KIND { D3D12_KIND_OTHER = 9 } D3D12_KIND;")


class NewHeaders(unittest.TestCase):
    """What nobody has described yet costs a warning and what it is about, never the build."""

    def build(self, definitions):
        model = build(definitions=DEFINITIONS + definitions)
        for emitter in (emit_thin, emit_unwrap, emit_values, emit_tables):
            emitter.files(model)
        return model

    def refused(self, method, before=""):
        model = self.build(before + IUNKNOWN_UUID % 3 + "interface ID3D12Thing2 : ID3D12Thing1 { " + method + " };")
        self.assertEqual("ID3D12Thing1", model.chains[0].newest)
        return "\n".join(model.warnings)

    def test_a_union_without_a_tag(self):
        self.assertIn("D3D12_NEW has objects in a union without a tag", self.refused(
            "void F(const D3D12_NEW* pNew);",
            "typedef struct D3D12_NEW { union { UINT a; ID3D12Thing* pThing; }; } D3D12_NEW;"))

    def test_an_array_of_unknown_length(self):
        self.assertIn("how many objects ppThings points to", self.refused("void F(ID3D12Thing* const* ppThings);"))
        self.assertIn("D3D12_NEW.ppThings", self.refused(
            "void F(const D3D12_NEW* pNew);", "typedef struct D3D12_NEW { ID3D12Thing** ppThings; } D3D12_NEW;"))

    def test_objects_that_come_back(self):
        self.assertIn("objects come back in pHeld", self.refused('void F([annotation("_Out_")] D3D12_HELD* pHeld);'))

    def test_an_unknown_type(self):
        self.assertIn("unknown type STRANGE", self.refused("void F(STRANGE a);"))
        model = self.build("typedef struct D3D12_NEW { STRANGE a; } D3D12_NEW;")
        self.assertNotIn("D3D12_NEW", model.described)
        self.assertIn("D3D12_NEW is in no table", model.warnings[0])

    def test_an_unknown_type_in_a_struct_of_a_struct(self):
        before = ("typedef struct D3D12_INNER { STRANGE a; } D3D12_INNER;"
                  "typedef struct D3D12_NEW { const D3D12_INNER* pInner; } D3D12_NEW;")
        self.assertIn("unknown type STRANGE", self.refused("void F(const D3D12_NEW* pNew);", before))
        model = self.build(before)
        self.assertFalse({"D3D12_INNER", "D3D12_NEW"} & set(model.described))

    def test_scalars_of_the_windows_sdk_have_the_sizes_of_the_package(self):
        # CHAR is in the video interfaces of 1.614.
        model = self.build("typedef struct D3D12_NEW { CHAR a[3]; SHORT b; CHAR c; LONGLONG d; ULONGLONG e; DOUBLE f;"
                           " } D3D12_NEW;")
        self.assertEqual([0, 4, 6, 8, 16, 24], [f.offset for f in model.layout("D3D12_NEW").fields])
        self.assertIn("D3D12_NEW", model.described)

    def test_several_unions(self):
        model = self.build("typedef struct D3D12_NEW { union { UINT a; }; union { UINT b; }; } D3D12_NEW;")
        self.assertNotIn("D3D12_NEW", model.described)

    def test_an_interface_in_no_table(self):
        model = self.build(IUNKNOWN_UUID % 3 + "interface ID3D12Other : IUnknown { void F(); };")
        self.assertIn("ID3D12Other is in no table", model.warnings[0])
        self.assertNotIn("ID3D12Other", emit_tables.interfaces_source(model))

    def test_the_first_version_must_be_described(self):
        with self.assertRaisesRegex(model_module.ModelError, "ID3D12Thing::Use: D3D12_DESC has objects in a union"):
            build({"unions": {"D3D12_DESC": {"why": "?"}}})


if __name__ == "__main__":
    unittest.main()
