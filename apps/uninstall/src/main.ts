/**
 * Ends an uninstallation: waits until the nodes are clean and no controller runs any more, and takes the controller's
 * finalizers off all custom resources.
 *
 * A node that is down, or a controller that does not end, delays the rest, but does not prevent it.
 */
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import { createLogger, processConfig } from '@kube-ovn/process'
import { command } from './config.ts'
import { removeFinalizers } from './finalizers.ts'
import { untilControllerGone, untilNodesClean } from './workloads.ts'

const { podNamespace: namespace, nodeCleanup, timeoutSeconds, v } = processConfig(command)
const log = createLogger({ app: 'uninstall', verbosity: v })
await using client = new KubeClient(await loadAccess(), { userAgent: 'kube-ovn-uninstall', repeats: 5 })

function deadline(): AbortSignal {
  return AbortSignal.timeout(Math.max(0, timeoutSeconds) * 1000)
}

if (!(await untilControllerGone(client, log, namespace, deadline()))) {
  log.warn('controller still ran after the time to wait', { namespace })
}
for (const { kind, count } of await removeFinalizers(client)) log.info('finalizers removed', { kind, count })
if (nodeCleanup !== '') {
  const isClean = await untilNodesClean(client, log, { namespace, name: nodeCleanup }, deadline())
  // Those that are down keep what they have; the chart's README tells what to run there.
  if (isClean) log.info('nodes cleaned', { namespace, nodeCleanup })
  else log.warn('some nodes were not cleaned', { namespace, nodeCleanup })
}
