import { readPodNetwork } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { judgeLease, judgeRecord, ownerOf, type FamilyStatistics, type Lease } from '@kube-ovn/ipam'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import { podPortName } from '@kube-ovn/ovn-names'
import { needsPort } from '../pods/alive.ts'
import { isLost } from '../pods/lost.ts'
import type { Holding } from '../restore/holding.ts'
import { objectHoldings } from '../restore/leases.ts'
import type { ControlWorld } from '../world.ts'
import { findingOf, type Finding } from './finding.ts'
import { portClaims } from './port-claims.ts'

/**
 * Compares everything that says who has which address: the allocator, IP objects, annotations, ports in the
 * Northbound and the counts of Subnets. It changes nothing.
 *
 * On a system at work something is always under way. What is found in two audits some seconds apart is wrong.
 */
export function auditAddresses(world: ControlWorld): readonly Finding[] {
  const steps = auditSteps(world)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * The same in steps, between which the world may change.
 *
 * A step takes microseconds, but for some that recount a subnet: about a millisecond for each 1,000 leases of it.
 */
export function* auditSteps(world: ControlWorld): Generator<void, readonly Finding[], undefined> {
  const found: Finding[] = []
  // Taken first: what is allocated later may be recorded in a part that has been read by then.
  const leases = [...world.ipam.leases()]
  const recorded = new Set<string>()
  const ports = new Set<string>()
  for (const claim of portClaims(world)) {
    ports.add(claim.nic)
    recorded.add(claim.nic)
    found.push(...judgeClaim(claim, world))
    yield
  }
  for (const claim of objectHoldings(world)) {
    recorded.add(claim.nic)
    found.push(...judgeClaim(claim, world))
    yield
  }
  for (const pod of world.pods.values()) {
    found.push(...judgePod(pod, ports, world))
    yield
  }
  for (const lease of leases) {
    if (!recorded.has(lease.nic)) found.push(...judgeUnrecorded(lease, world))
    yield
  }
  // What contradicts itself is looked for in a copy: it must not change meanwhile.
  const still = world.ipam.fork()
  for (const name of world.attachments.scan().map((subnet) => subnet.name)) {
    found.push(...judgeCounts(name, world))
    for (const { subject, rule, text } of yield* still.verifySteps(name)) {
      const value = `${rule}: ${text}`
      const source = 'IPAM' as const
      found.push(findingOf({ rule: 'inconsistent', subnet: name, name: subject, source, value, owners: [] }))
    }
    yield
  }
  return found
}

function judgeClaim(claim: Holding, world: ControlWorld): readonly Finding[] {
  const { source, nic, owner, subnet, isOver } = claim
  if (isOver === true)
    return [findingOf({ rule: 'ownerless', subnet, name: nic, source, value: '', owners: [owner] })]
  return judgeRecord(world.ipam, claim).map(({ rule, address, owners }) => {
    return findingOf({ rule, subnet, name: nic, source, value: address, owners })
  })
}

/** A pod that was told its addresses relies on a port that has them. */
function judgePod(pod: Pod, ports: ReadonlySet<string>, world: ControlWorld): readonly Finding[] {
  if (!needsPort(pod) || isLost(pod, world)) return []
  const { namespace = '', name } = pod.metadata
  const port = podPortName(namespace, name)
  // Nearly all have it, and reading what a pod was told costs much more than looking.
  if (ports.has(port)) return []
  const subnet = toldSubnet(pod)
  if (subnet === undefined) return []
  const owners = [ownerOf('pod', `${namespace}/${name}`)]
  return [findingOf({ rule: 'portless', subnet, name: port, source: 'Pod', value: '', owners })]
}

function toldSubnet(pod: Pod): string | undefined {
  try {
    return readPodNetwork(pod.metadata.annotations)?.logicalSwitch
  } catch (error) {
    // Unreadable annotations tell nothing; the feature writes them anew.
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}

function judgeUnrecorded(lease: Lease, { ipam }: ControlWorld): readonly Finding[] {
  const now = ipam.lease(lease.nic)
  // Released or handed on meanwhile.
  if (now === undefined || now.owner !== lease.owner || now.subnet !== lease.subnet) return []
  const { rule, subnet, nic, address, owners } = judgeLease(now)
  return [findingOf({ rule, subnet, name: nic, source: 'IPAM', value: address, owners })]
}

function judgeCounts(subnet: string, world: ControlWorld): readonly Finding[] {
  const { v4, v6 } = world.ipam.statistics(subnet)
  const status = world.subnets.get(subnet)?.status
  const wrong = [
    ...miscounted('v4', v4, status?.v4usingIPs, status?.v4availableIPs),
    ...miscounted('v6', v6, status?.v6usingIPs, status?.v6availableIPs),
  ]
  if (status === undefined || wrong.length === 0) return []
  const value = wrong.join(', ')
  return [findingOf({ rule: 'miscounted', subnet, name: subnet, source: 'Subnet', value, owners: [] })]
}

type Count = NonNullable<Subnet['status']>['v4usingIPs']

function miscounted(
  family: 'v4' | 'v6',
  counted: FamilyStatistics | undefined,
  using: Count,
  available: Count,
): readonly string[] {
  const pairs = [
    [`${family}usingIPs`, using, counted?.using] as const,
    [`${family}availableIPs`, available, counted?.available] as const,
  ]
  return (
    pairs
      // Somebody else may have written a fraction.
      .filter(([, said, is]) => String(said ?? 0) !== String(is ?? 0n))
      .map(([field, said, is]) => `${field} is ${said ?? 0} and should be ${is ?? 0n}`)
  )
}
