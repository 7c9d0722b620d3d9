// Generated from vswitch.ovsschema by tools/generate/src/ovsdb/main.ts; do not edit.

/** A row of table AutoAttach. */
export interface AutoAttach {
  readonly _uuid: string
  /** key: 0…16777215; value: 0…4095 */
  readonly mappings: Readonly<Record<string, number>>
  readonly system_description: string
  readonly system_name: string
}

/** A row of table Bridge. */
export interface Bridge {
  readonly _uuid: string
  /** strong reference to AutoAttach */
  readonly auto_attach: string | undefined
  /** strong reference to Controller */
  readonly controller: readonly string[]
  readonly datapath_id: string | undefined
  readonly datapath_type: string
  readonly datapath_version: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly fail_mode: 'standalone' | 'secure' | undefined
  /** 0…4095; at most 4096 */
  readonly flood_vlans: readonly number[]
  /** key: 0…254; value: strong reference to Flow_Table */
  readonly flow_tables: Readonly<Record<string, string>>
  /** strong reference to IPFIX */
  readonly ipfix: string | undefined
  readonly mcast_snooping_enable: boolean
  /** strong reference to Mirror */
  readonly mirrors: readonly string[]
  readonly name: string
  /** strong reference to NetFlow */
  readonly netflow: string | undefined
  readonly other_config: Readonly<Record<string, string>>
  /** strong reference to Port */
  readonly ports: readonly string[]
  readonly protocols: readonly (
    'OpenFlow10' | 'OpenFlow11' | 'OpenFlow12' | 'OpenFlow13' | 'OpenFlow14' | 'OpenFlow15'
  )[]
  readonly rstp_enable: boolean
  readonly rstp_status: Readonly<Record<string, string>>
  /** strong reference to sFlow */
  readonly sflow: string | undefined
  readonly status: Readonly<Record<string, string>>
  readonly stp_enable: boolean
}

/** A row of table CT_Timeout_Policy. */
export interface CtTimeoutPolicy {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** value: 0…4294967295 */
  readonly timeouts: Readonly<Record<string, number>>
}

/** A row of table CT_Zone. */
export interface CtZone {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…4294967295 */
  readonly limit: number | undefined
  /** strong reference to CT_Timeout_Policy */
  readonly timeout_policy: string | undefined
}

/** A row of table Controller. */
export interface Controller {
  readonly _uuid: string
  readonly connection_mode: 'in-band' | 'out-of-band' | undefined
  /** 25… */
  readonly controller_burst_limit: number | undefined
  /** 1…512 */
  readonly controller_queue_size: number | undefined
  /** 100… */
  readonly controller_rate_limit: number | undefined
  readonly enable_async_messages: boolean | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly inactivity_probe: number | undefined
  readonly is_connected: boolean
  readonly local_gateway: string | undefined
  readonly local_ip: string | undefined
  readonly local_netmask: string | undefined
  /** 1000… */
  readonly max_backoff: number | undefined
  readonly other_config: Readonly<Record<string, string>>
  readonly role: 'other' | 'master' | 'slave' | undefined
  readonly status: Readonly<Record<string, string>>
  readonly target: string
  readonly type: 'primary' | 'service' | undefined
}

/** A row of table Datapath. */
export interface Datapath {
  readonly _uuid: string
  readonly capabilities: Readonly<Record<string, string>>
  /** 0…4294967295 */
  readonly ct_zone_default_limit: number | undefined
  /** key: 0…65535; value: strong reference to CT_Zone */
  readonly ct_zones: Readonly<Record<string, string>>
  readonly datapath_version: string
  readonly external_ids: Readonly<Record<string, string>>
}

/** A row of table Flow_Sample_Collector_Set. */
export interface FlowSampleCollectorSet {
  readonly _uuid: string
  /** strong reference to Bridge */
  readonly bridge: string
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…4294967295 */
  readonly id: number
  /** strong reference to IPFIX */
  readonly ipfix: string | undefined
  /** 0…4294967295 */
  readonly local_group_id: number | undefined
}

/** A row of table Flow_Table. */
export interface FlowTable {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** 0… */
  readonly flow_limit: number | undefined
  readonly groups: readonly string[]
  readonly name: string | undefined
  readonly overflow_policy: 'refuse' | 'evict' | undefined
  /** at most 4 */
  readonly prefixes: readonly string[]
}

/** A row of table IPFIX. */
export interface Ipfix {
  readonly _uuid: string
  /** 0…4200 */
  readonly cache_active_timeout: number | undefined
  /** 0…4294967295 */
  readonly cache_max_flows: number | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…4294967295 */
  readonly obs_domain_id: number | undefined
  /** 0…4294967295 */
  readonly obs_point_id: number | undefined
  readonly other_config: Readonly<Record<string, string>>
  /** 1…4294967295 */
  readonly sampling: number | undefined
  /** 1…3600 */
  readonly stats_interval: number | undefined
  readonly targets: readonly string[]
  /** 1…3600 */
  readonly template_interval: number | undefined
}

/** A row of table Interface. */
export interface Interface {
  readonly _uuid: string
  readonly admin_state: 'up' | 'down' | undefined
  readonly bfd: Readonly<Record<string, string>>
  readonly bfd_status: Readonly<Record<string, string>>
  readonly cfm_fault: boolean | undefined
  readonly cfm_fault_status: readonly string[]
  readonly cfm_flap_count: number | undefined
  /** 0…100 */
  readonly cfm_health: number | undefined
  readonly cfm_mpid: number | undefined
  readonly cfm_remote_mpids: readonly number[]
  readonly cfm_remote_opstate: 'up' | 'down' | undefined
  readonly duplex: 'half' | 'full' | undefined
  readonly error: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…4294967295 */
  readonly ifindex: number | undefined
  /** 0… */
  readonly ingress_policing_burst: number
  /** 0… */
  readonly ingress_policing_kpkts_burst: number
  /** 0… */
  readonly ingress_policing_kpkts_rate: number
  /** 0… */
  readonly ingress_policing_rate: number
  readonly lacp_current: boolean | undefined
  readonly link_resets: number | undefined
  readonly link_speed: number | undefined
  readonly link_state: 'up' | 'down' | undefined
  readonly lldp: Readonly<Record<string, string>>
  readonly mac: string | undefined
  readonly mac_in_use: string | undefined
  readonly mtu: number | undefined
  /** 1… */
  readonly mtu_request: number | undefined
  readonly name: string
  readonly ofport: number | undefined
  /** 1…65279 */
  readonly ofport_request: number | undefined
  readonly options: Readonly<Record<string, string>>
  readonly other_config: Readonly<Record<string, string>>
  readonly statistics: Readonly<Record<string, number>>
  readonly status: Readonly<Record<string, string>>
  readonly type: string
}

/** A row of table Manager. */
export interface Manager {
  readonly _uuid: string
  readonly connection_mode: 'in-band' | 'out-of-band' | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly inactivity_probe: number | undefined
  readonly is_connected: boolean
  /** 1000… */
  readonly max_backoff: number | undefined
  readonly other_config: Readonly<Record<string, string>>
  readonly status: Readonly<Record<string, string>>
  readonly target: string
}

/** A row of table Mirror. */
export interface Mirror {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly filter: string | undefined
  readonly name: string
  /** weak reference to Port */
  readonly output_port: string | undefined
  /** 1…4095 */
  readonly output_vlan: number | undefined
  readonly select_all: boolean
  /** weak reference to Port */
  readonly select_dst_port: readonly string[]
  /** weak reference to Port */
  readonly select_src_port: readonly string[]
  /** 0…4095; at most 4096 */
  readonly select_vlan: readonly number[]
  /** 14…65535 */
  readonly snaplen: number | undefined
  readonly statistics: Readonly<Record<string, number>>
}

/** A row of table NetFlow. */
export interface NetFlow {
  readonly _uuid: string
  /** -1… */
  readonly active_timeout: number
  readonly add_id_to_interface: boolean
  /** 0…255 */
  readonly engine_id: number | undefined
  /** 0…255 */
  readonly engine_type: number | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly targets: readonly string[]
}

/** A row of table Open_vSwitch. */
export interface OpenVSwitch {
  readonly _uuid: string
  /** strong reference to Bridge */
  readonly bridges: readonly string[]
  readonly cur_cfg: number
  readonly datapath_types: readonly string[]
  /** value: strong reference to Datapath */
  readonly datapaths: Readonly<Record<string, string>>
  readonly db_version: string | undefined
  readonly dpdk_initialized: boolean
  readonly dpdk_version: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly iface_types: readonly string[]
  /** strong reference to Manager */
  readonly manager_options: readonly string[]
  readonly next_cfg: number
  readonly other_config: Readonly<Record<string, string>>
  readonly ovs_version: string | undefined
  /** strong reference to SSL */
  readonly ssl: string | undefined
  readonly statistics: Readonly<Record<string, string>>
  readonly system_type: string | undefined
  readonly system_version: string | undefined
}

/** A row of table Port. */
export interface Port {
  readonly _uuid: string
  readonly bond_active_slave: string | undefined
  readonly bond_downdelay: number
  readonly bond_fake_iface: boolean
  readonly bond_mode: 'balance-tcp' | 'balance-slb' | 'active-backup' | undefined
  readonly bond_updelay: number
  /** 0…4095; at most 4096 */
  readonly cvlans: readonly number[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly fake_bridge: boolean
  /** strong reference to Interface */
  readonly interfaces: readonly string[]
  readonly lacp: 'active' | 'passive' | 'off' | undefined
  readonly mac: string | undefined
  readonly name: string
  readonly other_config: Readonly<Record<string, string>>
  readonly protected: boolean
  /** strong reference to QoS */
  readonly qos: string | undefined
  readonly rstp_statistics: Readonly<Record<string, number>>
  readonly rstp_status: Readonly<Record<string, string>>
  readonly statistics: Readonly<Record<string, number>>
  readonly status: Readonly<Record<string, string>>
  /** 0…4095 */
  readonly tag: number | undefined
  /** 0…4095; at most 4096 */
  readonly trunks: readonly number[]
  readonly vlan_mode: 'trunk' | 'access' | 'native-tagged' | 'native-untagged' | 'dot1q-tunnel' | undefined
}

/** A row of table QoS. */
export interface QoS {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly other_config: Readonly<Record<string, string>>
  /** key: 0…4294967295; value: strong reference to Queue */
  readonly queues: Readonly<Record<string, string>>
  readonly type: string
}

/** A row of table Queue. */
export interface Queue {
  readonly _uuid: string
  /** 0…63 */
  readonly dscp: number | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly other_config: Readonly<Record<string, string>>
}

/** A row of table SSL. */
export interface Ssl {
  readonly _uuid: string
  readonly bootstrap_ca_cert: boolean
  readonly ca_cert: string
  readonly certificate: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly private_key: string
}

/** A row of table sFlow. */
export interface SFlow {
  readonly _uuid: string
  readonly agent: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly header: number | undefined
  readonly polling: number | undefined
  readonly sampling: number | undefined
  readonly targets: readonly string[]
}

/** Row types of database Open_vSwitch (schema version 8.8.0) by table. */
export type OpenVswitch = {
  readonly AutoAttach: AutoAttach
  readonly Bridge: Bridge
  readonly CT_Timeout_Policy: CtTimeoutPolicy
  readonly CT_Zone: CtZone
  readonly Controller: Controller
  readonly Datapath: Datapath
  readonly Flow_Sample_Collector_Set: FlowSampleCollectorSet
  readonly Flow_Table: FlowTable
  readonly IPFIX: Ipfix
  readonly Interface: Interface
  readonly Manager: Manager
  readonly Mirror: Mirror
  readonly NetFlow: NetFlow
  readonly Open_vSwitch: OpenVSwitch
  readonly Port: Port
  readonly QoS: QoS
  readonly Queue: Queue
  readonly SSL: Ssl
  readonly sFlow: SFlow
}

/** The schema of database Open_vSwitch as its .ovsschema file has it. */
export const openVswitchSchema = {
  name: 'Open_vSwitch',
  version: '8.8.0',
  tables: {
    Open_vSwitch: {
      columns: {
        datapaths: {
          type: {
            key: { type: 'string' },
            value: { type: 'uuid', refTable: 'Datapath' },
            min: 0,
            max: 'unlimited',
          },
        },
        bridges: { type: { key: { type: 'uuid', refTable: 'Bridge' }, min: 0, max: 'unlimited' } },
        manager_options: { type: { key: { type: 'uuid', refTable: 'Manager' }, min: 0, max: 'unlimited' } },
        ssl: { type: { key: { type: 'uuid', refTable: 'SSL' }, min: 0, max: 1 } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        next_cfg: { type: 'integer' },
        cur_cfg: { type: 'integer' },
        statistics: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        ovs_version: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        db_version: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        system_type: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        system_version: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        datapath_types: { type: { key: { type: 'string' }, min: 0, max: 'unlimited' } },
        iface_types: { type: { key: { type: 'string' }, min: 0, max: 'unlimited' } },
        dpdk_initialized: { type: 'boolean' },
        dpdk_version: { type: { key: { type: 'string' }, min: 0, max: 1 } },
      },
      isRoot: true,
      maxRows: 1,
    },
    Bridge: {
      columns: {
        name: { type: 'string', mutable: false },
        datapath_type: { type: 'string' },
        datapath_version: { type: 'string' },
        datapath_id: { type: { key: 'string', min: 0, max: 1 }, ephemeral: true },
        stp_enable: { type: 'boolean' },
        rstp_enable: { type: 'boolean' },
        mcast_snooping_enable: { type: 'boolean' },
        ports: { type: { key: { type: 'uuid', refTable: 'Port' }, min: 0, max: 'unlimited' } },
        mirrors: { type: { key: { type: 'uuid', refTable: 'Mirror' }, min: 0, max: 'unlimited' } },
        netflow: { type: { key: { type: 'uuid', refTable: 'NetFlow' }, min: 0, max: 1 } },
        sflow: { type: { key: { type: 'uuid', refTable: 'sFlow' }, min: 0, max: 1 } },
        ipfix: { type: { key: { type: 'uuid', refTable: 'IPFIX' }, min: 0, max: 1 } },
        controller: { type: { key: { type: 'uuid', refTable: 'Controller' }, min: 0, max: 'unlimited' } },
        protocols: {
          type: {
            key: {
              type: 'string',
              enum: [
                'set',
                ['OpenFlow10', 'OpenFlow11', 'OpenFlow12', 'OpenFlow13', 'OpenFlow14', 'OpenFlow15'],
              ],
            },
            min: 0,
            max: 'unlimited',
          },
        },
        fail_mode: {
          type: { key: { type: 'string', enum: ['set', ['standalone', 'secure']] }, min: 0, max: 1 },
        },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        rstp_status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        flood_vlans: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 4096 },
        },
        flow_tables: {
          type: {
            key: { type: 'integer', minInteger: 0, maxInteger: 254 },
            value: { type: 'uuid', refTable: 'Flow_Table' },
            min: 0,
            max: 'unlimited',
          },
        },
        auto_attach: { type: { key: { type: 'uuid', refTable: 'AutoAttach' }, min: 0, max: 1 } },
      },
      indexes: [['name']],
    },
    Port: {
      columns: {
        name: { type: 'string', mutable: false },
        interfaces: { type: { key: { type: 'uuid', refTable: 'Interface' }, min: 1, max: 'unlimited' } },
        trunks: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 4096 } },
        cvlans: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 4096 } },
        tag: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 1 } },
        vlan_mode: {
          type: {
            key: {
              type: 'string',
              enum: ['set', ['trunk', 'access', 'native-tagged', 'native-untagged', 'dot1q-tunnel']],
            },
            min: 0,
            max: 1,
          },
        },
        qos: { type: { key: { type: 'uuid', refTable: 'QoS' }, min: 0, max: 1 } },
        mac: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        bond_mode: {
          type: {
            key: { type: 'string', enum: ['set', ['balance-tcp', 'balance-slb', 'active-backup']] },
            min: 0,
            max: 1,
          },
        },
        lacp: {
          type: { key: { type: 'string', enum: ['set', ['active', 'passive', 'off']] }, min: 0, max: 1 },
        },
        bond_updelay: { type: 'integer' },
        bond_downdelay: { type: 'integer' },
        bond_active_slave: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        bond_fake_iface: { type: 'boolean' },
        fake_bridge: { type: 'boolean' },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        rstp_status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        rstp_statistics: {
          type: { key: 'string', value: 'integer', min: 0, max: 'unlimited' },
          ephemeral: true,
        },
        statistics: { type: { key: 'string', value: 'integer', min: 0, max: 'unlimited' }, ephemeral: true },
        protected: { type: 'boolean' },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
    },
    Interface: {
      columns: {
        name: { type: 'string', mutable: false },
        type: { type: 'string' },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ingress_policing_rate: { type: { key: { type: 'integer', minInteger: 0 } } },
        ingress_policing_burst: { type: { key: { type: 'integer', minInteger: 0 } } },
        ingress_policing_kpkts_rate: { type: { key: { type: 'integer', minInteger: 0 } } },
        ingress_policing_kpkts_burst: { type: { key: { type: 'integer', minInteger: 0 } } },
        mac_in_use: { type: { key: { type: 'string' }, min: 0, max: 1 }, ephemeral: true },
        mac: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        ifindex: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 },
          ephemeral: true,
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ofport: { type: { key: 'integer', min: 0, max: 1 } },
        ofport_request: {
          type: { key: { type: 'integer', minInteger: 1, maxInteger: 65279 }, min: 0, max: 1 },
        },
        bfd: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        bfd_status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        cfm_mpid: { type: { key: { type: 'integer' }, min: 0, max: 1 } },
        cfm_remote_mpids: { type: { key: { type: 'integer' }, min: 0, max: 'unlimited' }, ephemeral: true },
        cfm_flap_count: { type: { key: { type: 'integer' }, min: 0, max: 1 } },
        cfm_fault: { type: { key: { type: 'boolean' }, min: 0, max: 1 }, ephemeral: true },
        cfm_fault_status: { type: { key: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        cfm_remote_opstate: {
          type: { key: { type: 'string', enum: ['set', ['up', 'down']] }, min: 0, max: 1 },
          ephemeral: true,
        },
        cfm_health: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 100 }, min: 0, max: 1 },
          ephemeral: true,
        },
        lacp_current: { type: { key: { type: 'boolean' }, min: 0, max: 1 }, ephemeral: true },
        lldp: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        statistics: { type: { key: 'string', value: 'integer', min: 0, max: 'unlimited' }, ephemeral: true },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
        admin_state: {
          type: { key: { type: 'string', enum: ['set', ['up', 'down']] }, min: 0, max: 1 },
          ephemeral: true,
        },
        link_state: {
          type: { key: { type: 'string', enum: ['set', ['up', 'down']] }, min: 0, max: 1 },
          ephemeral: true,
        },
        link_resets: { type: { key: { type: 'integer' }, min: 0, max: 1 }, ephemeral: true },
        link_speed: { type: { key: 'integer', min: 0, max: 1 }, ephemeral: true },
        duplex: {
          type: { key: { type: 'string', enum: ['set', ['half', 'full']] }, min: 0, max: 1 },
          ephemeral: true,
        },
        mtu: { type: { key: 'integer', min: 0, max: 1 }, ephemeral: true },
        mtu_request: { type: { key: { type: 'integer', minInteger: 1 }, min: 0, max: 1 } },
        error: { type: { key: 'string', min: 0, max: 1 } },
      },
      indexes: [['name']],
    },
    Flow_Table: {
      columns: {
        name: { type: { key: 'string', min: 0, max: 1 } },
        flow_limit: { type: { key: { type: 'integer', minInteger: 0 }, min: 0, max: 1 } },
        overflow_policy: {
          type: { key: { type: 'string', enum: ['set', ['refuse', 'evict']] }, min: 0, max: 1 },
        },
        groups: { type: { key: 'string', min: 0, max: 'unlimited' } },
        prefixes: { type: { key: 'string', min: 0, max: 4 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    QoS: {
      columns: {
        type: { type: 'string' },
        queues: {
          type: {
            key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 },
            value: { type: 'uuid', refTable: 'Queue' },
            min: 0,
            max: 'unlimited',
          },
        },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    Queue: {
      columns: {
        dscp: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 63 }, min: 0, max: 1 } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    Mirror: {
      columns: {
        name: { type: 'string' },
        select_all: { type: 'boolean' },
        select_src_port: {
          type: { key: { type: 'uuid', refTable: 'Port', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        select_dst_port: {
          type: { key: { type: 'uuid', refTable: 'Port', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        select_vlan: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 4096 },
        },
        output_port: { type: { key: { type: 'uuid', refTable: 'Port', refType: 'weak' }, min: 0, max: 1 } },
        output_vlan: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 4095 }, min: 0, max: 1 } },
        snaplen: { type: { key: { type: 'integer', minInteger: 14, maxInteger: 65535 }, min: 0, max: 1 } },
        statistics: { type: { key: 'string', value: 'integer', min: 0, max: 'unlimited' }, ephemeral: true },
        filter: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    NetFlow: {
      columns: {
        targets: { type: { key: { type: 'string' }, min: 1, max: 'unlimited' } },
        engine_type: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 255 }, min: 0, max: 1 } },
        engine_id: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 255 }, min: 0, max: 1 } },
        add_id_to_interface: { type: 'boolean' },
        active_timeout: { type: { key: { type: 'integer', minInteger: -1 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    sFlow: {
      columns: {
        targets: { type: { key: 'string', min: 1, max: 'unlimited' } },
        sampling: { type: { key: 'integer', min: 0, max: 1 } },
        polling: { type: { key: 'integer', min: 0, max: 1 } },
        header: { type: { key: 'integer', min: 0, max: 1 } },
        agent: { type: { key: 'string', min: 0, max: 1 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    IPFIX: {
      columns: {
        targets: { type: { key: 'string', min: 0, max: 'unlimited' } },
        sampling: {
          type: { key: { type: 'integer', minInteger: 1, maxInteger: 4294967295 }, min: 0, max: 1 },
        },
        obs_domain_id: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 },
        },
        obs_point_id: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 },
        },
        cache_active_timeout: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4200 }, min: 0, max: 1 },
        },
        cache_max_flows: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 },
        },
        stats_interval: {
          type: { key: { type: 'integer', minInteger: 1, maxInteger: 3600 }, min: 0, max: 1 },
        },
        template_interval: {
          type: { key: { type: 'integer', minInteger: 1, maxInteger: 3600 }, min: 0, max: 1 },
        },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    Flow_Sample_Collector_Set: {
      columns: {
        id: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 1, max: 1 } },
        bridge: { type: { key: { type: 'uuid', refTable: 'Bridge' }, min: 1, max: 1 } },
        ipfix: { type: { key: { type: 'uuid', refTable: 'IPFIX' }, min: 0, max: 1 } },
        local_group_id: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
      indexes: [['id', 'bridge']],
    },
    Controller: {
      columns: {
        type: { type: { key: { type: 'string', enum: ['set', ['primary', 'service']] }, min: 0, max: 1 } },
        target: { type: 'string' },
        max_backoff: { type: { key: { type: 'integer', minInteger: 1000 }, min: 0, max: 1 } },
        inactivity_probe: { type: { key: 'integer', min: 0, max: 1 } },
        connection_mode: {
          type: { key: { type: 'string', enum: ['set', ['in-band', 'out-of-band']] }, min: 0, max: 1 },
        },
        local_ip: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        local_netmask: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        local_gateway: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        enable_async_messages: { type: { key: { type: 'boolean' }, min: 0, max: 1 } },
        controller_queue_size: {
          type: { key: { type: 'integer', minInteger: 1, maxInteger: 512 }, min: 0, max: 1 },
        },
        controller_rate_limit: { type: { key: { type: 'integer', minInteger: 100 }, min: 0, max: 1 } },
        controller_burst_limit: { type: { key: { type: 'integer', minInteger: 25 }, min: 0, max: 1 } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        is_connected: { type: 'boolean', ephemeral: true },
        role: {
          type: { key: { type: 'string', enum: ['set', ['other', 'master', 'slave']] }, min: 0, max: 1 },
          ephemeral: true,
        },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
      },
    },
    Manager: {
      columns: {
        target: { type: 'string' },
        max_backoff: { type: { key: { type: 'integer', minInteger: 1000 }, min: 0, max: 1 } },
        inactivity_probe: { type: { key: 'integer', min: 0, max: 1 } },
        connection_mode: {
          type: { key: { type: 'string', enum: ['set', ['in-band', 'out-of-band']] }, min: 0, max: 1 },
        },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        is_connected: { type: 'boolean', ephemeral: true },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
      },
      indexes: [['target']],
    },
    Datapath: {
      columns: {
        datapath_version: { type: 'string' },
        ct_zones: {
          type: {
            key: { type: 'integer', minInteger: 0, maxInteger: 65535 },
            value: { type: 'uuid', refTable: 'CT_Zone' },
            min: 0,
            max: 'unlimited',
          },
        },
        capabilities: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ct_zone_default_limit: {
          type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    CT_Zone: {
      columns: {
        timeout_policy: { type: { key: { type: 'uuid', refTable: 'CT_Timeout_Policy' }, min: 0, max: 1 } },
        limit: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 }, min: 0, max: 1 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    CT_Timeout_Policy: {
      columns: {
        timeouts: {
          type: {
            key: {
              type: 'string',
              enum: [
                'set',
                [
                  'tcp_syn_sent',
                  'tcp_syn_recv',
                  'tcp_established',
                  'tcp_fin_wait',
                  'tcp_close_wait',
                  'tcp_last_ack',
                  'tcp_time_wait',
                  'tcp_close',
                  'tcp_syn_sent2',
                  'tcp_retransmit',
                  'tcp_unack',
                  'udp_first',
                  'udp_single',
                  'udp_multiple',
                  'icmp_first',
                  'icmp_reply',
                ],
              ],
            },
            value: { type: 'integer', minInteger: 0, maxInteger: 4294967295 },
            min: 0,
            max: 'unlimited',
          },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    SSL: {
      columns: {
        private_key: { type: 'string' },
        certificate: { type: 'string' },
        ca_cert: { type: 'string' },
        bootstrap_ca_cert: { type: 'boolean' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      maxRows: 1,
    },
    AutoAttach: {
      columns: {
        system_name: { type: 'string' },
        system_description: { type: 'string' },
        mappings: {
          type: {
            key: { type: 'integer', minInteger: 0, maxInteger: 16777215 },
            value: { type: 'integer', minInteger: 0, maxInteger: 4095 },
            min: 0,
            max: 'unlimited',
          },
        },
      },
    },
  },
} as const
