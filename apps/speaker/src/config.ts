import { readFileSync } from 'node:fs'
import { familyOfText, type PeerOptions, type SpeakerOptions } from '@kube-ovn/bgp'
import { tryParseIpv4 } from '@kube-ovn/ip'
import { ConfigInvalidError, duration, list, switchedOn, text, wholeNumber } from '@kube-ovn/process'
import type { Command, ConfigOf } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'

const withoutEffect = 'Accepted for compatibility, without effect.'

/** Flags and environment of upstream's kube-ovn-speaker, and some of our own: they say so. */
const settings = {
  clusterAs: wholeNumber(0, 'Own AS number, 1 to 4294967295.'),
  neighborAs: wholeNumber(0, 'AS number of all neighbours.'),
  neighborAddress: list('', 'IPv4 addresses of neighbours, separated by commas.'),
  neighborIpv6Address: list('', 'IPv6 addresses of neighbours.', { flag: 'neighbor-ipv6-address' }),
  neighborPort: wholeNumber(179, 'Port on which neighbours are dialled, and waited for. New.'),
  routerId: text(
    '',
    'Own identifier, an IPv4 address; empty for that of the pod, or one made of the name of the node.',
  ),
  nodeName: text('', 'Own node.', { environment: 'NODE_NAME' }),
  nodeIps: list('', 'Addresses to announce as next hop in the place of those of the pod.'),
  allowedSourceAddresses: list('', 'IPv4 addresses from which alone neighbours are spoken with.'),
  allowedSourceIpv6Addresses: list('', 'IPv6 addresses from which alone neighbours are spoken with.', {
    flag: 'allowed-source-ipv6-addresses',
  }),
  authPassword: text(
    '',
    'Password of sessions (MD5). Everybody can read it in the pod: use --auth-password-file.',
  ),
  authPasswordFile: text('', 'File with the password of sessions. New.'),
  holdtime: duration('90s', 'Silence after which a neighbour is given up, 3s to 65535s.'),
  gracefulRestart: switchedOn(false, 'Have neighbours keep routes while the speaker restarts.'),
  gracefulRestartTime: duration('90s', 'How long they keep them, 1s to 4095s.'),
  gracefulRestartDeferralTime: duration(
    '360s',
    'When they are told at the latest that they know all, 1s to 18h.',
  ),
  passivemode: switchedOn(false, 'Wait for neighbours to dial.'),
  ebgpMultihop: wholeNumber(1, 'TTL of what is sent to neighbours of another AS; 1 keeps it on the link.'),
  extendedNexthop: switchedOn(false, 'Tell IPv4 routes over IPv6 as well.'),
  announceClusterIp: switchedOn(false, 'Announce addresses of Services that are annotated.'),
  natGwMode: switchedOn(false, 'Not there yet: the speaker does not start with it.'),
  enableBfd: switchedOn(false, 'Not there yet: neighbours are given up after --holdtime.'),
  bfdMinTx: wholeNumber(1000, withoutEffect),
  bfdMinRx: wholeNumber(1000, withoutEffect),
  bfdDetectionMultiplier: wholeNumber(3, withoutEffect),
  grpcHost: text('127.0.0.1', withoutEffect),
  grpcPort: wholeNumber(50_051, withoutEffect),
  enableMetrics: switchedOn(true, 'Serve /metrics.'),
  ...secureServingSettings,
  pprofPort: wholeNumber(10_667, 'Port of health checks and metrics.'),
  kubeconfig: text('', 'File with the way to the API server; empty inside a cluster.', {
    environment: 'KUBECONFIG',
  }),
  logPerm: text('640', withoutEffect),
  podIp: text('', 'Own address.', { environment: 'POD_IP', isEnvironmentOnly: true }),
  podIps: list('', 'Own addresses.', { environment: 'POD_IPS', isEnvironmentOnly: true }),
} as const

export const command: Command<typeof settings> = {
  name: 'kube-ovn-speaker',
  summary: 'Announces addresses of pods, Subnets and Services to routers by BGP.',
  examples: [
    'kube-ovn-speaker --cluster-as=65000 --neighbor-as=65001 --neighbor-address=192.0.2.9',
    'kube-ovn-speaker --cluster-as=65000 --neighbor-as=65001 --neighbor-ipv6-address=2001:db8::9 --extended-nexthop',
  ],
  settings,
}

export type SpeakerConfig = ConfigOf<typeof settings>

/** TTL within an AS, where neighbours may be anywhere. */
const internalTtl = 64

/**
 * Makes options of flags.
 *
 * @throws ConfigInvalidError that names everything that is missing
 */
export function speakerOptions(config: SpeakerConfig): SpeakerOptions {
  requireFlags(config)
  const { clusterAs: as, neighborAs, neighborPort: port, passivemode: isPassive, extendedNexthop } = config
  const password = passwordOf(config)
  const ttl = as === neighborAs ? internalTtl : config.ebgpMultihop
  const peers = [...config.neighborAddress, ...config.neighborIpv6Address].map((address): PeerOptions => {
    const family = familyOfText(address)
    const extendedNextHop = extendedNexthop && family === 'ipv6'
    const families = extendedNextHop ? (['ipv6', 'ipv4'] as const) : [family]
    return { address, as: neighborAs, port, isPassive, ttl, password, families, extendedNextHop }
  })
  return {
    ...{ as, peers, listenPort: port, identifier: identifierOf(config) },
    holdTimeS: Math.min(config.holdtime / 1000, 65_535),
    gracefulRestart: config.gracefulRestart
      ? { timeS: config.gracefulRestartTime / 1000, deferralS: config.gracefulRestartDeferralTime / 1000 }
      : undefined,
  }
}

function requireFlags(config: SpeakerConfig): void {
  if (config.natGwMode)
    throw new ConfigInvalidError({
      field: 'nat-gw-mode',
      value: 'true',
      cure: 'remove it: there are no NAT gateways whose addresses could be announced',
    })
  const missing = [
    ...(config.clusterAs === 0 ? ['--cluster-as'] : []),
    ...(config.neighborAs === 0 ? ['--neighbor-as'] : []),
    ...(config.neighborAddress.length + config.neighborIpv6Address.length === 0
      ? ['--neighbor-address or --neighbor-ipv6-address']
      : []),
    ...(config.nodeName === '' ? ['--node-name'] : []),
  ]
  if (missing.length === 0) return
  const value = `missing required flags: ${missing.join(', ')}`
  throw new ConfigInvalidError({ field: 'flags', value, cure: 'give them' })
}

/** @throws ConfigInvalidError when the file can not be read */
function passwordOf({ authPassword, authPasswordFile }: SpeakerConfig): string | undefined {
  if (authPasswordFile === '') return authPassword === '' ? undefined : authPassword
  try {
    // Editors and `echo` end files with a new line.
    return readFileSync(authPasswordFile, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    const cure = 'give a file that can be read'
    throw new ConfigInvalidError({ field: 'auth-password-file', value: authPasswordFile, cure }, { cause })
  }
}

/** Where there is no IPv4 address, the name of the node makes one: the same after each restart, and hardly that of another node. */
function identifierOf({ routerId, podIps, podIp, nodeName }: SpeakerConfig): string {
  if (routerId !== '') return routerId
  const own = [...podIps, podIp].find((address) => tryParseIpv4(address) !== undefined)
  if (own !== undefined) return own
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(nodeName)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return [hash >>> 24 || 1, (hash >>> 16) & 255, (hash >>> 8) & 255, hash & 255].join('.')
}
