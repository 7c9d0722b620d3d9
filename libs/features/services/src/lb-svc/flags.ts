import { switchedOn, text } from '@kube-ovn/process'

export const lbSvcFlags = {
  enableLbSvc: switchedOn(
    false,
    'Give Services of type LoadBalancer addresses in attached networks, by a Pod each. Needs --enable-lb.',
  ),
  image: text('', 'Image of Pods that the controller makes: that of the node agent.'),
} as const
