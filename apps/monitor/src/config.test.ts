import { readConfig } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { command } from './config.ts'

it("reads upstream's command line, and knows where the chart puts everything", () => {
  const flags = ['--secure-serving=false', '--ovs.timeout=3', '--database.northbound.port.raft=6643']
  expect(readConfig(command, flags, { NODE_NAME: 'node-1', POD_IPS: '10.0.0.1,fd00::1' })).toMatchObject({
    config: {
      timeout: 3,
      pollInterval: 30,
      metricsPort: 10_661,
      enablePortMetrics: true,
      northboundControl: 'unix:/run/ovn/ovnnb_db.ctl',
      southboundFile: '/etc/ovn/ovnsb_db.db',
      northdPid: '/var/run/ovn/ovn-northd.pid',
      nodeName: 'node-1',
      podIps: ['10.0.0.1', 'fd00::1'],
    },
  })
})
