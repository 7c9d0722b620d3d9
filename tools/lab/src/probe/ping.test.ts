import { describe, expect, it } from 'vitest'
import { readPing } from './ping.ts'

function output(answered: readonly number[]): string {
  return [
    'PING 10.17.0.2 (10.17.0.2) 56(84) bytes of data.',
    ...answered.map((sequence) => `64 bytes from 10.17.0.2: icmp_seq=${sequence} ttl=64 time=0.5 ms`),
  ].join('\n')
}

describe('readPing', () => {
  it('names the packets that no answer came for', () => {
    expect(readPing(output([1, 2, 4]), 4)).toEqual({ sent: 4, lost: [3] })
  })

  it('leaves out packets that were sent later', () => {
    expect(readPing(output([1, 2, 3, 5]), 3)).toEqual({ sent: 3, lost: [] })
  })

  it('takes an answer that comes late, and none for a packet of which ping only says that it has none', () => {
    const late = `${output([1])}\nno answer yet for icmp_seq=2\nno answer yet for icmp_seq=3\n${output([2])}`
    expect(readPing(late, 3)).toEqual({ sent: 3, lost: [3] })
  })
})
