import { apiVersion, vpcResource } from '@kube-ovn/kube-api'
import { services } from '@kube-ovn/kube-api/core'
import { service } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const tcp = 'cluster-tcp-loadbalancer'
const session = 'cluster-tcp-session-loadbalancer'
const ref = { namespace: 'default', name: 'web' }

function balancers(control: Controller): readonly string[] {
  return control.rows('Load_Balancer', 'name').map(({ name }) => name)
}

describe('the load balancers of the default VPC', () => {
  it('have one more for a time-out that Services ask for, as long as they do', async () => {
    await using control = await cluster.startSettled()
    const before = balancers(control)
    const sticky = (timeoutSeconds: number) => ({
      sessionAffinity: 'ClientIP' as const,
      sessionAffinityConfig: { clientIP: { timeoutSeconds } },
    })
    const made = service({ clusterIP: '10.96.100.1' })
    await cluster.client.create(services, { ...made, spec: { ...made.spec, ...sticky(60) } })
    await control.settle()
    expect(balancers(control).filter((name) => !before.includes(name))).toEqual([`${session}-60`])
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.client.patch(services, ref, 'application/merge-patch+json', { spec: sticky(90) })
    await control.settle()
    expect(balancers(control).filter((name) => !before.includes(name))).toEqual([`${session}-90`])
    await cluster.client.remove(services, ref)
    await control.settle()
    expect(balancers(control)).toEqual(before)
  })

  it('are the same after a restart, without a write', async () => {
    {
      await using control = await cluster.startSettled()
      expect(balancers(control)).toContain(tcp)
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })

  it('are back when somebody takes or changes them, and those of others stay', async () => {
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    const before = control.rows('Load_Balancer', 'name', 'protocol', 'options')
    await northbound.nbctl('lb-add', 'theirs', '10.0.0.1:1', '10.0.0.2:2')
    await northbound.nbctl('set', 'Load_Balancer', session, 'options:affinity_timeout=7')
    await northbound.nbctl('lb-del', tcp)
    await control.settle()
    const ours = control.rows('Load_Balancer', 'name', 'protocol', 'options')
    expect(ours.filter(({ name }) => name !== 'theirs')).toEqual(before)
    expect(control.named('Load_Balancer', 'theirs')?.vips).toEqual({ '10.0.0.1:1': '10.0.0.2:2' })
  })

  it('are told in the status of a Vpc, and go with it', async () => {
    await using control = await cluster.startSettled()
    const red = { apiVersion, kind: 'Vpc', metadata: { name: 'red' }, spec: {} }
    await cluster.client.create(vpcResource, red)
    await control.settle()
    const vpc = await cluster.client.get(vpcResource, { name: 'red' })
    const named = vpc?.status?.tcpLoadBalancer
    expect(control.named('Load_Balancer', named ?? '')?.protocol).toBe('tcp')
    await cluster.client.remove(vpcResource, { name: 'red' })
    await control.settle()
    expect(control.named('Load_Balancer', named ?? '')).toBeUndefined()
  })
})
