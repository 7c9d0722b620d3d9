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
const dual = '10.17.0.0/16,fd00:10:17::/112'
const inBlue = { [podAnnotations().logicalSwitch.key]: 'blue' }
const byDefault = { lease_time: '3600', router: '10.17.0.1', server_id: '169.254.0.254', mtu: '1400' }

async function make(spec: SubnetSpec): Promise<void> {
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock: dual, enableDHCP: true, ...spec }),
  )
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'blue', spec)
  await control.settle()
}

/** Rows of our vendor, by protocol. */
function answers(control: Controller) {
  const rows = control.rows('DHCP_Options', '_uuid', 'cidr', 'options', 'external_ids')
  const of = (protocol: string) =>
    rows.find(({ external_ids }) => external_ids['ls'] === 'blue' && external_ids['protocol'] === protocol)
  return { v4: of('IPv4'), v6: of('IPv6') }
}

async function said(): Promise<readonly unknown[]> {
  const { status } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
  return [status?.dhcpV4OptionsUUID, status?.dhcpV6OptionsUUID]
}

/** What a port's requests are answered by. */
function pointers(control: Controller, pod: string): readonly unknown[] {
  const port = control.named('Logical_Switch_Port', `${pod}.default`)
  return [port?.dhcpv4_options, port?.dhcpv6_options]
}

function ids(control: Controller): readonly unknown[] {
  const { v4, v6 } = answers(control)
  return [v4?._uuid, v6?._uuid]
}

describe('DHCP of a subnet', () => {
  it('is a row for each family, follows edits, and ends', async () => {
    await using control = await cluster.startSettled()
    await make({})
    await cluster.user.createPod({ name: 'web', annotations: inBlue })
    await control.settle()
    const { v4, v6 } = answers(control)
    const mac = v4?.options['server_mac'] ?? ''
    expect(mac).toMatch(/^[0-9a-f][26ae](:[0-9a-f]{2}){5}$/)
    expect(v4).toMatchObject({ cidr: '10.17.0.0/16', options: { ...byDefault, server_mac: mac } })
    expect(v6).toMatchObject({ cidr: 'fd00:10:17::/112' })
    expect(Object.keys(v6?.options ?? {})).toEqual(['server_id'])
    expect(pointers(control, 'web')).toEqual(ids(control))
    expect(await said()).toEqual(ids(control))

    await cluster.forgetCosts()
    await edit(control, {
      dhcpV4Options: 'lease_time=60, dns_server={10.96.0.10;8.8.8.8},domain_name="two words"',
      dhcpV6Options: 'dns_server=fd00::53',
      mtu: 1300,
    })
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(2)
    expect(answers(control).v4?.options).toEqual({
      ...byDefault,
      ...{ lease_time: '60', mtu: '1300', server_mac: mac },
      ...{ dns_server: '{10.96.0.10,8.8.8.8}', domain_name: '"two words"' },
    })
    expect(answers(control).v6?.options).toEqual({ ...v6?.options, dns_server: 'fd00::53' })
    // The same rows: requests are answered all the while.
    expect(ids(control)).toEqual([v4?._uuid, v6?._uuid])

    await edit(control, { dhcpV4Options: '', dhcpV6Options: '', mtu: 0 })
    expect(answers(control)).toEqual({ v4, v6 })
    await edit(control, { enableDHCP: false })
    expect(answers(control)).toEqual({ v4: undefined, v6: undefined })
    expect(pointers(control, 'web')).toEqual([undefined, undefined])
    expect(await said()).toEqual(['', ''])
    await edit(control, { enableDHCP: true })
    expect(pointers(control, 'web')).toEqual(ids(control))
    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(control.rows('DHCP_Options', 'cidr')).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('costs a transaction and a write', async () => {
    await using control = await cluster.startSettled()
    await make({ enableDHCP: false })
    await control.settle()
    await cluster.forgetCosts()
    await edit(control, { enableDHCP: true })
    const { transactions, writes } = await cluster.costs()
    expect(transactions).toBe(1)
    // One says which generation was seen.
    expect(writes.filter((write) => write !== 'patch subnets/status')).toEqual([])
    expect(writes.length).toBeLessThanOrEqual(2)
  })

  it('is of the families that a subnet and a pod have', async () => {
    await using control = await cluster.startSettled()
    await make({ cidrBlock: '10.17.0.0/16' })
    await cluster.user.createPod({ name: 'old', annotations: inBlue })
    await control.settle()
    expect(answers(control).v6).toBeUndefined()
    expect(pointers(control, 'old')).toEqual([answers(control).v4?._uuid, undefined])
    await edit(control, { cidrBlock: dual, gateway: '', excludeIps: [] })
    expect(answers(control).v6?.cidr).toBe('fd00:10:17::/112')
    await cluster.user.createPod({
      name: 'six',
      annotations: { ...inBlue, [podAnnotations().ipFamily.key]: 'ipv6' },
    })
    await control.settle()
    expect(pointers(control, 'six')).toEqual([undefined, answers(control).v6?._uuid])
    expect(pointers(control, 'old')).toEqual([answers(control).v4?._uuid, undefined])
  })

  it('is left alone by a restart, also one that comes after an edit, and put right when somebody changes it', async () => {
    const made = await cluster.startSettled()
    await make({ dhcpV4Options: 'lease_time=60' })
    await cluster.user.createPod({ name: 'web', annotations: inBlue })
    await made.settle()
    await made[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    const again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual(quiet)
    const before = answers(again)

    const { northbound } = cluster
    const id = before.v4?._uuid ?? ''
    await northbound.nbctl(
      'set',
      'DHCP_Options',
      id,
      'options:lease_time=7',
      'options:T1=8',
      'cidr=10.0.0.0/8',
    )
    await northbound.nbctl('clear', 'Logical_Switch_Port', 'web.default', 'dhcpv6_options')
    await again.settle()
    expect(answers(again)).toEqual(before)
    expect(pointers(again, 'web')).toEqual(ids(again))
    // Another row with the same content, and so with the MAC address that hosts know.
    await northbound.nbctl('destroy', 'DHCP_Options', id)
    await again.settle()
    expect(answers(again).v4).toMatchObject({ cidr: '10.17.0.0/16', options: before.v4?.options })
    expect(pointers(again, 'web')).toEqual(ids(again))
    await cluster.client.patch(
      subnetResource,
      { name: 'blue' },
      'application/merge-patch+json',
      { status: { dhcpV4OptionsUUID: 'nonsense' } },
      { subresource: 'status' },
    )
    await again.settle()
    expect(await said()).toEqual(ids(again))

    await again[Symbol.asyncDispose]()
    await cluster.user.edit(subnetResource, 'blue', { enableDHCP: false })
    await using control = await cluster.startController()
    await control.settle()
    expect(control.rows('DHCP_Options', 'cidr')).toEqual([])
    expect(await said()).toEqual(['', ''])
  })

  it('takes over the row of an older version with its MAC address as it is written, and leaves those of others alone', async () => {
    const { northbound } = cluster
    const theirs = ['cidr=10.17.0.0/16', 'options:server_mac=02:00:5E:00:53:09']
    await northbound.nbctl(
      ...['create', 'DHCP_Options', ...theirs, 'external_ids:vendor=kube-ovn'],
      ...['external_ids:ls=blue', 'external_ids:protocol=IPv4'],
    )
    await northbound.nbctl('create', 'DHCP_Options', 'cidr=10.99.0.0/16', 'options:lease_time=1')
    await using control = await cluster.startController()
    await make({})
    await control.settle()
    expect(answers(control).v4?.options).toEqual({ ...byDefault, server_mac: '02:00:5E:00:53:09' })
    await edit(control, { enableDHCP: false })
    expect(control.rows('DHCP_Options', 'cidr', 'options')).toEqual([
      { cidr: '10.99.0.0/16', options: { lease_time: '1' } },
    ])
  })

  it('that somebody edits wakes nobody who looks at addresses', async () => {
    await using control = await cluster.startSettled()
    await make({})
    for (const name of ['a', 'b', 'c']) await cluster.user.createPod({ name, annotations: inBlue })
    await control.settle()
    const from = control.logger.lines.length
    await edit(control, { dhcpV4Options: 'lease_time=60' })
    const woken = control.logger.lines
      .slice(from)
      .filter(({ message }) => message === 'keys woken')
      .flatMap(({ fields }) => fields['keys'] as readonly string[])
    expect([...new Set(woken)].sort()).toEqual(['subnet-dhcp/blue', 'subnet/blue'])
  })
})

describe('DHCP that can not be', () => {
  it.each<readonly [SubnetSpec, string, string]>([
    [{ dhcpV4Options: 'lease_time' }, 'spec.dhcpV4Options "lease_time"', 'write key=value'],
    [{ dhcpV4Options: 'speed=9' }, 'spec.dhcpV4Options "speed=9"', 'name one of'],
    [{ dhcpV6Options: 'dns_server=8.8.8.8' }, 'spec.dhcpV6Options "dns_server=8.8.8.8"', 'an IPv6 address'],
  ])('is told with field, value and cure, and leaves what was said: %j', async (spec, field, cure) => {
    const made = await cluster.startSettled()
    await make({ dhcpV4Options: 'lease_time=60' })
    await made.settle()
    const before = answers(made)
    await edit(made, spec)
    const { status } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
    const message = status?.conditions?.find(({ type }) => type === 'Validated')?.message ?? ''
    expect(message).toContain(`${field}: `)
    expect(message).toContain(cure)
    expect(await cluster.user.told('blue')).toEqual([`ValidateLogicalSwitchFailed: ${message}`])
    expect(answers(made)).toEqual(before)
    // Who comes now is answered as before, after a restart, too.
    await made[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(quiet)
    await cluster.user.createPod({ name: 'late', annotations: inBlue })
    await control.settle()
    expect(answers(control)).toEqual(before)
    expect(pointers(control, 'late')).toEqual(ids(control))
    await edit(control, { dhcpV4Options: '', dhcpV6Options: '' })
    expect(answers(control).v4?.options['lease_time']).toBe('3600')
  })
})
