#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""d3d11.py on headers of its own: what it reads, where methods stand, and what it says of mistakes. The real headers
are compared with the compiler's tables of methods by d3d11gen/slots.c."""
import pathlib
import tomllib
import unittest

import d3d11

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = """
typedef struct ID3D11Thing ID3D11Thing;
#if defined(__cplusplus) && !defined(CINTERFACE)
MIDL_INTERFACE("1841e5c8-16b0-489b-bcc8-44cfb0d5deae")
ID3D11DeviceChild : public IUnknown
{
    virtual void STDMETHODCALLTYPE GetDevice(
        ID3D11Device **ppDevice) = 0;

    virtual HRESULT STDMETHODCALLTYPE SetPrivateData(
        REFGUID guid,
        UINT DataSize,
        const void *pData) = 0;

};
#else
typedef struct ID3D11DeviceChildVtbl { int x; } ID3D11DeviceChildVtbl;
#endif
MIDL_INTERFACE("c0bfa96c-e089-44fb-8eaf-26f8796190da")
ID3D11DeviceContext : public ID3D11DeviceChild
{
    virtual void STDMETHODCALLTYPE Draw(
        UINT VertexCount,
        UINT StartVertexLocation) = 0;

    virtual void STDMETHODCALLTYPE PSSetShader(
        ID3D11PixelShader *pPixelShader,
        ID3D11ClassInstance *const *ppClassInstances) = 0;

    virtual void STDMETHODCALLTYPE OMSetBlendState(
        ID3D11BlendState *pBlendState,
        const FLOAT BlendFactor[4],
        UINT SampleMask) = 0;

    virtual void STDMETHODCALLTYPE Flush(
        ) = 0;

};
ID3D11DeviceContext1 : public ID3D11DeviceContext
{
    virtual WINBOOL STDMETHODCALLTYPE Probe(
        ) = 0;

};
ID3D11Device : public IUnknown
{
    virtual HRESULT STDMETHODCALLTYPE CreatePixelShader(
        const void *pShaderBytecode,
        SIZE_T BytecodeLength,
        ID3D11PixelShader **ppPixelShader) = 0;

};
"""
OVERRIDES = """
[interfaces]
device = "ID3D11Device"
context = "ID3D11DeviceContext1"
[passed]
"ID3D11DeviceChild::GetDevice" = "asks"
[work]
"ID3D11DeviceContext::Draw" = "DRAW"
[shaders]
"ID3D11DeviceContext::PSSetShader" = "Pixel"
[creates]
"ID3D11Device::CreatePixelShader" = "PixelShader"
[by_hand]
"ID3D11DeviceContext::Flush" = "submits"
"""


def model(overrides=OVERRIDES, header=HEADER):
    said = tomllib.loads(overrides)
    for table in d3d11.TABLES:
        said.setdefault(table, {})
    return d3d11.Model(d3d11.read_header(header), said, {"DRAW", "DISPATCH"})


class Reading(unittest.TestCase):
    def setUp(self):
        self.interfaces = d3d11.read_header(HEADER)

    def test_only_classes_are_read(self):
        self.assertEqual(list(self.interfaces), ["ID3D11DeviceChild", "ID3D11DeviceContext", "ID3D11DeviceContext1",
                                                 "ID3D11Device"])
        self.assertEqual(self.interfaces["ID3D11DeviceContext1"].base, "ID3D11DeviceContext")

    def test_parameters(self):
        child, context = self.interfaces["ID3D11DeviceChild"], self.interfaces["ID3D11DeviceContext"]
        self.assertEqual([(p.type, p.name) for p in child.methods[1].parameters],
                         [("REFGUID", "guid"), ("UINT", "DataSize"), ("const void *", "pData")])
        self.assertEqual(child.methods[1].result, "HRESULT")
        self.assertEqual([p.type for p in context.methods[1].parameters],
                         ["ID3D11PixelShader *", "ID3D11ClassInstance *const *"])
        self.assertEqual(context.methods[2].parameters[1].type, "const FLOAT *")  # an array is passed as a pointer
        self.assertEqual(context.methods[3].parameters, [])

    def test_what_is_not_understood_is_an_error(self):
        for text in ("    int field;\n", "    virtual void STDMETHODCALLTYPE F(UINT a[2][3]) = 0;\n",
                     "    virtual void STDMETHODCALLTYPE F(UINT) = 0;\n"):
            with self.assertRaises(d3d11.HeaderError, msg=text):
                d3d11.read_header(f"X : public IUnknown\n{{\n{text}\n}};\n")


class Places(unittest.TestCase):
    def test_methods_follow_those_of_bases(self):
        slots = {method.key: method.slot for method in model().methods()}
        self.assertEqual(slots, {"ID3D11DeviceChild::SetPrivateData": 4, "ID3D11DeviceContext::Draw": 5,
                                 "ID3D11DeviceContext::PSSetShader": 6, "ID3D11DeviceContext::OMSetBlendState": 7,
                                 "ID3D11DeviceContext::Flush": 8, "ID3D11DeviceContext1::Probe": 9,
                                 "ID3D11Device::CreatePixelShader": 3})

    def test_the_compiler_is_asked_of_each_also_of_those_that_are_passed(self):
        text = d3d11.slots_source(model())
        self.assertIn("offsetof(ID3D11DeviceContext1Vtbl, GetDevice) == 3 * sizeof(void*)", text)
        self.assertIn("offsetof(ID3D11DeviceContext1Vtbl, Draw) == 5 * sizeof(void*)", text)
        self.assertEqual(text.count("_Static_assert"), 8)


class Functions(unittest.TestCase):
    def setUp(self):
        made = model()
        self.texts = {method.key: d3d11.function(made, method) for method in made.methods()}

    def test_work(self):
        self.assertEqual(self.texts["ID3D11DeviceContext::Draw"], """\
void OnID3D11DeviceContext_Draw(void (*next)(ID3D11DeviceContext*, UINT, UINT), ID3D11DeviceContext* self, \
UINT VertexCount, UINT StartVertexLocation) {
  const D3D11Call call(self, D3D11Method::kID3D11DeviceContext_Draw);
  const D3D11Work work(self, CAIRN_MARKER_DRAW);
  next(self, VertexCount, StartVertexLocation);
}""")

    def test_arguments(self):
        made = model(OVERRIDES + '[arguments]\n"ID3D11DeviceContext::Draw" = "DrawArguments(VertexCount, 1, 0, 0)"\n')
        text = {method.key: d3d11.function(made, method) for method in made.methods()}["ID3D11DeviceContext::Draw"]
        self.assertIn("  const D3D11Work work(self, CAIRN_MARKER_DRAW, DrawArguments(VertexCount, 1, 0, 0));\n", text)

    def test_arguments_of_what_is_no_work_are_refused(self):
        with self.assertRaisesRegex(d3d11.HeaderError, "it is not in .work."):
            model(OVERRIDES + '[arguments]\n"ID3D11DeviceContext::PSSetShader" = "X"\n').check()

    def test_shaders(self):
        self.assertIn("  NoteShader(self, kStagePixel, pPixelShader);\n}",
                      self.texts["ID3D11DeviceContext::PSSetShader"])

    def test_creations(self):
        text = self.texts["ID3D11Device::CreatePixelShader"]
        self.assertIn("  const auto returned = next(self, pShaderBytecode, BytecodeLength, ppPixelShader);\n"
                      "  NoteCreated(self, returned, D3D11Kind::kPixelShader, ppPixelShader, "
                      "{.code = pShaderBytecode, .code_bytes = BytecodeLength});\n", text)
        self.assertTrue(text.endswith("  return returned;\n}"))

    def test_by_hand(self):
        self.assertIn("  return by_hand::ID3D11DeviceContext_Flush(next, self);\n",
                      self.texts["ID3D11DeviceContext::Flush"])
        self.assertIn("void ID3D11DeviceContext_Flush(void (*next)(ID3D11DeviceContext*), ID3D11DeviceContext* self);",
                      d3d11.by_hand_header(model()))

    def test_what_is_passed_has_none(self):
        self.assertNotIn("GetDevice", d3d11.thin_source(model()))


class Mistakes(unittest.TestCase):
    def refuses(self, overrides, words):
        with self.assertRaises(d3d11.HeaderError) as raised:
            model(overrides)
        self.assertIn(words, str(raised.exception))

    def test_names_that_no_header_has(self):
        self.refuses(OVERRIDES.replace('"ID3D11DeviceContext::Draw"', '"ID3D11DeviceContext::Drow"'), "Drow")
        self.refuses(OVERRIDES.replace('"ID3D11DeviceContext1"', '"ID3D11DeviceContext9"'), "ID3D11DeviceContext9")
        self.refuses(OVERRIDES.replace('"DRAW"', '"DRIW"'), "DRIW")

    def test_one_method_in_two_tables(self):
        self.refuses(OVERRIDES + '"ID3D11DeviceContext::Draw" = "also"\n', "[work] and in [by_hand]")

    def test_work_that_nobody_described(self):
        self.refuses(OVERRIDES.replace('"ID3D11DeviceContext::Draw" = "DRAW"', ""), "looks like work")

    def test_an_object_that_is_not_given_out(self):
        self.refuses(OVERRIDES.replace("[creates]", '[creates]\n"ID3D11DeviceContext::OMSetBlendState" = "Buffer"'),
                     "receives no object")


class Overrides(unittest.TestCase):
    def test_markers_of_the_real_table_exist(self):
        said = d3d11.load_overrides(ROOT / "codegen/d3d11.toml")
        markers = d3d11.read_markers((ROOT / "include/cairn/marker_types.h").read_text())
        self.assertEqual(set(said["work"].values()) - markers, set())
        self.assertGreater(len(said["work"]), 20)


if __name__ == "__main__":
    unittest.main()
