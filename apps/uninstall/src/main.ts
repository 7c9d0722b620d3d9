/**
 * Ends an uninstallation: waits until the nodes are clean and no controller runs any more, and takes the controller's
 * finalizers off all custom resources.
 *
 * Environment: POD_NAMESPACE, the namespace of the controller; NODE_CLEANUP, the DaemonSet that cleans the nodes;
 * TIMEOUT_SECONDS, how long to wait for each. A node that is down, or a controller that does not end, delays the rest,
 * but does not prevent it.
 */
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import { createLogger } from '@kube-ovn/process'
import { removeFinalizers } from './finalizers.ts'
import { untilControllerGone, untilNodesClean } from './workloads.ts'

const namespace = process.env['POD_NAMESPACE'] ?? 'kube-system'
const nodeCleanup = process.env['NODE_CLEANUP'] ?? ''
const timeoutMs = Number(process.env['TIMEOUT_SECONDS'] ?? 120) * 1000

const log = createLogger({ app: 'uninstall', verbosity: 0 })
await using client = new KubeClient(await loadAccess(), { userAgent: 'kube-ovn-uninstall' })

if (!(await untilControllerGone(client, namespace, AbortSignal.timeout(timeoutMs)))) {
  log.warn('controller still ran after the time to wait', { namespace })
}
for (const { kind, count } of await removeFinalizers(client)) log.info('finalizers removed', { kind, count })
if (nodeCleanup !== '') {
  const isClean = await untilNodesClean(client, namespace, nodeCleanup, AbortSignal.timeout(timeoutMs))
  // Those that are down keep what they have; the chart's README tells what to run there.
  if (isClean) log.info('nodes cleaned', { namespace, nodeCleanup })
  else log.warn('some nodes were not cleaned', { namespace, nodeCleanup })
}
