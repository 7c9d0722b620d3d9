import { startNorthbound, startOpenVswitch } from '@kube-ovn/testing-ovsdb'
import { expect, it } from 'vitest'
import { openVswitchAt, PortBindings } from './port-bindings.ts'

it('names the interfaces that the Southbound does not bind here, and does not guess when it does not answer', async () => {
  await using central = await startNorthbound({ southbound: true })
  await using local = await startOpenVswitch()
  await using client = openVswitchAt(local.address, 5000)
  const options = { local: client, timeoutMs: 5000, goodForMs: 60_000 }
  await using bindings = new PortBindings({ ...options, settleMs: 100 })
  expect(await bindings.check()).toEqual({
    kind: 'bindings',
    missing: undefined,
    reason: 'Open vSwitch names no system-id or no ovn-remote',
  })
  const remote = central.southbound?.address ?? ''
  await local.vsctl('set', 'open', '.', 'external-ids:system-id=c1', `external-ids:ovn-remote=${remote}`)
  expect(await bindings.check()).toMatchObject({
    missing: undefined,
    reason: 'the Southbound has no chassis c1',
  })

  await central.sbctl(
    'chassis-add',
    'c1',
    'geneve',
    '10.0.0.1',
    '--',
    'chassis-add',
    'c2',
    'geneve',
    '10.0.0.2',
  )
  await local.vsctl('add-br', 'br-int')
  for (const port of ['a', 'b'])
    await local.vsctl(
      'add-port',
      'br-int',
      port,
      '--',
      'set',
      'interface',
      port,
      `external-ids:iface-id=${port}.shop`,
    )
  expect(await bindings.check()).toEqual({ kind: 'bindings', missing: ['a.shop', 'b.shop'] })

  const datapath = (await central.sbctl('create', 'Datapath_Binding', 'tunnel_key=1')).trim()
  for (const [key, port, chassis] of [
    ['1', 'a.shop', 'c1'],
    ['2', 'b.shop', 'c2'],
  ] as const) {
    const id = (await central.sbctl('--bare', '--columns=_uuid', 'find', 'Chassis', `name=${chassis}`)).trim()
    const columns = [`logical_port=${port}`, `datapath=${datapath}`, `tunnel_key=${key}`, `chassis=${id}`]
    await central.sbctl('create', 'Port_Binding', ...columns)
  }
  // Bound, but to another node.
  expect(await bindings.check()).toEqual({ kind: 'bindings', missing: ['b.shop'] })

  // One that ovn-controller is about to bind is waited for.
  await using patient = new PortBindings({ ...options, settleMs: 60_000 })
  const checking = patient.check()
  const mine = (await central.sbctl('--bare', '--columns=_uuid', 'find', 'Chassis', 'name=c1')).trim()
  await central.sbctl('set', 'Port_Binding', 'b.shop', `chassis=${mine}`)
  expect(await checking).toEqual({ kind: 'bindings', missing: [] })

  await central.southbound?.kill()
  expect(await bindings.check()).toMatchObject({ kind: 'bindings', missing: undefined })
})
