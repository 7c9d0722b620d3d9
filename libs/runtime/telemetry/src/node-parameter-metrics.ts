import type { Registry } from 'prom-client'
import { ShownGauge, type Series } from './shown-gauge.ts'

/** Settings and counters of a node's kernel that decide whether its network is well; `undefined` for what it does not have. */
export interface NodeParameters {
  readonly localPorts: { readonly start: string; readonly end: string } | undefined
  readonly udpChecksumErrors: number | undefined
  /** Of its resolver. */
  readonly searchDomains: readonly string[]
  readonly tcpTwRecycle: number | undefined
  readonly tcpMtuProbing: number | undefined
  readonly conntrackIsLiberal: number | undefined
  readonly bridgeCallsIptables: number | undefined
  /** Pages: minimum, pressure, maximum. */
  readonly tcpMemory: readonly [string, string, string] | undefined
  readonly ipv6Routes: number | undefined
}

/** Metrics of a node's kernel, with upstream's names and labels. It is asked when somebody looks. */
export function nodeParameterMetrics(registry: Registry, hostname: string, read: () => NodeParameters): void {
  function gauge(
    name: string,
    help: string,
    labels: readonly string[],
    show: (parameters: NodeParameters) => readonly Series[],
  ): void {
    const labelNames = ['hostname', ...labels]
    new ShownGauge({ name, help, labelNames, registers: [registry] }, () =>
      show(read()).map(([own, value]): Series => [{ hostname, ...own }, value]),
    )
  }
  const figure = (name: string, help: string, of: (parameters: NodeParameters) => number | undefined): void =>
    gauge(name, help, [], (parameters) => {
      const value = of(parameters)
      return value === undefined ? [] : [[{}, value]]
    })
  gauge(
    'ip_local_port_range',
    'Ports that connections of the node leave from.',
    ['start', 'end'],
    ({ localPorts }) => (localPorts === undefined ? [] : [[localPorts, 1]]),
  )
  figure(
    'checksum_err_count',
    'UDP packets with a wrong checksum that the node has dropped.',
    ({ udpChecksumErrors }) => udpChecksumErrors,
  )
  gauge(
    'dns_search_domain',
    'Search domains of the resolver of the node.',
    ['additional'],
    ({ searchDomains }) =>
      (searchDomains.length === 0 ? ['no additional search domain'] : searchDomains).map((additional) => [
        { additional },
        1,
      ]),
  )
  figure('tcp_tw_recycle', 'net.ipv4.tcp_tw_recycle, which should be 0.', ({ tcpTwRecycle }) => tcpTwRecycle)
  figure(
    'tcp_mtu_probing',
    'net.ipv4.tcp_mtu_probing, which should be 1.',
    ({ tcpMtuProbing }) => tcpMtuProbing,
  )
  figure(
    'nf_conntrack_tcp_be_liberal',
    'net.netfilter.nf_conntrack_tcp_be_liberal, which should be 1.',
    ({ conntrackIsLiberal }) => conntrackIsLiberal,
  )
  figure(
    'bridge_nf_call_iptables',
    'net.bridge.bridge-nf-call-iptables: 1 for overlays, 0 for underlays.',
    ({ bridgeCallsIptables }) => bridgeCallsIptables,
  )
  gauge('tcp_mem', 'net.ipv4.tcp_mem, in pages.', ['minimum', 'pressure', 'maximum'], ({ tcpMemory }) => {
    if (tcpMemory === undefined) return []
    const [minimum, pressure, maximum] = tcpMemory
    return [[{ minimum, pressure, maximum }, 1]]
  })
  figure(
    'max_size',
    'net.ipv6.route.max_size, which should be 16384 at least.',
    ({ ipv6Routes }) => ipv6Routes,
  )
}
