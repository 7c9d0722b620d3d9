// Generated from ovn-ic-sb.ovsschema by tools/generate/src/ovsdb/main.ts; do not edit.

/** A row of table Availability_Zone. */
export interface AvailabilityZone {
  readonly _uuid: string
  readonly name: string
  readonly nb_ic_cfg: number
}

/** A row of table Connection. */
export interface Connection {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly inactivity_probe: number | undefined
  readonly is_connected: boolean
  /** 1000… */
  readonly max_backoff: number | undefined
  readonly other_config: Readonly<Record<string, string>>
  readonly status: Readonly<Record<string, string>>
  readonly target: string
}

/** A row of table Datapath_Binding. */
export interface DatapathBinding {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly transit_switch: string
  /** 1…16777215 */
  readonly tunnel_key: number
}

/** A row of table Encap. */
export interface Encap {
  readonly _uuid: string
  readonly gateway_name: string
  readonly ip: string
  readonly options: Readonly<Record<string, string>>
  readonly type: 'geneve' | 'stt' | 'vxlan'
}

/** A row of table Gateway. */
export interface Gateway {
  readonly _uuid: string
  /** strong reference to Availability_Zone */
  readonly availability_zone: string
  /** strong reference to Encap */
  readonly encaps: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly hostname: string
  readonly name: string
}

/** A row of table IC_SB_Global. */
export interface IcSbGlobal {
  readonly _uuid: string
  /** strong reference to Connection */
  readonly connections: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly nb_ic_cfg: number
  readonly options: Readonly<Record<string, string>>
  /** strong reference to SSL */
  readonly ssl: string | undefined
}

/** A row of table Port_Binding. */
export interface PortBinding {
  readonly _uuid: string
  readonly address: string
  /** strong reference to Availability_Zone */
  readonly availability_zone: string
  /** weak reference to Encap */
  readonly encap: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly gateway: string
  readonly logical_port: string
  readonly transit_switch: string
  /** 1…32767 */
  readonly tunnel_key: number
}

/** A row of table Route. */
export interface Route {
  readonly _uuid: string
  /** strong reference to Availability_Zone */
  readonly availability_zone: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly ip_prefix: string
  readonly nexthop: string
  readonly origin: 'connected' | 'static'
  readonly route_table: string
  readonly transit_switch: string
}

/** A row of table SSL. */
export interface Ssl {
  readonly _uuid: string
  readonly bootstrap_ca_cert: boolean
  readonly ca_cert: string
  readonly certificate: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly private_key: string
  readonly ssl_ciphers: string
  readonly ssl_ciphersuites: string
  readonly ssl_protocols: string
}

/** Row types of database OVN_IC_Southbound (schema version 1.3.0) by table. */
export type OvnIcSouthbound = {
  readonly Availability_Zone: AvailabilityZone
  readonly Connection: Connection
  readonly Datapath_Binding: DatapathBinding
  readonly Encap: Encap
  readonly Gateway: Gateway
  readonly IC_SB_Global: IcSbGlobal
  readonly Port_Binding: PortBinding
  readonly Route: Route
  readonly SSL: Ssl
}

/** The schema of database OVN_IC_Southbound as its .ovsschema file has it. */
export const ovnIcSouthboundSchema = {
  name: 'OVN_IC_Southbound',
  version: '1.3.0',
  tables: {
    IC_SB_Global: {
      columns: {
        nb_ic_cfg: { type: { key: 'integer' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        connections: { type: { key: { type: 'uuid', refTable: 'Connection' }, min: 0, max: 'unlimited' } },
        ssl: { type: { key: { type: 'uuid', refTable: 'SSL' }, min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      maxRows: 1,
      isRoot: true,
    },
    Availability_Zone: {
      columns: { name: { type: 'string' }, nb_ic_cfg: { type: { key: 'integer' } } },
      isRoot: true,
      indexes: [['name']],
    },
    Gateway: {
      columns: {
        name: { type: 'string' },
        availability_zone: { type: { key: { type: 'uuid', refTable: 'Availability_Zone' } } },
        hostname: { type: 'string' },
        encaps: { type: { key: { type: 'uuid', refTable: 'Encap' }, min: 1, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
      indexes: [['name']],
    },
    Encap: {
      columns: {
        type: { type: { key: { type: 'string', enum: ['set', ['geneve', 'stt', 'vxlan']] } } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ip: { type: 'string' },
        gateway_name: { type: 'string' },
      },
      indexes: [['type', 'ip']],
    },
    Datapath_Binding: {
      columns: {
        transit_switch: { type: 'string' },
        tunnel_key: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 16777215 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['tunnel_key']],
      isRoot: true,
    },
    Port_Binding: {
      columns: {
        logical_port: { type: 'string' },
        transit_switch: { type: 'string' },
        availability_zone: { type: { key: { type: 'uuid', refTable: 'Availability_Zone' } } },
        tunnel_key: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 32767 } } },
        gateway: { type: 'string' },
        encap: { type: { key: { type: 'uuid', refTable: 'Encap', refType: 'weak' }, min: 0, max: 1 } },
        address: { type: 'string' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['transit_switch', 'tunnel_key'], ['logical_port']],
      isRoot: true,
    },
    Route: {
      columns: {
        transit_switch: { type: 'string' },
        availability_zone: { type: { key: { type: 'uuid', refTable: 'Availability_Zone' } } },
        route_table: { type: 'string' },
        ip_prefix: { type: 'string' },
        nexthop: { type: 'string' },
        origin: { type: { key: { type: 'string', enum: ['set', ['connected', 'static']] } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['transit_switch', 'availability_zone', 'route_table', 'ip_prefix', 'nexthop']],
      isRoot: true,
    },
    Connection: {
      columns: {
        target: { type: 'string' },
        max_backoff: { type: { key: { type: 'integer', minInteger: 1000 }, min: 0, max: 1 } },
        inactivity_probe: { type: { key: 'integer', min: 0, max: 1 } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        is_connected: { type: 'boolean', ephemeral: true },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
      },
      indexes: [['target']],
    },
    SSL: {
      columns: {
        private_key: { type: 'string' },
        certificate: { type: 'string' },
        ca_cert: { type: 'string' },
        bootstrap_ca_cert: { type: 'boolean' },
        ssl_protocols: { type: 'string' },
        ssl_ciphers: { type: 'string' },
        ssl_ciphersuites: { type: 'string' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      maxRows: 1,
    },
  },
} as const
