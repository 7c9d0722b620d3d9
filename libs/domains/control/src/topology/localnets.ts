import { externalId, vendor } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { switchPorts } from '../sources.ts'

/** A port of ours by which a subnet is on a physical network. */
interface Localnet {
  readonly subnet: string
  /** Name of the ProviderNetwork. */
  readonly network: string
}

/** Which subnets are on which physical networks, as the Northbound has it: also those whose Vlan says nothing any more. */
export const localnets = rowTable({
  name: 'localnets',
  of: switchPorts,
  row: ({ type, options, external_ids: ids }): Localnet | undefined =>
    type === 'localnet' && ids[externalId.vendor] === vendor
      ? { subnet: ids[externalId.logicalSwitch] ?? '', network: options['network_name'] ?? '' }
      : undefined,
  indexes: {
    network: ({ network }: Localnet) => [network],
    subnet: ({ subnet }: Localnet) => [subnet],
  },
})
