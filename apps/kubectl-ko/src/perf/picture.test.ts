import { expect, it } from 'vitest'
import { drawPerf, rateText, timeText, type PerfRow } from './picture.ts'

const row: PerfRow = {
  ...{ path: 'pod', size: 64, tcpLatencySeconds: 0.0001, tcpBitsPerSecond: 2e9 },
  ...{ udpLatencySeconds: 0.002, udpLostRatio: 0.25, udpBitsPerSecond: 5e6 },
}

it('draws a bar for each path and size, the longest as long as there is room', () => {
  const { udpLatencySeconds: _, ...silent } = row
  const svg = drawPerf([row, { ...silent, path: 'service', tcpBitsPerSecond: 1e9 }], 'From <a> to b')
  expect(svg).toContain('<title>From &lt;a&gt; to b</title>')
  // Two paths, four figures, and two squares that say which is which.
  expect(svg.match(/<rect [^>]*fill="#(1c7ed6|9c36b5)"/g)).toHaveLength(10)
  expect(svg).toContain('>2.00 Gbit/s<')
  expect(svg).toContain('>nothing came back<')
  const lengths = [...svg.matchAll(/width="([\d.]+)" height="14"/g)].map(([, length]) => Number(length))
  expect(Math.max(...lengths)).toBe(250)
  expect(lengths).toContain(125)
})

it('writes figures with the unit that fits', () => {
  expect([0.00004, 0.5].map(timeText)).toEqual(['40.0 us', '500.00 ms'])
  expect([1, 3e6, 4.5e10].map(rateText)).toEqual(['0.00 kbit/s', '3.00 Mbit/s', '45.00 Gbit/s'])
})
