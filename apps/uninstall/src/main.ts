/**
 * Takes the controller's finalizers off all custom resources, once no controller is left that would put them back.
 *
 * Environment: POD_NAMESPACE, the namespace of the controller.
 */
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import { removeFinalizers } from './finalizers.ts'
import { untilControllerGone } from './controller-pods.ts'

await using client = new KubeClient(await loadAccess(), { userAgent: 'kube-ovn-uninstall' })
await untilControllerGone(client, process.env['POD_NAMESPACE'] ?? 'kube-system')
for (const { kind, count } of await removeFinalizers(client)) {
  console.log(JSON.stringify({ level: 'info', msg: 'finalizers removed', app: 'uninstall', kind, count }))
}
