import { readFileSync, statSync } from 'node:fs'
import { parse } from 'yaml'
import { TopologyError } from '../errors.ts'
import { zoneLabel } from '../kubernetes/node-labels.ts'
import {
  maxVlanId,
  plainNode,
  plainNodes,
  type NodeSpec,
  type PodNetwork,
  type RoutingDaemon,
  type Stack,
  type Topology,
} from './topology.ts'
import type { WantedTopology } from './cluster.ts'

/** What a file or preset says of a topology; the rest is as by default. */
type DescribedTopology = Pick<
  WantedTopology,
  'stack' | 'podNetwork' | 'vlans' | 'routers' | 'hasNetworkAttachments' | 'proxyMode'
> & {
  readonly nodes?: readonly NodeSpec[]
  /** So many of the same; each sees the first. */
  readonly clusters?: number
}

/** Topologies by name. */
export const presets: Readonly<Record<string, DescribedTopology>> = {
  'two-nodes': {},
  'ipv6-only': { stack: 'ipv6' },
  /** Three members of each database, and as many controllers, one of which leads. */
  ha: { nodes: plainNodes(3, 3) },
  /** A second, bare NIC of each node on a trunk, and routers of both kinds. */
  underlay: {
    nodes: plainNodes(2).map((node) => ({ ...node, physicalNics: 2 })),
    vlans: [100, 200, 300],
    routers: ['frr', 'bird'],
  },
  'multi-cluster': { clusters: 2 },
  /** Services are served by the chart alone. */
  'no-kube-proxy': { proxyMode: 'none' },
  /** The custom resource that Multus reads. */
  multus: { hasNetworkAttachments: true },
}

/** The modes of kube-proxy, and none of it. */
export const proxyModes: readonly Topology['proxyMode'][] = ['nftables', 'iptables', 'ipvs', 'none']
export const stacks: readonly Stack[] = ['dual', 'ipv4', 'ipv6']
export const podNetworks: readonly PodNetwork[] = ['kube-ovn', 'bridge']
export const routingDaemons: readonly RoutingDaemon[] = ['frr', 'bird']

/** As many as there are addresses for. */
export const maxNodes = 200
/** So that they have other numbers in the tunnel network that they share. */
export const maxNodesOfSeveral = 100
const maxPhysicalNics = 8
/** As many as have ranges for pods, and host numbers in one tunnel network. */
const maxClusters = 2
const maxVlans = 16
const maxRouters = 8

/**
 * Reads the topology of a preset or file.
 *
 * @throws {TopologyError} naming field, value and cure
 */
export function readTopology(nameOrFile: string): DescribedTopology {
  const preset = Object.hasOwn(presets, nameOrFile) ? presets[nameOrFile] : undefined
  if (preset !== undefined) return preset
  const stat = statSync(nameOrFile, { throwIfNoEntry: false })
  if (stat?.isDirectory() !== false)
    throw wrong('--topology', nameOrFile, `a file that exists, or one of ${Object.keys(presets).join(', ')}`)
  return parseTopology(readFileSync(nameOrFile, 'utf8'))
}

/**
 * Reads the text of a topology file.
 *
 * @throws {TopologyError} naming field, value and cure
 */
export function parseTopology(text: string): DescribedTopology {
  const fields = fieldsOf('the file', readYaml(text) ?? {}, fileFields)
  const described = parseFields(fields)
  const { clusters = 1, nodes = [] } = described
  if (clusters > 1 && nodes.length > maxNodesOfSeveral)
    throw wrong(
      'nodes',
      `${nodes.length} in each of ${clusters} clusters`,
      `at most ${maxNodesOfSeveral} in each`,
    )
  return described
}

function readYaml(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    // Also of a name that nothing was given by an anchor.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw wrong('the file', sentence, 'YAML, e.g. "nodes: 2"')
  }
}

function parseFields(fields: Readonly<Record<string, unknown>>): DescribedTopology {
  return {
    ...optional('nodes', fields['nodes'], parseNodes),
    ...optional('stack', fields['stack'], (value) => oneOf('stack', value, stacks)),
    ...optional('podNetwork', fields['podNetwork'], (value) => oneOf('podNetwork', value, podNetworks)),
    ...optional('clusters', fields['clusters'], (value) => wholeNumber('clusters', value, 1, maxClusters)),
    ...optional('vlans', fields['vlans'], (value) => parseVlans('vlans', value)),
    ...optional('routers', fields['routers'], (value) => parseRouters('routers', value)),
    ...optional('hasNetworkAttachments', fields['networkAttachments'], (value) =>
      trueOrFalse('networkAttachments', value),
    ),
    ...optional('proxyMode', fields['proxyMode'], (value) => oneOf('proxyMode', value, proxyModes)),
  }
}

const fileFields = [
  'nodes',
  'stack',
  'podNetwork',
  'clusters',
  'vlans',
  'routers',
  'networkAttachments',
  'proxyMode',
] as const

/**
 * Reads the VLANs of the physical network.
 *
 * @throws {TopologyError} naming field, value and cure
 */
export function parseVlans(field: string, value: unknown): readonly number[] {
  const vlans = listOf(field, value, maxVlans, 'e.g. [100, 200]').map((vlan, index) =>
    wholeNumber(`${field}[${index}]`, vlan, 1, maxVlanId),
  )
  const double = vlans.find((vlan, index) => vlans.indexOf(vlan) < index)
  if (double !== undefined) throw wrong(field, double, 'each VLAN once')
  return vlans
}

/**
 * Reads the routers of the physical network.
 *
 * @throws {TopologyError} naming field, value and cure
 */
export function parseRouters(field: string, value: unknown): readonly RoutingDaemon[] {
  return listOf(field, value, maxRouters, 'e.g. [frr, bird]').map((daemon, index) =>
    oneOf(`${field}[${index}]`, daemon, routingDaemons),
  )
}

function listOf(field: string, value: unknown, max: number, example: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= max) return value
  throw wrong(field, value, `a list of at most ${max} entries, ${example}`)
}

function parseNodes(value: unknown): readonly NodeSpec[] {
  if (!Array.isArray(value)) return plainNodes(wholeNumber('nodes', value, 1, maxNodes))
  if (value.length < 1 || value.length > maxNodes)
    throw wrong('nodes', `${value.length} entries`, `1 to ${maxNodes} entries`)
  const nodes = value.map((entry: unknown, index) => parseNode(`nodes[${index}]`, entry ?? {}))
  // The databases must be somewhere.
  if (nodes.some(({ isMaster }) => isMaster)) return nodes
  return nodes.map((node, index) => (index === 0 ? { ...node, isMaster: true } : node))
}

function parseNode(field: string, value: unknown): NodeSpec {
  const { master, zone, physicalNics, labels } = fieldsOf(field, value, [
    'master',
    'zone',
    'physicalNics',
    'labels',
  ])
  return {
    ...plainNode,
    ...optional('isMaster', master, (given) => trueOrFalse(`${field}.master`, given)),
    ...optional('zone', zone, (given) => labelValue(`${field}.zone`, given)),
    ...optional('physicalNics', physicalNics, (given) =>
      wholeNumber(`${field}.physicalNics`, given, 1, maxPhysicalNics),
    ),
    ...optional('labels', labels, (given) => parseLabels(`${field}.labels`, given)),
  }
}

function parseLabels(field: string, value: unknown): Readonly<Record<string, string>> {
  if (!isMap(value)) throw wrong(field, value, 'a map of text, e.g. { rack: r1 }')
  return Object.fromEntries(
    Object.entries(value).map(([key, given]) => [labelKey(field, key), labelValue(`${field}.${key}`, given)]),
  )
}

const namePart = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/
const prefixPart = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** Prefixes and labels of Kubernetes' own that kubelet may give its node (--node-labels). */
const ownPrefix = /(^|\.)(kubelet|node)\.kubernetes\.io$/
const ownLabels = ['topology.kubernetes.io/region', zoneLabel]

/** As Kubernetes allows it for a label that kubelet is told of: with a wrong one it would not start. */
function labelKey(field: string, key: string): string {
  const [name = '', prefix, ...more] = key.split('/').toReversed()
  if (!namePart.test(name) || more.length > 0 || (prefix !== undefined && !prefixPart.test(prefix)))
    throw wrong(field, key, 'keys as Kubernetes has them, e.g. rack or example.com/rack')
  const isKubernetes = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix ?? '')
  if (isKubernetes && !ownPrefix.test(prefix ?? '') && !ownLabels.includes(key))
    throw wrong(field, key, `no label of Kubernetes' own but ${ownLabels.join(', ')}; zone has a field`)
  return key
}

/**
 * Reads the value of a label, as Kubernetes allows it.
 *
 * @throws {TopologyError} naming field, value and cure
 */
export function labelValue(field: string, value: unknown): string {
  if (typeof value === 'string' && namePart.test(value)) return value
  throw wrong(
    field,
    value,
    'text of at most 63 letters, digits, dashes, dots and underscores; numbers in quotes',
  )
}

function trueOrFalse(field: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw wrong(field, value, 'true or false')
}

function wholeNumber(field: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw wrong(field, value, `a whole number from ${min} to ${max}`)
}

function oneOf<T extends string>(field: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw wrong(field, value, `one of ${allowed.join(', ')}`)
  return found
}

/** A map without fields that nobody knows. */
function fieldsOf(
  field: string,
  value: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (!isMap(value)) throw wrong(field, value, `a map with fields of ${known.join(', ')}`)
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw wrong(
      field === 'the file' ? unknown : `${field}.${unknown}`,
      value[unknown],
      `a field of ${known.join(', ')}`,
    )
  return value
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field that is left out where nothing was given. */
function optional<K extends string, T>(
  name: K,
  value: unknown,
  parse: (value: unknown) => T,
): { readonly [name in K]?: T } {
  return value === undefined ? {} : ({ [name]: parse(value) } as { [name in K]: T })
}

function wrong(field: string, value: unknown, cure: string): TopologyError {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return new TopologyError('the topology is not understood', { field, value: text, cure })
}
