# SPDX-License-Identifier: Apache-2.0
# d3d12.dll and dxgi.dll, to lie beside a program: the other way in. They have no code: each name leads to a function of
# cairn-d3d.dll, which goes on to the system's library of that name (proxy.cc). Numbers are those of the system's.
set(CAIRN_PROXIED_d3d12 GetBehaviorValue@100 D3D12CreateDevice@101 D3D12GetDebugInterface@102
  D3D12CoreCreateLayeredDevice@103 D3D12CoreGetLayeredDeviceSize@104 D3D12CoreRegisterLayers@105
  D3D12CreateRootSignatureDeserializer@106 D3D12CreateVersionedRootSignatureDeserializer@107
  D3D12EnableExperimentalFeatures@108 D3D12SerializeRootSignature@109 D3D12SerializeVersionedRootSignature@110
  D3D12GetInterface D3D12DeviceRemovedExtendedData D3D12PIXEventsReplaceBlock D3D12PIXGetThreadInfo
  D3D12PIXNotifyWakeFromFenceSignal D3D12PIXReportCounter SetAppCompatStringPointer)
set(CAIRN_PROXIED_dxgi CreateDXGIFactory CreateDXGIFactory1 CreateDXGIFactory2 DXGIDeclareAdapterRemovalSupport
  DXGIDisableVBlankVirtualization DXGIDumpJournal DXGIGetDebugInterface1 DXGIReportAdapterConfiguration
  DXGIRevertToSxS DXGID3D10CreateDevice DXGID3D10CreateLayeredDevice DXGID3D10ETWRundown
  DXGID3D10GetLayeredDeviceSize DXGID3D10RegisterLayers OpenAdapter10 OpenAdapter10_2 PIXBeginCapture PIXEndCapture
  PIXGetCaptureState ApplyCompatResolutionQuirking CompatString CompatValue SetAppCompatStringPointer
  UpdateHMDEmulationStatus)

set(folder ${CMAKE_CURRENT_BINARY_DIR}/proxies)
set(generated ${PROJECT_BINARY_DIR}/generated)
set(functions "")
set(exports "EXPORTS\n  CairnMeetLinux\n  cairnNegotiateVulkanLayer\n")
foreach(library d3d12 dxgi)
  set(forwards "LIBRARY ${library}.dll\nEXPORTS\n")
  foreach(entry ${CAIRN_PROXIED_${library}})
    string(REGEX REPLACE "@.*" "" name ${entry})
    string(REGEX MATCH "@.*" number ${entry})
    string(APPEND functions "CAIRN_PROXIED(${library}, ${name})\n")
    string(APPEND exports "  CairnProxy_${library}_${name}\n")
    string(APPEND forwards "  ${name} = cairn-d3d.CairnProxy_${library}_${name} ${number}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${library}.def CONTENT "${forwards}")
endforeach()
file(CONFIGURE OUTPUT ${generated}/entrygen/proxied_functions.inc CONTENT "${functions}")
file(CONFIGURE OUTPUT ${folder}/cairn-d3d.def CONTENT "${exports}")

target_sources(cairn_layer PRIVATE windows/proxy.cc ${folder}/cairn-d3d.def)
target_include_directories(cairn_layer PRIVATE ${generated})
foreach(library d3d12 dxgi)
  add_library(cairn_proxy_${library} SHARED windows/no_code.c ${folder}/${library}.def)
  # Not where programs of ours would find them.
  set_target_properties(cairn_proxy_${library} PROPERTIES PREFIX "" OUTPUT_NAME ${library}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/proxy
    ARCHIVE_OUTPUT_DIRECTORY ${folder})
  target_link_libraries(cairn_proxy_${library} PRIVATE cairn_options)
endforeach()
