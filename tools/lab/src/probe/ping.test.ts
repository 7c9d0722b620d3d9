import { describe, expect, it } from 'vitest'
import { readPing } from './ping.ts'

function output(answered: readonly number[], sent: number): string {
  return [
    'PING 10.17.0.2 (10.17.0.2) 56(84) bytes of data.',
    ...answered.map((sequence) => `64 bytes from 10.17.0.2: icmp_seq=${sequence} ttl=64 time=0.5 ms`),
    '',
    '--- 10.17.0.2 ping statistics ---',
    `${sent} packets transmitted, ${answered.length} received, 0% packet loss, time 99ms`,
  ].join('\n')
}

describe('readPing', () => {
  it('names the packets that no answer came for', () => {
    expect(readPing(output([1, 2, 4], 4))).toEqual({ sent: 4, lost: [3] })
  })

  it('leaves out the last packet, which may be under way', () => {
    expect(readPing(output([1, 2, 3], 4))).toEqual({ sent: 3, lost: [] })
  })

  it('sees that nothing was answered after some time', () => {
    expect(readPing(output([1, 2], 6))).toEqual({ sent: 5, lost: [3, 4, 5] })
  })
})
