import { contains, familyOf, parseIp, tryParseCidr } from '@kube-ovn/ip'
import { podPortName } from '@kube-ovn/ovn-names'
import type { AddressFacts } from '../facts.ts'
import { claimsOf, type Claim } from './claims.ts'

/** Something about addresses that contradicts something else. */
export interface AddressFinding {
  readonly rule: 'held-twice' | 'outside' | 'ownerless' | 'unrecorded'
  readonly object: string
  readonly address: string
  readonly subnet: string
  readonly what: string
  readonly cure: string
}

/** Looks for what the objects of the API say against each other about addresses. */
export function findingsOf(facts: AddressFacts): readonly AddressFinding[] {
  const claims = claimsOf(facts)
  const records = claims.filter(({ kind }) => kind === 'IP' || kind === 'Vip')
  return [
    ...heldTwice(records),
    ...outside(records, facts),
    ...leaksOf(facts),
    ...unrecorded(claims, records),
  ]
}

function heldTwice(records: readonly Claim[]): readonly AddressFinding[] {
  // A Vip takes its address by an IP object of the same name.
  const groups = Map.groupBy(records, ({ subnet, address }) => `${subnet} ${address}`)
  return [...groups.values()].flatMap((group) => {
    const names = [...new Set(group.map(({ name }) => name))]
    const [first, ...others] = group
    if (first === undefined || names.length < 2) return []
    return others
      .filter(({ name }) => name !== first.name)
      .map((claim) => ({
        rule: 'held-twice' as const,
        object: `${claim.kind} ${claim.name}`,
        address: claim.address,
        subnet: claim.subnet,
        what: `${first.kind} ${first.name} has the same address`,
        cure: `delete one of them and create its owner anew`,
      }))
  })
}

function outside(records: readonly Claim[], { subnets }: AddressFacts): readonly AddressFinding[] {
  const cidrs = new Map(
    subnets.map(({ metadata: { name }, spec, status }) => [
      name,
      // Where a specification can not be used, what was accepted counts.
      (status?.inEffect?.cidrBlock || spec?.cidrBlock || '')
        .split(',')
        .flatMap((text) => tryParseCidr(text) ?? []),
    ]),
  )
  return records.flatMap(({ kind, name, address, subnet }) => {
    const own = cidrs.get(subnet)
    const ip = parseIp(address)
    const sameFamily = own?.filter((cidr) => cidr.family === familyOf(ip)) ?? []
    if (own === undefined || sameFamily.some((cidr) => contains(cidr, ip))) return []
    return [
      {
        rule: 'outside' as const,
        object: `${kind} ${name}`,
        address,
        subnet,
        what: `the subnet has no such address`,
        cure: 'create its owner anew, so that it gets one that the subnet has',
      },
    ]
  })
}

/** IP objects whose pod or node is gone, and is not one that keeps its address. */
export function leaksOf({ ips, pods, nodes }: AddressFacts): readonly AddressFinding[] {
  const podKeys = new Set(pods.map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`))
  const nodeNames = new Set(nodes.map(({ metadata: { name } }) => name))
  return ips.flatMap(({ metadata, spec = {} }) => {
    const { podName = '', namespace = '', podType = '', subnet = '' } = spec
    // What a user reserved has no pod yet; what is kept for the next pod of a StatefulSet or of a machine is no leak.
    if (podName === '' || podType !== '' || metadata.deletionTimestamp !== undefined) return []
    const isThere =
      namespace === ''
        ? nodeNames.has(podName) || !metadata.name.startsWith('node-')
        : podKeys.has(`${namespace}/${podName}`)
    if (isThere) return []
    return [
      {
        rule: 'ownerless' as const,
        object: `IP ${metadata.name}`,
        address: [spec.v4IpAddress, spec.v6IpAddress].filter((text) => (text ?? '') !== '').join(),
        subnet,
        what: namespace === '' ? `node ${podName} is gone` : `pod ${namespace}/${podName} is gone`,
        cure: `kubectl delete ip ${metadata.name}`,
      },
    ]
  })
}

function unrecorded(claims: readonly Claim[], records: readonly Claim[]): readonly AddressFinding[] {
  const recorded = new Set(records.map(({ name, address }) => `${name} ${address}`))
  const byAddress = new Set(records.map(({ subnet, address }) => `${subnet} ${address}`))
  return claims.flatMap(({ kind, name, as, address, subnet }) => {
    if (kind !== 'Pod') return []
    const [namespace = '', pod = ''] = name.split('/')
    const provider = /^NIC of (.+)$/.exec(as)?.[1]
    const record = podPortName(namespace, pod, provider)
    // A machine's record is named after the machine.
    if (recorded.has(`${record} ${address}`) || byAddress.has(`${subnet} ${address}`)) return []
    return [
      {
        rule: 'unrecorded' as const,
        object: `Pod ${name}`,
        address,
        subnet,
        what: `there is no IP object ${record} with it: somebody else may get it`,
        cure: 'see the log of kube-ovn-controller, or create the pod anew',
      },
    ]
  })
}
