import { ipResource, subnetResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { pods } from '@kube-ovn/kube-api/core'
import { subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'
import { podAnnotations } from '@kube-ovn/annotations'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const name = 'mcast-querier.mc'
const quiet = { transactions: 0, writes: [] }

async function make(spec: SubnetSpec = {}): Promise<void> {
  const fields = { name: 'mc', cidrBlock: '10.17.0.0/24', enableMulticastSnoop: true, ...spec }
  await cluster.client.create(subnetResource, subnet(fields))
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'mc', spec)
  await control.settle()
}

async function statusOf() {
  return (await cluster.client.get(subnetResource, { name: 'mc' }))?.status
}

async function record() {
  return cluster.client.get(ipResource, { name })
}

function querier(control: Controller) {
  return control.named('Logical_Switch_Port', name)
}

function configOf(control: Controller) {
  return control.named('Logical_Switch', 'mc')?.other_config
}

describe('a subnet that snoops multicast', () => {
  it('asks for groups from an address of its own, and gives it back', async () => {
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    const { mcastQuerierIP, mcastQuerierMAC = '', v4usingIPs } = (await statusOf()) ?? {}
    expect({ mcastQuerierIP, v4usingIPs }).toEqual({ mcastQuerierIP: '10.17.0.2', v4usingIPs: 1 })
    expect(configOf(control)).toEqual({
      mcast_snoop: 'true',
      mcast_querier: 'true',
      mcast_eth_src: mcastQuerierMAC,
      mcast_ip4_src: '10.17.0.2',
    })
    expect(querier(control)).toMatchObject({ type: '', addresses: [`${mcastQuerierMAC} 10.17.0.2`] })
    expect((await record())?.spec).toMatchObject({
      podName: name,
      namespace: 'default',
      subnet: 'mc',
      v4IpAddress: '10.17.0.2',
      macAddress: mcastQuerierMAC,
    })
    expect((await record())?.metadata.ownerReferences).toMatchObject([{ kind: 'Subnet', name: 'mc' }])

    await edit(control, { enableMulticastSnoop: false })
    expect([querier(control), await record(), configOf(control)]).toEqual([undefined, undefined, {}])
    expect(await statusOf()).toMatchObject({ mcastQuerierIP: '', mcastQuerierMAC: '', v4usingIPs: 0 })
    expect(control.problems()).toEqual([])
  })

  it('asks hosts with IPv6 from a link-local address', async () => {
    await using control = await cluster.startSettled()
    await make({ cidrBlock: '10.17.0.0/24,fd00:17::/112' })
    await control.settle()
    expect(configOf(control)).toMatchObject({
      mcast_ip4_src: '10.17.0.2',
      mcast_ip6_src: expect.stringMatching(/^fe80::/) as string,
    })
    expect(await statusOf()).toMatchObject({ mcastQuerierIP: '10.17.0.2,fd00:17::2' })
    await edit(control, { cidrBlock: '10.18.0.0/24', gateway: '10.18.0.1', excludeIps: [] })
    expect(configOf(control)).toMatchObject({ mcast_ip4_src: '10.18.0.2' })
    expect(configOf(control)).not.toHaveProperty('mcast_ip6_src')
  })

  it('is not kept from going by its own address, only by others', async () => {
    await using control = await cluster.startSettled()
    await make()
    const annotations = { [podAnnotations().logicalSwitch.key]: 'mc' }
    await cluster.user.createPod({ name: 'web', annotations })
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'mc' })
    await control.settle()
    expect(
      (await cluster.client.get(subnetResource, { name: 'mc' }))?.metadata.deletionTimestamp,
    ).toBeDefined()
    expect(querier(control)).toBeDefined()
    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await control.settle()
    expect(await cluster.client.get(subnetResource, { name: 'mc' })).toBeUndefined()
    expect([querier(control), await record()]).toEqual([undefined, undefined])
    expect(control.problems()).toEqual([])
  })

  it('has the same after a restart without a write, also one that was switched off meanwhile', async () => {
    let before: unknown
    {
      await using control = await cluster.startSettled()
      await make()
      await control.settle()
      before = querier(control)
      await cluster.forgetCosts()
    }
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual(quiet)
      expect(querier(control)).toEqual(before)
      expect(auditAddresses(control.world)).toEqual([])
      await cluster.user.createPod({
        name: 'web',
        annotations: { [podAnnotations().logicalSwitch.key]: 'mc' },
      })
      await control.settle()
      expect(control.named('Logical_Switch_Port', 'web.default')?.addresses[0]).toContain('10.17.0.3')
    }
    await cluster.user.edit(subnetResource, 'mc', { enableMulticastSnoop: false })
    await using control = await cluster.startController()
    await control.settle()
    expect([querier(control), await record(), configOf(control)]).toEqual([undefined, undefined, {}])
  })

  it('is put right when somebody breaks it, and keeps what others say of the switch', async () => {
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    const before = querier(control)
    await cluster.northbound.nbctl('set', 'Logical_Switch', 'mc', 'other_config:mcast_querier=false')
    await cluster.northbound.nbctl('set', 'Logical_Switch', 'mc', 'other_config:mcast_table_size=99')
    await cluster.northbound.nbctl('lsp-del', name)
    await control.settle()
    expect(configOf(control)).toMatchObject({ mcast_querier: 'true', mcast_table_size: '99' })
    expect(querier(control)?.addresses).toEqual(before?.addresses)
    await cluster.client.remove(ipResource, { name })
    await control.settle()
    expect((await record())?.spec).toMatchObject({ v4IpAddress: '10.17.0.2' })
    await edit(control, { enableMulticastSnoop: false })
    expect(configOf(control)).toEqual({ mcast_table_size: '99' })
  })

  it('waits for an address where there is none, and tells so', async () => {
    await using control = await cluster.startSettled()
    await make({ cidrBlock: '10.17.0.0/30', enableMulticastSnoop: false })
    const annotations = { [podAnnotations().logicalSwitch.key]: 'mc' }
    await cluster.user.createPod({ name: 'web', annotations })
    await control.settle()
    await edit(control, { enableMulticastSnoop: true })
    expect(querier(control)).toBeUndefined()
    expect(control.problems()).toHaveLength(1)
    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await control.settle()
    expect(querier(control)).toBeDefined()
  })
})
