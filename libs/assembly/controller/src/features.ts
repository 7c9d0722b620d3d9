import {
  namespace,
  node,
  nodeDefaultRoute,
  northboundOptions,
  subnet,
  subnetGateway,
  vpc,
} from '@kube-ovn/features-network'
import { ignored, podPortFeature, workload } from '@kube-ovn/features-pods'
import { ip, ipPool, ipPoolStatus, subnetStatus, subnetVip, vip } from '@kube-ovn/features-addresses'
import { denyAll } from '@kube-ovn/features-policies'
import type { ControlFeature } from '@kube-ovn/domains-control'

/** Everything that the controller does, a line a feature. Containers stand before what goes into them. */
export const controlFeatures: readonly ControlFeature[] = [
  northboundOptions,
  denyAll,
  vpc,
  nodeDefaultRoute,
  subnet,
  node,
  subnetGateway,
  subnetStatus,
  ipPool,
  ipPoolStatus,
  namespace,
  vip,
  podPortFeature,
  ip,
  subnetVip,
  workload,
  ignored,
]
