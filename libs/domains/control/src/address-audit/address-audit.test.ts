import { recordingLogger } from '@kube-ovn/log'
import type { AuditOutcome } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { AddressAudit } from './address-audit.ts'
import { findingOf, type Finding } from './finding.ts'

function unheld(name: string): Finding {
  const source = 'logical switch port'
  return findingOf({ rule: 'unheld', subnet: 's', name, source, value: '10.0.0.9', owners: [`port/${name}`] })
}

/** A step after which some time has passed. */
interface Step {
  readonly ms: number
}

/** An audit every second, of steps that take as long as they say. */
function scene() {
  const clock = new ManualClock()
  const log = recordingLogger()
  const outcomes: AuditOutcome[] = []
  let failures = 0
  let takenSteps = 0
  let script: { readonly steps: readonly Step[]; readonly found: readonly Finding[] | Error }
  function* steps(): Generator<void, readonly Finding[], undefined> {
    const { steps, found } = script
    for (const { ms } of steps) {
      takenSteps++
      spentMs += ms
      yield
    }
    if (found instanceof Error) throw found
    return found
  }
  // Time that passes while the event loop is busy: no timer fires meanwhile.
  let spentMs = 0
  const busyClock = {
    now: () => clock.now() + spentMs,
    monotonic: () => clock.monotonic() + spentMs,
    setTimer: (delayMs: number, callback: () => void) => clock.setTimer(delayMs, callback),
  }
  let isEnded = false
  const metrics = {
    audited: (outcome: AuditOutcome) => void outcomes.push(outcome),
    failed: () => void failures++,
    ended: () => void (isEnded = true),
  }
  const audit = new AddressAudit({ steps, clock: busyClock, log, metrics, intervalMs: 1000 })
  return {
    audit,
    clock,
    outcomes,
    failures: () => failures,
    isEnded: () => isEnded,
    takenSteps: () => takenSteps,
    told: () =>
      log.lines.map(({ level, message, fields }) => `${level} ${message} ${fields['name'] ?? ''}`.trim()),
    /** One audit that finds this. */
    find(found: readonly Finding[] | Error, steps: readonly Step[] = []): void {
      script = { steps, found }
      clock.advance(1000)
    },
  }
}

it('tells what two audits in a row found, once, and when it is gone', () => {
  const { audit, find, told, outcomes } = scene()
  audit.start()
  find([unheld('a'), unheld('passing')])
  expect(told()).toEqual([])
  find([unheld('a')])
  expect(told()).toEqual(['error address finding appeared a'])
  expect(outcomes.at(-1)?.standing.get('unheld')).toBe(1)
  expect(outcomes.at(-1)?.standing.get('held-twice')).toBe(0)
  find([unheld('a'), unheld('b')])
  find([unheld('b')])
  expect(told().slice(1)).toEqual(['error address finding appeared b', 'info address finding gone a'])
  find([])
  find([])
  expect(told().slice(3)).toEqual(['info address finding gone b'])
  expect(outcomes.at(-1)?.standing.get('unheld')).toBe(0)
})

it('does a few milliseconds of work at a time, and rests between them', () => {
  const { audit, find, clock, outcomes, takenSteps } = scene()
  audit.start()
  find(
    [],
    [2, 2, 2, 2, 40, 1].map((ms) => ({ ms })),
  )
  expect(takenSteps()).toBe(3)
  clock.advance(19)
  expect(takenSteps()).toBe(3)
  clock.advance(1)
  expect(takenSteps()).toBe(5)
  expect(outcomes).toEqual([])
  clock.advance(20)
  expect(takenSteps()).toBe(6)
  expect(outcomes).toMatchObject([{ workMs: 49, longestSliceMs: 42, endedAtMs: clock.now() + 49 }])
})

it('keeps the log short when very much is wrong', () => {
  const { audit, find, told } = scene()
  const many = Array.from({ length: 60 }, (_, n) => unheld(`n${n}`))
  audit.start()
  find(many)
  find(many)
  expect(told()).toHaveLength(51)
  expect(told().at(-1)).toBe('error more address findings appeared')
  find([])
  expect(told()).toHaveLength(102)
})

it('goes on after an audit that failed, and ends when it is disposed', () => {
  const { audit, find, told, failures, isEnded, outcomes, clock } = scene()
  audit.start()
  find(new Error('a defect'))
  expect(failures()).toBe(1)
  expect(told()).toEqual(['error address audit failed'])
  find([])
  expect(outcomes).toHaveLength(1)
  audit[Symbol.dispose]()
  expect(clock.pendingTimers).toBe(0)
  expect(isEnded()).toBe(true)
})
