import { expect, it } from 'vitest'
import { readLook } from './environment.ts'

it.each([
  ['tcp_mtu_probing\t0', false],
  ['tcp_mtu_probing\t1', true],
  ['ip_forward\t0', false],
  ['udp-checksum-errors\t0', true],
  ['udp-checksum-errors\t12', false],
  ['search-domains\tcluster.local example.com', false],
  ['search-domains\tcluster.local comet.example', true],
  ['process\tfirewalld', false],
  ['cni-configuration\t/etc/cni/net.d/10-flannel.conflist', false],
])('judges %j', (line, isGood) => {
  expect(readLook('node-1', `${line}\n`)).toMatchObject([{ where: 'node-1', isGood }])
})

it('passes over what it does not know', () => {
  expect(readLook('node-1', 'warning: x\n\nnovelty\t1\n')).toEqual([])
})
