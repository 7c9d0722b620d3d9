import { ProbationFiles } from '@kube-ovn/fragments'
import type { Logger } from '@kube-ovn/log'
import type { Netlink } from '@kube-ovn/netlink'
import type { Clock } from '@kube-ovn/time'
import { HostEvents } from '../host-events.ts'
import type { LocalOvs } from '../local-ovs.ts'
import { ProviderBridgeSink } from './bridge-sink.ts'
import { isKeptNic } from './nic-moves.ts'
import type { Lifelines } from './lifelines.ts'
import { Obstacles } from './obstacles.ts'

/** Where it is noted what NICs had. Ends with the machine, as do the addresses of its links. */
export const probationFolder = '/run/openvswitch/kube-ovn-nics'

interface GiveBackOptions {
  readonly ovs: LocalOvs
  readonly host: Netlink
  readonly clock: Clock
  readonly log: Logger
}

/** Nothing is moved into a bridge any more. */
const noLifelines: Lifelines = { answering: async () => [], answered: async () => undefined }

/** Takes every NIC out of the bridge of its physical network, with what the bridge has. For an uninstallation only. */
export async function giveNicsBack({ ovs, host, clock, log }: GiveBackOptions): Promise<void> {
  using events = new HostEvents(host)
  const probations = new ProbationFiles(probationFolder, isKeptNic, log)
  using sink = new ProviderBridgeSink({
    ...{ ovs, host, probations, clock, log },
    ...{ lifelines: noLifelines, obstacles: new Obstacles() },
    onEvent: (listener) => events.listen(listener),
    takeArrived: () => events.takeArrived(),
  })
  for (const network of sink.owned()) {
    try {
      const { changes, carryOut } = sink.plan(network, { claims: [], isComplete: true })
      await carryOut()
      log.info('interface given back', { network, changes })
    } catch (error) {
      log.warn('interface was not given back', { network, err: error })
    }
  }
}
