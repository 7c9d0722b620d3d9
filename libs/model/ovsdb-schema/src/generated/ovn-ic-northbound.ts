// Generated from ovn-ic-nb.ovsschema by tools/generate/src/ovsdb/main.ts; do not edit.

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

/** A row of table IC_NB_Global. */
export interface IcNbGlobal {
  readonly _uuid: string
  /** strong reference to Connection */
  readonly connections: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly nb_ic_cfg: number
  readonly options: Readonly<Record<string, string>>
  readonly sb_ic_cfg: number
  /** strong reference to SSL */
  readonly ssl: string | undefined
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

/** A row of table Transit_Switch. */
export interface TransitSwitch {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
  readonly other_config: Readonly<Record<string, string>>
}

/** Row types of database OVN_IC_Northbound (schema version 1.2.0) by table. */
export type OvnIcNorthbound = {
  readonly Connection: Connection
  readonly IC_NB_Global: IcNbGlobal
  readonly SSL: Ssl
  readonly Transit_Switch: TransitSwitch
}

/** The schema of database OVN_IC_Northbound as its .ovsschema file has it. */
export const ovnIcNorthboundSchema = {
  name: 'OVN_IC_Northbound',
  version: '1.2.0',
  tables: {
    IC_NB_Global: {
      columns: {
        nb_ic_cfg: { type: { key: 'integer' } },
        sb_ic_cfg: { type: { key: 'integer' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        connections: { type: { key: { type: 'uuid', refTable: 'Connection' }, min: 0, max: 'unlimited' } },
        ssl: { type: { key: { type: 'uuid', refTable: 'SSL' }, min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      maxRows: 1,
      isRoot: true,
    },
    Transit_Switch: {
      columns: {
        name: { type: 'string' },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
      indexes: [['name']],
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
