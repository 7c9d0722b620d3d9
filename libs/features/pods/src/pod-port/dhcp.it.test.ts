import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { pods } from '@kube-ovn/kube-api/core'
import { subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const quiet = { transactions: 0, writes: [] }
const { logicalSwitch, dhcpV4Options, dhcpV6Options } = podAnnotations()
const inBlue = { [logicalSwitch.key]: 'blue' }

async function makeSubnet(spec: SubnetSpec = {}): Promise<void> {
  const cidrBlock = '10.17.0.0/16,fd00:10:17::/112'
  await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock, ...spec }))
}

async function makePod(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  await cluster.user.createPod({ name, annotations: { ...inBlue, ...annotations } })
}

async function annotate(control: Controller, annotations: Readonly<Record<string, string | null>>) {
  await cluster.forgetCosts()
  await cluster.user.annotate({ name: 'web' }, annotations)
  await control.settle()
}

/** What requests of the port are answered by, in either family: `subnet`, `port`, the options, or nothing. */
function answered(control: Controller, family: 4 | 6, name = 'web') {
  const port = control.named('Logical_Switch_Port', `${name}.default`)
  const id = family === 4 ? port?.dhcpv4_options : port?.dhcpv6_options
  const rows = control.rows('DHCP_Options', '_uuid', 'cidr', 'options', 'external_ids')
  const row = rows.find(({ _uuid }) => _uuid === id)
  if (row === undefined) return undefined
  return { by: row.external_ids['port'] ?? row.external_ids['ls'], cidr: row.cidr, options: row.options }
}

function rowCount(control: Controller): number {
  return control.rows('DHCP_Options', '_uuid').length
}

describe('DHCP of a port', () => {
  it('takes the place of that of its subnet in one family, follows edits, and ends with the annotation', async () => {
    await using control = await cluster.startSettled()
    await makeSubnet({ enableDHCP: true })
    await control.settle()
    await cluster.forgetCosts()
    await makePod('web', { [dhcpV4Options.key]: 'lease_time=60,dns_server={8.8.8.8;8.8.4.4}' })
    await control.settle()
    // In the transaction of the port.
    expect((await cluster.costs()).transactions).toBe(1)
    const first = answered(control, 4)
    expect(first).toMatchObject({ by: 'web.default', cidr: '10.17.0.0/16' })
    const { server_mac: mac } = first?.options ?? {}
    expect(first?.options).toEqual({
      ...{ lease_time: '60', dns_server: '{8.8.8.8,8.8.4.4}', router: '10.17.0.1', mtu: '1400' },
      ...{ server_id: '169.254.0.254', server_mac: mac },
    })
    expect(answered(control, 6)?.by).toBe('blue')

    await annotate(control, { [dhcpV4Options.key]: 'mtu=1300', [dhcpV6Options.key]: 'dns_server=fd00::53' })
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(answered(control, 4)?.options).toMatchObject({ mtu: '1300', lease_time: '3600', server_mac: mac })
    expect(answered(control, 6)).toMatchObject({ by: 'web.default', options: { dns_server: 'fd00::53' } })

    await annotate(control, { [dhcpV4Options.key]: null })
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(answered(control, 4)?.by).toBe('blue')
    expect(rowCount(control)).toBe(3)
    // The subnet's is no concern of a port that has its own.
    await cluster.user.edit(subnetResource, 'blue', { enableDHCP: false })
    await control.settle()
    expect([answered(control, 4), answered(control, 6)?.by]).toEqual([undefined, 'web.default'])
    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await control.settle()
    expect(rowCount(control)).toBe(0)
    expect(control.problems()).toEqual([])
  })

  it('is there without that of its subnet, and follows prefix and gateway', async () => {
    await using control = await cluster.startSettled()
    await makeSubnet()
    await makePod('web', { [dhcpV4Options.key]: 'lease_time=60' })
    await makePod('plain', {})
    await control.settle()
    expect(answered(control, 4)?.by).toBe('web.default')
    expect([answered(control, 6), answered(control, 4, 'plain')]).toEqual([undefined, undefined])
    await cluster.user.edit(subnetResource, 'blue', { gateway: '10.17.0.9,fd00:10:17::1', mtu: 1280 })
    await control.settle()
    expect(answered(control, 4)?.options).toMatchObject({ router: '10.17.0.9', mtu: '1280' })
  })

  it('is ignored in a family that the pod does not have', async () => {
    await using control = await cluster.startSettled()
    await makeSubnet()
    await makePod('web', {
      [podAnnotations().ipFamily.key]: 'ipv4',
      [dhcpV6Options.key]: 'dns_server=fd00::53',
    })
    await control.settle()
    expect(rowCount(control)).toBe(0)
  })

  it('is left alone by a restart, and put right when somebody changes it; rows of others stay', async () => {
    const { northbound } = cluster
    const made = await cluster.startSettled()
    await makeSubnet({ enableDHCP: true })
    await makePod('web', { [dhcpV4Options.key]: 'lease_time=60' })
    await made.settle()
    await made[Symbol.asyncDispose]()
    await northbound.nbctl('create', 'DHCP_Options', 'cidr=10.99.0.0/16', 'external_ids:port=web.default')
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(quiet)
    const before = answered(control, 4)
    const id = control.named('Logical_Switch_Port', 'web.default')?.dhcpv4_options ?? ''
    await northbound.nbctl('set', 'DHCP_Options', id, 'options:lease_time=7', 'options:T1=8')
    await control.settle()
    expect(answered(control, 4)).toEqual(before)
    await northbound.nbctl('destroy', 'DHCP_Options', id)
    await control.settle()
    expect(answered(control, 4)).toEqual(before)
    await annotate(control, { [dhcpV4Options.key]: null })
    expect(control.rows('DHCP_Options', 'cidr')).toHaveLength(3)
    expect(control.problems()).toEqual([])
  })

  it.each([
    ['lease_time', 'write key=value'],
    ['speed=9', 'name one of'],
    ['mtu=9', 'a number from 68'],
  ])('that can not be is told, and leaves what was said: %s', async (text, cure) => {
    await using control = await cluster.startSettled()
    await makeSubnet({ enableDHCP: true })
    // A watch of Pods may be ahead of that of Subnets, and a Pod whose subnet is not there is told so.
    await control.settle()
    await makePod('web', { [dhcpV4Options.key]: 'lease_time=60' })
    await makePod('odd', { [dhcpV4Options.key]: text })
    await control.settle()
    const before = answered(control, 4)
    await annotate(control, { [dhcpV4Options.key]: text })
    expect((await cluster.costs()).transactions).toBe(0)
    expect(answered(control, 4)).toEqual(before)
    for (const name of ['web', 'odd']) {
      const [told, ...more] = await cluster.user.told(name)
      expect(told).toContain(`field=${dhcpV4Options.key} value=${text}`)
      expect(told).toContain(cure)
      expect(more).toEqual([])
    }
    // Who never said anything that can be has what the subnet says.
    expect(answered(control, 4, 'odd')?.by).toBe('blue')
  })
})
