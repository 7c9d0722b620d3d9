import {
  Informer,
  configMaps,
  type ConfigMap,
  type InformerOptions,
  type KubeClient,
  type ObjectChange,
} from '@kube-ovn/kube'
import { recordingLogger, silentLogger } from '@kube-ovn/log'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { foreignCrds } from './crds.ts'
import type { KubeApi } from './kube-api.ts'
import { startKubeApi } from './start-kube-api.ts'
import { systemClock } from '@kube-ovn/process'

let api: KubeApi
let resources: AsyncDisposableStack

beforeAll(async () => {
  api = await startKubeApi()
})

afterAll(() => api[Symbol.asyncDispose]())

beforeEach(async () => {
  await api.reset()
  resources = new AsyncDisposableStack()
})

afterEach(() => resources.disposeAsync())

interface Watched {
  readonly informer: Informer<ConfigMap>
  readonly changes: ObjectChange<ConfigMap>[]
  /** Settles at the next change that satisfies the condition, at once if there was one. */
  seen(condition: (change: ObjectChange<ConfigMap>) => boolean): Promise<void>
}

/** An informer of the config maps in namespace `default`, and what its listener saw. */
function watchConfigMaps(client: KubeClient, options: Partial<InformerOptions<ConfigMap>> = {}): Watched {
  const informer = resources.use(
    new Informer({
      client,
      resource: configMaps,
      namespace: 'default',
      clock: systemClock,
      logger: silentLogger,
      ...options,
    }),
  )
  const changes: ObjectChange<ConfigMap>[] = []
  informer.onChange((change) => {
    changes.push(change)
  })
  function seen(condition: (change: ObjectChange<ConfigMap>) => boolean): Promise<void> {
    return new Promise((resolve) => {
      if (changes.some(condition)) {
        resolve()
        return
      }
      const listening = informer.onChange((change) => {
        if (!condition(change)) return
        listening[Symbol.dispose]()
        resolve()
      })
    })
  }
  return { informer, changes, seen }
}

async function create(
  name: string,
  data: Record<string, string> = {},
  labels: Record<string, string> = {},
): Promise<ConfigMap> {
  return api.client.create(configMaps, { metadata: { namespace: 'default', name, labels }, data })
}

function patch(name: string, data: Record<string, string>): Promise<ConfigMap> {
  return api.client.patch(configMaps, { namespace: 'default', name }, 'application/merge-patch+json', {
    data,
  })
}

function remove(name: string): Promise<unknown> {
  return api.client.remove(configMaps, { namespace: 'default', name })
}

function names(changes: readonly ObjectChange<ConfigMap>[]): string[] {
  return changes.map(
    (change) => `${change.old === undefined ? '+' : change.new === undefined ? '-' : '~'}${change.key}`,
  )
}

describe('list and watch', () => {
  it('fills the store page by page, then follows', async () => {
    for (let index = 0; index < 5; index += 1) await create(`c${index}`, { by: index < 2 ? 'few' : 'many' })
    const { informer, changes, seen } = watchConfigMaps(api.client, {
      pageSize: 2,
      indexes: { by: (object) => [object.data?.['by'] ?? ''] },
    })
    informer.start()
    await informer.synced
    expect(names(changes)).toEqual([
      '+default/c0',
      '+default/c1',
      '+default/c2',
      '+default/c3',
      '+default/c4',
    ])
    expect(changes.every((change) => change.initial)).toBe(true)
    expect(informer.store.find('by', 'few').map((object) => object.metadata.name)).toEqual(['c0', 'c1'])
    expect(informer.store.get('default/c0')?.metadata.managedFields).toBeUndefined()

    await patch('c0', { by: 'many' })
    await remove('c1')
    await seen((change) => change.new === undefined)
    expect(names(changes.slice(5))).toEqual(['~default/c0', '-default/c1'])
    expect(changes.slice(5).every((change) => !change.initial)).toBe(true)
    expect(informer.store.find('by', 'few')).toEqual([])
    expect(informer.store.size).toBe(4)
    expect(informer.health).toMatchObject({ isSynced: true, isWatching: true, lastError: undefined })
  })

  it('selects by label, and drops what stops matching', async () => {
    await create('a', {}, { app: 'web' })
    await create('b', {}, { app: 'api' })
    const { informer, changes, seen } = watchConfigMaps(api.client, { labelSelector: 'app=web' })
    informer.start()
    await informer.synced
    const ref = { namespace: 'default', name: 'a' }
    const relabel = { metadata: { labels: { app: 'api' } } }
    const relabelled = await api.client.patch(configMaps, ref, 'application/merge-patch+json', relabel)
    informer.observe(relabelled)
    await seen((change) => change.new === undefined)
    expect(changes.at(-1)?.key).toBe('default/a')
    expect(informer.store.size).toBe(0)
  })

  it('goes on after a listener has thrown', async () => {
    const logger = recordingLogger()
    const { informer, seen } = watchConfigMaps(api.client, { logger })
    informer.onChange(() => {
      throw new Error('listener is broken')
    })
    informer.start()
    await informer.synced
    await create('a')
    await create('b')
    await seen((change) => change.key === 'default/b')
    expect(informer.store.size).toBe(2)
    expect(logger.lines.filter((line) => line.level === 'error')).toMatchObject([
      { message: 'listener failed', fields: { kind: 'ConfigMap', key: 'default/a' } },
      { message: 'listener failed', fields: { kind: 'ConfigMap', key: 'default/b' } },
    ])
  })

  it('goes on after an index function has thrown, which is told, and finds all other objects by it', async () => {
    const { client } = api
    const logger = recordingLogger()
    const configMap = (name: string, data: Record<string, string>) => ({
      metadata: { namespace: 'default', name },
      data,
    })
    await client.create(configMaps, configMap('bad', {}))
    const { informer, seen } = watchConfigMaps(client, {
      logger,
      indexes: { colour: ({ data = {} }) => [(data as { colour: string }).colour.toLowerCase()] },
    })
    informer.start()
    await informer.synced
    await client.create(configMaps, configMap('good', { colour: 'Red' }))
    await seen(({ key, new: now }) => key === 'default/good' && now !== undefined)
    await client.remove(configMaps, { namespace: 'default', name: 'bad' })
    await seen(({ key, new: now }) => key === 'default/bad' && now === undefined)
    expect(informer.store.find('colour', 'red').map(({ metadata }) => metadata.name)).toEqual(['good'])
    const told = logger.lines.filter(({ message }) => message === 'index failed')
    expect(told[0]?.fields).toMatchObject({ index: 'colour', key: 'default/bad' })
  })

  it('rejects synced when it is stopped before', async () => {
    const { client, proxy } = await api.openProxiedClient()
    proxy.refuse(true)
    const { informer } = watchConfigMaps(client)
    const stop = new AbortController()
    informer.start(stop.signal)
    stop.abort(new Error('stopped'))
    await expect(informer.synced).rejects.toThrow('stopped')
  })
})

describe('interruptions', () => {
  it('resumes where it was cut, without a list, and misses nothing', async () => {
    const { client, proxy } = await api.openProxiedClient()
    const lists: unknown[] = []
    const list = client.list.bind(client)
    client.list = (...args) => {
      // One object tells how far the server is.
      if (args[1]?.limit !== 1) lists.push(args)
      return list(...args)
    }
    const { informer, changes, seen } = watchConfigMaps(client)
    await create('a')
    informer.start()
    await informer.synced
    expect(lists).toHaveLength(1)
    proxy.refuse(true)
    proxy.cut()
    await patch('a', { x: '1' })
    await create('b')
    await remove('b')
    proxy.refuse(false)
    await seen((change) => change.new === undefined)
    expect(names(changes)).toEqual(['+default/a', '~default/a', '+default/b', '-default/b'])
    expect(lists).toHaveLength(1)
  })

  it('lists again when the history is gone, and tells only what differs', async () => {
    const { informer, changes, seen } = watchConfigMaps(api.client)
    await create('stays')
    await create('changes')
    await create('goes')
    informer.start()
    await informer.synced
    const kept = informer.store.get('default/stays')
    const before = changes.length

    const { client, proxy } = await api.openProxiedClient()
    const behind = watchConfigMaps(client)
    behind.informer.start()
    await behind.informer.synced
    const syncedBehind = behind.changes.length
    proxy.refuse(true)
    proxy.cut()
    await patch('changes', { x: '1' })
    await remove('goes')
    await create('comes')
    await seen((change) => change.key === 'default/comes')
    await api.kill()
    await api.compact()
    await api.restart()
    proxy.refuse(false)
    await behind.seen((change) => change.key === 'default/goes' && change.new === undefined)
    expect(names(behind.changes.slice(syncedBehind)).toSorted()).toEqual([
      '+default/comes',
      '-default/goes',
      '~default/changes',
    ])
    expect(behind.changes.slice(syncedBehind).every((change) => !change.initial)).toBe(true)

    // The one that saw everything before the restart has nothing to tell, and keeps its very objects.
    await create('later')
    await seen((change) => change.key === 'default/later')
    expect(names(changes.slice(before))).toEqual([
      '~default/changes',
      '-default/goes',
      '+default/comes',
      '+default/later',
    ])
    expect(informer.store.get('default/stays')).toBe(kept)
  })
})

describe('an API server that was restored from a backup', () => {
  it('is believed, although its resource versions are lower than those that were seen', async () => {
    await create('stays')
    await create('goes')
    await api.save()
    const { informer, changes, seen } = watchConfigMaps(api.client)
    informer.start()
    await informer.synced
    for (let n = 0; n < 30; n++) await patch('stays', { n: String(n) })
    await remove('goes')
    await create('lost')
    await seen((change) => change.key === 'default/lost')
    const before = changes.length

    await api.restore()
    await create('new')
    await seen((change) => change.key === 'default/new')
    expect([...informer.store.values()].map(({ metadata }) => metadata.name).sort()).toEqual([
      'goes',
      'new',
      'stays',
    ])
    expect(informer.store.get('default/stays')?.data ?? {}).toEqual({})
    await patch('stays', { n: 'again' })
    await seen((change) => change.new?.data?.['n'] === 'again')
    // It is told what differs, one thing at a time.
    expect(names(changes.slice(before)).toSorted()).toEqual([
      '+default/goes',
      '+default/new',
      '-default/lost',
      '~default/stays',
      '~default/stays',
    ])
  })
})

describe('answers to our own writes', () => {
  it('are in the store at once, and silent when they come back', async () => {
    const { informer, changes, seen } = watchConfigMaps(api.client)
    informer.start()
    await informer.synced
    informer.observe(await create('a', { x: '1' }))
    informer.observe(await patch('a', { x: '2' }))
    expect(informer.store.get('default/a')?.data).toEqual({ x: '2' })
    expect(names(changes)).toEqual(['+default/a', '~default/a'])
    await create('b')
    await seen((change) => change.key === 'default/b')
    expect(names(changes)).toEqual(['+default/a', '~default/a', '+default/b'])
  })

  it('take out what was deleted, whatever comes in late', async () => {
    const { informer, changes, seen } = watchConfigMaps(api.client)
    informer.start()
    await informer.synced
    const ref = { namespace: 'default', name: 'a' }
    const created = await create('a')
    const uid = created.metadata.uid ?? ''
    informer.observe(created)
    await patch('a', { x: '1' })
    informer.observeRemoval(ref, uid, await api.client.remove(configMaps, ref))
    expect(informer.store.get('default/a')).toBeUndefined()
    await create('b')
    await seen((change) => change.key === 'default/b')
    expect(
      names(changes)
        .filter((name) => name.endsWith('/a'))
        .at(-1),
    ).toBe('-default/a')
    expect(names(changes).filter((name) => name === '-default/a')).toHaveLength(1)
    await create('a')
    await seen(
      (change) => change.key === 'default/a' && change.new !== undefined && change.new.metadata.uid !== uid,
    )
    expect(informer.store.size).toBe(2)
  })

  it('do not bring back an older state', async () => {
    const { informer, seen } = watchConfigMaps(api.client)
    informer.start()
    await informer.synced
    const old = await create('a', { x: '1' })
    await patch('a', { x: '2' })
    await seen((change) => change.new?.data?.['x'] === '2')
    informer.observe(old)
    expect(informer.store.get('default/a')?.data).toEqual({ x: '2' })
  })

  it('do not bring back what was deleted before the answer came', async () => {
    const { informer, seen } = watchConfigMaps(api.client)
    const ref = { namespace: 'default', name: 'a' }
    informer.start()
    await informer.synced
    const answer = await create('a', { x: '1' })
    await api.client.remove(configMaps, ref)
    await seen(({ old, new: current }) => old !== undefined && current === undefined)
    informer.observe(answer)
    expect(informer.store.get('default/a')).toBeUndefined()
    informer.observe(await create('a', { x: '2' }))
    expect(informer.store.get('default/a')?.data).toEqual({ x: '2' })
  })
})

describe('writes', () => {
  it('are counted for others than the test itself', async () => {
    const product = await api.openClient('kube-ovn-controller/1.17.0')
    await create('a')
    const ref = { namespace: 'default', name: 'a' }
    await product.patch(configMaps, ref, 'application/merge-patch+json', { data: { x: '1' } })
    await product.get(configMaps, ref)
    expect(await api.writes()).toMatchObject([
      { verb: 'patch', resource: 'configmaps', namespace: 'default', name: 'a', user: 'admin', code: 200 },
    ])
    await api.reset()
    expect(await api.writes(() => true)).toEqual([])
  })
})

describe('of a resource that is not served', () => {
  const machines = {
    group: 'kubevirt.io',
    version: 'v1',
    kind: 'VirtualMachine',
    plural: 'virtualmachines',
    namespaced: true,
  }
  const one = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name: 'one' },
  }

  it('begins with nothing, and finds what is there once it is', async () => {
    const logger = recordingLogger()
    const informer = resources.use(
      new Informer({ client: api.client, resource: machines, clock: systemClock, logger, mayBeAbsent: true }),
    )
    informer.start()
    await informer.synced
    expect(informer.store.size).toBe(0)
    const found = new Promise<void>((resolve) => void informer.onChange(() => resolve()))
    await api.installCrds(foreignCrds)
    await api.client.create(machines, one)
    await found
    expect([...informer.store.values()].map(({ metadata }) => metadata.name)).toEqual(['one'])
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([])
  })
})
