import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectedBeside, expectedRows, expectedWidgets, shownRows } from './testing/expected.ts'
import { shownWidgets } from './testing/foreign-finalizers.ts'
import { Player } from './testing/player.ts'
import { script } from './testing/script.ts'
import { possible, type Layout, type State } from './testing/state.ts'

/** Many more runs, for a night. */
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

function foreignRows({ server, foreign }: Player): unknown {
  return Object.values(server.rows.dump()).flatMap((table) =>
    Object.values(table).filter(({ _uuid }) => foreign.has(_uuid)),
  )
}

/** Everything that has rows in one feature, and a key for each thing. */
const plainLayout: Layout = {
  featureOf: {
    switch: 2,
    port: 2,
    group: 2,
    balancer: 2,
    attach: 0,
    also: 1,
    set: 2,
    address: 2,
    setting: 2,
    mapping: 2,
    mac: 2,
    pool: 2,
    into: 1,
    dhcp: 2,
    global: 2,
  },
  isJoint: {
    switch: false,
    port: false,
    group: false,
    balancer: false,
    attach: false,
    also: false,
    set: false,
    address: false,
    setting: false,
    mapping: false,
    mac: false,
    pool: false,
    into: false,
    dhcp: false,
    global: false,
  },
}

describe('Kernel', () => {
  it(
    'makes the database and the objects what is wanted, whatever happens on the way',
    { timeout: isDeep ? 3_600_000 : 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(script, async ({ scenes, last, ...rest }) => {
          const { layout } = rest
          const final = possible(last)
          await using player = new Player(rest, final)
          const foreign = foreignRows(player)
          for (const scene of scenes) await player.play(scene)
          await player.rest(final)

          expect(shownRows(player.server.rows)).toEqual(expectedBeside(player.server.rows, final, layout))
          expect(shownWidgets(player.objects)).toEqual(expectedWidgets(final, layout))
          expect(foreignRows(player)).toEqual(foreign)
          expect(player.finalizers.found).toEqual(player.finalizers.put)
          const { steps, writes, failed } = player.kernel.recomputeAll()
          expect({ steps, writes, failed: [...failed] }).toEqual({ steps: [], writes: [], failed: [] })
          expect(player.logger.lines.filter(({ level }) => level === 'error')).toEqual([])

          const before = [player.server.transactions, player.objects.writes.length]
          await player.restart()
          await player.rest(final)
          expect([player.server.transactions, player.objects.writes.length]).toEqual(before)
        }),
        { numRuns: isDeep ? 20_000 : 100 },
      )
    },
  )

  const nobody = {
    switches: {},
    ports: {},
    groups: {},
    balancers: {},
    attached: {},
    alsoAttached: {},
    sets: {},
    addresses: {},
    settings: {},
    mappings: {},
    macs: {},
    pools: {},
    pooled: {},
    hasDhcp: false,
    option: undefined,
  }

  it('takes away a row that was given to another key while its own one wrote it, and then wanted it no more', async () => {
    const interruptions = {
      transact: [],
      // The owner of the port group is written into the DHCP options, and again when that is put right: then it waits.
      committed: Array.from({ length: 2 }, () => ({
        ...{ do: 'stranger' as const, how: 'misown' as const, draw: 1 },
      })),
      patch: [],
      patched: [],
    }
    await using player = new Player({ layout: plainLayout, order: 7, interruptions }, nobody)
    await player.play({ do: 'world', state: { ...nobody, groups: { h: true }, hasDhcp: true } })
    expect(shownRows(player.server.rows).join()).toContain('"id":"dhcp/d","owner":"f2/group/h"')
    const last: State = { ...nobody, groups: { h: true } }
    await player.rest(last)
    expect(shownRows(player.server.rows)).toEqual(expectedRows(last, plainLayout))
  })

  const kept: State = { ...nobody, switches: { blue: {} }, balancers: { m: { vips: {} } } }

  it.each([
    ['waits for them', [], ['blue'], ['blue']],
    ['had something in them', ['blue'], [], []],
  ])('looks again at who %s when rows were to go and stayed', async (_name, at, meanwhile, last) => {
    const transact = [{ do: 'nothing' as const }, { do: 'disconnect' as const }]
    const interruptions = { transact, committed: [], patch: [], patched: [] }
    const first: State = { ...kept, attached: { m: at } }
    await using player = new Player({ layout: plainLayout, order: 7, interruptions }, first)
    await player.play({ do: 'nothing' })
    expect(shownRows(player.server.rows)).toEqual(expectedRows(first, plainLayout))
    await player.play({ do: 'world', state: { ...kept, switches: {}, attached: { m: meanwhile } } })
    expect(shownRows(player.server.rows).join()).toContain('"id":"ls/blue"')
    const final: State = { ...kept, attached: { m: last } }
    await player.rest(final)
    expect(shownRows(player.server.rows)).toEqual(expectedRows(final, plainLayout))
  })

  it.each([
    ['one of two', ['w']],
    ['all', []],
  ])('takes out of a composed column what a process that died had put there: %s', async (_name, left) => {
    // Dies when it would take the first value out.
    const transact = [{ do: 'nothing' as const }, { do: 'crash' as const }]
    const interruptions = { transact, committed: [], patch: [], patched: [] }
    const contributing = (names: readonly string[]): State => ({
      ...nobody,
      sets: { s: true },
      addresses: Object.fromEntries(names.map((name) => [name, ['s']])),
    })
    const first = contributing(['v', 'w'])
    await using player = new Player({ layout: plainLayout, order: 7, interruptions }, first)
    await player.play({ do: 'nothing' })
    expect(shownRows(player.server.rows)).toEqual(expectedRows(first, plainLayout))
    await player.play({ do: 'world', state: contributing(left) })
    await player.rest(contributing(left))
    expect(shownRows(player.server.rows)).toEqual(expectedRows(contributing(left), plainLayout))
  })

  it(
    'lets no key suffer from another that the database refuses',
    { timeout: isDeep ? 3_600_000 : 120_000 },
    async () => {
      const poison = fc.subarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1 })
      await fc.assert(
        fc.asyncProperty(script, poison, async ({ layout, order, last }, poisoned) => {
          const isJoint = { ...layout.isJoint, port: false }
          const interruptions = { transact: [], committed: [], patch: [], patched: [] }
          const good = possible(last)
          const bad = Object.entries(good.ports).map(([name, port]) => {
            const isBad = port !== undefined && poisoned.includes(name)
            return [name, isBad ? { ...port, addresses: ['bad'] } : port] as const
          })
          const without = bad.map(([name, port]) => [name, port?.addresses[0] === 'bad' ? undefined : port])
          await using player = new Player({ layout: { ...layout, isJoint }, order, interruptions }, nobody)
          await player.play({ do: 'world', state: { ...good, ports: Object.fromEntries(bad) } })
          expect(shownRows(player.server.rows)).toEqual(
            expectedBeside(
              player.server.rows,
              { ...good, ports: Object.fromEntries(without) },
              { ...layout, isJoint },
            ),
          )
          await player.rest(good)
          expect(shownRows(player.server.rows)).toEqual(
            expectedBeside(player.server.rows, good, { ...layout, isJoint }),
          )
        }),
        { numRuns: isDeep ? 5_000 : 40 },
      )
    },
  )
})
