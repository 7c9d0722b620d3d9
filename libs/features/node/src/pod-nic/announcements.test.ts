import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, expect, it } from 'vitest'
import { Announcements } from './announcements.ts'
import type { DesiredAttachment } from './desired.ts'
import type { AnnouncingKernel } from './link.ts'

const wanted: DesiredAttachment = {
  ...{ hostName: 'a_h', ifName: 'eth0', netns: '/run/netns/web', mac: '00:00:00:00:16:05', mtu: 1400 },
  ...{ addresses: ['10.16.0.5/16', 'fd00:10:16::5/112'], routes: [] },
  ...{ disablesTxChecksumOffload: false, externalIds: {} },
}

let clock: ManualClock
let announced: string[]
let refusal: Error | undefined
let failures: number
let log: ReturnType<typeof recordingLogger>

beforeEach(() => {
  clock = new ManualClock()
  announced = []
  refusal = undefined
  failures = 0
  log = recordingLogger()
})

function announcements(): Announcements {
  const inside = {
    link: () => ({ index: 7 }),
    sendFrames: () => undefined,
    [Symbol.dispose]: () => undefined,
  }
  const kernel: AnnouncingKernel = {
    open: () => inside,
    announce(_inside, { index, mac, ips }) {
      if (refusal !== undefined) throw refusal
      announced.push([index, mac, ...ips].join(' '))
    },
  }
  return new Announcements({ kernel, clock, log, reporter: { announceFailed: () => failures++ } })
}

it('announces all addresses at once, a quarter of a second later, and after two seconds', () => {
  using all = announcements()
  all.announce(wanted)
  const told = '7 00:00:00:00:16:05 10.16.0.5 fd00:10:16::5'
  expect(announced).toEqual([told])
  clock.advance(249)
  expect(announced).toEqual([told])
  clock.advance(1)
  expect(announced).toEqual([told, told])
  clock.advance(1_749)
  expect(announced).toEqual([told, told])
  clock.advance(1)
  expect(announced).toEqual([told, told, told])
  expect(clock.pendingTimers).toBe(0)
})

it('says nothing more of a pod that is removed, nor after the end', () => {
  const all = announcements()
  all.announce(wanted)
  all.announce({ ...wanted, hostName: 'b_h' })
  all.cancel('a_h')
  expect(clock.pendingTimers).toBe(2)
  all[Symbol.dispose]()
  expect(clock.pendingTimers).toBe(0)
})

it('logs and counts what could not be announced, and tries it again', () => {
  using all = announcements()
  refusal = new Error('no buffers')
  all.announce(wanted)
  expect([failures, announced]).toEqual([1, []])
  expect(log.lines).toMatchObject([{ level: 'warn', message: 'addresses were not announced' }])
  refusal = undefined
  clock.advance(250)
  expect(announced).toHaveLength(1)
})
