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
  const silent = new Set<string>()
  const listeners: ((changed: ReadonlySet<string>) => void)[] = []
  let gateways = names
  let healthy = ['n1', 'n2', 'n3']
  let gone: readonly string[] = []
  const addressOf = (node: string): string => `100.64.0.${node.slice(1)}`
  const options = {
    derived: {
      follow: (_table: unknown, listener: (typeof listeners)[0]) => void listeners.push(listener),
      put: (_table: unknown, node: string, isSilent?: true) =>
        void (isSilent === true ? silent.add(node) : silent.delete(node)),
    },
    world: {
      ipam: { lease: (port: string) => ({ v4: parseIp(addressOf(port.slice('node-'.length))) }) },
      nodes: { get: () => undefined },
      gatewayStates: { scan: () => [{ published: { gateways: gateways.map((node) => ({ node })) } }] },
      gatewayCandidates: {
        keys: () => healthy,
        get: (node: string) => ({ isHealthy: healthy.includes(node) }),
      },
    },
    record: () => undefined,
    ...{ clock, log: recordingLogger() },
    async ask(address: string) {
      asked.push(address)
      return !gone.some((node) => addressOf(node) === address)
    },
  } as unknown as GatewayProbeOptions
  const tell = (...changed: string[]): void => {
    for (const listener of listeners) listener(new Set(changed))
  }
  return {
    probe: new GatewayProbe(options),
    silent,
    change(...others: string[]): void {
      gateways = others
      tell()
    },
    /** These answer no more. */
    lose(...nodes: string[]): void {
      gone = nodes
    },
    /** The cluster takes these alone for ready. */
    heal(...nodes: string[]): void {
      const changed = ['n1', 'n2', 'n3'].filter((node) => nodes.includes(node) !== healthy.includes(node))
      healthy = nodes
      tell(...changed)
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

it('notices who is gone since nobody was asked, unless the cluster had noticed that as well', async () => {
  const subnet = subnetWith('n1', 'n2')
  using probe = subnet.probe
  probe.start()
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) await subnet.round()
  }
  await rounds(2)
  subnet.change('n1')
  await rounds(2)
  subnet.lose('n2')
  subnet.change('n1', 'n2')
  await rounds(5)
  expect([...subnet.silent]).toEqual(['n2'])
  subnet.heal('n1', 'n3')
  await rounds(2)
  expect([...subnet.silent]).toEqual([])
  subnet.heal('n1', 'n2', 'n3')
  await rounds(9)
  expect([...subnet.silent]).toEqual([])
})
