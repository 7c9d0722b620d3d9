// Generated from ovn-nb.ovsschema by tools/generate/src/ovsdb/main.ts; do not edit.

/** A row of table ACL. */
export interface Acl {
  readonly _uuid: string
  readonly action: 'allow' | 'allow-related' | 'allow-stateless' | 'drop' | 'reject' | 'pass'
  readonly direction: 'from-lport' | 'to-lport'
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…4294967295 */
  readonly label: number
  readonly log: boolean
  readonly match: string
  readonly meter: string | undefined
  readonly name: string | undefined
  readonly options: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
  /** strong reference to Sample */
  readonly sample_est: string | undefined
  /** strong reference to Sample */
  readonly sample_new: string | undefined
  readonly severity: 'alert' | 'warning' | 'notice' | 'info' | 'debug' | undefined
  /** 0…3 */
  readonly tier: number
}

/** A row of table Address_Set. */
export interface AddressSet {
  readonly _uuid: string
  readonly addresses: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
}

/** A row of table BFD. */
export interface Bfd {
  readonly _uuid: string
  /** 1… */
  readonly detect_mult: number | undefined
  readonly dst_ip: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly logical_port: string
  readonly min_rx: number | undefined
  /** 1… */
  readonly min_tx: number | undefined
  readonly options: Readonly<Record<string, string>>
  readonly status: 'down' | 'init' | 'up' | 'admin_down' | undefined
}

/** A row of table Chassis_Template_Var. */
export interface ChassisTemplateVar {
  readonly _uuid: string
  readonly chassis: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly variables: Readonly<Record<string, string>>
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

/** A row of table Copp. */
export interface Copp {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly meters: Readonly<Record<string, string>>
  readonly name: string
}

/** A row of table DHCP_Options. */
export interface DhcpOptions {
  readonly _uuid: string
  readonly cidr: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
}

/** A row of table DHCP_Relay. */
export interface DhcpRelay {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  readonly servers: string | undefined
}

/** A row of table DNS. */
export interface Dns {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
  readonly records: Readonly<Record<string, string>>
}

/** A row of table Forwarding_Group. */
export interface ForwardingGroup {
  readonly _uuid: string
  readonly child_port: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly liveness: boolean
  readonly name: string
  readonly vip: string
  readonly vmac: string
}

/** A row of table Gateway_Chassis. */
export interface GatewayChassis {
  readonly _uuid: string
  readonly chassis_name: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
}

/** A row of table HA_Chassis. */
export interface HaChassis {
  readonly _uuid: string
  readonly chassis_name: string
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
}

/** A row of table HA_Chassis_Group. */
export interface HaChassisGroup {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to HA_Chassis */
  readonly ha_chassis: readonly string[]
  readonly name: string
}

/** A row of table Load_Balancer. */
export interface LoadBalancer {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to Load_Balancer_Health_Check */
  readonly health_check: readonly string[]
  readonly ip_port_mappings: Readonly<Record<string, string>>
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  readonly protocol: 'tcp' | 'udp' | 'sctp' | undefined
  readonly selection_fields: readonly (
    'eth_src' | 'eth_dst' | 'ip_src' | 'ip_dst' | 'ipv6_src' | 'ipv6_dst' | 'tp_src' | 'tp_dst'
  )[]
  readonly vips: Readonly<Record<string, string>>
}

/** A row of table Load_Balancer_Group. */
export interface LoadBalancerGroup {
  readonly _uuid: string
  /** weak reference to Load_Balancer */
  readonly load_balancer: readonly string[]
  readonly name: string
}

/** A row of table Load_Balancer_Health_Check. */
export interface LoadBalancerHealthCheck {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
  readonly vip: string
}

/** A row of table Logical_Router. */
export interface LogicalRouter {
  readonly _uuid: string
  /** weak reference to Copp */
  readonly copp: string | undefined
  readonly enabled: boolean | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** weak reference to Load_Balancer */
  readonly load_balancer: readonly string[]
  /** strong reference to Load_Balancer_Group */
  readonly load_balancer_group: readonly string[]
  readonly name: string
  /** strong reference to NAT */
  readonly nat: readonly string[]
  readonly options: Readonly<Record<string, string>>
  /** strong reference to Logical_Router_Policy */
  readonly policies: readonly string[]
  /** strong reference to Logical_Router_Port */
  readonly ports: readonly string[]
  /** strong reference to Logical_Router_Static_Route */
  readonly static_routes: readonly string[]
}

/** A row of table Logical_Router_Policy. */
export interface LogicalRouterPolicy {
  readonly _uuid: string
  readonly action: 'allow' | 'drop' | 'reroute' | 'jump'
  /** weak reference to BFD */
  readonly bfd_sessions: readonly string[]
  readonly chain: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly jump_chain: string | undefined
  readonly match: string
  readonly nexthop: string | undefined
  readonly nexthops: readonly string[]
  readonly options: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
}

/** A row of table Logical_Router_Port. */
export interface LogicalRouterPort {
  readonly _uuid: string
  /** strong reference to DHCP_Relay */
  readonly dhcp_relay: string | undefined
  readonly enabled: boolean | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to Gateway_Chassis */
  readonly gateway_chassis: readonly string[]
  /** strong reference to HA_Chassis_Group */
  readonly ha_chassis_group: string | undefined
  readonly ipv6_prefix: readonly string[]
  readonly ipv6_ra_configs: Readonly<Record<string, string>>
  readonly mac: string
  readonly name: string
  readonly networks: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly peer: string | undefined
  readonly status: Readonly<Record<string, string>>
}

/** A row of table Logical_Router_Static_Route. */
export interface LogicalRouterStaticRoute {
  readonly _uuid: string
  /** weak reference to BFD */
  readonly bfd: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly ip_prefix: string
  readonly nexthop: string
  readonly options: Readonly<Record<string, string>>
  readonly output_port: string | undefined
  readonly policy: 'src-ip' | 'dst-ip' | undefined
  readonly route_table: string
  readonly selection_fields: readonly (
    'eth_src' | 'eth_dst' | 'ip_proto' | 'ip_src' | 'ip_dst' | 'ipv6_src' | 'ipv6_dst' | 'tp_src' | 'tp_dst'
  )[]
}

/** A row of table Logical_Switch. */
export interface LogicalSwitch {
  readonly _uuid: string
  /** strong reference to ACL */
  readonly acls: readonly string[]
  /** weak reference to Copp */
  readonly copp: string | undefined
  /** weak reference to DNS */
  readonly dns_records: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to Forwarding_Group */
  readonly forwarding_groups: readonly string[]
  /** weak reference to Load_Balancer */
  readonly load_balancer: readonly string[]
  /** strong reference to Load_Balancer_Group */
  readonly load_balancer_group: readonly string[]
  readonly name: string
  readonly other_config: Readonly<Record<string, string>>
  /** strong reference to Logical_Switch_Port */
  readonly ports: readonly string[]
  /** strong reference to QoS */
  readonly qos_rules: readonly string[]
}

/** A row of table Logical_Switch_Port. */
export interface LogicalSwitchPort {
  readonly _uuid: string
  readonly addresses: readonly string[]
  /** weak reference to DHCP_Options */
  readonly dhcpv4_options: string | undefined
  /** weak reference to DHCP_Options */
  readonly dhcpv6_options: string | undefined
  readonly dynamic_addresses: string | undefined
  readonly enabled: boolean | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to HA_Chassis_Group */
  readonly ha_chassis_group: string | undefined
  /** weak reference to Mirror */
  readonly mirror_rules: readonly string[]
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  readonly parent_name: string | undefined
  readonly peer: string | undefined
  readonly port_security: readonly string[]
  /** 1…4095 */
  readonly tag: number | undefined
  /** 0…4095 */
  readonly tag_request: number | undefined
  readonly type: string
  readonly up: boolean | undefined
}

/** A row of table Meter. */
export interface Meter {
  readonly _uuid: string
  /** strong reference to Meter_Band */
  readonly bands: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly fair: boolean | undefined
  readonly name: string
  readonly unit: 'kbps' | 'pktps'
}

/** A row of table Meter_Band. */
export interface MeterBand {
  readonly _uuid: string
  readonly action: 'drop'
  /** 0…4294967295 */
  readonly burst_size: number
  readonly external_ids: Readonly<Record<string, string>>
  /** 1…4294967295 */
  readonly rate: number
}

/** A row of table Mirror. */
export interface Mirror {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly filter: 'from-lport' | 'to-lport' | 'both'
  readonly index: number
  readonly name: string
  readonly sink: string
  readonly type: 'gre' | 'erspan' | 'local'
}

/** A row of table NAT. */
export interface Nat {
  readonly _uuid: string
  /** strong reference to Address_Set */
  readonly allowed_ext_ips: string | undefined
  /** strong reference to Address_Set */
  readonly exempted_ext_ips: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly external_ip: string
  readonly external_mac: string | undefined
  readonly external_port_range: string
  /** weak reference to Logical_Router_Port */
  readonly gateway_port: string | undefined
  readonly logical_ip: string
  readonly logical_port: string | undefined
  readonly match: string
  readonly options: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
  readonly type: 'dnat' | 'snat' | 'dnat_and_snat'
}

/** A row of table NB_Global. */
export interface NbGlobal {
  readonly _uuid: string
  /** strong reference to Connection */
  readonly connections: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly hv_cfg: number
  readonly hv_cfg_timestamp: number
  readonly ipsec: boolean
  readonly name: string
  readonly nb_cfg: number
  readonly nb_cfg_timestamp: number
  readonly options: Readonly<Record<string, string>>
  readonly sb_cfg: number
  readonly sb_cfg_timestamp: number
  /** strong reference to SSL */
  readonly ssl: string | undefined
}

/** A row of table Port_Group. */
export interface PortGroup {
  readonly _uuid: string
  /** strong reference to ACL */
  readonly acls: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
  /** weak reference to Logical_Switch_Port */
  readonly ports: readonly string[]
}

/** A row of table QoS. */
export interface QoS {
  readonly _uuid: string
  /** value: 0…4294967295 */
  readonly action: Readonly<Record<string, number>>
  /** value: 1…4294967295 */
  readonly bandwidth: Readonly<Record<string, number>>
  readonly direction: 'from-lport' | 'to-lport'
  readonly external_ids: Readonly<Record<string, string>>
  readonly match: string
  /** 0…32767 */
  readonly priority: number
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

/** A row of table Sample. */
export interface Sample {
  readonly _uuid: string
  /** strong reference to Sample_Collector */
  readonly collectors: readonly string[]
  /** 1…4294967295 */
  readonly metadata: number
}

/** A row of table Sample_Collector. */
export interface SampleCollector {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** 1…255 */
  readonly id: number
  readonly name: string
  /** 0…65535 */
  readonly probability: number
  /** 1…4294967295 */
  readonly set_id: number
}

/** A row of table Sampling_App. */
export interface SamplingApp {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** 1…255 */
  readonly id: number
  readonly type: 'drop' | 'acl-new' | 'acl-est'
}

/** A row of table Static_MAC_Binding. */
export interface StaticMacBinding {
  readonly _uuid: string
  readonly ip: string
  readonly logical_port: string
  readonly mac: string
  readonly override_dynamic_mac: boolean
}

/** Row types of database OVN_Northbound (schema version 7.11.0) by table. */
export type OvnNorthbound = {
  readonly ACL: Acl
  readonly Address_Set: AddressSet
  readonly BFD: Bfd
  readonly Chassis_Template_Var: ChassisTemplateVar
  readonly Connection: Connection
  readonly Copp: Copp
  readonly DHCP_Options: DhcpOptions
  readonly DHCP_Relay: DhcpRelay
  readonly DNS: Dns
  readonly Forwarding_Group: ForwardingGroup
  readonly Gateway_Chassis: GatewayChassis
  readonly HA_Chassis: HaChassis
  readonly HA_Chassis_Group: HaChassisGroup
  readonly Load_Balancer: LoadBalancer
  readonly Load_Balancer_Group: LoadBalancerGroup
  readonly Load_Balancer_Health_Check: LoadBalancerHealthCheck
  readonly Logical_Router: LogicalRouter
  readonly Logical_Router_Policy: LogicalRouterPolicy
  readonly Logical_Router_Port: LogicalRouterPort
  readonly Logical_Router_Static_Route: LogicalRouterStaticRoute
  readonly Logical_Switch: LogicalSwitch
  readonly Logical_Switch_Port: LogicalSwitchPort
  readonly Meter: Meter
  readonly Meter_Band: MeterBand
  readonly Mirror: Mirror
  readonly NAT: Nat
  readonly NB_Global: NbGlobal
  readonly Port_Group: PortGroup
  readonly QoS: QoS
  readonly SSL: Ssl
  readonly Sample: Sample
  readonly Sample_Collector: SampleCollector
  readonly Sampling_App: SamplingApp
  readonly Static_MAC_Binding: StaticMacBinding
}

/** The schema of database OVN_Northbound as its .ovsschema file has it. */
export const ovnNorthboundSchema = {
  name: 'OVN_Northbound',
  version: '7.11.0',
  tables: {
    NB_Global: {
      columns: {
        name: { type: 'string' },
        nb_cfg: { type: { key: 'integer' } },
        nb_cfg_timestamp: { type: { key: 'integer' } },
        sb_cfg: { type: { key: 'integer' } },
        sb_cfg_timestamp: { type: { key: 'integer' } },
        hv_cfg: { type: { key: 'integer' } },
        hv_cfg_timestamp: { type: { key: 'integer' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        connections: { type: { key: { type: 'uuid', refTable: 'Connection' }, min: 0, max: 'unlimited' } },
        ssl: { type: { key: { type: 'uuid', refTable: 'SSL' }, min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ipsec: { type: 'boolean' },
      },
      maxRows: 1,
      isRoot: true,
    },
    Sample_Collector: {
      columns: {
        id: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 255 } } },
        name: { type: 'string' },
        probability: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 65535 } } },
        set_id: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 4294967295 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['id']],
      isRoot: true,
    },
    Sample: {
      columns: {
        collectors: {
          type: {
            key: { type: 'uuid', refTable: 'Sample_Collector', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        metadata: {
          type: { key: { type: 'integer', minInteger: 1, maxInteger: 4294967295 }, min: 1, max: 1 },
        },
      },
      indexes: [['metadata']],
    },
    Copp: {
      columns: {
        name: { type: 'string' },
        meters: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Logical_Switch: {
      columns: {
        name: { type: 'string' },
        ports: {
          type: {
            key: { type: 'uuid', refTable: 'Logical_Switch_Port', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        acls: {
          type: { key: { type: 'uuid', refTable: 'ACL', refType: 'strong' }, min: 0, max: 'unlimited' },
        },
        qos_rules: {
          type: { key: { type: 'uuid', refTable: 'QoS', refType: 'strong' }, min: 0, max: 'unlimited' },
        },
        load_balancer: {
          type: {
            key: { type: 'uuid', refTable: 'Load_Balancer', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
        load_balancer_group: {
          type: { key: { type: 'uuid', refTable: 'Load_Balancer_Group' }, min: 0, max: 'unlimited' },
        },
        dns_records: {
          type: { key: { type: 'uuid', refTable: 'DNS', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        copp: { type: { key: { type: 'uuid', refTable: 'Copp', refType: 'weak' }, min: 0, max: 1 } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        forwarding_groups: {
          type: {
            key: { type: 'uuid', refTable: 'Forwarding_Group', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
      },
      isRoot: true,
    },
    Logical_Switch_Port: {
      columns: {
        name: { type: 'string' },
        type: { type: 'string' },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        parent_name: { type: { key: 'string', min: 0, max: 1 } },
        tag_request: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4095 }, min: 0, max: 1 } },
        tag: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 4095 }, min: 0, max: 1 } },
        addresses: { type: { key: 'string', min: 0, max: 'unlimited' } },
        dynamic_addresses: { type: { key: 'string', min: 0, max: 1 } },
        port_security: { type: { key: 'string', min: 0, max: 'unlimited' } },
        peer: { type: { key: 'string', min: 0, max: 1 } },
        up: { type: { key: 'boolean', min: 0, max: 1 } },
        enabled: { type: { key: 'boolean', min: 0, max: 1 } },
        dhcpv4_options: {
          type: { key: { type: 'uuid', refTable: 'DHCP_Options', refType: 'weak' }, min: 0, max: 1 },
        },
        dhcpv6_options: {
          type: { key: { type: 'uuid', refTable: 'DHCP_Options', refType: 'weak' }, min: 0, max: 1 },
        },
        mirror_rules: {
          type: { key: { type: 'uuid', refTable: 'Mirror', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        ha_chassis_group: {
          type: { key: { type: 'uuid', refTable: 'HA_Chassis_Group', refType: 'strong' }, min: 0, max: 1 },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: false,
    },
    Forwarding_Group: {
      columns: {
        name: { type: 'string' },
        vip: { type: 'string' },
        vmac: { type: 'string' },
        liveness: { type: 'boolean' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        child_port: { type: { key: 'string', min: 1, max: 'unlimited' } },
      },
      isRoot: false,
    },
    Address_Set: {
      columns: {
        name: { type: 'string' },
        addresses: { type: { key: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Port_Group: {
      columns: {
        name: { type: 'string' },
        ports: {
          type: {
            key: { type: 'uuid', refTable: 'Logical_Switch_Port', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
        acls: {
          type: { key: { type: 'uuid', refTable: 'ACL', refType: 'strong' }, min: 0, max: 'unlimited' },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Load_Balancer: {
      columns: {
        name: { type: 'string' },
        vips: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        protocol: {
          type: { key: { type: 'string', enum: ['set', ['tcp', 'udp', 'sctp']] }, min: 0, max: 1 },
        },
        health_check: {
          type: {
            key: { type: 'uuid', refTable: 'Load_Balancer_Health_Check', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        ip_port_mappings: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        selection_fields: {
          type: {
            key: {
              type: 'string',
              enum: [
                'set',
                ['eth_src', 'eth_dst', 'ip_src', 'ip_dst', 'ipv6_src', 'ipv6_dst', 'tp_src', 'tp_dst'],
              ],
            },
            min: 0,
            max: 'unlimited',
          },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    Load_Balancer_Group: {
      columns: {
        name: { type: 'string' },
        load_balancer: {
          type: {
            key: { type: 'uuid', refTable: 'Load_Balancer', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Load_Balancer_Health_Check: {
      columns: {
        vip: { type: 'string' },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    ACL: {
      columns: {
        name: { type: { key: { type: 'string', maxLength: 63 }, min: 0, max: 1 } },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        direction: { type: { key: { type: 'string', enum: ['set', ['from-lport', 'to-lport']] } } },
        match: { type: 'string' },
        action: {
          type: {
            key: {
              type: 'string',
              enum: ['set', ['allow', 'allow-related', 'allow-stateless', 'drop', 'reject', 'pass']],
            },
          },
        },
        log: { type: 'boolean' },
        severity: {
          type: {
            key: { type: 'string', enum: ['set', ['alert', 'warning', 'notice', 'info', 'debug']] },
            min: 0,
            max: 1,
          },
        },
        meter: { type: { key: 'string', min: 0, max: 1 } },
        label: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 } } },
        tier: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 3 } } },
        sample_new: {
          type: { key: { type: 'uuid', refTable: 'Sample', refType: 'strong' }, min: 0, max: 1 },
        },
        sample_est: {
          type: { key: { type: 'uuid', refTable: 'Sample', refType: 'strong' }, min: 0, max: 1 },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    QoS: {
      columns: {
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        direction: { type: { key: { type: 'string', enum: ['set', ['from-lport', 'to-lport']] } } },
        match: { type: 'string' },
        action: {
          type: {
            key: { type: 'string', enum: ['set', ['dscp', 'mark']] },
            value: { type: 'integer', minInteger: 0, maxInteger: 4294967295 },
            min: 0,
            max: 'unlimited',
          },
        },
        bandwidth: {
          type: {
            key: { type: 'string', enum: ['set', ['rate', 'burst']] },
            value: { type: 'integer', minInteger: 1, maxInteger: 4294967295 },
            min: 0,
            max: 'unlimited',
          },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    Mirror: {
      columns: {
        name: { type: 'string' },
        filter: { type: { key: { type: 'string', enum: ['set', ['from-lport', 'to-lport', 'both']] } } },
        sink: { type: 'string' },
        type: { type: { key: { type: 'string', enum: ['set', ['gre', 'erspan', 'local']] } } },
        index: { type: 'integer' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Meter: {
      columns: {
        name: { type: 'string' },
        unit: { type: { key: { type: 'string', enum: ['set', ['kbps', 'pktps']] } } },
        bands: {
          type: {
            key: { type: 'uuid', refTable: 'Meter_Band', refType: 'strong' },
            min: 1,
            max: 'unlimited',
          },
        },
        fair: { type: { key: 'boolean', min: 0, max: 1 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Meter_Band: {
      columns: {
        action: { type: { key: { type: 'string', enum: ['set', ['drop']] } } },
        rate: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 4294967295 } } },
        burst_size: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    Logical_Router: {
      columns: {
        name: { type: 'string' },
        ports: {
          type: {
            key: { type: 'uuid', refTable: 'Logical_Router_Port', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        static_routes: {
          type: {
            key: { type: 'uuid', refTable: 'Logical_Router_Static_Route', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        policies: {
          type: {
            key: { type: 'uuid', refTable: 'Logical_Router_Policy', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        enabled: { type: { key: 'boolean', min: 0, max: 1 } },
        nat: {
          type: { key: { type: 'uuid', refTable: 'NAT', refType: 'strong' }, min: 0, max: 'unlimited' },
        },
        load_balancer: {
          type: {
            key: { type: 'uuid', refTable: 'Load_Balancer', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
        load_balancer_group: {
          type: { key: { type: 'uuid', refTable: 'Load_Balancer_Group' }, min: 0, max: 'unlimited' },
        },
        copp: { type: { key: { type: 'uuid', refTable: 'Copp', refType: 'weak' }, min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    Logical_Router_Port: {
      columns: {
        name: { type: 'string' },
        gateway_chassis: {
          type: {
            key: { type: 'uuid', refTable: 'Gateway_Chassis', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        ha_chassis_group: {
          type: { key: { type: 'uuid', refTable: 'HA_Chassis_Group', refType: 'strong' }, min: 0, max: 1 },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        networks: { type: { key: 'string', min: 0, max: 'unlimited' } },
        mac: { type: 'string' },
        peer: { type: { key: 'string', min: 0, max: 1 } },
        enabled: { type: { key: 'boolean', min: 0, max: 1 } },
        ipv6_ra_configs: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ipv6_prefix: { type: { key: 'string', min: 0, max: 'unlimited' } },
        dhcp_relay: {
          type: { key: { type: 'uuid', refTable: 'DHCP_Relay', refType: 'strong' }, min: 0, max: 1 },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: false,
    },
    Logical_Router_Static_Route: {
      columns: {
        route_table: { type: 'string' },
        ip_prefix: { type: 'string' },
        policy: { type: { key: { type: 'string', enum: ['set', ['src-ip', 'dst-ip']] }, min: 0, max: 1 } },
        nexthop: { type: 'string' },
        output_port: { type: { key: 'string', min: 0, max: 1 } },
        bfd: { type: { key: { type: 'uuid', refTable: 'BFD', refType: 'weak' }, min: 0, max: 1 } },
        selection_fields: {
          type: {
            key: {
              type: 'string',
              enum: [
                'set',
                [
                  'eth_src',
                  'eth_dst',
                  'ip_proto',
                  'ip_src',
                  'ip_dst',
                  'ipv6_src',
                  'ipv6_dst',
                  'tp_src',
                  'tp_dst',
                ],
              ],
            },
            min: 0,
            max: 'unlimited',
          },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    Logical_Router_Policy: {
      columns: {
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        chain: { type: { key: 'string', min: 0, max: 1 } },
        match: { type: 'string' },
        action: { type: { key: { type: 'string', enum: ['set', ['allow', 'drop', 'reroute', 'jump']] } } },
        jump_chain: { type: { key: 'string', min: 0, max: 1 } },
        nexthop: { type: { key: 'string', min: 0, max: 1 } },
        nexthops: { type: { key: 'string', min: 0, max: 'unlimited' } },
        bfd_sessions: {
          type: { key: { type: 'uuid', refTable: 'BFD', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    NAT: {
      columns: {
        external_ip: { type: 'string' },
        external_mac: { type: { key: 'string', min: 0, max: 1 } },
        external_port_range: { type: 'string' },
        logical_ip: { type: 'string' },
        logical_port: { type: { key: 'string', min: 0, max: 1 } },
        type: { type: { key: { type: 'string', enum: ['set', ['dnat', 'snat', 'dnat_and_snat']] } } },
        allowed_ext_ips: {
          type: { key: { type: 'uuid', refTable: 'Address_Set', refType: 'strong' }, min: 0, max: 1 },
        },
        exempted_ext_ips: {
          type: { key: { type: 'uuid', refTable: 'Address_Set', refType: 'strong' }, min: 0, max: 1 },
        },
        gateway_port: {
          type: { key: { type: 'uuid', refTable: 'Logical_Router_Port', refType: 'weak' }, min: 0, max: 1 },
        },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        match: { type: 'string' },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    DHCP_Options: {
      columns: {
        cidr: { type: 'string' },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    DHCP_Relay: {
      columns: {
        name: { type: 'string' },
        servers: { type: { key: 'string', min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
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
    DNS: {
      columns: {
        records: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
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
    Gateway_Chassis: {
      columns: {
        name: { type: 'string' },
        chassis_name: { type: 'string' },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: false,
    },
    HA_Chassis: {
      columns: {
        chassis_name: { type: 'string' },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    HA_Chassis_Group: {
      columns: {
        name: { type: 'string' },
        ha_chassis: {
          type: {
            key: { type: 'uuid', refTable: 'HA_Chassis', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    BFD: {
      columns: {
        logical_port: { type: 'string' },
        dst_ip: { type: 'string' },
        min_tx: { type: { key: { type: 'integer', minInteger: 1 }, min: 0, max: 1 } },
        min_rx: { type: { key: { type: 'integer' }, min: 0, max: 1 } },
        detect_mult: { type: { key: { type: 'integer', minInteger: 1 }, min: 0, max: 1 } },
        status: {
          type: {
            key: { type: 'string', enum: ['set', ['down', 'init', 'up', 'admin_down']] },
            min: 0,
            max: 1,
          },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['logical_port', 'dst_ip']],
      isRoot: true,
    },
    Static_MAC_Binding: {
      columns: {
        logical_port: { type: 'string' },
        ip: { type: 'string' },
        mac: { type: 'string' },
        override_dynamic_mac: { type: 'boolean' },
      },
      indexes: [['logical_port', 'ip']],
      isRoot: true,
    },
    Chassis_Template_Var: {
      columns: {
        chassis: { type: 'string' },
        variables: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['chassis']],
      isRoot: true,
    },
    Sampling_App: {
      columns: {
        type: { type: { key: { type: 'string', enum: ['set', ['drop', 'acl-new', 'acl-est']] } } },
        id: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 255 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['type']],
      isRoot: true,
    },
  },
} as const
