import {
  podAnnotations,
  readPodNetwork,
  AnnotationInvalidError,
  type PodNetwork,
} from '@kube-ovn/annotations'
import { contribution, nftables, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { servicePrefixesOf } from '@kube-ovn/endpoints'
import { contains, formatIp, networkText, tryParseCidr, type Ip } from '@kube-ovn/ip'
import { isAlive } from '@kube-ovn/kube-api/core'
import type { Table } from '@kube-ovn/netfilter'
import { rowTable } from '@kube-ovn/tables'
import { askingNic, type PodOfNics } from '../asking-pods.ts'
import { ProbeTargetTakenError } from '../errors.ts'
import { linkTable } from '../host-links.ts'
import { internalAddresses, podIdentities } from '../kube-objects.ts'
import { interfaceTable, type LocalInterface } from '../local-interfaces.ts'
import { attachmentId } from '../pod-nic/desired.ts'
import { probePath, type ProbePath } from '../sinks/probe-path.ts'
import type { SubnetFacts } from '../subnet-facts.ts'
import { agentTable, nodeTable, podTable, serviceCidrTable, subnetFactsTable, theNode } from '../tables.ts'
import {
  desiredNicFilter,
  desiredNodeFilter,
  familiesOf,
  probeLinks,
  type ProbedNic,
  type ProbeTarget,
} from './desired.ts'
import { probedPorts } from './probed-ports.ts'

/** A pod of this node that the kubelet connects to. */
interface ProbedPod extends PodOfNics {
  readonly ports: readonly number[]
  readonly annotations: Readonly<Record<string, string>>
  /** Orders pods by their age. */
  readonly age: string
}

const { virtualMachine } = podAnnotations()

const podsTable = rowTable({
  name: 'probed-pods',
  of: podTable,
  reads: { agent: agentTable },
  row(pod, { agent }): ProbedPod | undefined {
    if (!agent.scan().some(({ reachesVpcs }) => reachesVpcs) || !isAlive(pod)) return undefined
    const ports = probedPorts(pod)
    if (ports.length === 0) return undefined
    const { namespace = '', name, annotations = {}, creationTimestamp = '', uid = '' } = pod.metadata
    const machine = virtualMachine.read(annotations)
    const names = machine === undefined ? [name] : [name, machine]
    return {
      ...{ pod: `${namespace}/${name}`, uids: podIdentities(pod), ports, annotations },
      holders: names.map((holder) => `${namespace}/${holder}`),
      age: `${creationTimestamp} ${uid}`,
    }
  },
  indexes: { holder: ({ holders }: ProbedPod) => holders },
})

/** A prefix, and whose it is. */
interface Reserved {
  readonly prefix: string
  readonly holder: string
}

/**
 * What each node has to reach, whatever a VPC is made of: who may write a Pod in one would otherwise cut the node off from the API server, or take what is
 * said to it.
 */
const reservedTable = rowTable({
  name: 'reserved-prefixes',
  of: agentTable,
  reads: { nodes: nodeTable, serviceCidrs: serviceCidrTable },
  row(agent, { nodes, serviceCidrs }): readonly Reserved[] | undefined {
    if (!agent.reachesVpcs) return undefined
    return [
      ...nodes.scan().flatMap((node) =>
        internalAddresses(node).map((address) => ({
          prefix: `${address}/${address.includes(':') ? 128 : 32}`,
          holder: `node ${node.metadata.name}`,
        })),
      ),
      ...servicePrefixesOf(serviceCidrs.scan(), agent.fallbackServicePrefixes).map((prefix) => ({
        prefix,
        holder: `Services (${prefix})`,
      })),
    ]
  },
})

interface Candidate extends ProbedNic {
  readonly pod: string
  readonly age: string
  /** Who has an address of the NIC, too, and is asked there: a Subnet of the default VPC, a node, or Services. */
  readonly shadowed: string | undefined
}

/** NICs of pods of other VPCs, by which the kubelet would reach these. */
const candidateTable = rowTable({
  name: 'probed-nics',
  of: interfaceTable,
  reads: { pods: podsTable, subnets: subnetFactsTable, reserved: reservedTable },
  row(row, { pods, subnets, reserved }): Candidate | undefined {
    if (!isFirst(row) || (row.error ?? '') !== '') return undefined
    const nic = askingNic(row, (holder) => pods.find('holder', holder))
    if (nic === undefined) return undefined
    const network = networkOf(nic.asking, nic.provider)
    const subnet = subnets.get(network?.logicalSwitch ?? '')
    if (network === undefined || subnet === undefined || subnet.isDefaultVpc) return undefined
    const { v4, v6 } = network.addresses
    const addresses = [v4, v6].filter((ip) => ip !== undefined)
    const { pod, age, ports } = nic.asking
    const shadowed = subnets
      .scan()
      .find((one) => one.isDefaultVpc && one.cidrs.some((cidr) => addresses.some((ip) => contains(cidr, ip))))
    return {
      ...{ link: row.name, mac: network.mac, pod, age },
      shadowed:
        shadowed === undefined ? holderOf(reserved.get(theNode) ?? [], addresses) : describe(shadowed),
      targets: addresses.flatMap((ip) => ports.map((port) => ({ address: formatIp(ip), port }))),
    }
  },
  indexes: { target: ({ targets }: Candidate) => targets.map(keyOf) },
})

/** What the node can reach, and why not all of it. */
interface Reached extends ProbedNic {
  readonly problem: ProbeTargetTakenError | undefined
}

const reachedTable = rowTable({
  name: 'reached-nics',
  of: candidateTable,
  reads: { candidates: candidateTable },
  row({ link, mac, pod, age, shadowed, targets }, { candidates }): Reached {
    if (shadowed !== undefined) return { link, mac, targets: [], problem: takenError(pod, targets, shadowed) }
    // The node tells its pods apart by address and port alone.
    const holderOf = (target: ProbeTarget): string | undefined =>
      candidates
        .find('target', keyOf(target))
        .find((other) => other.shadowed === undefined && other.age < age && other.pod !== pod)?.pod
    const taken = targets.filter((target) => holderOf(target) !== undefined)
    const [first] = taken
    return {
      ...{ link, mac, targets: targets.filter((target) => !taken.includes(target)) },
      problem: first && takenError(pod, taken, `pod ${holderOf(first) ?? ''}`),
    }
  },
})

const nicFilterTable = rowTable({
  name: 'probe-nic-filters',
  of: reachedTable,
  reads: { links: linkTable },
  row({ problem, ...nic }, { links }): Answer<Table> {
    const pair = links.get(probeLinks.pods)
    if (nic.targets.length > 0 && pair === undefined)
      return { wait: `link ${probeLinks.pods} is not there yet` }
    return { want: desiredNicFilter(nic, pair?.index ?? 0), ...(problem && { problem }) }
  },
})

const nodeFilterTable = rowTable({
  name: 'probe-node-filter',
  of: agentTable,
  reads: { reached: reachedTable },
  row(_agent, { reached }): Answer<Table> | undefined {
    const targets = reached.scan().flatMap((nic) => nic.targets)
    return targets.length === 0 ? undefined : { want: desiredNodeFilter(targets) }
  },
})

const pathTable = rowTable({
  name: 'probe-path',
  of: agentTable,
  reads: { reached: reachedTable },
  row(_agent, { reached }): Answer<ProbePath> | undefined {
    const families = familiesOf(reached.scan().flatMap((nic) => nic.targets))
    return families.length === 0 ? undefined : { want: { families } }
  },
})

/** Lets the kubelet reach ports of pods of other VPCs than the default one that it has to probe, though no route leads there. */
export const kubeletProbes: NodeFeature = {
  name: 'kubelet-probes',
  contributions: [
    contribution(probePath, pathTable),
    contribution(nftables, nodeFilterTable),
    contribution(nftables, nicFilterTable),
  ],
}

/** The kubelet knows a pod by its first NIC. */
function isFirst({ external_ids: ids }: LocalInterface): boolean {
  return (ids[attachmentId.ifName] ?? 'eth0') === 'eth0'
}

function networkOf({ annotations }: ProbedPod, provider: string): PodNetwork | undefined {
  try {
    return readPodNetwork(annotations, provider)
  } catch (error) {
    // Whoever attaches the pod tells of it.
    if (error instanceof AnnotationInvalidError) return undefined
    throw error
  }
}

function holderOf(reserved: readonly Reserved[], addresses: readonly Ip[]): string | undefined {
  const found = reserved.find(({ prefix }) => {
    const cidr = tryParseCidr(prefix)
    return cidr !== undefined && addresses.some((ip) => contains(cidr, ip))
  })
  return found?.holder
}

function keyOf({ address, port }: ProbeTarget): string {
  return `${address} ${port}`
}

function describe({ name, cidrs }: SubnetFacts): string {
  return `subnet ${name} (${cidrs.map((cidr) => networkText(cidr)).join()}) of the default VPC`
}

function takenError(pod: string, targets: readonly ProbeTarget[], holder: string): ProbeTargetTakenError {
  return new ProbeTargetTakenError({
    ...{ pod, field: 'spec.containers[].readinessProbe', holder },
    value: targets
      .map(({ address, port }) => (address.includes(':') ? `[${address}]` : address) + `:${port}`)
      .join(),
    cure: 'probe another port, or by exec, or let another node run the Pod',
  })
}
