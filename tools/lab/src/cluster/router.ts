import { insideContainer, runAt, type Place } from '../namespaces.ts'
import { startMachine } from './machine.ts'
import { routerName } from './names.ts'
import { attachToPhysicalNetwork, type PhysicalNetwork } from './physical-network.ts'
import { networkBehind } from './router-configuration.ts'
import { addressesOf, routerHost, type AddressPair, type Blocks, type RoutingDaemon } from './topology.ts'
import type { Container } from '../docker/container.ts'

/** A router on the physical network, in an autonomous system of its own. */
export interface Router {
  readonly name: string
  readonly daemon: RoutingDaemon
  readonly container: Container
  readonly place: Place
  /** On the physical network. */
  readonly addresses: AddressPair
  /** Its address in the network behind it, which it announces; what reaches it has learned the way. */
  readonly behind: AddressPair
}

/** Starts every router whose files are written, and plugs it in. */
export function startRouters(network: PhysicalNetwork, image: string): Promise<readonly Router[]> {
  const { topology, blocks } = network
  return Promise.all(
    topology.routers.map(async (daemon, index) => {
      const name = routerName(index)
      const host = routerHost(index)
      const container = await startMachine(topology, blocks, image, { name, host })
      const router = describeRouter(blocks, daemon, index, container)
      await attachToPhysicalNetwork(network, { container, name, host, nics: 1, isLedOutside: false })
      await runAt(router.place, ['ip', '-batch', '-'], {
        input: `address add ${router.behind.ipv4}/24 dev lo\naddress add ${router.behind.ipv6}/64 dev lo\n`,
      })
      return router
    }),
  )
}

/** Where the router of a container is to be found. */
export function describeRouter(
  blocks: Blocks,
  daemon: RoutingDaemon,
  index: number,
  container: Container,
): Router {
  return {
    name: routerName(index),
    daemon,
    container,
    place: insideContainer(container),
    addresses: addressesOf(blocks, 'physical', routerHost(index)),
    behind: networkBehind(index).address,
  }
}
