import { podAnnotations } from '@kube-ovn/annotations'
import { IndexedStore } from '@kube-ovn/kube'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import { silentLogger } from '@kube-ovn/log'
import { openNetlink, writeSysctl, type NetlinkOptions } from '@kube-ovn/netlink'
import { openVswitchSchema, type OpenVswitch } from '@kube-ovn/ovsdb-schema'
import { announceAddresses } from '@kube-ovn/probes'
import { systemClock } from '@kube-ovn/process'
import { missingForNamespaces, openTestNetwork, type TestNetwork } from '@kube-ovn/testing-net'
import { startOpenVswitch, type OpenVswitchDatabase } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient } from 'ovsdb-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AttachmentDiffersError, AttachmentError } from '../errors.ts'
import { addPortOperations, findBridge, localOvsTables } from '../local-ovs.ts'
import { Objects } from '../testing/objects.ts'
import { Observable } from '../observable.ts'
import { PodNics } from './feature.ts'
import type { AttachmentRequest } from './snapshot.ts'

const missing = missingForNamespaces()
const hostName = '0123456789ab_h'
const keys = podAnnotations()

/** What an addition asks of the kernel, in its order, with a refusal that each may meet. */
const refusals = [
  { operation: 'link add', subject: hostName, errno: 'ENOBUFS' },
  { operation: 'link set', subject: '', errno: 'ENETDOWN' },
  { operation: 'address replace', subject: '10.16.0.5/16', errno: 'ENOMEM' },
  { operation: 'address replace', subject: 'fd00:10:16::5/112', errno: 'EACCES' },
  { operation: 'route replace', subject: '0.0.0.0/0', errno: 'ENETUNREACH' },
  { operation: 'route replace', subject: '::/0', errno: 'EINVAL' },
] as const

/** Ports under the name that an interface `storage` of the container had before, and whether they are its. */
const formers: readonly { whose: string; ids: Readonly<Record<string, string>>; isOurs: boolean }[] = [
  { whose: 'upstream', ids: { pod_name: 'web-0', pod_namespace: 'shop' }, isOurs: true },
  { whose: 'an earlier release', ids: { container_id: '0123456789abcdef' }, isOurs: true },
  { whose: 'somebody else', ids: { container_id: '0123456789abffff', pod_name: 'web-0' }, isOurs: false },
]

describe.skipIf(missing)(`an attachment${missing === undefined ? '' : ` (${missing})`}`, () => {
  let database: OpenVswitchDatabase
  let ovs: OvsdbClient<OpenVswitch>
  let network: TestNetwork
  /** Path of the namespace that plays the node. */
  let host: string
  /** Decides what the kernel refuses. */
  let refuse: NonNullable<NetlinkOptions['refuse']>
  let nics: PodNics
  let unannounced: number
  let request: AttachmentRequest
  let stack: AsyncDisposableStack

  beforeAll(async () => {
    database = await startOpenVswitch()
    await database.vsctl('add-br', 'br-int')
    ovs = new OvsdbClient<OpenVswitch>({
      endpoints: [database.address],
      schema: openVswitchSchema,
      tables: localOvsTables,
    })
    await ovs.connect()
  })
  afterAll(async () => {
    await ovs[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  beforeEach(() => {
    stack = new AsyncDisposableStack()
    network = stack.use(openTestNetwork())
    host = network.namespace('host').path
    refuse = () => undefined
    unannounced = 0
    function open(options: NetlinkOptions) {
      return openNetlink({ ...options, refuse: (one) => refuse(one) })
    }
    request = {
      ...{ podNamespace: 'shop', podName: 'web-0', podUid: 'uid-1', ifName: 'eth0', routes: [] },
      ...{ containerId: '0123456789abcdef', netns: network.namespace('pod').path },
      ...{ provider: 'ovn', network: 'kube-ovn' },
    }
    nics = stack.use(
      new PodNics({
        ...{
          ovs,
          clock: systemClock,
          log: silentLogger,
          nodes: new Objects(),
          nodeName: 'n1',
          tunnelMtu: new Observable<number | undefined>(1400),
        },
        kernel: {
          ...{ host: stack.use(open({ netns: host })), open, writeSysctl },
          announce: announceAddresses,
        },
        pods: {
          store: storeOf<Pod>({ 'shop/web-0': allocatedPod, 'shop/web-1': neighbourPod }),
          onChange: neverChanges,
        },
        subnets: { store: storeOf<Subnet>(networks), onChange: neverChanges },
        reporter: {
          ...{ added: ignore, addFailed: ignore, removed: ignore, removeFailed: ignore, waited: ignore },
          announceFailed: () => unannounced++,
        },
      }),
    )
  })
  afterEach(() => stack.disposeAsync())

  /** Plays ovn-controller, which has the flows of a NIC in place some time after its port. */
  async function add() {
    using _installs = ovs.onChange(() => {
      const ports = [...ovs.cache.scan('Interface')]
      const row = ports.find(
        ({ external_ids: ids }) => ids['iface-id'] !== undefined && ids['ovn-installed'] !== 'true',
      )
      if (row === undefined) return
      void ovs.transact([
        ovs.operations.mutate('Interface', row._uuid, [
          ['external_ids', 'insert', { 'ovn-installed': 'true' }],
        ]),
      ])
    })
    return await nics.add(request, new AbortController().signal)
  }

  it.each(refusals)(
    'is taken back whole when the kernel refuses $operation $subject ($errno)',
    async (refused) => {
      const asked: string[] = []
      refuse = ({ operation, subject }) => {
        asked.push(operation)
        const isIt = operation === refused.operation && subject.startsWith(refused.subject)
        return isIt ? refused.errno : undefined
      }
      const failure = await add().catch((error: unknown) => error)
      expect(asked).toContain(refused.operation)
      expect(failure).toBeInstanceOf(AttachmentError)
      expect((failure as AttachmentError).cause).toMatchObject({
        details: { operation: refused.operation, errno: refused.errno },
      })
      expect(await database.vsctl('list-ports', 'br-int')).toBe('')
      refuse = () => undefined
      const { timings } = await add()
      expect(timings.agentMs).toBeGreaterThan(0)
      await nics.check(request)
      await nics.remove(request)
      expect(await database.vsctl('list-ports', 'br-int')).toBe('')
    },
  )

  it('is removed as far as it goes when the kernel does not let go of the link, and wholly the next time', async () => {
    await add()
    refuse = ({ operation }) => (operation === 'link delete' ? 'EBUSY' : undefined)
    await expect(nics.remove(request)).rejects.toMatchObject({ details: { errno: 'EBUSY' } })
    expect(await database.vsctl('list-ports', 'br-int')).toBe('')
    refuse = () => undefined
    await nics.remove(request)
    await expect(nics.check(request)).rejects.toThrow(AttachmentDiffersError)
  })

  it('is given up by its removal, however often it was asked for before', async () => {
    // Nobody plays ovn-controller.
    const additions = [1, 2].map(() => nics.add(request, new AbortController().signal))
    const outcomes = Promise.allSettled(additions)
    await expect.poll(() => database.vsctl('list-ports', 'br-int')).toBe(hostName)
    await nics.remove(request)
    const reason = {
      details: { pod: 'shop/web-0', stage: 'get-pod', reason: 'the runtime removes the attachment' },
    }
    const rejected = expect.objectContaining({ status: 'rejected', reason: expect.objectContaining(reason) })
    expect(await outcomes).toEqual([rejected, rejected])
    expect(await database.vsctl('list-ports', 'br-int')).toBe('')
  })

  it.each([
    { what: 'of a pod', nic: {}, ips: ['10.16.0.5', 'fd00:10:16::5'], mac: '00:00:00:53:6b:b6' },
    {
      ...{ what: 'of a further NIC', nic: { ifName: 'net1', provider: 'ext.default.ovn' } },
      ...{ ips: ['10.20.0.5', 'fd00:10:20::5'], mac: '00:00:00:53:6b:b7' },
    },
    {
      ...{ what: 'of a Vip that was given to a NIC', nic: { ifName: 'net2', provider: 'vip.default.ovn' } },
      ...{ ips: ['10.21.0.9'], mac: '00:00:00:53:6b:b8' },
    },
  ])('tells who knew the addresses $what under another MAC address', async ({ nic, ips, mac }) => {
    request = { ...request, ...nic }
    using neighbour = openNetlink({ netns: host })
    const told = Promise.withResolvers<void>()
    const left = new Set(ips)
    using _watch = neighbour.watch(
      { neighbours: true },
      ({ kind, ...event }) => {
        if (kind !== 'neighbour' || !('neighbour' in event) || event.neighbour.mac !== mac) return
        left.delete(event.neighbour.address)
        if (left.size === 0) told.resolve()
      },
      { ref: true },
    )
    let isFirst = true
    refuse = ({ operation }) => {
      if (operation !== 'packet send' || !isFirst) return undefined
      isFirst = false
      // Who is at the other end of its link hears what the pod sends, as its peers do by OVN.
      const { index = 0 } = neighbour.links().find(({ name }) => name.endsWith('_h')) ?? {}
      for (const address of ips)
        neighbour.replaceNeighbour({ index, address, mac: '02:00:00:00:00:99', state: 'reachable' })
      return undefined
    }
    await add()
    await told.promise
    expect([...left]).toEqual([])
    expect(unannounced).toBe(0)
    await nics.remove(request)
  })

  it('is made although its addresses can not be announced, which is counted', async () => {
    refuse = ({ operation }) => (operation === 'packet send' ? 'ENOBUFS' : undefined)
    await add()
    expect(unannounced).toBe(1)
    refuse = () => undefined
    await nics.check(request)
    await nics.remove(request)
  })

  it.each(['storage', 'fifteen-letters'])(
    'is not touched by that of another pod whose container has an id that begins alike, with an interface named %s, too',
    async (ifName) => {
      const first = { ...request, ifName, provider: 'ext.default.ovn' }
      const second = {
        ...{ ...first, containerId: '01234567ffffffff', netns: network.namespace('pod-1').path },
        ...{ podName: 'web-1', podUid: 'uid-2' },
      }
      request = first
      await add()
      request = second
      await add()
      await nics.check(first)
      await nics.check(second)
      await nics.remove(second)
      await nics.check(first)
      await nics.remove(first)
      expect(await database.vsctl('list-ports', 'br-int')).toBe('')
    },
  )

  it.each(formers)(
    'is removed under the name that it had before, where that is of $whose: $isOurs',
    async ({ ids, isOurs }) => {
      const former = '01234_storage_h'
      using node = openNetlink({ netns: host })
      node.createVeth({ name: former, peer: { name: 'peer' } })
      const bridge = findBridge(ovs, 'br-int')
      if (bridge === undefined) throw new TypeError('there is no br-int')
      await ovs.transact(addPortOperations(ovs, bridge, { name: former, external_ids: ids }))
      await nics.remove({ ...request, ifName: 'storage' })
      expect(await database.vsctl('list-ports', 'br-int')).toBe(isOurs ? '' : former)
      expect(node.link(former) === undefined).toBe(isOurs)
      await nics.removePort(former)
    },
  )

  it('is not said to be collected while the database does not let go of its port', async () => {
    await add()
    const collect = (): Promise<number> => nics.collect('kube-ovn', [])
    expect(await whileDatabaseIsAway(collect)).toMatchObject({
      code: 'ports-not-removed',
      details: { ports: [hostName] },
    })
    expect(await whileDatabaseIsAway(() => nics.removePort(hostName))).toBeInstanceOf(Error)
    expect(await database.vsctl('list-ports', 'br-int')).toBe(hostName)
    await nics.removePort(hostName)
    expect(await database.vsctl('list-ports', 'br-int')).toBe('')
  })

  /** Answers how an action failed whose transaction got no answer before the database ended. */
  async function whileDatabaseIsAway(action: () => Promise<unknown>): Promise<unknown> {
    await database.server.freeze()
    const failure = action().catch((error: unknown) => error)
    await database.server.kill()
    await database.server.start()
    await ovs.connect()
    return failure
  }
})

/** What the controller wrote of a NIC. */
function networkOf(provider: string, subnet: string, addresses: string, mac: string) {
  const own = podAnnotations(provider)
  return {
    [own.allocated.key]: 'true',
    [own.routed.key]: 'true',
    [own.ipAddress.key]: addresses,
    [own.macAddress.key]: mac,
    [own.logicalSwitch.key]: subnet,
  }
}

const allocatedPod: Pod = {
  metadata: {
    ...{ namespace: 'shop', name: 'web-0', uid: 'uid-1' },
    annotations: {
      ...networkOf('ovn', 'ovn-default', '10.16.0.5,fd00:10:16::5', '00:00:00:53:6b:b6'),
      [keys.cidr.key]: '10.16.0.0/16,fd00:10:16::/112',
      [keys.gateway.key]: '10.16.0.1,fd00:10:16::1',
      ...networkOf('ext.default.ovn', 'ext', '10.20.0.5,fd00:10:20::5', '00:00:00:53:6b:b7'),
      [podAnnotations('ext.default.ovn').cidr.key]: '10.20.0.0/16,fd00:10:20::/112',
      ...networkOf('vip.default.ovn', 'vip', '10.21.0.9', '00:00:00:53:6b:b8'),
      [podAnnotations('vip.default.ovn').cidr.key]: '10.21.0.0/16',
      'vip.default.ovn.kubernetes.io/vip': 'front',
    },
  },
  spec: { containers: [] },
}

const neighbourPod: Pod = {
  metadata: {
    ...{ namespace: 'shop', name: 'web-1', uid: 'uid-2' },
    annotations: networkOf('ext.default.ovn', 'ext', '10.20.0.6,fd00:10:20::6', '00:00:00:53:6b:b9'),
  },
  spec: { containers: [] },
}

const networks: Readonly<Record<string, Subnet>> = {
  'ovn-default': { metadata: { name: 'ovn-default' }, spec: {} },
  ext: { metadata: { name: 'ext' }, spec: { provider: 'ext.default.ovn' } },
  vip: { metadata: { name: 'vip' }, spec: { provider: 'vip.default.ovn' } },
}

function storeOf<T extends Pod | Subnet>(objects: Readonly<Record<string, T>>): IndexedStore<T> {
  const store = new IndexedStore<T>()
  for (const [key, object] of Object.entries(objects)) store.put(key, object)
  return store
}

function neverChanges(): Disposable {
  return { [Symbol.dispose]: ignore }
}

function ignore(): void {}
