import type { Check, CheckRow, Cluster } from '@kube-ovn/lab'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findFailures } from './check-failures.ts'

/** What can not be reached has no foreign rows either, which is found out first. */
const unreachable = {} as Cluster

function row(isOk: boolean): CheckRow {
  return { name: 'a claim', expected: 'yes', seen: isOk ? 'yes' : 'no', isOk }
}

/** A check that holds from the given time on. */
function holdsFrom(name: string, time: number): Check {
  let times = 0
  return { name, run: () => Promise.resolve([row(++times >= time)]) }
}

it('forgives what holds alone, and neither what does not nor what can not be tried again', async () => {
  const said = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => said.mockRestore())
  const checks = [holdsFrom('sound', 1), holdsFrom('crowded', 2), holdsFrom('broken', 3)]
  expect(await findFailures(unreachable, checks)).toEqual([
    expect.stringMatching(
      /^foreign rows are made: the check could be carried out: expected carried out, saw /,
    ),
    'broken: a claim: expected yes, saw no',
  ])
  expect(said.mock.calls.flat()).toContain('tried again: crowded: a claim: expected yes, saw no')
})
