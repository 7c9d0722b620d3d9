import { applyAll, deleteAll, readExample, untilPodsReady, type Cluster } from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { exampleChecks } from './example-checks.ts'
import { definePolicyKinds } from './policies/policy-kinds.ts'
import { adminPolicies } from './policies/admin-policies.ts'
import { domainNames } from './policies/domain-names.ts'
import { egressFirewalls } from './policies/egress-firewalls.ts'
import { networkPolicies } from './policies/network-policies.ts'
import { samples, sampleTarget } from './policies/samples.ts'
import { securityGroups } from './policies/security-groups.ts'
import { worlds } from './policies/worlds.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('may define the kinds of the network policy API')

let cluster: Cluster

/** One lab for policies of all kinds. */
const lab = useSuiteLab(
  { id: 'policies', nodes: 2, stack: 'dual' },
  {
    values: {
      features: { ENABLE_ANP: true, ENABLE_DNS_NAME_RESOLVER: true },
      networkPolicies: {
        stopOpenConnections: true,
        // Pings are judged in both families then.
        icmpv6: 'neighbours',
        ownNode: 'ports',
        sampling: { probability: 65_535, collectorSet: 142, targets: [sampleTarget] },
      },
    },
    beforeChart: definePolicyKinds,
  },
)

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, readExample('01-two-subnets', cluster.topology.stack))
  await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
  await untilPodsReady(cluster.api, 'stock', 'app=db', 3)
})

afterAll(async () => {
  await deleteAll(cluster.api, readExample('01-two-subnets', cluster.topology.stack))
})

describe('packets under NetworkPolicies, in each family,', () => networkPolicies(() => cluster))

describe('packets under EgressFirewalls, in each family,', () => egressFirewalls(() => cluster))

describe('packets under policies with names of DNS, in each family,', () => domainNames(() => cluster))

describe('packets under security groups, in each family,', () => securityGroups(() => cluster))

describe('packets under policies of administrators, in each family,', () => adminPolicies(() => cluster))

describe('samples of packets, in each family,', () => samples(() => cluster))

describe('packets in random worlds, in each family,', () => worlds(() => cluster))

it('does what the example says', async () => {
  const name = '40-admin-policies'
  const check = exampleChecks[name]
  if (check === undefined) return expect.unreachable()
  const { stack } = cluster.topology
  const objects = readExample(name, stack)
  try {
    await applyAll(cluster.api, objects)
    const { api, kubeconfig } = cluster
    await check({ api, kubeconfig, stack }, objects)
  } finally {
    await deleteAll(cluster.api, objects)
  }
})
