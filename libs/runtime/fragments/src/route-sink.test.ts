import { silentLogger } from '@kube-ovn/log'
import type { LinkInfo, NetlinkEvent, Route } from '@kube-ovn/netlink'
import { expect, it } from 'vitest'
import { RouteSink } from './route-sink.ts'

const held: Route = {
  ...{ destination: '10.16.0.0/16', family: 'ipv4', type: 'unicast', index: 2, gateway: '192.0.2.1' },
  ...{ scope: 0, protocol: 4, metric: 0, table: 254 },
}

it.each([
  [{ index: 2, name: 'eth0' }, ['eth0', 'ovn0']],
  [{ index: 3, name: 'eth1' }, ['eth1']],
])(
  'looks again when the link that holds a destination changes, for it may have lost it in silence: %o',
  (link, told) => {
    let tell: (event: NetlinkEvent) => void = () => undefined
    const sink = new RouteSink({
      host: {
        link: () => ({ index: 7, name: 'ovn0' }) as LinkInfo,
        addresses: () => [],
        routes: () => [held],
        replaceRoute: () => undefined,
        removeRoute: () => undefined,
      },
      onEvent(listener) {
        tell = listener
        return { [Symbol.dispose]: () => undefined }
      },
      log: silentLogger,
    })
    const heard: (string | undefined)[] = []
    using _watch = sink.watch((target) => heard.push(target))
    const fragment = { link: 'ovn0', routes: [{ destination: '10.16.0.0/16', scope: 253 }] }
    expect(
      sink.plan('ovn0', { claims: [{ owner: 'node-nic/node', fragment }], isComplete: true }).changes,
    ).toEqual([])
    tell({ kind: 'link', change: 'set', link: { ...link, isUp: false } as LinkInfo })
    expect(heard).toEqual(told)
  },
)
