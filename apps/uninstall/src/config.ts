import { text, wholeNumber } from '@kube-ovn/process'
import type { Command } from '@kube-ovn/process'

const settings = {
  podNamespace: text('kube-system', 'Namespace of the controller.', {
    environment: 'POD_NAMESPACE',
    isEnvironmentOnly: true,
  }),
  nodeCleanup: text('', 'DaemonSet that cleans the nodes; without it they are left as they are.', {
    environment: 'NODE_CLEANUP',
    isEnvironmentOnly: true,
  }),
  timeoutSeconds: wholeNumber(120, 'How long to wait for the controller, and for the nodes.', {
    environment: 'TIMEOUT_SECONDS',
    isEnvironmentOnly: true,
  }),
} as const

export const command: Command<typeof settings> = {
  name: 'remove-finalizers',
  summary: 'Ends an uninstallation: nothing of the product holds an object, or a definition, back any more.',
  examples: ['TIMEOUT_SECONDS=60 remove-finalizers'],
  settings,
}
