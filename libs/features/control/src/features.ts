import type { Feature, Key } from '@kube-ovn/reconcile'
import { nodeDefaultRoute } from './default-route/feature.ts'
import { ignored } from './ignored/feature.ts'
import { ip } from './ip/feature.ts'
import { ipPoolStatus } from './ip-pool-status/feature.ts'
import { ipPool } from './ip-pool/feature.ts'
import { namespace } from './namespace/feature.ts'
import { node } from './node/feature.ts'
import { northboundOptions } from './northbound-options/feature.ts'
import { podPortFeature } from './pod-port/feature.ts'
import { denyAll } from './security-group/feature.ts'
import { subnetGateway } from './subnet-gateway/feature.ts'
import { subnetStatus } from './subnet-status/feature.ts'
import { subnet } from './subnet/feature.ts'
import { subnetVip } from './subnet-vip/feature.ts'
import { vip } from './vip/feature.ts'
import { vpc } from './vpc/feature.ts'
import { workload } from './workload/feature.ts'
import type { ControlWorld } from './world.ts'

/** Everything that the controller does, a line a feature. Containers stand before what goes into them. */
export const controlFeatures: readonly Feature<Key, unknown, ControlWorld>[] = [
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
