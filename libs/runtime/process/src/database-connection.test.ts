import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'
import { recordingLogger } from '@kube-ovn/log'
import { databaseMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { DatabaseConnection, type DatabaseConnectionOptions } from './database-connection.ts'

type Client = DatabaseConnectionOptions['client']
type State = Client['state']

function follow() {
  const listeners = new Set<(state: State) => void>()
  const client = {
    state: { phase: 'idle' } as State,
    onState(listener: (state: State) => void) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
  const [clock, log, registry] = [new ManualClock(), recordingLogger(), new Registry()]
  const told: string[] = []
  let read = 0
  const connection = new DatabaseConnection({
    ...{ client, clock, log, db: 'Zoo', metrics: databaseMetrics(registry) },
    onReplaced: (how) => told.push(how),
  })
  return {
    ...{ clock, connection, told },
    /** Those that have come since the last call. */
    lines() {
      const fresh = log.lines.slice(read)
      read = log.lines.length
      return fresh.map(({ level, message }) => `${level} ${message}`)
    },
    metric: async (name: string) =>
      (await registry.getSingleMetric(`kube_ovn_database_${name}`)?.get())?.values[0]?.value,
    to(state: State) {
      client.state = state
      for (const listener of listeners) listener(state)
    },
  }
}

class RefusedError extends KubeOvnError {
  readonly code = 'test-refused'
  readonly retry: RetryClass = 'backoff'
}

const lost = new Error('lost')
const away = new Error('connecting failed', { cause: new Error('nobody listens') })

it('tells each change once, and an outage that lasts', async () => {
  const zoo = follow()
  expect(await zoo.metric('connected')).toBe(0)
  zoo.to({ phase: 'connecting', endpoint: 'a' })
  zoo.to({ phase: 'connected', endpoint: 'a' })
  expect(zoo.lines()).toEqual(['info database connected'])
  expect(await zoo.metric('connected')).toBe(1)
  zoo.clock.advance(60_000)
  for (let n = 0; n < 5; n++) {
    zoo.to({ phase: 'waiting', cause: n === 0 ? lost : away })
    zoo.to({ phase: 'connecting', endpoint: 'b', cause: away })
  }
  expect(zoo.connection.problem).toBeUndefined()
  zoo.clock.advance(20_000)
  expect(zoo.connection.problem).toBe('Zoo has not been connected for 20 s: nobody listens')
  expect(zoo.lines()).toEqual(['warn database connection lost', 'error database not connected'])
  expect(await zoo.metric('connected')).toBe(0)
  zoo.to({ phase: 'connected', endpoint: 'b' })
  expect(zoo.connection.problem).toBeUndefined()
  expect(zoo.lines()).toEqual(['info database connected'])
  expect(zoo.told).toEqual([])
})

it('says what to do where somebody can do something', () => {
  const zoo = follow()
  const details = { problem: 'the keeper is a stranger', file: '/run/tls/cacert', cure: 'introduce him' }
  const refused = new RefusedError('refused', details, { cause: new Error('ERR_STRANGER') })
  zoo.to({ phase: 'waiting', cause: new Error('connecting failed', { cause: refused }) })
  zoo.clock.advance(20_000)
  expect(zoo.connection.problem).toBe(
    'Zoo has not been connected for 20 s: the keeper is a stranger, /run/tls/cacert: introduce him',
  )
})

it('is not ready either when there never was a connection', () => {
  const zoo = follow()
  zoo.clock.advance(11_000)
  expect(zoo.connection.problem).toBe('Zoo has not been connected for 11 s: no server has answered yet')
})

it('tells by log, metric and a call when the database is another one', async () => {
  const zoo = follow()
  zoo.to({ phase: 'connected', endpoint: 'a', replaced: 'it is older' })
  expect(zoo.lines()).toEqual(['info database connected', 'warn database was replaced'])
  expect(zoo.told).toEqual(['it is older'])
  expect(await zoo.metric('replaced_total')).toBe(1)
})

it('is silent about its own end', () => {
  const zoo = follow()
  zoo.to({ phase: 'connected', endpoint: 'a' })
  zoo.lines()
  zoo.to({ phase: 'closed' })
  zoo.clock.advance(60_000)
  expect(zoo.lines()).toEqual([])
})
