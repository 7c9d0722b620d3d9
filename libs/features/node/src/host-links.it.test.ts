import { silentLogger } from '@kube-ovn/log'
import { openNetlink } from '@kube-ovn/netlink'
import { systemClock } from '@kube-ovn/process'
import { missingForNamespaces, openTestNetwork } from '@kube-ovn/testing-net'
import { expect, it } from 'vitest'
import { HostEvents } from './host-events.ts'
import { HostLinks } from './host-links.ts'

const missing = missingForNamespaces()

it.skipIf(missing)(
  `a link that is down leads nowhere, although Linux tells nothing of its routes${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using network = openTestNetwork()
    const namespace = network.namespace('host')
    const ip = (...args: readonly string[]): string => namespace.run('ip', ...args)
    ip('link', 'add', 'eth1', 'type', 'bridge')
    // With an IPv6 address of its own, the end of that is told.
    ip('link', 'set', 'eth1', 'addrgenmode', 'none')
    ip('link', 'set', 'eth1', 'up')
    ip('addr', 'add', '10.99.0.2/24', 'dev', 'eth1')
    ip('route', 'add', 'default', 'via', '10.99.0.1')
    using host = openNetlink({ netns: namespace.path })
    using events = new HostEvents(host)
    using links = new HostLinks({
      ...{ host, clock: systemClock, log: silentLogger, random: () => 0.5, onChange: () => undefined },
      onEvent: (listener) => events.listen(listener),
    })
    const ways = (): unknown => links.rows.get('eth1')?.defaultRoutes
    expect(ways()).toEqual(['ipv4'])
    ip('link', 'set', 'eth1', 'down')
    await expect.poll(ways).toEqual([])
  },
)
