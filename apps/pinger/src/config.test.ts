import { readConfig } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { command } from './config.ts'

it('reads what the chart sets, with flags of upstream', () => {
  const flags = ['--external-address=192.0.2.1,2001:db8::1', '--ovs.timeout=3', '--mode=job', '--exit-code=7']
  expect(readConfig(command, flags, { POD_IPS: '10.16.0.5,fd00::5', NODE_NAME: 'node-1' })).toMatchObject({
    config: {
      externalAddress: ['192.0.2.1', '2001:db8::1'],
      podIps: ['10.16.0.5', 'fd00::5'],
      ovsTimeout: 3,
      mode: 'job',
      exitCode: 7,
    },
  })
})

it('knows nobody outside by itself, and lets a failed job fail', () => {
  expect(readConfig(command, [], {})).toMatchObject({
    config: { externalAddress: [], externalDns: '', targetIpPorts: [], services: [], exitCode: 1 },
  })
})
