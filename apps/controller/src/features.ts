import {
  denyAll,
  namespace,
  node,
  nodeDefaultRoute,
  northboundOptions,
  podPortFeature,
  subnet,
  subnetGateway,
  subnetStatus,
  vpc,
} from '@kube-ovn/features-control'
import type { ControlWorld } from '@kube-ovn/features-control'
import type { Feature, Key } from '@kube-ovn/reconcile'

/** Everything that the controller does, a line a feature. Containers stand before what goes into them. */
export const features: readonly Feature<Key, unknown, ControlWorld>[] = [
  northboundOptions,
  denyAll,
  vpc,
  nodeDefaultRoute,
  subnet,
  node,
  subnetGateway,
  subnetStatus,
  namespace,
  podPortFeature,
]
