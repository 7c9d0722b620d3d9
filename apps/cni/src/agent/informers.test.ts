import { readSubnetFacts } from '@kube-ovn/features-node'
import type { Subnet } from '@kube-ovn/kube-api'
import { pod } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { trimPod, trimSubnet, trimVlan } from './informers.ts'

const subnet: Subnet = {
  metadata: { name: 'blue', uid: 'u' },
  spec: { cidrBlock: '10.1.0.0/16' },
  status: {
    v4usingIPs: 7,
    u2oInterconnectionMAC: '00:00:5e:00:53:01',
    externalAddresses: [{ address: '10.1.0.200', protocol: 'tcp', port: 80, nodes: ['n1'] }],
    inEffect: { cidrBlock: '10.1.0.0/16', vpc: 'ovn-cluster', natOutgoing: true },
    natOutgoingPolicyRules: [{ ruleID: '343ff13b29dd', action: 'forward', match: { dstIPs: '192.0.2.1' } }],
    egress: {
      ...{ gateways: [{ node: 'n1', addresses: ['192.0.2.30'] }], active: ['n1'] },
      ...{ nextHop: '192.0.2.254', rulePriority: 1001, routeTable: 1002 },
    },
  },
}

describe('what an agent keeps', () => {
  it('of a subnet is all that nodes go by, and no counter', () => {
    const kept = trimSubnet(subnet)
    const facts = readSubnetFacts(kept, 'ovn-cluster')
    expect(facts).toEqual(readSubnetFacts(subnet, 'ovn-cluster'))
    expect(facts).toMatchObject({
      natRules: [{ id: '343ff13b29dd' }],
      gateways: [{ node: 'n1', isActive: true, addresses: ['192.0.2.30'] }],
      external: { table: 1002 },
      externalAddresses: [{ port: 80 }],
      mac: '00:00:5e:00:53:01',
    })
    expect(kept.status).not.toHaveProperty('v4usingIPs')
  })

  it('of a Vlan is whether it is in effect as it is written', () => {
    const status = { observedGeneration: 2, conflict: true, conditions: [] }
    const spec = { id: 100, provider: 'quay' }
    expect(trimVlan({ metadata: { name: 'v100' }, spec, status: { ...status, subnets: ['wharf'] } })).toEqual(
      { metadata: { name: 'v100' }, spec, status },
    )
  })

  it('of a pod says when it is about to go, and when it has ended', () => {
    const made = pod({ name: 'web' })
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(trimPod({ ...made, metadata: { ...made.metadata, ...going } }).metadata).toMatchObject(going)
    expect(trimPod(made).metadata).not.toHaveProperty('deletionTimestamp')
    const running = { ...made, spec: { ...made.spec, restartPolicy: 'Never' as const } }
    expect(trimPod({ ...running, status: { phase: 'Running' } }).status).toBeUndefined()
    expect(trimPod({ ...running, status: { phase: 'Succeeded' } }).status).toEqual({ phase: 'Succeeded' })
  })
  it('of a pod is what the kubelet probes, where it is asked for', () => {
    const made = pod({ name: 'web' })
    const readinessProbe = { httpGet: { port: 'http' } }
    const ports = [{ containerPort: 9 }, { name: 'http', containerPort: 8080 }]
    const probed = { name: 'a', image: 'a', ports, readinessProbe }
    const given = { ...made, spec: { ...made.spec, containers: [probed, { name: 'b', image: 'b' }] } }
    expect(trimPod(given).spec.containers).toEqual([])
    expect(trimPod(given, { keepsProbes: true }).spec.containers).toEqual([
      { name: 'a', ports: [{ name: 'http', containerPort: 8080 }], readinessProbe },
    ])
  })
})
