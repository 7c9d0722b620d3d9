import type { Flow, Flows } from '@kube-ovn/netlink'
import { expect, it } from 'vitest'
import { StaleFlowSink, type FlowFrontends } from './stale-flow-sink.ts'

const frontends: FlowFrontends = {
  byAddress: { '10.96.0.10:53': ['10.16.0.3:53'] },
  ...{ byNodePort: {}, services: [], local: [], others: [] },
}

const stale: Flow = {
  destination: { address: '10.96.0.10', port: 53 },
  answeredBy: { address: '10.16.0.2', port: 53 },
  ...{ family: 2, original: Buffer.alloc(0) },
}

it.each(['listUdp', 'forget'] as const)(
  'looks again for as long as the kernel refuses %s',
  async (refused) => {
    const forgotten: Flow[] = []
    let refusals = 3
    function mayFail(what: 'listUdp' | 'forget'): void {
      if (what === refused && refusals-- > 0) throw new Error('ENOBUFS')
    }
    const flows: Flows = {
      listUdp() {
        mayFail('listUdp')
        return forgotten.length === 0 ? [stale] : []
      },
      forget(flow) {
        mayFail('forget')
        forgotten.push(flow)
      },
      [Symbol.dispose]: () => undefined,
    }
    const sink = new StaleFlowSink(flows, { watch: () => ({ [Symbol.dispose]: () => undefined }) })
    const wanted = { claims: [{ owner: 'services/node', fragment: frontends }], isComplete: true }
    const work = async (): Promise<void> => sink.plan('udp', wanted).carryOut()
    for (let attempt = 0; attempt < 3; attempt++) await expect(work()).rejects.toThrow('ENOBUFS')
    await work()
    expect(forgotten).toEqual([stale])
  },
)
