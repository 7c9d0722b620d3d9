import type { Clock } from '@kube-ovn/time'
import { AttachmentError } from '../errors.ts'
import { GatewayCheck } from '../gateway-check.ts'
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

function silence(pod: string, subnet: string, silent: ReadonlySet<string>): AttachmentError {
  const reason =
    `gateway ${[...silent].join(' and ')} of Subnet ${subnet} has not answered for ${gatewayTimeoutMs / 1000} s: ` +
    'connect it to the VLAN of the Subnet, or set spec.disableGatewayCheck of that'
  return new AttachmentError({ pod, stage: 'configure-nic', reason })
}
