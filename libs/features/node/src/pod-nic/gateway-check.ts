import type { NeighbourInfo, Netlink } from '@kube-ovn/netlink'
import type { Clock } from '@kube-ovn/time'
import { AttachmentError } from '../errors.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import type { Kernel } from './link.ts'

/** How long a gateway may stay away; the runtime tries again after. */
const gatewayTimeoutMs = 30_000

/** The gateways of a pod's interface that are machines of the physical network. */
export interface PhysicalGateways {
  readonly pod: string
  readonly subnet: string
  readonly netns: string
  readonly ifName: string
  /** In canonical form. */
  readonly gateways: readonly string[]
}

/**
 * Resolves when every gateway has told its MAC address to the pod, by ARP or NDP, so that the pod starts only where its packets arrive.
 *
 * The pod's kernel asks, which knows the answer then; nothing is polled. Where the gateway is a router of OVN there is nothing to ask for:
 * that answers as soon as the flows of the port are there.
 *
 * @throws AttachmentError naming the gateways that kept silent
 */
export async function awaitGateways(
  kernel: Pick<Kernel, 'open'>,
  clock: Clock,
  { pod, subnet, netns, ifName, gateways }: PhysicalGateways,
  signal: AbortSignal,
): Promise<void> {
  if (gateways.length === 0) return
  using inside = kernel.open({ netns })
  const index = inside.link(ifName)?.index
  if (index === undefined) throw new TypeError(`${ifName} vanished from ${netns}`)
  const check = new GatewayCheck(inside, index, gateways)
  await withinMs(
    clock,
    gatewayTimeoutMs,
    signal,
    () => silence(pod, subnet, check.silent),
    (bounded) =>
      waitUntil(
        () => check.isOver(),
        (recheck) => [check.ask(recheck)],
        bounded,
      ),
  )
}

/** Has the kernel ask for addresses, which gives up after three questions, until all have answered. */
class GatewayCheck {
  readonly silent: Set<string>
  readonly #inside: Netlink
  readonly #index: number
  /** Why the kernel can not be asked, such as when the interface is gone. */
  #failure: Error | undefined

  constructor(inside: Netlink, index: number, addresses: readonly string[]) {
    this.silent = new Set(addresses)
    this.#inside = inside
    this.#index = index
  }

  /** Calls the function when there may be an end to it. */
  ask(recheck: () => void): Disposable {
    const look = (action: () => void): void => {
      try {
        action()
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new TypeError(String(error))
      }
      recheck()
    }
    const watch = this.#inside.watch({ neighbours: true }, (event) => {
      if (event.kind === 'resync') look(() => this.#askAll())
      if (event.kind === 'neighbour') look(() => this.#hear(event.neighbour))
    })
    look(() => this.#askAll())
    return watch
  }

  /** @throws what keeps the kernel from asking */
  isOver(): true | undefined {
    if (this.#failure !== undefined) throw this.#failure
    return this.silent.size === 0 ? true : undefined
  }

  #askAll(): void {
    for (const neighbour of this.#inside.neighbours(this.#index))
      if (isAnswer(neighbour)) this.silent.delete(neighbour.address)
    for (const address of this.silent) this.#inside.resolveNeighbour(this.#index, address)
  }

  #hear(neighbour: NeighbourInfo): void {
    const { index, address, state } = neighbour
    if (index !== this.#index || !this.silent.has(address)) return
    if (isAnswer(neighbour)) this.silent.delete(address)
    else if (state === 'failed') this.#inside.resolveNeighbour(index, address)
  }
}

function isAnswer({ mac, state }: NeighbourInfo): boolean {
  return mac !== undefined && state !== 'failed' && state !== 'incomplete' && state !== 'none'
}

function silence(pod: string, subnet: string, silent: ReadonlySet<string>): AttachmentError {
  const reason =
    `gateway ${[...silent].join(' and ')} of Subnet ${subnet} has not answered for ${gatewayTimeoutMs / 1000} s: ` +
    'connect it to the VLAN of the Subnet, or set spec.disableGatewayCheck of that'
  return new AttachmentError({ pod, stage: 'configure-nic', reason })
}
