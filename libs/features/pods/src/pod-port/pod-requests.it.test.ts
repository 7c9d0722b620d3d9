import { podAnnotations } from '@kube-ovn/annotations'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { pods } from '@kube-ovn/kube-api/core'
import { pod, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

describe('a request by annotation', () => {
  it('is honoured: address, MAC address, subnet, family', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.17.0.0/24,fd00:10:17::/120' }),
    )
    await control.settle()
    await cluster.client.create(
      pods,
      pod({
        name: 'fixed',
        node: 'n1',
        annotations: {
          [keys.ipAddress.key]: '10.17.0.77,fd00:10:17::77',
          [keys.macAddress.key]: '00:00:5E:00:53:01',
          [keys.logicalSwitch.key]: 'blue',
        },
      }),
    )
    await cluster.client.create(
      pods,
      pod({ name: 'v6', node: 'n1', annotations: { [keys.ipFamily.key]: 'ipv6' } }),
    )
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'fixed.default')?.addresses).toEqual([
      '00:00:5E:00:53:01 10.17.0.77 fd00:10:17::77',
    ])
    expect((await cluster.user.annotationsOf({ name: 'fixed' }))[keys.macAddress.key]).toBe(
      '00:00:5E:00:53:01',
    )
    const record = await cluster.client.get(ipResource, { name: 'fixed.default' })
    expect(record?.spec?.macAddress).toBe('00:00:5E:00:53:01')
    expect(control.world.ipam.lease('fixed.default')?.mac).toBe('00:00:5e:00:53:01')
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('fixed.default')
    expect(await cluster.user.annotationsOf({ name: 'fixed' })).toMatchObject({
      [keys.gateway.key]: '10.17.0.1,fd00:10:17::1',
    })
    expect(await cluster.user.addressOf('v6')).toBe('fd00:10:16::2')
    const { status } = (await cluster.client.get(subnetResource, { name: 'ovn-default' })) ?? {}
    expect(status).toMatchObject({ v4usingIPs: 0, v6usingIPs: 1 })
  })

  it.each([
    [{ [keys.ipAddress.key]: '10.99.0.5' }, 'AddressOutOfRange', '10.99.0.5'],
    [{ [keys.ipAddress.key]: '10.16.0.1' }, 'AddressConflict', '10.16.0.1'],
    [{ [keys.ipAddress.key]: '10.16.0.300' }, 'ovn.kubernetes.io/ip_address', '10.16.0.300'],
    [{ [keys.macAddress.key]: 'zz:00:00:00:00:01' }, 'ovn.kubernetes.io/mac_address', 'zz:00:00:00:00:01'],
    [{ [keys.logicalSwitch.key]: 'nowhere' }, 'the subnet does not exist', 'nowhere'],
    [{ [keys.logicalSwitch.key]: 'join' }, 'choose another subnet', 'join'],
    [{ [keys.ipFamily.key]: 'IPv4' }, 'ovn.kubernetes.io/ip_family', 'IPv4'],
    [{ [keys.allocated.key]: 'true', [keys.ipAddress.key]: '10.99.0.5' }, 'AddressOutOfRange', '10.99.0.5'],
  ])('that can not be met is told once, and met when it is corrected: %j', async (asked, about, value) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'odd', node: 'n1', annotations: asked }))
    await cluster.client.create(pods, pod({ name: 'plain', node: 'n1' }))
    await control.settle()
    const told = await cluster.user.told('odd')
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(about)
    expect(told[0]).toContain(value)
    expect(control.named('Logical_Switch_Port', 'odd.default')).toBeUndefined()
    expect(await cluster.user.annotationsOf({ name: 'plain' })).toMatchObject({
      [keys.allocated.key]: 'true',
    })
    await cluster.user.annotate(
      { name: 'odd' },
      Object.fromEntries(Object.keys(asked).map((key) => [key, null])),
    )
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'odd' })).toMatchObject({ [keys.allocated.key]: 'true' })
  })

  it('changes how the port of a running pod behaves', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    const own = control.named('Logical_Switch_Port', 'web.default')?.addresses[0] ?? ''
    await cluster.user.annotate(
      { name: 'web' },
      {
        [keys.portSecurity.key]: 'true',
        [keys.portVips.key]: '10.16.0.200,fd00:10:16::c8',
        [keys.layer2Forward.key]: 'true',
      },
    )
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web.default')).toMatchObject({
      addresses: [own, 'unknown'],
      port_security: [`${own} 10.16.0.200 fd00:10:16::c8`],
      external_ids: { vips: '10.16.0.200,fd00:10:16::c8', 'attach-vips': 'true' },
    })
    await cluster.user.annotate(
      { name: 'web' },
      {
        [keys.portSecurity.key]: null,
        [keys.portVips.key]: null,
        [keys.layer2Forward.key]: null,
      },
    )
    await control.settle()
    const { addresses, port_security, external_ids } =
      control.named('Logical_Switch_Port', 'web.default') ?? {}
    expect([addresses, port_security]).toEqual([[own], []])
    expect(external_ids).not.toHaveProperty('vips')
  })

  it('for a gateway of its own leads the pod there, until it is taken back or the pod goes', async () => {
    await using control = await cluster.startSettled()
    const policies = () =>
      control
        .rows('Logical_Router_Policy', 'priority', 'match', 'nexthops')
        .filter(({ priority }) => priority === 29250)
        .map(({ match, nexthops }) => `${match} ${nexthops.join()}`)
    const annotations = { [keys.northGateway.key]: '100.64.0.99' }
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1', annotations }))
    await cluster.client.create(pods, pod({ name: 'other', node: 'n1', annotations }))
    await control.settle()
    expect(policies()).toEqual(['ip4.src == 10.16.0.2 100.64.0.99', 'ip4.src == 10.16.0.3 100.64.0.99'])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual([])
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['other.default', 'web.default'])
    await cluster.user.annotate({ name: 'web' }, { [keys.northGateway.key]: null })
    await control.settle()
    expect(policies()).toHaveLength(1)
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['web.default'])
    await control[Symbol.asyncDispose]()
    await cluster.removePod('other')
    await using again = await cluster.startController()
    await again.settle()
    expect(
      [...again.rows('Logical_Router_Policy', 'priority')].filter(({ priority }) => priority === 29250),
    ).toEqual([])
  })

  it.each([
    [keys.portVips.key, '10.16.0.300'],
    [keys.northGateway.key, 'nowhere'],
  ])('%s that can not be read is told, and has no effect', async (key, value) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'odd', node: 'n1', annotations: { [key]: value } }))
    await control.settle()
    expect(await cluster.user.told('odd')).toEqual([expect.stringContaining(`field=${key} value=${value}`)])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['odd.default'])
    expect(await cluster.user.annotationsOf({ name: 'odd' })).toMatchObject({ [keys.allocated.key]: 'true' })
  })

  it('for an address that is taken waits for it', async () => {
    await using control = await cluster.startSettled()
    const annotations = {
      [keys.ipAddress.key]: '10.16.0.9,fd00:10:16::9',
      [keys.macAddress.key]: '00:00:5e:00:53:09',
    }
    await cluster.client.create(pods, pod({ name: 'first', node: 'n1', annotations }))
    await control.settle()
    // It claims to be allocated, as a copied manifest may.
    const copied = { ...annotations, [keys.allocated.key]: 'true' }
    await cluster.client.create(pods, pod({ name: 'second', node: 'n1', annotations: copied }))
    await control.settle()
    const [told = ''] = await cluster.user.told('second')
    expect(told).toContain('AddressConflict')
    expect(told).toContain('default/first')
    await cluster.removePod('first')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'second.default')?.addresses).toEqual([
      '00:00:5e:00:53:09 10.16.0.9 fd00:10:16::9',
    ])
  })
})
