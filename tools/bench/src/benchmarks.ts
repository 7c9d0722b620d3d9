import type { Benchmark } from './benchmark.ts'
import { bgp } from './bgp.ts'
import { burst } from './burst.ts'
import { cniAdd } from './cni-add.ts'
import { drift } from './drift.ts'
import { featureTest } from './feature-test.ts'
import { lab } from './lab.ts'
import { ipam } from './ipam.ts'
import { ko } from './ko.ts'
import { kernelGrowth } from './kernel-growth.ts'
import { kernelIdle } from './kernel-idle.ts'
import { kernelRestart } from './kernel-restart.ts'
import { monitor } from './monitor.ts'
import { ovsdbSync } from './ovsdb-sync.ts'
import { ovsdbWrite } from './ovsdb-write.ts'
import { pinger } from './pinger.ts'
import { podCost } from './pod-cost.ts'
import { podReady } from './pod-ready.ts'
import { policyScale } from './policy-scale.ts'
import { servicesScale } from './services-scale.ts'
import { tables } from './tables.ts'
import { vpcScale } from './vpc-scale.ts'

export const benchmarks: readonly Benchmark[] = [
  podCost,
  cniAdd,
  podReady,
  ovsdbSync,
  ovsdbWrite,
  kernelIdle,
  kernelRestart,
  kernelGrowth,
  burst,
  drift,
  ipam,
  tables,
  monitor,
  pinger,
  servicesScale,
  policyScale,
  vpcScale,
  bgp,
  featureTest,
  ko,
  lab,
]
