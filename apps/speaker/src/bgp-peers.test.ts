import { bgpPeerLabels } from '@kube-ovn/annotations'
import type { WatchedPeerStatus } from '@kube-ovn/bgp'
import {
  applyMergePatch,
  IndexedStore,
  KubeForbiddenError,
  type Node,
  type ObjectChange,
} from '@kube-ovn/kube'
import type { BgpPeer } from '@kube-ovn/kube-api'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import { BgpPeers, type BgpPeerClient, type BgpPeersOptions } from './bgp-peers.ts'
import { establishedPeer, idlePeer } from './peer-statuses.fixture.ts'

const neighbor = '192.0.2.9'
const name = 'node-1.192-0-2-9'
const refused = { by: 'transport', errorCode: 0, subcode: 0, reason: 'ECONNREFUSED', atMs: 0 } as const

/** An API server in memory that answers at once, and an informer that sees it at once. */
class Server {
  readonly store = new IndexedStore<BgpPeer>({})
  readonly requests: string[] = []
  /** What the next requests are answered with. */
  refusal: Error | undefined
  isHanging = false
  readonly #listeners = new Set<(change: ObjectChange<BgpPeer>) => void>()
  #uids = 0

  readonly client: BgpPeerClient = {
    create: async (_resource, object, { signal }) => {
      await this.#take(`create ${object.metadata.name}`, signal)
      const metadata = { ...object.metadata, uid: `u-${++this.#uids}`, generation: 1 }
      return this.show({ ...object, metadata })
    },
    patch: async (_resource, ref, _type, patch, { subresource = '', signal }) => {
      await this.#take(`patch ${ref.name}/${subresource}`, signal)
      return this.show(applyMergePatch(this.store.get(ref.name), patch) as BgpPeer)
    },
    remove: async (_resource, ref, { signal }) => {
      await this.#take(`delete ${ref.name}`, signal)
      this.hide(ref.name)
      return { isGone: true, object: undefined }
    },
  }

  readonly informer: BgpPeersOptions['informer'] = {
    store: this.store,
    health: { isSynced: true, isWatching: true, lastContactMs: 0, lastError: undefined },
    onChange: (listener) => {
      this.#listeners.add(listener)
      return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
    },
    observe: () => undefined,
    observeRemoval: () => undefined,
  }

  show(object: BgpPeer): BgpPeer {
    this.#tell(object.metadata.name, () => this.store.put(object.metadata.name, object), object)
    return object
  }

  hide(key: string): void {
    this.#tell(key, () => this.store.delete(key), undefined)
  }

  #tell(key: string, change: () => void, object: BgpPeer | undefined): void {
    const old = this.store.get(key)
    change()
    for (const listener of this.#listeners) listener({ key, old, new: object, initial: false })
  }

  async #take(request: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    this.requests.push(request)
    if (this.isHanging)
      await new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    if (this.refusal !== undefined) throw this.refusal
  }
}

let clock: ManualClock
let server: Server
let log: RecordingLogger
let session: WatchedPeerStatus
let node: Node | undefined

beforeEach(() => {
  clock = new ManualClock()
  server = new Server()
  log = recordingLogger()
  session = idlePeer({ state: 'connect', sinceMs: clock.now() })
  node = { metadata: { name: 'node-1', uid: 'n-1' } }
})

function peersOf(neighbors: readonly string[] = [neighbor]): BgpPeers {
  return new BgpPeers({
    ...{ client: server.client, informer: server.informer, nodeName: 'node-1', neighbors },
    ...{ node: () => node, statusOf: () => session, clock, log, random: () => 0 },
  })
}

/** Lets time go by, and promises go on after each step. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10) {
    clock.advance(Math.min(10, left))
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
}

function requests(): readonly string[] {
  return server.requests.splice(0)
}

/** With the object of a session that is there. */
async function begun(): Promise<BgpPeers> {
  const peers = peersOf()
  session = establishedPeer({ sinceMs: clock.now() })
  peers.begin()
  await pass(100)
  expect(requests()).toEqual([`create ${name}`, `patch ${name}/status`])
  return peers
}

describe('the object of a session', () => {
  it('is made when it is time to, belongs to its Node, and is then left as it is', async () => {
    const peers = peersOf()
    peers.changed(neighbor, 'session')
    await pass(60_000)
    expect(requests()).toEqual([])
    await begun()
    const object = server.store.get(name)
    expect(object).toMatchObject({
      metadata: {
        labels: bgpPeerLabels('node-1'),
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n-1' }],
      },
      spec: { node: 'node-1', neighbor },
      status: { state: 'Established' },
    })
    await pass(600_000)
    expect(requests()).toEqual([])
  })

  it('tells of the end of a session and of the next one at once', async () => {
    const peers = await begun()
    session = idlePeer({ lastEnd: { ...refused, atMs: clock.now() } })
    peers.changed(neighbor, 'session')
    await pass(30)
    expect(requests()).toEqual([`patch ${name}/status`])
    session = establishedPeer({ sinceMs: clock.now() })
    peers.changed(neighbor, 'session')
    await pass(30)
    expect(requests()).toEqual([`patch ${name}/status`])
    expect(server.store.get(name)?.status).toMatchObject({ state: 'Established' })
  })

  it('tells numbers every ten seconds, when they are others', async () => {
    const peers = await begun()
    for (let second = 0; second < 60; second++) {
      session = { ...session, advertised: second }
      peers.changed(neighbor, 'routes')
      await pass(1_000)
    }
    expect(requests().length).toBeLessThanOrEqual(6)
    await pass(10_000)
    expect(server.store.get(name)?.status?.prefixes?.advertised).toBe(59)
    requests()
    peers.changed(neighbor, 'routes')
    await pass(60_000)
    expect(requests()).toEqual([])
  })

  it('is written ten times at most in twenty seconds, however often the router comes and goes', async () => {
    const peers = await begun()
    await pass(10_000)
    for (let round = 0; round < 100; round++) {
      session = idlePeer({ lastEnd: { ...refused, reason: `reason ${round}` } })
      peers.changed(neighbor, 'session')
      await pass(100)
      session = establishedPeer({ sinceMs: clock.now() })
      peers.changed(neighbor, 'session')
      await pass(100)
    }
    const { length } = requests()
    expect(length).toBeGreaterThan(0)
    expect(length).toBeLessThanOrEqual(10)
  })

  it('is written once by the next speaker, when there is a session again', async () => {
    ;(await begun()).stop()
    const peers = peersOf()
    session = idlePeer({ state: 'connect', sinceMs: clock.now() })
    peers.begin()
    await pass(2_000)
    expect(requests()).toEqual([])
    session = establishedPeer({ sinceMs: clock.now() })
    peers.changed(neighbor, 'session')
    await pass(60_000)
    expect(requests()).toEqual([`patch ${name}/status`])
  })

  it('says after ten seconds that the next speaker has no session yet', async () => {
    ;(await begun()).stop()
    session = idlePeer({ state: 'active', sinceMs: clock.now() })
    peersOf().begin()
    await pass(11_000)
    expect(requests()).toEqual([`patch ${name}/status`])
    expect(server.store.get(name)?.status).toMatchObject({ state: 'Active' })
  })

  it('is made again when somebody deletes it, or when the Node is another one', async () => {
    const peers = await begun()
    server.hide(name)
    await pass(30_000)
    expect(requests()).toEqual([`create ${name}`, `patch ${name}/status`])
    node = { metadata: { name: 'node-1', uid: 'n-2' } }
    peers.askAll()
    await pass(30_000)
    expect(requests()).toEqual([`delete ${name}`, `create ${name}`, `patch ${name}/status`])
    node = undefined
    server.hide(name)
    await pass(30_000)
    expect(requests()).toEqual([])
  })

  it('is deleted when the router is configured no more; those of other nodes are let be', async () => {
    ;(await begun()).stop()
    server.show({ metadata: { name: 'node-2.192-0-2-9' }, spec: { node: 'node-2', neighbor } })
    const peers = peersOf(['192.0.2.8'])
    for (const object of [...server.store.values()]) server.show(object)
    peers.begin()
    await pass(1_000)
    expect(new Set(requests())).toEqual(
      new Set(['create node-1.192-0-2-8', 'patch node-1.192-0-2-8/status', `delete ${name}`]),
    )
  })

  it('says that the speaker has ended', async () => {
    const peers = await begun()
    session = idlePeer({ lastEnd: { ...refused, by: 'local', errorCode: 6, subcode: 2, reason: 'cease' } })
    peers.changed(neighbor, 'session')
    await peers.farewell()
    expect(requests()).toEqual([`patch ${name}/status`])
    expect(server.store.get(name)?.status).toMatchObject({ state: 'Idle', error: 'the speaker has ended' })
    await pass(60_000)
    expect(requests()).toEqual([])
  })
})

describe('an API server that takes nothing', () => {
  const details = { ...{ method: 'POST', path: '/', status: 403 }, ...{ reason: 'Forbidden', answer: '' } }
  const refusal = new KubeForbiddenError('API server refused', { ...details, causes: [], hasName: true })

  it('is asked again less and less often, and it is logged once', async () => {
    server.refusal = refusal
    peersOf().begin()
    await pass(600_000)
    expect(requests().length).toBeLessThanOrEqual(8)
    const warnings = log.lines.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ message: 'status of BGP sessions was not written' }])
    server.refusal = undefined
    await pass(300_000)
    expect(server.store.get(name)?.status?.state).toBe('Connect')
  })
})

describe('an API server that does not answer', () => {
  it('is waited for by nobody, and for the last word two seconds', async () => {
    const peers = await begun()
    server.isHanging = true
    session = idlePeer({ lastEnd: refused })
    peers.changed(neighbor, 'session')
    await pass(1_000)
    for (let round = 0; round < 10; round++) peers.changed(neighbor, 'session')
    await pass(60_000)
    expect(requests()).toEqual([`patch ${name}/status`])
    let isOver = false
    const said = peers.farewell().finally(() => {
      isOver = true
    })
    await pass(1_900)
    expect(isOver).toBe(false)
    await pass(200)
    await said
  })
})
