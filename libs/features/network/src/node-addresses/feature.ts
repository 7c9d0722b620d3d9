import { externalIds, isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { formatIp } from '@kube-ovn/ip'
import { nodeAddressSet, nodeAddressSetName } from '@kube-ovn/ovn-names'
import { nothing, type Desired } from '@kube-ovn/reconcile'

const families = ['4', '6'] as const
type FamilyKey = (typeof families)[number]

/**
 * Keeps the nodes' own addresses in address sets while there is a private subnet: what a node sends to its pods has one of them as its source,
 * and probes must come in.
 */
export const nodeAddresses: ControlFeature<FamilyKey, readonly string[]> = {
  name: 'node-addresses',
  kinds: [nodeAddressSet],
  mayOwn: (family, { id }) => isNamedAfter(family, id),
  triggers: [],
  initialKeys: () => families,
  observe: observeNodeAddresses,
  desired: (family, addresses) =>
    addresses === undefined ? nothing : desiredNodeAddresses(family, addresses),
}

function observeNodeAddresses(family: FamilyKey, world: ControlWorld): readonly string[] | undefined {
  if (!world.isolations.some('private', '')) return undefined
  return (world.addressesOfNodes.get('')?.[`v${family}`] ?? []).map(({ ip }) => formatIp(ip))
}

/**
 * Computes the address set of a family.
 *
 * @see ovn-nb(5), Address_Set
 */
function desiredNodeAddresses(family: FamilyKey, addresses: readonly string[]): Desired {
  const columns = {
    name: nodeAddressSetName(family === '4' ? 4 : 6),
    addresses,
    external_ids: externalIds({}),
  }
  return { ...nothing, rows: [{ kind: nodeAddressSet, id: family, columns }] }
}
