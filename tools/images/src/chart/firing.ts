/**
 * Series by which an alert fires that a drill of the lab fires too, in the notation of `promtool test rules`: a value each minute. What others
 * fire by is in `own-series.ts`.
 */
export const firing: Readonly<Record<string, readonly (readonly [series: string, values: string])[]>> = {
  KubeOvnControllerDown: [['up{job="kube-ovn-controller",instance="a"}', '0x30']],
  KubeOvnControllerAbsent: [],
  KubeOvnDatabaseDisconnected: [['kube_ovn_database_connected{db="OVN_Northbound"}', '0x30']],
  KubeOvnAgentDown: [['up{job="kube-ovn-cni",instance="b"}', '0x30']],
  KubeOvnExporterDown: [['up{job="kube-ovn-speaker",instance="c"}', '0x30']],
  KubeOvnOvsDown: [['pinger_ovs_down{nodeName="n1"}', '1x30']],
  KubeOvnOvnControllerDown: [['pinger_ovn_controller_down{nodeName="n1"}', '1x30']],
  KubeOvnInternalDNSUnhealthy: [['pinger_internal_dns_unhealthy{nodeName="n1"}', '1x30']],
  KubeOvnPodsUnreachable: [
    [
      'pinger_pod_ping_lost_total{src_node_name="n1",target_node_name="n2",target_pod_ip="10.16.0.2"}',
      '0+9x30',
    ],
    [
      'pinger_pod_ping_count_total{src_node_name="n1",target_node_name="n2",target_pod_ip="10.16.0.2"}',
      '0+36x30',
    ],
  ],
  KubeOvnNodesUnreachable: [
    ['pinger_node_ping_lost_total{src_node_name="n1",target_node_name="n2"}', '0+9x30'],
    ['pinger_node_ping_count_total{src_node_name="n1",target_node_name="n2"}', '0+36x30'],
  ],
  KubeOvnPortBindingsMissing: [['pinger_inconsistent_port_binding{nodeName="n1"}', '2x30']],
  KubeOvnExporterBlind: [['kube_ovn_ovs_status{hostname="n1",component="ovs-vswitchd"}', '0x30']],
  KubeOvnDatabaseStorageFailed: [['kube_ovn_db_status{hostname="n1",db_name="OVN_Northbound"}', '0x30']],
  KubeOvnNorthdInactive: [['kube_ovn_ovn_status{hostname="n1",component="ovn-northd"}', '2x30']],
  KubeOvnDatabaseWithoutLeader: [
    ['kube_ovn_cluster_leader_known{hostname="n1",db_name="OVN_Northbound"}', '0x30'],
  ],
  KubeOvnRaftPeerLost: [
    ['kube_ovn_cluster_outbound_connections_error_total{hostname="n1",db_name="OVN_Northbound"}', '1x30'],
  ],
  KubeOvnMonitorBlind: [['kube_ovn_monitor_source_up{hostname="n1",source="northbound"}', '0x30']],
}

/** The same of a cluster in which all is well. */
export const well: readonly (readonly [series: string, values: string])[] = [
  ['up{job="kube-ovn-controller",instance="z"}', '1x30'],
  ['up{job="kube-ovn-cni",instance="z"}', '1x30'],
  ['up{job="kube-ovn-speaker",instance="z"}', '1x30'],
  // Others' is not ours to watch.
  ['up{job="kube-ovn-pinger-of-mine",instance="z"}', '0x30'],
  [
    'leader_election_master_status{job="kube-ovn-controller",name="kube-ovn-controller",instance="z"}',
    '1x30',
  ],
  ['subnet_used_ip_count{subnet_name="red",protocol="IPv4",subnet_cidr="10.2.0.0/24"}', '3x30'],
  ['subnet_available_ip_count{subnet_name="red",protocol="IPv4",subnet_cidr="10.2.0.0/24"}', '250x30'],
  ['kube_ovn_database_connected{db="OVN_Northbound",instance="z"}', '1x30'],
  ['kube_ovn_address_findings{rule="lost-address"}', '0x30'],
  ['kube_ovn_orphans_held{kind="acl"}', '0x30'],
  ['cni_op_latency_seconds_count{node_name="n9",method="/api/v1/add",status_code="200"}', '0+30x30'],
  // A removal that went well answers otherwise.
  ['cni_op_latency_seconds_count{node_name="n9",method="/api/v1/del",status_code="204"}', '0+30x30'],
  ['pinger_ovs_down{nodeName="n9"}', '0x30'],
  ['pinger_ovn_controller_down{nodeName="n9"}', '0x30'],
  ['pinger_apiserver_unhealthy{nodeName="n9"}', '0x30'],
  ['pinger_internal_dns_unhealthy{nodeName="n9"}', '0x30'],
  ['pinger_inconsistent_port_binding{nodeName="n9"}', '0x30'],
  ['pinger_pod_ping_lost_total{src_node_name="n9",target_node_name="n8"}', '0x30'],
  ['pinger_pod_ping_count_total{src_node_name="n9",target_node_name="n8"}', '0+36x30'],
  ['pinger_node_ping_lost_total{src_node_name="n9",target_node_name="n8"}', '0x30'],
  ['pinger_node_ping_count_total{src_node_name="n9",target_node_name="n8"}', '0+36x30'],
  ['kube_ovn_dp_flows_lookup_lost{hostname="n9",datapath="ovs-system"}', '5x30'],
  ['kube_ovn_ovs_status{hostname="n9",component="ovs-vswitchd"}', '1x30'],
  ['kube_ovn_db_status{hostname="n9",db_name="OVN_Northbound"}', '1x30'],
  ['kube_ovn_ovn_status{hostname="n9",component="ovn-northd"}', '1x30'],
  ['kube_ovn_ovn_status{hostname="n8",component="ovn-northd"}', '2x30'],
  ['kube_ovn_cluster_leader_known{hostname="n9",db_name="OVN_Southbound"}', '1x30'],
  ['kube_ovn_cluster_leader_known{hostname="n8",db_name="OVN_Southbound"}', '1x30'],
  ['kube_ovn_cluster_peer_count{hostname="n9",db_name="OVN_Southbound"}', '1x30'],
  ['kube_ovn_cluster_outbound_connections_error_total{hostname="n9",db_name="OVN_Southbound"}', '0x30'],
  ['kube_ovn_inconsistent_objects{hostname="n9",kind="port-without-binding"}', '2x30'],
  ['kube_ovn_inconsistent_seconds{hostname="n9",kind="port-without-binding"}', '20x30'],
  ['kube_ovn_monitor_source_up{hostname="n9",source="northbound"}', '1x30'],
  ['kube_ovn_speaker_bgp_peer_up{node="n9",peer="192.0.2.9",peer_asn="65001"}', '1x30'],
  ['kube_ovn_speaker_routes_advertised{node="n9",peer="192.0.2.9",peer_asn="65001"}', '3x30'],
  ['kube_ovn_speaker_routes_wanted{node="n9",peer="192.0.2.9",peer_asn="65001"}', '3x30'],
]

/** What comes about on a cluster that is well, and no alert is for; a value each minute of an hour. */
export const ordinary: Readonly<Record<string, readonly (readonly [series: string, values: string])[]>> = {
  // KubeOvnExporterDown says so.
  'a monitor is down, beside the leader of a database and the active ovn-northd': [
    ['kube_ovn_ovn_status{hostname="n1",component="ovn-northd"}', '1x9 _x29 1x19'],
    ['kube_ovn_ovn_status{hostname="n2",component="ovn-northd"}', '2x60'],
    ['kube_ovn_ovn_status{hostname="n3",component="ovn-northd"}', '2x60'],
    ['kube_ovn_cluster_peer_count{hostname="n1",db_name="OVN_Northbound"}', '2x9 _x29 2x19'],
    ['kube_ovn_cluster_peer_count{hostname="n2",db_name="OVN_Northbound"}', '2x60'],
    ['kube_ovn_cluster_leader_self{hostname="n1",db_name="OVN_Northbound"}', '1x9 _x29 1x19'],
    ['kube_ovn_cluster_leader_self{hostname="n2",db_name="OVN_Northbound"}', '0x60'],
    ['kube_ovn_cluster_leader_known{hostname="n1",db_name="OVN_Northbound"}', '1x9 _x29 1x19'],
    ['kube_ovn_cluster_leader_known{hostname="n2",db_name="OVN_Northbound"}', '1x60'],
  ],
  'others that elect leaders are scraped, too': [
    ['leader_election_master_status{job="kube-ovn-controller",name="kube-ovn-controller"}', '1x60'],
    ['leader_election_master_status{job="kube-controller-manager",name="kube-controller-manager"}', '1x60'],
    ['leader_election_master_status{job="kube-scheduler",name="kube-scheduler"}', '1x60'],
  ],
  'leaders of all kinds change': [
    ['kube_ovn_ovn_status{hostname="n1",component="ovn-northd"}', '1x19 0x1 2x38'],
    ['kube_ovn_ovn_status{hostname="n2",component="ovn-northd"}', '2x20 1x38'],
    ['kube_ovn_cluster_leader_known{hostname="n1",db_name="OVN_Northbound"}', '1x19 0x0 1x39'],
    ['kube_ovn_cluster_leader_known{hostname="n2",db_name="OVN_Northbound"}', '1x19 0x0 1x39'],
    ['leader_election_master_status{job="kube-ovn-controller",instance="a"}', '1x19 _x0 0x39'],
    ['leader_election_master_status{job="kube-ovn-controller",instance="b"}', '0x20 1x38'],
  ],
  'pingers are rolled out, and lose a round of packets to each other': [
    ['pinger_pod_ping_lost_total{src_node_name="n1",target_node_name="n2",target_pod_ip="a"}', '0x19 3x5'],
    ['pinger_pod_ping_count_total{src_node_name="n1",target_node_name="n2",target_pod_ip="a"}', '0+36x25'],
    ['pinger_pod_ping_lost_total{src_node_name="n1",target_node_name="n2",target_pod_ip="b"}', '_x26 0x33'],
    [
      'pinger_pod_ping_count_total{src_node_name="n1",target_node_name="n2",target_pod_ip="b"}',
      '_x26 0+36x33',
    ],
    // Of another pod of the same node, whose counters begin anew.
    ['pinger_node_ping_lost_total{src_node_name="n2",target_node_name="n1"}', '3x19 0x40'],
    ['pinger_node_ping_count_total{src_node_name="n2",target_node_name="n1"}', '900+36x19 0+36x40'],
    ['pinger_ovs_down{nodeName="n2",pod="pinger-a"}', '0x19 1x0 _x39'],
    ['pinger_ovs_down{nodeName="n2",pod="pinger-b"}', '_x20 0x38'],
  ],
  'a pod waits to be bound for a moment, now and then': [
    ['pinger_inconsistent_port_binding{nodeName="n1"}', '0x3 1x3 0 2x3 0x20 1x3 0x20'],
  ],
}
