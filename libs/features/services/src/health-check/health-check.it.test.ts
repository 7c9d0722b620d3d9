import { serviceAnnotations } from '@kube-ovn/annotations'
import { switchLbRuleResource, vipResource } from '@kube-ovn/kube-api'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  service,
  switchLbRule,
  vip,
  type SwitchLbRuleFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const tcp = 'cluster-tcp-loadbalancer'
const mergePatch = 'application/merge-patch+json'
const nothing = { transactions: 0, writes: [] }
const port = { name: 'http', port: 8080, protocol: 'TCP' } as const

async function create(fields: SwitchLbRuleFields = {}): Promise<void> {
  await cluster.client.create(switchLbRuleResource, switchLbRule(fields))
}

describe('backends that are asked whether they are well', () => {
  const checked = (control: Controller) =>
    control.rows('Load_Balancer_Health_Check', 'vip').map(({ vip: address }) => address)
  const mappingsOf = (control: Controller) => control.named('Load_Balancer', tcp)?.ip_port_mappings
  const source = async (name = 'ovn-default') => (await cluster.client.get(vipResource, { name }))?.status

  async function createPods(): Promise<readonly string[]> {
    await cluster.user.createPod({ name: 'w1', labels: { app: 'web' } })
    await cluster.user.createPod({ name: 'w2', labels: { app: 'web' } })
    return ['w1', 'w2']
  }

  /** A slice of each family, as Kubernetes makes them of pods. */
  async function fillWith(names: readonly string[], of = 'slr-rule'): Promise<void> {
    const addresses = (await cluster.user.addressesOf(...names)).map((text) => text.split(','))
    for (const [family, addressType] of ['IPv4', 'IPv6'].entries()) {
      const all = addresses.map((both, index) => ({
        addresses: [both[family] ?? ''],
        targetRef: { kind: 'Pod', namespace: 'default', name: names[index] ?? '' },
      }))
      const slice = {
        name: `rule-${addressType.toLowerCase()}`,
        service: of,
        endpoints: all,
        ports: [port],
      }
      await cluster.client.create(
        endpointSlices,
        endpointSlice({ ...slice, addressType: addressType as 'IPv4' | 'IPv6' }),
      )
    }
  }

  it('are those of both families, from an address of their subnet, which goes with the last of them', async () => {
    await using control = await cluster.startSettled()
    const names = await createPods()
    await create({ vip: '1.1.1.1,fd00:1::1' })
    await control.settle()
    await fillWith(names)
    await control.settle()
    const { v4ip, v6ip } = (await source()) ?? {}
    const [[one4, one6] = [], [two4, two6] = []] = (await cluster.user.addressesOf(...names)).map((text) =>
      text.split(','),
    )
    expect(mappingsOf(control)).toEqual({
      [`${one4}`]: `w1.default:${v4ip}`,
      [`${two4}`]: `w2.default:${v4ip}`,
      [`[${one6}]`]: `w1.default:[${v6ip}]`,
      [`[${two6}]`]: `w2.default:[${v6ip}]`,
    })
    expect(checked(control)).toEqual(['1.1.1.1:80', '[fd00:1::1]:80'])
    const [row] = control.rows('Load_Balancer_Health_Check', 'options', 'external_ids')
    expect(row?.options).toEqual({ interval: '5', timeout: '20', success_count: '3', failure_count: '3' })
    expect(row?.external_ids['switch_lb_subnet']).toBe('ovn-default')

    const annotations = { [serviceAnnotations.healthCheck.key]: 'false' }
    await cluster.client.patch(switchLbRuleResource, { name: 'rule' }, mergePatch, {
      metadata: { annotations },
    })
    await control.settle()
    expect([mappingsOf(control), checked(control), await source()]).toEqual([{}, [], undefined])
    await cluster.client.patch(switchLbRuleResource, { name: 'rule' }, mergePatch, {
      metadata: { annotations: { [serviceAnnotations.healthCheck.key]: null } },
    })
    await control.settle()
    expect(checked(control)).toHaveLength(2)
    await cluster.client.remove(switchLbRuleResource, { name: 'rule' })
    await control.settle()
    expect([mappingsOf(control), checked(control), await source()]).toEqual([{}, [], undefined])
    expect(control.problems()).toEqual([])
  })

  it('are those of any Service that wants it, but for those near the client', async () => {
    await using control = await cluster.startSettled()
    const names = await createPods()
    const annotations = { [serviceAnnotations.healthCheck.key]: 'true' }
    await cluster.client.create(
      services,
      service({ name: 'plain', clusterIP: '10.96.100.9', ports: [{ name: 'http', port: 80 }] }),
    )
    await control.settle()
    await fillWith(names, 'plain')
    await control.settle()
    expect([checked(control), await source()]).toEqual([[], undefined])
    const ref = { namespace: 'default', name: 'plain' }
    const { key } = serviceAnnotations.healthCheck
    await cluster.client.patch(services, ref, mergePatch, { metadata: { annotations: { [key]: 'no' } } })
    await control.settle()
    expect([checked(control), await source()]).toEqual([[], undefined])
    expect(await cluster.user.told('plain')).toEqual([
      expect.stringContaining(`field=${key} value=no); write true or false`),
    ])
    await cluster.client.patch(services, ref, mergePatch, { metadata: { annotations } })
    await control.settle()
    expect(checked(control)).toEqual(['10.96.100.9:80'])
    expect(Object.values(mappingsOf(control) ?? {})).toHaveLength(2)
    await cluster.client.patch(services, ref, mergePatch, { spec: { internalTrafficPolicy: 'Local' } })
    await control.settle()
    expect([checked(control), mappingsOf(control)]).toEqual([[], {}])
    expect((await cluster.user.told('plain')).slice(1)).toEqual([
      expect.stringContaining(`field=${key} value=true); remove it, or what makes them differ`),
    ])
  })

  it('are asked from the Vip that a user made, which stays', async () => {
    await cluster.client.create(
      vipResource,
      vip({ name: 'ovn-default', subnet: 'ovn-default', v4ip: '10.16.0.200', v6ip: 'fd00:10:16::200' }),
    )
    await using control = await cluster.startSettled()
    await createPods()
    await create()
    await control.settle()
    await fillWith(['w1'])
    await control.settle()
    expect(Object.values(mappingsOf(control) ?? {})).toEqual(['w1.default:10.16.0.200'])
    await cluster.client.remove(switchLbRuleResource, { name: 'rule' })
    await control.settle()
    expect([mappingsOf(control), (await source())?.v4ip]).toEqual([{}, '10.16.0.200'])
  })

  it('are not asked for SCTP, and cost nothing at a restart', async () => {
    {
      await using control = await cluster.startSettled()
      await createPods()
      const ports = [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'sigtran', port: 90, targetPort: 9090, protocol: 'SCTP' },
      ]
      await create({ ports })
      await control.settle()
      const address = (await cluster.user.addressOf('w1')).split(',')[0] ?? ''
      const slice = { name: 'rule-1', service: 'slr-rule', endpoints: [address] }
      const sctp = { name: 'sigtran', port: 9090, protocol: 'SCTP' } as const
      await cluster.client.create(endpointSlices, endpointSlice({ ...slice, ports: [port, sctp] }))
      await control.settle()
      expect(checked(control)).toEqual(['1.1.1.1:80'])
      expect(Object.keys(control.named('Load_Balancer', 'cluster-sctp-loadbalancer')?.vips ?? {})).toEqual([
        '1.1.1.1:90',
      ])
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
  })

  it('take over how the original asks them, with its Vip', async () => {
    await using control = await cluster.startSettled()
    await createPods()
    await create()
    await control.settle()
    await fillWith(['w1'])
    await control.settle()
    const [{ _uuid: before } = { _uuid: '' }] = control.rows('Load_Balancer_Health_Check', '_uuid')
    // As the original leaves it: it has no vendor.
    await cluster.northbound.server.transact([
      {
        op: 'update',
        table: 'Load_Balancer_Health_Check',
        where: [],
        row: { external_ids: ['map', [['switch_lb_subnet', 'ovn-default']]] },
      },
    ])
    await control.settle()
    const [row] = control.rows('Load_Balancer_Health_Check', '_uuid', 'external_ids')
    expect([row?._uuid, row?.external_ids['vendor']]).toEqual([before, 'kube-ovn'])

    const asked = () =>
      control
        .rows('Load_Balancer_Health_Check', 'options', 'external_ids')
        .map(({ options, external_ids }) => ({ options, external_ids }))
    const right = asked()
    // Of another Subnet, which its backends have left since, and as another version asked.
    await cluster.northbound.server.transact([
      {
        op: 'update',
        table: 'Load_Balancer_Health_Check',
        where: [],
        row: {
          external_ids: ['map', [['switch_lb_subnet', 'left']]],
          options: ['map', [['interval', '1']]],
        },
      },
    ])
    await control.settle()
    expect(asked()).toEqual(right)
  })

  it('cost one entry of ip_port_mappings for one more, in one transaction', async () => {
    await using control = await cluster.startSettled()
    const [first = '', second = ''] = await createPods()
    await create()
    await control.settle()
    await fillWith([first])
    await control.settle()
    const [address = ''] = (await cluster.user.addressOf(second)).split(',')
    await cluster.forgetCosts()
    await cluster.client.create(
      endpointSlices,
      endpointSlice({ name: 'rule-more', service: 'slr-rule', endpoints: [address], ports: [port] }),
    )
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(Object.keys(mappingsOf(control) ?? {})).toContain(address)
  })

  it('are asked by ovn-northd, in both families', async () => {
    await using control = await cluster.startSettled()
    await createPods()
    await create({ vip: '1.1.1.1,fd00:1::1' })
    await control.settle()
    await fillWith(['w1'])
    await control.settle()
    const { vips = {}, ip_port_mappings: mappings = {} } = control.named('Load_Balancer', tcp) ?? {}
    const asked = checked(control)
    await using northbound = await startNorthbound({ northd: true })
    await northbound.nbctl(
      ...['--wait=sb', 'ls-add', 'sw0', '--', 'lsp-add', 'sw0', 'w1.default'],
      ...asked.flatMap((address) => ['--', 'lb-add', 'lb0', address, vips[address] ?? '']),
      ...['--', 'ls-lb-add', 'sw0', 'lb0', '--', 'set', 'Load_Balancer', 'lb0'],
      ...Object.entries(mappings).map(
        ([key, value]) => `ip_port_mappings:${JSON.stringify(key)}=${JSON.stringify(value)}`,
      ),
      ...asked.flatMap((address, index) => [
        ...[
          '--',
          `--id=@c${index}`,
          'create',
          'Load_Balancer_Health_Check',
          `vip=${JSON.stringify(address)}`,
        ],
        ...['--', 'add', 'Load_Balancer', 'lb0', 'health_check', `@c${index}`],
      ]),
    )
    const monitors = await northbound.sbctl(
      '--bare',
      '--columns=ip,src_ip,logical_port',
      'list',
      'Service_Monitor',
    )
    const { v4ip, v6ip } = (await source()) ?? {}
    const [one4, one6] = (await cluster.user.addressOf('w1')).split(',')
    expect(monitors.split('\n\n').toSorted()).toEqual([
      `${one4}\n${v4ip}\nw1.default`,
      `${one6}\n${v6ip}\nw1.default`,
    ])
  })
})
