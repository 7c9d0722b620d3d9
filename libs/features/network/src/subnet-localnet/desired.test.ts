import { network } from '@kube-ovn/domains-control/testing/networks'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { expect, it } from 'vitest'
import { desiredLocalnet } from './desired.ts'

const ids = { vendor: 'kube-ovn', ls: 'yard' }
const port = {
  row: 'lsp-localnet/yard',
  name: 'localnet.yard',
  type: 'localnet',
  addresses: ['unknown'],
  options: { network_name: 'pn1' },
}

it.each([
  {
    name: 'with a tag, of both families',
    cidr: '172.19.0.0/24,fd00:172:19::/112',
    id: 10,
    row: {
      ...port,
      tag: 10,
      external_ids: { ...ids, ipv4_network: '172.19.0.0/24', ipv6_network: 'fd00:172:19::/112' },
    },
  },
  {
    name: 'without a tag',
    cidr: 'fd00:172:19::/112',
    id: 0,
    row: { ...port, tag: undefined, external_ids: { ...ids, ipv6_network: 'fd00:172:19::/112' } },
  },
])('connects a switch to the physical network $name', ({ cidr, id, row }) => {
  const desired = desiredLocalnet({
    subnet: 'yard',
    prefixes: network('yard', cidr),
    tag: { name: 'v10', provider: 'pn1', id },
  })
  expect(shownRows(desired)).toEqual([row])
  expect(shownMembers(desired)).toEqual(['ls/yard ports: lsp-localnet/yard'])
})
