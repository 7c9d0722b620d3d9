import { podAnnotations } from '@kube-ovn/annotations'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import { AttachmentError } from '../errors.ts'
import { Observable } from '../observable.ts'
import { Objects } from '../testing/objects.ts'
import { awaitAllocation, awaitDelegatedAllocation } from './allocation-wait.ts'
import type { AttachmentRequest } from './snapshot.ts'

const keys = podAnnotations()
const allocated = {
  [keys.allocated.key]: 'true',
  [keys.routed.key]: 'true',
  [keys.ipAddress.key]: '10.16.0.5,fd00:10:16::5',
  [keys.macAddress.key]: '00:00:00:53:6b:b6',
  [keys.cidr.key]: '10.16.0.0/16,fd00:10:16::/112',
  [keys.gateway.key]: '10.16.0.1,fd00:10:16::1',
  [keys.logicalSwitch.key]: 'ovn-default',
}
const { [keys.routed.key]: _, ...notRouted } = allocated

const request: AttachmentRequest = {
  podNamespace: 'shop',
  podName: 'web-0',
  podUid: 'uid-1',
  containerId: '0123456789abcdef',
  ifName: 'eth0',
  netns: '/run/netns/x',
  provider: 'ovn',
  network: 'kube-ovn',
  routes: [],
}

let clock: ManualClock
let pods: Objects<Pod>
let subnets: Objects<Subnet>
let nodes: Objects<Node>
let tunnelMtu: Observable<number | undefined>
let waits: string[]

beforeEach(() => {
  clock = new ManualClock()
  pods = new Objects()
  subnets = new Objects()
  nodes = new Objects()
  subnets.put('ovn-default', { metadata: { name: 'ovn-default' }, spec: {} })
  tunnelMtu = new Observable<number | undefined>(1400)
  waits = []
})

function putPod(
  annotations: Readonly<Record<string, string>>,
  uid = 'uid-1',
  ending: { readonly deletionTimestamp?: string } = {},
): void {
  pods.put('shop/web-0', {
    metadata: { namespace: 'shop', name: 'web-0', uid, annotations, ...ending },
    spec: { containers: [] },
  })
}

function wait(wanted = request, signal = new AbortController().signal) {
  const waiting = awaitAllocation(
    wanted,
    { pods, subnets, nodes, nodeName: 'n1', tunnelMtu, clock, reporter: reporter() },
    signal,
  )
  waiting.catch(() => undefined)
  return waiting
}

function waitForAddresses(provider: string) {
  const delegated = { ...request, ifName: 'net1', provider }
  const sources = { pods, subnets, clock, reporter: reporter() }
  const waiting = awaitDelegatedAllocation(delegated, sources, new AbortController().signal)
  waiting.catch(() => undefined)
  return waiting
}

function reporter() {
  return {
    waited: (stage: string, ms: number) => void (ms > 0 && waits.push(`${stage} ${ms}`)),
    added: () => undefined,
    addFailed: () => undefined,
    removed: () => undefined,
    removeFailed: () => undefined,
    announceFailed: () => undefined,
  }
}

async function failure(waiting: Promise<unknown>): Promise<AttachmentError['details']> {
  const error: unknown = await waiting.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof AttachmentError) return error.details
  throw new TypeError(`not an AttachmentError: ${String(error)}`)
}

describe('awaitAllocation', () => {
  it('answers at once when the controller was faster', async () => {
    putPod(allocated)
    expect(await wait()).toEqual({
      uid: 'uid-1',
      provider: 'ovn',
      holder: 'web-0',
      subnet: 'ovn-default',
      mac: '00:00:00:53:6b:b6',
      addresses: [
        { ip: '10.16.0.5', prefixLength: 16, gateway: '10.16.0.1' },
        { ip: 'fd00:10:16::5', prefixLength: 112, gateway: 'fd00:10:16::1' },
      ],
      ...{ ownsDefaultRoute: true, routes: [], otherRoutes: [] },
      mtu: 0,
      isUnderlay: false,
      physicalGateways: [],
    })
  })

  const both = ['10.16.0.1', 'fd00:10:16::1']
  const activation = { [keys.activationStrategy.key]: 'rarp' }
  it.each([
    { what: 'in an underlay', inEffect: { vlan: 'v10' }, asks: both },
    {
      what: 'in an underlay with a router',
      inEffect: { vlan: 'v10', u2oInterconnection: true },
      asks: both,
    },
    { what: 'with a gateway of OVN', inEffect: { vlan: 'v10', logicalGateway: true }, asks: [] },
    { what: 'in an overlay', inEffect: {}, asks: [] },
    {
      what: 'where nobody is to wait',
      inEffect: { vlan: 'v10' },
      spec: { disableGatewayCheck: true },
      asks: [],
    },
    {
      what: 'of a machine that is moving here',
      inEffect: { vlan: 'v10' },
      annotations: activation,
      asks: [],
    },
    {
      what: 'but itself',
      inEffect: { vlan: 'v10' },
      annotations: { [keys.gateway.key]: '10.16.0.5,fd00:10:16::1' },
      asks: ['fd00:10:16::1'],
    },
  ])('asks for the gateways of a pod $what', async ({ inEffect, spec, annotations, asks }) => {
    const status = { inEffect, u2oInterconnectionIP: '10.16.0.254,fd00:10:16::fe' }
    subnets.put('ovn-default', { metadata: { name: 'ovn-default' }, spec: spec ?? {}, status })
    putPod({ ...allocated, ...annotations })
    expect((await wait()).physicalGateways).toEqual(asks)
  })

  it('waits in an underlay until the node is connected to its physical network, whose MTU the pod has', async () => {
    subnets.put('ovn-default', { metadata: { name: 'ovn-default' }, status: { inEffect: { vlan: 'v10' } } })
    putPod({ ...allocated, [keys.providerNetwork.key]: 'quay' })
    const mtu = { 'quay.provider-network.kubernetes.io/mtu': '1450' }
    const waiting = wait()
    nodes.put('n1', { metadata: { name: 'n1', labels: mtu } })
    nodes.put('n1', {
      metadata: { name: 'n1', labels: { ...mtu, 'quay.provider-network.kubernetes.io/ready': 'true' } },
    })
    expect(await waiting).toMatchObject({ mtu: 1450, isUnderlay: true })
    expect(nodes.listeners).toBe(0)
    nodes.put('n1', undefined)
    const failed = failure(wait())
    clock.advance(110_000)
    expect(await failed).toMatchObject({
      stage: 'mtu',
      reason: expect.stringContaining('ProviderNetwork quay'),
    })
  })

  it('leads an underlay pod to the router, once that has an address there', async () => {
    const inEffect = { vlan: 'v10', u2oInterconnection: true }
    const put = (u2oInterconnectionIP: string): void =>
      subnets.put('ovn-default', {
        metadata: { name: 'ovn-default' },
        status: { inEffect, u2oInterconnectionIP },
      })
    put('10.16.0.254')
    putPod(allocated)
    const waiting = wait()
    clock.advance(10)
    put('10.16.0.254,fd00:10:16::fe')
    expect((await waiting).addresses.map(({ gateway }) => gateway)).toEqual(['10.16.0.254', 'fd00:10:16::fe'])
    expect(waits).toEqual(['u2o-address 10'])
  })

  it('waits for pod, address and route in turn, tells how long for each, and stops listening', async () => {
    const waiting = wait()
    clock.advance(10)
    putPod({})
    clock.advance(20)
    putPod(notRouted)
    clock.advance(30)
    putPod(allocated)
    await waiting
    expect(waits).toEqual(['get-pod 10', 'wait-address 20', 'wait-route 30'])
    expect([pods.listeners, subnets.listeners, clock.pendingTimers]).toEqual([0, 0, 0])
  })

  it('does not take the annotations of an earlier pod of the same name', async () => {
    putPod(allocated, 'uid-0')
    const waiting = wait()
    putPod({ ...allocated, [keys.ipAddress.key]: '10.16.0.9' })
    expect((await waiting).addresses).toMatchObject([{ ip: '10.16.0.9' }])
  })

  it('takes a static pod by the uid that kubelet noted in an annotation', async () => {
    putPod({ ...allocated, 'config.hash': 'uid-of-kubelet' }, 'uid-of-mirror')
    expect(await wait({ ...request, podUid: 'uid-of-kubelet' })).toMatchObject({ uid: 'uid-of-mirror' })
  })

  it.each([
    ['goes', () => pods.put('shop/web-0', undefined)],
    ['is replaced', () => putPod(allocated, 'uid-2')],
  ])('gives up when the pod %s', async (_name, change) => {
    putPod({})
    const waiting = wait()
    change()
    expect(await failure(waiting)).toMatchObject({
      stage: 'get-pod',
      reason: 'the Pod was deleted meanwhile',
    })
  })

  it('needs no route on an interface without the default route, nor without addresses', async () => {
    putPod(notRouted)
    expect(await wait({ ...request, ifName: 'net1' })).toMatchObject({ ownsDefaultRoute: false })
    putPod({ ...notRouted, [keys.ipAddress.key]: '', [keys.cidr.key]: '' })
    expect(await wait()).toMatchObject({ addresses: [] })
  })

  it('waits for the MTU of tunnels, unless the subnet has one', async () => {
    tunnelMtu.set(undefined)
    putPod(allocated)
    const waiting = wait()
    tunnelMtu.set(1350)
    expect(await waiting).toMatchObject({ mtu: 0 })
    tunnelMtu.set(undefined)
    subnets.put('ovn-default', { metadata: { name: 'ovn-default' }, spec: { mtu: 1300 } })
    expect(await wait()).toMatchObject({ mtu: 1300 })
  })

  it.each([
    ['the pod', undefined, 'get-pod', 'has not sent Pod shop/web-0'],
    ['an address', {}, 'wait-address', 'has not allocated an address'],
    ['the route', notRouted, 'wait-route', 'has not marked the Pod as routed'],
    ['the subnet', { ...allocated, [keys.logicalSwitch.key]: 'gone' }, 'get-subnet', 'Subnet "gone"'],
    [
      'a readable address',
      { ...allocated, [keys.ipAddress.key]: '10.16.0' },
      'wait-address',
      '"10.16.0" is not valid',
    ],
  ])('names %s as what was missing at the end', async (_name, annotations, stage, reason) => {
    if (annotations !== undefined) putPod(annotations)
    const waiting = wait()
    clock.advance(110_000)
    expect(await failure(waiting)).toEqual({
      pod: 'shop/web-0',
      stage,
      reason: expect.stringContaining(reason),
    })
  })

  it('ends when the Pod is about to go, but for one that has all it needs', async () => {
    const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    putPod({})
    const waiting = wait()
    putPod({}, 'uid-1', ending)
    expect(await failure(waiting)).toMatchObject({
      stage: 'wait-address',
      reason: expect.stringMatching(/^the Pod is being deleted; until then: .*has not allocated an address/),
    })
    expect([pods.listeners, clock.pendingTimers]).toEqual([0, 0])
    putPod(allocated, 'uid-1', ending)
    expect((await wait()).subnet).toBe('ovn-default')
  })

  it('ends when the runtime gives up', async () => {
    const abort = new AbortController()
    const waiting = wait(request, abort.signal)
    abort.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    expect(pods.listeners).toBe(0)
  })
})

describe('routes that a Pod asks for', () => {
  const routes = [
    { dst: '10.0.0.0/8', gw: '10.16.0.9' },
    { dst: '::/0', gw: 'fd00:10:16::9' },
    { dst: '192.0.2.0/24', gw: '' },
  ]

  it('are its routes; those of a family without an address are told', async () => {
    const written = [...routes.slice(0, 1), { gw: 'fd00:10:16::9' }, { dst: '192.0.2.0/24' }]
    const annotations = { ...allocated, [keys.routes.key]: JSON.stringify(written) }
    putPod(annotations)
    expect(await wait()).toMatchObject({ routes, otherRoutes: [] })
    putPod({ ...annotations, [keys.ipAddress.key]: '10.16.0.5' })
    expect(await wait()).toMatchObject({ routes: [routes[0], routes[2]], otherRoutes: [routes[1]] })
  })

  it.each([
    ['[{"dst":"10.0.0.0/8"', 'write JSON like'],
    ['{"dst":"10.0.0.0/8"}', 'write JSON like'],
    ['["10.0.0.0/8"]', 'write an object with dst and gw in the route of number 1'],
    ['[{"dst":"10.0.0.0/8"},{"dst":"10.0.0.0/40"}]', 'give dst a prefix in the route of number 2'],
    ['[{"dst":"10.0.0.0/8","gw":"router"}]', 'give gw an address'],
    ['[{"dst":"10.0.0.0/8","gw":"fd00::1"}]', 'give dst and gw one family'],
    ['[{}]', 'give dst a prefix, or gw an address'],
    ['[{"dst":7}]', 'write texts as dst and gw'],
    [`[${Array(257).fill('{"dst":"10.0.0.0/8"}').join()}]`, 'list at most 256 routes'],
  ])('hold the Pod back where they are garbage: %s', async (text, cure) => {
    putPod({ ...allocated, [keys.routes.key]: text })
    const waiting = wait()
    clock.advance(110_000)
    const { stage, reason } = await failure(waiting)
    expect([stage, reason]).toEqual(['parse-routes', expect.stringContaining(cure)])
    expect(reason).toContain(keys.routes.key)
  })

  it('may be all but the default one', async () => {
    putPod({ ...allocated, [keys.defaultRoute.key]: 'false' })
    expect(await wait()).toMatchObject({ ownsDefaultRoute: false })
    putPod({ ...allocated, [keys.defaultRoute.key]: 'no' })
    const waiting = wait()
    clock.advance(110_000)
    expect(await failure(waiting)).toMatchObject({ stage: 'parse-routes' })
  })
})

describe('a further network of OVN', () => {
  const provider = 'net.shop.ovn'
  const further: AttachmentRequest = { ...request, ifName: 'net1', provider }

  function ofNetwork(name: string, address: string, more: Readonly<Record<string, string>> = {}) {
    const own = podAnnotations(name)
    return {
      ...allocated,
      [own.allocated.key]: 'true',
      [own.ipAddress.key]: address,
      [own.macAddress.key]: '00:00:00:53:6b:b7',
      [own.cidr.key]: '10.30.0.0/24',
      [own.gateway.key]: '10.30.0.1',
      [own.logicalSwitch.key]: 'blue',
      ...more,
    }
  }

  beforeEach(() => {
    subnets.put('blue', { metadata: { name: 'blue' }, spec: { provider, mtu: 1300 } })
  })

  it('has its own annotations, and no default route unless the Pod says so', async () => {
    putPod(ofNetwork(provider, '10.30.0.5'))
    expect(await wait(further)).toMatchObject({
      ...{ provider, subnet: 'blue', mtu: 1300, ownsDefaultRoute: false, routes: [] },
      addresses: [{ ip: '10.30.0.5', prefixLength: 24, gateway: '10.30.0.1' }],
    })
    const asked = podAnnotations(provider)
    const more = {
      [asked.defaultRoute.key]: 'true',
      [asked.routed.key]: 'true',
      [asked.routes.key]: '[{"dst":"10.31.0.0/16","gw":"10.30.0.9"}]',
    }
    putPod(ofNetwork(provider, '10.30.0.5', more))
    expect(await wait(further)).toMatchObject({
      ownsDefaultRoute: true,
      routes: [{ dst: '10.31.0.0/16', gw: '10.30.0.9' }],
    })
  })

  it('may have several NICs of a Pod, each with annotations of its own', async () => {
    const own = `${provider}.net1`
    putPod(ofNetwork(own, '10.30.0.6', { [podAnnotations(provider).routes.key]: '[{"dst":"10.31.0.0/16"}]' }))
    expect(await wait(further)).toMatchObject({
      provider: own,
      addresses: [{ ip: '10.30.0.6' }],
      routes: [{ dst: '10.31.0.0/16', gw: '' }],
    })
  })

  it('may be in a Subnet that the Pod names, whatever the provider of that', async () => {
    putPod(ofNetwork(provider, '10.30.0.5'))
    subnets.put('blue', { metadata: { name: 'blue' }, spec: {} })
    expect(await wait(further)).toMatchObject({ subnet: 'blue', addresses: [{ ip: '10.30.0.5' }] })
  })

  it('must be the one of a Subnet where the Pod names none', async () => {
    putPod(allocated)
    subnets.put('blue', { metadata: { name: 'blue' }, spec: {} })
    expect(await failure(wait(further))).toMatchObject({
      stage: 'provider',
      reason: expect.stringContaining(`give a Subnet spec.provider ${provider}`),
    })
  })
})

describe('awaitDelegatedAllocation', () => {
  const camera = podAnnotations('camera.shop')

  beforeEach(() => {
    subnets.put('camera', { metadata: { name: 'camera' }, spec: { provider: 'camera.shop' } })
    tunnelMtu.set(undefined)
  })

  it('waits for the addresses of its provider alone, which has neither MAC address nor route', async () => {
    const waiting = waitForAddresses('camera.shop')
    putPod(allocated)
    clock.advance(20)
    putPod({
      ...allocated,
      [camera.allocated.key]: 'true',
      [camera.ipAddress.key]: '10.26.0.5',
      [camera.cidr.key]: '10.26.0.0/24',
      [camera.gateway.key]: '10.26.0.1',
    })
    expect(await waiting).toEqual({
      uid: 'uid-1',
      addresses: [{ ip: '10.26.0.5', prefixLength: 24, gateway: '10.26.0.1' }],
      ...{ ownsDefaultRoute: false, routes: [], otherRoutes: [] },
    })
    expect(waits).toEqual(['wait-address 20'])
  })

  it('gives up at once when no Subnet has the provider', async () => {
    putPod(allocated)
    expect(await failure(waitForAddresses('camera.depot'))).toEqual({
      pod: 'shop/web-0',
      stage: 'provider',
      reason: expect.stringContaining('provider camera.depot is not bound to any subnet'),
    })
  })

  it('takes addresses of a Subnet that the Pod names for a provider of no Subnet', async () => {
    const depot = podAnnotations('camera.depot')
    putPod({
      [depot.allocated.key]: 'true',
      [depot.ipAddress.key]: '10.16.0.9',
      [depot.cidr.key]: '10.16.0.0/16',
      [depot.gateway.key]: '10.16.0.1',
      [depot.logicalSwitch.key]: 'ovn-default',
    })
    expect(await waitForAddresses('camera.depot')).toMatchObject({ addresses: [{ ip: '10.16.0.9' }] })
  })

  it('names addresses that can not be read', async () => {
    putPod({ [camera.allocated.key]: 'true', [camera.ipAddress.key]: '10.26.0' })
    const waiting = waitForAddresses('camera.shop')
    clock.advance(110_000)
    expect(await failure(waiting)).toMatchObject({
      reason: expect.stringContaining('"10.26.0" is not valid'),
    })
  })
})
