import { Registry, nodeParameterMetrics } from '@kube-ovn/telemetry'
import { expect, it } from 'vitest'
import { readNodeParameters, searchDomains, udpChecksumErrors } from './node-parameters.ts'

it('counts packets of UDP with a wrong checksum', () => {
  const snmp = 'Tcp: InErrs InCsumErrors\nTcp: 1 7\nUdp: InErrors InCsumErrors MemErrors\nUdp: 3 5 0\n'
  expect(udpChecksumErrors(snmp)).toBe(5)
  expect(udpChecksumErrors('Udp: InErrors\nUdp: 3\n')).toBeUndefined()
  expect(udpChecksumErrors('')).toBeUndefined()
})

it('knows the search domains of the resolver', () => {
  const configuration =
    '# search comment\nsearch old.example\nnameserver 192.0.2.1\nsearch a.example . b.example\n'
  expect(searchDomains(configuration)).toEqual(['a.example', 'b.example'])
  expect(searchDomains('nameserver 192.0.2.1\n')).toEqual([])
})

it('shows what this kernel has, and nothing of what it has not', async () => {
  const registry = new Registry()
  nodeParameterMetrics(registry, 'n1', readNodeParameters)
  const page = await registry.metrics()
  expect(page).toMatch(/^ip_local_port_range\{hostname="n1",start="\d+",end="\d+"\} 1$/m)
  expect(page).toMatch(/^checksum_err_count\{hostname="n1"\} \d+$/m)
  // Gone since Linux 4.12.
  expect(page).not.toMatch(/^tcp_tw_recycle\{/m)
})
