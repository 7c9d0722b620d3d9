import { describe, expect, it } from 'vitest'
import { allowed, hostileTexts, timesLonger } from './cost.ts'

const json = `[${(hostileTexts['IPv4 addresses'] ?? '').replaceAll(/[^,]+/g, '"$&"')}]`

function reading(times: number): () => void {
  return () => {
    for (let time = 0; time < times; time++) JSON.parse(json)
  }
}

describe('timesLonger', { timeout: 600_000 }, () => {
  it('sees that too much is done', () => {
    expect(timesLonger(reading(2 * allowed.times), json)).toBeGreaterThan(allowed.times)
  })

  it('sees that it is not', () => {
    expect(timesLonger(reading(allowed.times / 2), json)).toBeLessThan(allowed.times)
  })

  it('does not count the time in which others have the processor', () => {
    const nobody = new Int32Array(new SharedArrayBuffer(4))
    const waiting = (): void => {
      Atomics.wait(nobody, 0, 0, 50)
    }
    expect(timesLonger(waiting, json, { most: 1 })).toBeLessThan(1)
  })

  it('makes the work possible again, each time', () => {
    let [done, isDone] = [0, false]
    const work = (): void => {
      expect(isDone).toBe(false)
      isDone = true
      done += 1
      reading(1)()
    }
    expect(timesLonger(work, json, { most: 0, undo: () => (isDone = false) })).toBeGreaterThan(0)
    expect(done).toBeGreaterThan(1)
  })
})
