import { subnetResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const quiet = { transactions: 0, writes: [] }
const byDefault = {
  address_mode: 'dhcpv6_stateful',
  max_interval: '30',
  min_interval: '5',
  send_periodic: 'true',
}

async function make(spec: SubnetSpec): Promise<void> {
  const cidrBlock = '10.17.0.0/16,fd00:10:17::/112'
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock, enableIPv6RA: true, ...spec }),
  )
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'blue', spec)
  await control.settle()
}

function said(control: Controller): readonly unknown[] {
  const port = control.named('Logical_Router_Port', 'ovn-cluster-blue')
  return [port?.ipv6_prefix, port?.ipv6_ra_configs]
}

describe('router advertisements', () => {
  it('are sent as the subnet says, follow edits, and end', async () => {
    await using control = await cluster.startSettled()
    await make({})
    await control.settle()
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(3)
    expect(said(control)).toEqual([['112'], byDefault])
    await cluster.forgetCosts()
    await edit(control, { ipv6RAConfigs: 'address_mode=slaac, max_interval=30,mtu=1400' })
    expect((await cluster.costs()).transactions).toBe(1)
    expect(said(control)).toEqual([['112'], { address_mode: 'slaac', max_interval: '30', mtu: '1400' }])
    await edit(control, { cidrBlock: '10.17.0.0/16,fd00:10:17::/64', gateway: '', excludeIps: [] })
    expect(said(control)[0]).toEqual(['64'])
    await edit(control, { cidrBlock: '10.17.0.0/16', gateway: '', excludeIps: [] })
    expect(said(control)).toEqual([[], {}])
    await edit(control, { cidrBlock: '10.17.0.0/16,fd00:10:17::/112', gateway: '' })
    expect(said(control)[0]).toEqual(['112'])
    await edit(control, { enableIPv6RA: false })
    expect(said(control)).toEqual([[], {}])
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(control.problems()).toEqual([])
  })

  it('are left alone by a restart, also one that comes after an edit, and put right when somebody changes them', async () => {
    const made = await cluster.startSettled()
    await make({})
    await made.settle()
    await made[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    const again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual(quiet)
    const port = ['Logical_Router_Port', 'ovn-cluster-blue']
    await cluster.northbound.nbctl(
      'set',
      ...port,
      'ipv6_ra_configs:address_mode=slaac',
      'ipv6_ra_configs:mtu=9',
    )
    await again.settle()
    expect(said(again)).toEqual([['112'], byDefault])
    await again[Symbol.asyncDispose]()
    await cluster.user.edit(subnetResource, 'blue', { enableIPv6RA: false })
    await using control = await cluster.startController()
    await control.settle()
    expect(said(control)).toEqual([[], {}])
    // What others say on ports that are not ours is theirs.
    await cluster.northbound.nbctl(
      'lr-add',
      'other',
      '--',
      'lrp-add',
      'other',
      'theirs',
      '00:00:00:00:00:01',
      'fd00::1/64',
    )
    await cluster.northbound.nbctl(
      'set',
      'Logical_Router_Port',
      'theirs',
      'ipv6_ra_configs:address_mode=slaac',
    )
    await control.settle()
    expect(control.named('Logical_Router_Port', 'theirs')?.ipv6_ra_configs).toEqual({ address_mode: 'slaac' })
  })

  it.each([
    ['address_mode', 'address_mode', 'write key=value, separated by commas'],
    ['address_mode=stateful', 'address_mode=stateful', 'slaac or dhcpv6_stateful or dhcpv6_stateless'],
    ['max_interval=2', 'max_interval=2', 'from 4 to 1800'],
    ['send_periodic=true,send_periodic=false', 'send_periodic=false', 'write send_periodic once'],
  ])(
    '%s is told with field, value and cure, and leaves what was said',
    async (ipv6RAConfigs, value, cure) => {
      await using control = await cluster.startSettled()
      await make({})
      await control.settle()
      await edit(control, { ipv6RAConfigs })
      const { status } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
      const message = status?.conditions?.find(({ type }) => type === 'Validated')?.message
      expect(message).toContain(`spec.ipv6RAConfigs ${JSON.stringify(value)}: `)
      expect(message).toContain(cure)
      expect(await cluster.user.told('blue')).toEqual([`ValidateLogicalSwitchFailed: ${message}`])
      expect(said(control)).toEqual([['112'], byDefault])
    },
  )
})
