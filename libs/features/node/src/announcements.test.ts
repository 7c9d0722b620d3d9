import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, expect, it } from 'vitest'
import { Announcements } from './announcements.ts'

let clock: ManualClock
let announced: string[]
let failures: number
let log: ReturnType<typeof recordingLogger>

beforeEach(() => {
  clock = new ManualClock()
  announced = []
  failures = 0
  log = recordingLogger()
})

function announcements(): Announcements {
  return new Announcements({ clock, log, onAnnounceFailed: () => failures++ })
}

function say(what: string): () => void {
  return () => void announced.push(what)
}

it('announces at once, a quarter of a second later, and after two seconds', () => {
  using all = announcements()
  all.announce('a_h', say('a'))
  expect(announced).toEqual(['a'])
  clock.advance(249)
  expect(announced).toEqual(['a'])
  clock.advance(1)
  expect(announced).toEqual(['a', 'a'])
  clock.advance(1_749)
  expect(announced).toEqual(['a', 'a'])
  clock.advance(1)
  expect(announced).toEqual(['a', 'a', 'a'])
  expect(clock.pendingTimers).toBe(0)
})

it('says nothing more of what a link had before', () => {
  using all = announcements()
  all.announce('a_h', say('old'))
  all.announce('a_h', say('new'))
  clock.advance(2_000)
  expect(announced).toEqual(['old', 'new', 'new', 'new'])
})

it('says nothing more of a link that is removed, nor after the end', () => {
  const all = announcements()
  all.announce('a_h', say('a'))
  all.announce('b_h', say('b'))
  all.cancel('a_h')
  expect(clock.pendingTimers).toBe(2)
  all[Symbol.dispose]()
  expect(clock.pendingTimers).toBe(0)
})

it('logs and counts what could not be announced, and tries it again', () => {
  using all = announcements()
  let refusal: Error | undefined = new Error('no buffers')
  all.announce('a_h', () => {
    if (refusal !== undefined) throw refusal
    announced.push('a')
  })
  expect([failures, announced]).toEqual([1, []])
  expect(log.lines).toMatchObject([{ level: 'warn', message: 'addresses were not announced' }])
  refusal = undefined
  clock.advance(250)
  expect(announced).toEqual(['a'])
})
