import { describe, expect, it } from 'vitest'
import type { Member } from './feature.ts'
import { isIndependent, type Flight } from './flight.ts'
import type { Job } from './jobs.ts'
import { Memory } from './memory.ts'
import type { Plan } from './plan.ts'
import { catalog } from './plan-fixture.ts'
import type { Step } from './steps.ts'

const pg = { kind: 'pg', id: 'g' }
const lb = { kind: 'lb', id: 'lb' }
const value = (name: string): Member => ({ of: pg, column: 'ports', value: { kind: 'lsp', id: name } })
const entry = (key: string): Member => ({ of: lb, column: 'ip_port_mappings', key, value: '1' })

const plain: Plan = {
  steps: [],
  outcomes: [],
  touched: new Set(),
  ...{ waiting: new Map(), awaited: new Map(), problems: new Map(), lacks: new Map() },
}

function job(owner: string, members: readonly Member[]): Job<unknown> {
  return { owner, desired: { rows: [], members, patches: [], events: [] } } as unknown as Job<unknown>
}

function flight(plan: Plan, ...jobs: readonly Job<unknown>[]): Flight<unknown> {
  return { plan, jobs, startedMs: 0, commit: Promise.reject(new Error('never asked')), seen: [] }
}

function mutate(table: string, column: string, how: 'insert' | 'delete', what: string | object): Step {
  const mutation = [column, how, typeof what === 'string' ? [what] : { ...what }] as const
  return { do: 'mutate', table, uuid: 'u', mutations: [mutation] }
}

describe('isIndependent', () => {
  const memory = new Memory()
  // Of two that let the same go at a time, neither would take it along.
  for (const owner of ['f/had', 'f/too'])
    memory.remember(owner, { rows: [], members: [value('old'), entry('old')] }, [], true)

  function check(plan: Partial<Plan>, members: readonly Member[], owner = 'f/new'): boolean {
    const under = flight(plain, job('f/other', [value('x'), entry('x')]))
    under.commit.catch(() => undefined)
    return isIndependent({ ...plain, ...plan }, [job(owner, members)], [under], { catalog, memory })
  }

  it.each<[string, boolean, Partial<Plan>, readonly Member[], string?]>([
    ['a value of a row of others', true, {}, [value('y')]],
    ['the same value', true, {}, [value('x')]],
    ['another entry', true, {}, [entry('y')]],
    ['the same entry', false, {}, [entry('x')]],
    ['what it had and more', true, {}, [value('old'), entry('old'), entry('y')], 'f/had'],
    ['less than it had', false, {}, [value('old')], 'f/had'],
    ['an entry that joins', true, { steps: [mutate('Load_Balancer', 'vips', 'insert', { a: '1' })] }, []],
    ['an entry that goes', false, { steps: [mutate('Load_Balancer', 'vips', 'delete', { a: '1' })] }, []],
    ['a value that goes', false, { steps: [mutate('Port_Group', 'ports', 'delete', 'p')] }, []],
    ['what it can not have', false, { lacks: new Map([['f/new', []]]) }, []],
  ])('of %s: %s', (_name, expected, plan, members, owner) => {
    expect(check(plan, members, owner)).toBe(expected)
  })
})
