import type { ObjectChange } from '@kube-ovn/kube'
import type { Pod } from '@kube-ovn/kube-api/core'
import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, expect, it } from 'vitest'
import { StalePorts } from './feature.ts'

type Row = {
  readonly name: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly error?: string
}

let clock: ManualClock
let rows: Row[]
let pods: Map<string, Pod>
let isSynced: boolean
let busy: Set<string>
let removed: string[]
/** Ports that can not be removed for now. */
let held: Set<string>
let lines: ReturnType<typeof recordingLogger>['lines']
let podGone: (change: ObjectChange<Pod>) => void

beforeEach(() => {
  clock = new ManualClock()
  rows = [port('a_h', 'web-0', 'uid-1')]
  pods = new Map([['shop/web-0', pod('web-0', 'uid-1')]])
  isSynced = true
  busy = new Set()
  removed = []
  held = new Set()
})

function port(name: string, podName: string, uid: string): Row {
  return {
    name,
    external_ids: { vendor: 'kube-ovn', pod_name: podName, pod_namespace: 'shop', pod_uid: uid },
  }
}

function pod(name: string, uid: string, machine?: string): Pod {
  const annotations = machine === undefined ? {} : { 'ovn.kubernetes.io/virtualmachine': machine }
  return { metadata: { namespace: 'shop', name, uid, annotations }, spec: { containers: [] } }
}

function start(): StalePorts {
  const log = recordingLogger()
  ;({ lines } = log)
  const nothing = { [Symbol.dispose]: () => undefined }
  const stalePorts = new StalePorts({
    clock,
    log,
    random: () => 0,
    ovs: { cache: { scan: () => rows }, onChange: () => nothing },
    pods: {
      store: { get: (key: string) => pods.get(key), values: () => pods.values() },
      get health() {
        return { isSynced }
      },
      onChange(listener: typeof podGone) {
        podGone = listener
        return nothing
      },
    },
    podNics: {
      isBusy: (name: string) => busy.has(name),
      removePort: async (name: string) => {
        if (held.has(name)) throw new TypeError('the database is away')
        removed.push(name)
        rows = rows.filter((row) => row.name !== name)
      },
    },
  })
  stalePorts.start()
  return stalePorts
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

function deletePod(key: string): void {
  const old = pods.get(key)
  pods.delete(key)
  podGone({ key, old, new: undefined, initial: false })
}

it('removes the port of a deleted pod when the runtime has had its time, and not before', async () => {
  using _stalePorts = start()
  await settle()
  deletePod('shop/web-0')
  await settle()
  clock.advance(29_999)
  await settle()
  expect(removed).toEqual([])
  clock.advance(1)
  await settle()
  expect(removed).toEqual(['a_h'])
  expect(clock.pendingTimers).toBe(0)
})

it('keeps a port whose pod comes back in time', async () => {
  using _stalePorts = start()
  await settle()
  deletePod('shop/web-0')
  await settle()
  pods.set('shop/web-0', pod('web-0', 'uid-1'))
  clock.advance(60_000)
  await settle()
  expect(removed).toEqual([])
})

it('removes the port of an earlier pod of the same name only', async () => {
  rows.push(port('b_h', 'web-0', 'uid-0'))
  using _stalePorts = start()
  await settle()
  clock.advance(30_000)
  await settle()
  expect(removed).toEqual(['b_h'])
})

it('touches nothing before the pods of the node are known, nor ports that are worked on, nor those of others', async () => {
  isSynced = false
  pods.clear()
  rows.push({ name: 'foreign', external_ids: { pod_name: 'x', pod_namespace: 'y' } })
  using _stalePorts = start()
  await settle()
  clock.advance(60_000)
  await settle()
  expect(removed).toEqual([])
  isSynced = true
  busy.add('a_h')
  podGone({ key: 'shop/other', old: undefined, new: undefined, initial: false })
  await settle()
  clock.advance(60_000)
  await settle()
  expect(removed).toEqual([])
})

it('keeps the port of a machine as long as a pod runs it', async () => {
  pods = new Map([['shop/launcher-a', pod('launcher-a', 'uid-1', 'vm')]])
  rows = [
    port('a_h', 'vm', 'uid-1'),
    { ...port('b_h', 'vm', ''), name: 'b_h' },
    port('c_h', 'other', 'uid-2'),
  ]
  using _stalePorts = start()
  await settle()
  clock.advance(30_000)
  await settle()
  expect(removed).toEqual(['c_h'])
  deletePod('shop/launcher-a')
  await settle()
  clock.advance(30_000)
  await settle()
  expect(removed).toEqual(['c_h', 'a_h', 'b_h'])
})

it('removes a port that could not be removed as soon as it can, and the others meanwhile', async () => {
  pods.clear()
  rows.push(port('b_h', 'web-1', 'uid-2'))
  held.add('a_h')
  using _stalePorts = start()
  await settle()
  clock.advance(30_000)
  await settle()
  expect(removed).toEqual(['b_h'])
  const told = lines.filter(({ message }) => message === 'stale port removed')
  expect(told).toMatchObject([{ fields: { hostName: 'b_h' } }])
  held.clear()
  // Nothing changes in the meantime: neither a pod nor a row.
  clock.advance(1_000)
  await settle()
  expect(removed).toEqual(['b_h', 'a_h'])
  expect(clock.pendingTimers).toBe(0)
})
