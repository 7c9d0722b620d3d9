import { answerPorts } from '@kube-ovn/probes'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { isGood } from './outcome.ts'
import type { NamedPort } from './targets.ts'
import { tryPorts } from './try-ports.ts'

const address = '127.0.0.1'
const timeoutMs = 1000

it('is not held up by ports that do not answer, and tells of each in its order', async () => {
  await using ports = await answerPorts({ address, tcpPort: 0, udpPort: 0 })
  const silent = createSocket('udp4')
  silent.bind(0, address)
  await once(silent, 'listening')
  const common = { check: 'pod-udp', name: 'pinger-1', protocol: 'udp', address } as const
  const targets = Array.from({ length: 12 }, (_, index) => ({
    ...common,
    port: index % 4 === 0 ? silent.address().port : ports.udpPort,
  }))
  const [first, ...others] = targets
  if (first === undefined) return expect.unreachable()
  const timed = async (some: readonly NamedPort[]) => {
    const startedMs = performance.now()
    const outcomes = await tryPorts(some, { timeoutMs, atATime: 4 })
    return { outcomes, ms: performance.now() - startedMs }
  }
  const one = await timed([first])
  const { outcomes, ms } = await timed([first, ...others])
  // There are three that do not, and one after the other they took three times as long as one.
  expect(ms).toBeLessThan(2.5 * one.ms)
  expect(outcomes.map(isGood)).toEqual(targets.map(({ port }) => port === ports.udpPort))
  expect(await tryPorts([], { timeoutMs, atATime: 4 })).toEqual([])
  silent.close()
})
