import {
  labelValue,
  maxNodes,
  maxNodesOfSeveral,
  parseRouters,
  parseVlans,
  podNetworks,
  readTopology,
  stacks,
} from './cluster/topology-file.ts'
import {
  defaultTopology,
  plainNodes,
  secondPodRange,
  type NodeSpec,
  type Topology,
} from './cluster/topology.ts'
import { LabUsageError } from './errors.ts'

/** A lab, and the labs that see it. */
export type Topologies = readonly [Topology, ...Topology[]]

interface NodeFlags {
  readonly nodes?: string | undefined
  readonly masters?: string | undefined
  readonly zones?: string | undefined
  readonly nics?: string | undefined
}

/** The flags that a topology is made of, as they were typed. */
interface TopologyFlags extends NodeFlags {
  readonly topology: string
  readonly vlans?: string | undefined
  readonly routers?: string | undefined
  readonly stack?: string | undefined
  readonly cni?: string | undefined
  readonly id: string
  readonly keep: boolean
}

/**
 * Makes topologies of a preset or file and of flags, which go before it.
 *
 * @throws {LabUsageError} naming the flag and what would have been right
 * @throws {TopologyError} naming field, value and cure
 */
export function chooseTopologies(flags: TopologyFlags): Topologies {
  if (!/^[a-z][a-z0-9-]{0,20}$/.test(flags.id))
    throw wrong(`--id ${flags.id}`, 'lower case letters, digits and dashes, 21 at most')
  const { clusters = 1, ...described } = readTopology(flags.topology)
  const { vlans, routers, stack, cni, id } = flags
  const first: Topology = {
    ...defaultTopology,
    ...described,
    id,
    nodes: chooseNodes(flags, described.nodes ?? defaultTopology.nodes),
    ...(vlans === undefined ? {} : { vlans: parseVlans('--vlans', vlans.split(',').map(Number)) }),
    ...(routers === undefined ? {} : { routers: parseRouters('--routers', routers.split(',')) }),
    ...(stack === undefined ? {} : { stack: oneOf('--stack', stack, stacks) }),
    ...(cni === undefined ? {} : { podNetwork: oneOf('--cni', cni, podNetworks) }),
    isKept: flags.keep,
  }
  if (clusters === 1) return [first]
  if (first.nodes.length > maxNodesOfSeveral)
    throw wrong(`--nodes ${first.nodes.length}`, `at most ${maxNodesOfSeveral} in each of several clusters`)
  return [first, { ...first, id: `${id}-2`, sees: id, podRange: secondPodRange }]
}

/** The nodes of the topology, as far as the flags do not say otherwise. */
function chooseNodes(flags: NodeFlags, described: readonly NodeSpec[]): readonly NodeSpec[] {
  const masters = described.filter(({ isMaster }) => isMaster).length
  const count = flags.nodes === undefined ? described.length : wholeNumber('--nodes', flags.nodes, maxNodes)
  const nodes =
    flags.nodes === undefined && flags.masters === undefined
      ? described
      : plainNodes(
          count,
          flags.masters === undefined
            ? Math.min(masters, count)
            : wholeNumber('--masters', flags.masters, count),
        )
  const zones = flags.zones?.split(',').map((zone) => labelValue('--zones', zone)) ?? []
  const nics = flags.nics === undefined ? undefined : wholeNumber('--nics', flags.nics, 8)
  return nodes.map((node, index) => {
    const zone = zones[index % zones.length]
    return {
      ...node,
      ...(zone === undefined ? {} : { zone }),
      ...(nics === undefined ? {} : { physicalNics: nics }),
    }
  })
}

export function wholeNumber(argument: string, text: string, max: number, min = 1): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw wrong(`${argument} ${text.trim()}`, `a number from ${min} to ${max}`)
}

/** A word that is one of those that there are. */
export function oneOf<T extends string>(argument: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw wrong(`${argument} ${value}`, `one of ${allowed.join(', ')}`)
  return found
}

function wrong(argument: string, cure: string): LabUsageError {
  return new LabUsageError('the command line is not understood', { argument, cure })
}
