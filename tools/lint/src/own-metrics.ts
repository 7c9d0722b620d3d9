import type { Program } from './measured-metrics.ts'

/** Of queues of keys: controller-runtime's names, which upstream registers and never fills, and what comes of what strangers change. */
const reconciliation = [
  'controller_runtime_active_workers',
  'controller_runtime_max_concurrent_reconciles',
  'controller_runtime_reconcile_errors_total',
  'controller_runtime_reconcile_time_seconds',
  'controller_runtime_reconcile_total',
  'controller_runtime_terminal_reconcile_errors_total',
  'kube_ovn_drift_found_total',
  'kube_ovn_drift_healed_total',
]
const databases = ['kube_ovn_database_connected', 'kube_ovn_database_replaced_total']

/** Names of metrics that Kube-OVN 1.17 does not have, or has and never fills, by the program that shows them. */
export const ownMetrics: Readonly<Record<Program | 'every', readonly string[]>> = {
  every: ['kube_ovn_event_loop_delay_seconds'],
  controller: [
    ...reconciliation,
    ...databases,
    'kube_ovn_address_audit_longest_slice_seconds',
    'kube_ovn_address_audit_timestamp_seconds',
    'kube_ovn_address_audit_work_seconds',
    'kube_ovn_address_audits_total',
    'kube_ovn_address_findings',
    'kube_ovn_orphans_held',
    'kube_ovn_patches_total',
    'kube_ovn_plan_operations',
    'kube_ovn_rows_total',
    'kube_ovn_transactions_total',
  ],
  agent: [
    ...reconciliation,
    ...databases,
    'kube_ovn_cni_add_seconds',
    'kube_ovn_cni_announce_failures_total',
    'kube_ovn_node_fragments_refused',
    'kube_ovn_node_writes_total',
  ],
  pinger: [
    'kube_ovn_daemon_memory',
    'kube_ovn_ovs_coverage_events',
    'pinger_check_failed',
    'pinger_external_ping_count_total',
    'pinger_port_latency_ms',
    'pinger_port_up',
  ],
  monitor: [
    'klog_bytes_total',
    'klog_lines_total',
    'kube_ovn_cluster_disconnections',
    'kube_ovn_cluster_leader_known',
    'kube_ovn_configuration_sequence',
    'kube_ovn_daemon_memory',
    'kube_ovn_inconsistent_objects',
    'kube_ovn_inconsistent_seconds',
    'kube_ovn_logical_objects',
    'kube_ovn_monitor_source_up',
  ],
  speaker: [
    'kube_ovn_speaker_problems',
    'kube_ovn_speaker_routes_advertised',
    'kube_ovn_speaker_routes_wanted',
  ],
}
