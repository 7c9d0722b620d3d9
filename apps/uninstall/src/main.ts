/**
 * Ends an uninstallation: waits until the nodes are clean and no controller runs any more, and takes the controller's
 * finalizers off all custom resources.
 *
 * Environment: POD_NAMESPACE, the namespace of the controller; NODE_CLEANUP, the DaemonSet that cleans the nodes;
 * TIMEOUT_SECONDS, how long to wait for each. A node that is down, or a controller that does not end, delays the rest,
 * but does not prevent it.
 */
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import { removeFinalizers } from './finalizers.ts'
import { untilControllerGone, untilNodesClean } from './workloads.ts'

const namespace = process.env['POD_NAMESPACE'] ?? 'kube-system'
const nodeCleanup = process.env['NODE_CLEANUP'] ?? ''
const timeoutMs = Number(process.env['TIMEOUT_SECONDS'] ?? 120) * 1000

await using client = new KubeClient(await loadAccess(), { userAgent: 'kube-ovn-uninstall' })

if (!(await untilControllerGone(client, namespace, AbortSignal.timeout(timeoutMs)))) {
  report('warn', 'controller still runs', { namespace })
}
for (const { kind, count } of await removeFinalizers(client))
  report('info', 'finalizers removed', { kind, count })
if (
  nodeCleanup !== '' &&
  !(await untilNodesClean(client, namespace, nodeCleanup, AbortSignal.timeout(timeoutMs)))
) {
  report('warn', 'some nodes are not clean: run the clean-up there when they are back', {
    namespace,
    nodeCleanup,
  })
}

function report(level: 'info' | 'warn', msg: string, fields: object): void {
  console.log(JSON.stringify({ time: new Date().toISOString(), level, msg, app: 'uninstall', ...fields }))
}
