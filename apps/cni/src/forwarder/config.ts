import { text, type Command, type ConfigOf } from '@kube-ovn/process'

const settings = {
  forwardsFile: text(
    '/etc/kube-ovn/forwards/forwards',
    "File with the Pod's annotation that says what is forwarded.",
  ),
  readyFile: text('/run/kube-ovn/ready', 'File that is there while that is in effect.'),
} as const

export const command: Command<typeof settings> = {
  name: 'cni-forwarder',
  summary:
    'Forwards from an address in an attached network to a Service. It runs in the Pod lb-svc-SERVICE, with CAP_NET_ADMIN there and no other right.',
  examples: ['cni-forwarder --forwards-file=/etc/kube-ovn/forwards/forwards'],
  settings,
}

export type ForwarderConfig = ConfigOf<typeof settings>
