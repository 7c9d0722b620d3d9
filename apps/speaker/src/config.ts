import { readFileSync } from 'node:fs'
import type { RouteAttributes } from '@kube-ovn/features-speaker'
import {
  BgpConfigInvalidError,
  checkPassword,
  familyOfText,
  type PeerOptions,
  type SpeakerOptions,
} from '@kube-ovn/bgp'
import type { Refused } from '@kube-ovn/errors'
import { tryParseIp, tryParseIpv4, tryParseIpv6 } from '@kube-ovn/ip'
import { ConfigInvalidError, duration, list, switchedOn, text, wholeNumber } from '@kube-ovn/process'
import type { Command, ConfigOf } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'
import {
  attributesOf,
  canonical,
  isCommunity,
  isLinkLocal,
  mostCommunities,
  readNeighbors,
  type Neighbor,
  type RefusedNeighbor,
} from './neighbors.ts'

const withoutEffect = 'Accepted for compatibility, without effect.'

/** Flags and environment of upstream's kube-ovn-speaker, and some of our own: they say so. */
const settings = {
  clusterAs: wholeNumber(0, 'Own AS number, 1 to 4294967295.'),
  neighborAs: wholeNumber(0, 'AS number of all neighbours.'),
  neighborAddress: list('', 'IPv4 addresses of neighbours, separated by commas.'),
  neighborIpv6Address: list('', 'IPv6 addresses of neighbours.', { flag: 'neighbor-ipv6-address' }),
  neighborPort: wholeNumber(179, 'Port on which neighbours are dialled, and waited for. New.'),
  neighborsFile: text('', 'File with further neighbours, and what is different for each (JSON). New.'),
  communities: list('', 'Communities of all routes, such as 65000:100 or 65000:1:2. New.'),
  localPreference: text('', 'Local preference of all routes, for neighbours of the own AS. New.'),
  aggregate: switchedOn(
    false,
    'Announce a local Subnet in the place of its pods while all of them are on this node. New.',
  ),
  routerId: text(
    '',
    'Own identifier, an IPv4 address; empty for that of the pod, or one made of the name of the node or the gateway.',
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
  natGwMode: switchedOn(
    false,
    'Announce addresses of the NAT gateway that GATEWAY_NAME names, in the place of what is on a node.',
  ),
  gatewayName: text('', 'NAT gateway that it speaks for.', {
    environment: 'GATEWAY_NAME',
    isEnvironmentOnly: true,
  }),
  enableBfd: switchedOn(false, 'Watch neighbours on the link by BFD, and give them up when it says so.'),
  bfdMinTx: wholeNumber(1000, 'Milliseconds between two packets of BFD, at least.'),
  bfdMinRx: wholeNumber(1000, 'Milliseconds between two packets of BFD of a neighbour, at least.'),
  bfdDetectionMultiplier: wholeNumber(
    3,
    'Missing packets of BFD after which either side gives the other up.',
  ),
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
  summary: 'Announces addresses of pods, Subnets, Vips and Services to routers by BGP.',
  examples: [
    'kube-ovn-speaker --cluster-as=65000 --neighbor-as=65001 --neighbor-address=192.0.2.9',
    'kube-ovn-speaker --cluster-as=65000 --neighbor-as=65001 --neighbor-ipv6-address=2001:db8::9 --extended-nexthop',
    'GATEWAY_NAME=gw kube-ovn-speaker --nat-gw-mode --cluster-as=65000 --neighbor-as=65001 --neighbor-address=192.0.2.9',
  ],
  settings,
}

export type SpeakerConfig = ConfigOf<typeof settings>

/** TTL within an AS, where neighbours may be anywhere. */
const internalTtl = 64

export interface SpeakerPlan extends SpeakerOptions {
  readonly peers: readonly Told[]
  /** What is wrong with entries of the file that no neighbour can be shown for. */
  readonly refusals: readonly Refused[]
}

/**
 * Makes options of flags. A neighbour of the file that is wrong costs no other: it is refused.
 *
 * @throws ConfigInvalidError that names everything that is missing, or what is wrong with the only neighbour
 */
export function speakerOptions(config: SpeakerConfig): SpeakerPlan {
  checkAddresses(config)
  const { neighbors, refused } = neighborsOf(config)
  requireFlags(config, neighbors, refused)
  const common = commonAttributes(config)
  const found = neighbors.map((neighbor) => peerOrRefusal(config, neighbor, common))
  const peers = found.filter((peer): peer is Told => !('problem' in peer))
  const refusals = [...refused, ...found.filter((peer): peer is RefusedNeighbor => 'problem' in peer)]
  const [first] = refusals
  if (peers.length === 0 && first !== undefined) throw new ConfigInvalidError(first.problem)
  const shown = refusals.flatMap(({ address, as = config.neighborAs, problem }) =>
    address === undefined ? [] : [refusedPeer(address, as, problem)],
  )
  return {
    ...{ as: config.clusterAs, listenPort: config.neighborPort, identifier: identifierOf(config) },
    peers: [...peers, ...shown],
    refusals: refusals.flatMap(({ address, problem }) => (address === undefined ? [problem] : [])),
    holdTimeS: holdTimeOf(config),
    gracefulRestart: config.gracefulRestart
      ? {
          timeS: secondsOf(config.gracefulRestartTime),
          deferralS: secondsOf(config.gracefulRestartDeferralTime),
        }
      : undefined,
    bfd: config.enableBfd
      ? { minTxMs: config.bfdMinTx, minRxMs: config.bfdMinRx, multiplier: config.bfdDetectionMultiplier }
      : undefined,
  }
}

/** Messages tell whole seconds. */
function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/**
 * Upstream takes a second more than there is room for in a message. What is under a second is no zero, which would mean that nobody waits.
 *
 * @throws ConfigInvalidError for a time that no session can have
 */
function holdTimeOf({ holdtime }: SpeakerConfig): number {
  if (holdtime > 0 && holdtime < 1000)
    throw new ConfigInvalidError({
      field: '--holdtime',
      value: `${holdtime}ms`,
      cure: 'give 3s to 65535s, or 0 for none',
    })
  return holdtime === 65_536_000 ? 65_535 : secondsOf(holdtime)
}

/** A neighbour with what it is told of each route. */
export interface Told extends PeerOptions {
  readonly attributes: RouteAttributes
}

/** @throws ConfigInvalidError for an address that is none, or of the other family */
function checkAddresses(config: SpeakerConfig): void {
  const check = (
    field: string,
    addresses: readonly string[],
    parse: (text: string) => unknown,
    kind: string,
  ): void => {
    const value = addresses.find((address) => parse(address) === undefined)
    if (value === undefined) return
    throw new ConfigInvalidError({ field: `--${field}`, value, cure: `give ${kind}, separated by commas` })
  }
  const [v4, v6] = ['IPv4 addresses', 'IPv6 addresses']
  check('neighbor-address', config.neighborAddress, tryParseIpv4, v4)
  check('neighbor-ipv6-address', config.neighborIpv6Address, tryParseIpv6, v6)
  const value = config.neighborIpv6Address.find(isLinkLocal)
  if (value !== undefined)
    throw new ConfigInvalidError({
      ...{ field: '--neighbor-ipv6-address', value },
      cure: 'name another address of the router: a link-local one says not on which link it is',
    })
  check('allowed-source-addresses', config.allowedSourceAddresses, tryParseIpv4, v4)
  check('allowed-source-ipv6-addresses', config.allowedSourceIpv6Addresses, tryParseIpv6, v6)
  check('node-ips', config.nodeIps, tryParseIp, 'addresses')
}

/** Those of the file go before those of the flags with the same address, even where they are wrong. */
function neighborsOf(config: SpeakerConfig): ReturnType<typeof readNeighbors> {
  const { neighbors: inFile, refused } = readNeighbors(config.neighborsFile)
  const known = new Set([...inFile, ...refused].map(({ address }) => address))
  const named = [...config.neighborAddress, ...config.neighborIpv6Address]
    .map((address): Neighbor => ({ address: canonical(address) }))
    .filter(({ address }) => !known.has(address))
  return { neighbors: [...named, ...inFile], refused }
}

function peerOrRefusal(
  config: SpeakerConfig,
  neighbor: Neighbor,
  common: CommonAttributes,
): Told | RefusedNeighbor {
  const { address, as, entry } = neighbor
  if (entry === undefined) return peerOf(config, neighbor, common, passwordOf(config))
  const refuse = (field: string, value: string, cure: string): RefusedNeighbor => ({
    ...{ address, as, problem: { field: `${entry}.${field}`, value, cure } },
  })
  if ((as ?? config.neighborAs) === 0) return refuse('as', '', 'give its AS, or --neighbor-as for all')
  const { passwordFile } = neighbor
  if (passwordFile === undefined) return peerOf(config, neighbor, common, passwordOf(config))
  try {
    const password = readPassword(passwordFile, `${entry}.passwordFile`)
    checkPassword(password)
    return peerOf(config, neighbor, common, password)
  } catch (error) {
    if (error instanceof ConfigInvalidError) return { address, as, problem: error.details }
    if (!(error instanceof BgpConfigInvalidError)) throw error
    return refuse('passwordFile', error.details.value, error.details.cure)
  }
}

/** A neighbour that is shown, and not spoken with. */
function refusedPeer(address: string, as: number, refused: Refused): Told {
  return {
    ...{ address, as, refused, extendedNextHop: false, families: [familyOfText(address)], port: 179 },
    ...{ isPassive: false, isWatched: false, ttl: 1, attributes: {} },
  }
}

function peerOf(
  config: SpeakerConfig,
  neighbor: Neighbor,
  common: CommonAttributes,
  password: string | undefined,
): Told {
  const { address } = neighbor
  const as = neighbor.as ?? config.neighborAs
  const family = familyOfText(address)
  const extendedNextHop = (neighbor.extendedNexthop ?? config.extendedNexthop) && family === 'ipv6'
  const farAway = neighbor.ebgpMultihop ?? config.ebgpMultihop
  return {
    ...{ address, as, extendedNextHop, password },
    families: extendedNextHop ? (['ipv6', 'ipv4'] as const) : [family],
    port: neighbor.port ?? config.neighborPort,
    isPassive: neighbor.passive ?? config.passivemode,
    ttl: as === config.clusterAs ? internalTtl : farAway,
    holdTimeS: neighbor.holdtimeSeconds,
    // BFD of one hop only: packets that have come further are dropped.
    isWatched: neighbor.bfd ?? farAway === 1,
    attributes: attributesOf(neighbor.communities ?? common.communities, {
      localPreference: neighbor.localPreference ?? common.localPreference,
      med: neighbor.med,
    }),
  }
}

interface CommonAttributes {
  readonly communities: readonly string[]
  readonly localPreference: number | undefined
}

/** @throws ConfigInvalidError */
function commonAttributes({ communities, localPreference }: SpeakerConfig): CommonAttributes {
  const bad = communities.find((text) => !isCommunity(text))
  if (bad !== undefined)
    throw new ConfigInvalidError({
      field: 'communities',
      value: bad,
      cure: 'write communities as 65000:100 or 65000:1:2, separated by commas',
    })
  if (communities.length > mostCommunities)
    throw new ConfigInvalidError({
      ...{ field: 'communities', value: `${communities.length} of them` },
      cure: `give ${mostCommunities} at most`,
    })
  if (localPreference === '') return { communities, localPreference: undefined }
  const preference = Number(localPreference)
  if (!/^\d+$/.test(localPreference) || preference > 4_294_967_295)
    throw new ConfigInvalidError({
      field: 'local-preference',
      value: localPreference,
      cure: 'give a whole number from 0 to 4294967295',
    })
  return { communities, localPreference: preference }
}

function requireFlags(
  config: SpeakerConfig,
  neighbors: readonly Neighbor[],
  refused: readonly RefusedNeighbor[],
): void {
  const hasNoNeighbor = neighbors.length === 0 && refused.length === 0
  const hasOneOfFlags = neighbors.some(({ entry }) => entry === undefined)
  const missing = [
    ...(config.clusterAs === 0 ? ['--cluster-as'] : []),
    ...(config.neighborAs === 0 && (hasNoNeighbor || hasOneOfFlags) ? ['--neighbor-as'] : []),
    ...(hasNoNeighbor ? ['--neighbor-address or --neighbor-ipv6-address'] : []),
    ...(config.nodeName === '' && !config.natGwMode ? ['--node-name'] : []),
  ]
  if (missing.length > 0) {
    const value = `missing required flags: ${missing.join(', ')}`
    throw new ConfigInvalidError({ field: 'flags', value, cure: 'give them' })
  }
  if (config.natGwMode && config.gatewayName === '')
    throw new ConfigInvalidError({
      field: 'GATEWAY_NAME',
      value: '',
      cure: 'name the NAT gateway in the environment, or remove --nat-gw-mode',
    })
}

function passwordOf({ authPassword, authPasswordFile }: SpeakerConfig): string | undefined {
  if (authPasswordFile !== '') return readPassword(authPasswordFile, 'auth-password-file')
  return authPassword === '' ? undefined : authPassword
}

/** @throws ConfigInvalidError when the file can not be read */
function readPassword(path: string, field: string): string {
  try {
    // Editors and `echo` end files with a new line.
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    throw new ConfigInvalidError({ field, value: path, cure: 'give a file that can be read' }, { cause })
  }
}

/**
 * Where there is no IPv4 address, the name of the node or of the gateway makes one: the same after each restart, and hardly that of
 * another.
 */
function identifierOf({ routerId, podIps, podIp, natGwMode, nodeName, gatewayName }: SpeakerConfig): string {
  if (routerId !== '') return routerId
  const own = [...podIps, podIp].find((address) => tryParseIpv4(address) !== undefined)
  if (own !== undefined) return own
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(natGwMode ? gatewayName : nodeName))
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return [hash >>> 24 || 1, (hash >>> 16) & 255, (hash >>> 8) & 255, hash & 255].join('.')
}
