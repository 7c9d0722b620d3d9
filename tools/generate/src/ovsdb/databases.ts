/** A database whose row types are generated. */
export interface SchemaSource {
  /** File under `libs/model/ovsdb-schema/schemas`, byte for byte as the package ships it. */
  readonly schemaFile: string
  /** Where Debian's package installs it. */
  readonly packagedPath: string
  /** File under `libs/model/ovsdb-schema/src/generated`. */
  readonly outputFile: string
  readonly tablesType: string
  readonly schemaConstant: string
}

export const databases: readonly SchemaSource[] = [
  {
    schemaFile: 'ovn-nb.ovsschema',
    packagedPath: '/usr/share/ovn/ovn-nb.ovsschema',
    outputFile: 'ovn-northbound.ts',
    tablesType: 'OvnNorthbound',
    schemaConstant: 'ovnNorthboundSchema',
  },
  {
    schemaFile: 'ovn-sb.ovsschema',
    packagedPath: '/usr/share/ovn/ovn-sb.ovsschema',
    outputFile: 'ovn-southbound.ts',
    tablesType: 'OvnSouthbound',
    schemaConstant: 'ovnSouthboundSchema',
  },
  {
    schemaFile: 'vswitch.ovsschema',
    packagedPath: '/usr/share/openvswitch/vswitch.ovsschema',
    outputFile: 'open-vswitch.ts',
    tablesType: 'OpenVswitch',
    schemaConstant: 'openVswitchSchema',
  },
  {
    schemaFile: 'ovn-ic-nb.ovsschema',
    packagedPath: '/usr/share/ovn/ovn-ic-nb.ovsschema',
    outputFile: 'ovn-ic-northbound.ts',
    tablesType: 'OvnIcNorthbound',
    schemaConstant: 'ovnIcNorthboundSchema',
  },
  {
    schemaFile: 'ovn-ic-sb.ovsschema',
    packagedPath: '/usr/share/ovn/ovn-ic-sb.ovsschema',
    outputFile: 'ovn-ic-southbound.ts',
    tablesType: 'OvnIcSouthbound',
    schemaConstant: 'ovnIcSouthboundSchema',
  },
]
