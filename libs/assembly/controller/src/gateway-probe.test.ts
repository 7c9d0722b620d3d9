import { parseIp } from '@kube-ovn/ip'
import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { GatewayProbe, type GatewayProbeOptions } from './gateway-probe.ts'

const roundMs = 500

/** A subnet whose gateways a test changes; all nodes answer. */
function subnetWith(...names: string[]) {
  const clock = new ManualClock()
  const asked: string[] = []
  const listeners: (() => void)[] = []
  let gateways = names
  const options = {
    derived: {
      follow: (_table: unknown, listener: () => void) => void listeners.push(listener),
      put: () => undefined,
    },
    world: {
      ipam: { lease: () => ({ v4: parseIp('100.64.0.2') }) },
      nodes: { get: () => undefined },
      gatewayStates: { scan: () => [{ published: { gateways: gateways.map((node) => ({ node })) } }] },
      gatewayCandidates: { keys: () => ['n1', 'n2', 'n3'] },
    },
    record: () => undefined,
    ...{ clock, log: recordingLogger() },
    async ask(address: string) {
      asked.push(address)
      return true
    },
  } as unknown as GatewayProbeOptions
  return {
    probe: new GatewayProbe(options),
    change(...others: string[]): void {
      gateways = others
      for (const listener of listeners) listener()
    },
    /** How many nodes are asked in the next round. */
    async round(): Promise<number> {
      asked.length = 0
      clock.advance(roundMs)
      await nextTurn()
      return asked.length
    },
  }
}

it('asks gateways and a witness, and nobody while there is no choice', async () => {
  const subnet = subnetWith('n1', 'n2')
  using probe = subnet.probe
  probe.start()
  expect(await subnet.round()).toBe(3)
  subnet.change('n1')
  expect([await subnet.round(), await subnet.round()]).toEqual([0, 0])
  subnet.change('n1', 'n2')
  expect(await subnet.round()).toBe(3)
})

it('asks again those between whom there is a choice since a round began in which nobody was asked', async () => {
  const subnet = subnetWith('n1', 'n2')
  using probe = subnet.probe
  probe.start()
  await subnet.round()
  subnet.change('n1')
  expect(await subnet.round()).toBe(0)
  subnet.change('n1', 'n2')
  expect([await subnet.round(), await subnet.round()]).toEqual([3, 3])
})
