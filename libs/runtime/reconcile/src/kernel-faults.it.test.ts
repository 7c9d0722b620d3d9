import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectedBeside, expectedWidgets, shownRows } from './testing/expected.ts'
import { shownWidgets } from './testing/foreign-finalizers.ts'
import { foreignOf, RealPlayer } from './testing/real-player.ts'
import { script } from './testing/script.ts'
import { possible } from './testing/state.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

let northbound: Northbound
beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())

it(
  'makes a real database what is wanted, whatever happens on the way',
  { timeout: isDeep ? 3_600_000 : 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ scenes, last, ...rest }) => {
        await northbound.reset()
        const final = possible(last)
        await using player = await RealPlayer.start(northbound, rest, final)
        const foreign = foreignOf(player.rows)
        for (const scene of scenes) await player.play(scene)
        await player.rest(final)

        expect(shownRows(player.rows)).toEqual(expectedBeside(player.rows, final, rest.layout))
        expect(shownWidgets(player.objects)).toEqual(expectedWidgets(final, rest.layout))
        expect(player.finalizers.found).toEqual(player.finalizers.put)
        expect(foreignOf(player.rows)).toEqual(foreign)
        const { steps, writes, failed } = (await player.kernel()).recomputeAll()
        expect({ steps, writes, failed: [...failed] }).toEqual({ steps: [], writes: [], failed: [] })
        expect(player.logger.lines.filter(({ level }) => level === 'error')).toEqual([])

        const before = [await northbound.transactions(), player.objects.writes.length]
        await player.restart()
        await player.rest(final)
        expect([await northbound.transactions(), player.objects.writes.length]).toEqual(before)
      }),
      // To shrink a failure would take minutes, and a real server need not fail twice.
      { numRuns: isDeep ? 500 : 5, endOnFailure: true, plugins: [fc.timeout(60_000)] },
    )
  },
)
