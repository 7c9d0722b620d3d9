import type { Logger } from '@kube-ovn/log'
import { answerPorts } from '@kube-ovn/probes'
import { bindAddresses } from '@kube-ovn/process'
import type { AgentConfig } from './config.ts'

/**
 * Answers pingers that try a TCP and a UDP port of this node, until it is disposed of.
 *
 * A port that somebody else has is a line of the log: pods get their network all the same.
 */
export async function answerConnectionChecks(
  config: Pick<
    AgentConfig,
    'enableVerboseConnCheck' | 'tcpConnCheckPort' | 'udpConnCheckPort' | 'enableBindLocalIp' | 'podIps'
  >,
  log: Logger,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const { tcpConnCheckPort: tcpPort, udpConnCheckPort: udpPort } = config
  const addresses = config.enableVerboseConnCheck
    ? bindAddresses(config.enableBindLocalIp, config.podIps)
    : []
  for (const address of addresses) {
    try {
      stack.use(await answerPorts({ address, tcpPort, udpPort }))
      log.info('connection checks answered', { address, tcpPort, udpPort })
    } catch (err) {
      const cure = 'free these ports, or give others by --tcp-conn-check-port and --udp-conn-check-port'
      log.error('connection checks are not answered', { address, tcpPort, udpPort, cure, err })
    }
  }
  return stack.move()
}
