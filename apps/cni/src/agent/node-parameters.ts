import { readSysctl } from '@kube-ovn/netlink'
import type { NodeParameters } from '@kube-ovn/telemetry'
import { readFileSync } from 'node:fs'

/** Reads what the kernel of this node says. What it does not have, or keeps from us, is `undefined`. */
export function readNodeParameters(): NodeParameters {
  const [start, end] = words(sysctl('ipv4/ip_local_port_range'))
  const [minimum, pressure, maximum] = words(sysctl('ipv4/tcp_mem'))
  return {
    localPorts: start === undefined || end === undefined ? undefined : { start, end },
    udpChecksumErrors: udpChecksumErrors(read('/proc/net/snmp') ?? ''),
    searchDomains: searchDomains(read('/etc/resolv.conf') ?? ''),
    tcpTwRecycle: numberOf(sysctl('ipv4/tcp_tw_recycle')),
    tcpMtuProbing: numberOf(sysctl('ipv4/tcp_mtu_probing')),
    conntrackIsLiberal: numberOf(sysctl('netfilter/nf_conntrack_tcp_be_liberal')),
    bridgeCallsIptables: numberOf(sysctl('bridge/bridge-nf-call-iptables')),
    tcpMemory:
      minimum === undefined || pressure === undefined || maximum === undefined
        ? undefined
        : [minimum, pressure, maximum],
    ipv6Routes: numberOf(sysctl('ipv6/route/max_size')),
  }
}

/** Reads `InCsumErrors` of the two lines about UDP: names, then values. */
export function udpChecksumErrors(snmp: string): number | undefined {
  const [names = [], values = []] = snmp
    .split('\n')
    .filter((line) => line.startsWith('Udp: '))
    .map(words)
  const value = values[names.indexOf('InCsumErrors')]
  return names.includes('InCsumErrors') ? numberOf(value) : undefined
}

/** Those of the last line `search`, which overrides others (resolv.conf(5)). */
export function searchDomains(configuration: string): readonly string[] {
  const last = configuration.split('\n').findLast((line) => /^search\s/.test(line))
  return words(last)
    .slice(1)
    .filter((domain) => domain !== '.')
}

function sysctl(key: string): string | undefined {
  try {
    return readSysctl(undefined, key)
  } catch {
    return undefined
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
