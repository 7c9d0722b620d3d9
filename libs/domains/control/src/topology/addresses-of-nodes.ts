import { formatIp, tryParseIp } from '@kube-ovn/ip'
import { groupTable, rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'
import { allNodeAddresses, sortNodeAddresses, type NodeAddress } from './node-addresses.ts'

/** The addresses of each node. */
export const nodeAddresses = rowTable({
  name: 'node-addresses',
  of: nodes,
  row: (node): readonly NodeAddress[] => allNodeAddresses([node]),
  indexes: {
    all: () => [''],
    /** In canonical text. */
    address: (addresses: readonly NodeAddress[]) =>
      addresses.flatMap(({ address }) => {
        const ip = tryParseIp(address)
        return ip === undefined ? [] : [formatIp(ip)]
      }),
  },
})

/** The addresses of all nodes, in one row. */
export const addressesOfNodes = groupTable({
  name: 'addresses-of-nodes',
  of: nodeAddresses,
  by: 'all',
  rows: (all) => [['', sortNodeAddresses([...all.values()].flat())]],
})
