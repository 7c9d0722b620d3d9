/**
 * Kinds of owners.
 *
 * `pod`: any pod that no other kind fits. `statefulset-pod`: a member of a StatefulSet, which is the same one again
 * when it is created anew. `service-pod`: a pod that stands for a Service. `vm`: a KubeVirt machine, whichever pod
 * runs it. `router-port`: a router's port in an underlay subnet, by the subnet. `querier`: the source of a subnet's multicast
 * queries, by the subnet. `gateway`: a gateway for egress or NAT.
 * `reservation`: an `IP` object that a user made. `port`: a port in the Northbound, of nobody knows whom.
 */
const ownerKinds = [
  'pod',
  'statefulset-pod',
  'service-pod',
  'vm',
  'vip',
  'eip',
  'node',
  'gateway',
  'router-port',
  'querier',
  'reservation',
  'port',
] as const

export type OwnerKind = (typeof ownerKinds)[number]

/** Whom an address belongs to: a kind, and a name that is unique within it, e.g. `pod/shop/web` or `node/n1`. */
export type Owner = `${OwnerKind}/${string}`

/** @param name `<namespace>/<name>` for what has a namespace */
export function ownerOf(kind: OwnerKind, name: string): Owner {
  return `${kind}/${name}`
}

export function kindOf(owner: Owner): OwnerKind {
  const text = owner.slice(0, owner.indexOf('/'))
  return ownerKinds.find((kind) => kind === text) ?? 'port'
}

/** The name of the owner within its kind. */
export function nameOf(owner: Owner): string {
  return owner.slice(owner.indexOf('/') + 1)
}

/** Kinds that are all told by the name of one pod, so that a record may know it by another kind than its pod does. */
const podKinds: ReadonlySet<OwnerKind> = new Set([
  'pod',
  'statefulset-pod',
  'service-pod',
  'reservation',
  'port',
])

/** Whether both are the same, as far as their names can tell. A reservation is for a pod, or for a machine. */
export function isSameOwner(a: Owner, b: Owner): boolean {
  if (a === b) return true
  const kinds = [kindOf(a), kindOf(b)]
  const fit =
    kinds.every((kind) => podKinds.has(kind)) || (kinds.includes('reservation') && kinds.includes('vm'))
  return fit && nameOf(a) === nameOf(b)
}

/** Whether two uids may be of one object: an unknown one fits any. */
export function isSameUid(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b
}
