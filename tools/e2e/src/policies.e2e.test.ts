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
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
  await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
  await untilPodsReady(cluster.api, 'stock', 'app=db', 3)
})

afterAll(async () => {
  await deleteAll(cluster.api, readExample('01-two-subnets', 'dual'))
})

describe('packets under NetworkPolicies, in both families,', () => networkPolicies(() => cluster))

describe('packets under EgressFirewalls, in both families,', () => egressFirewalls(() => cluster))

describe('packets under policies with names of DNS, in both families,', () => domainNames(() => cluster))

describe('packets under security groups, in both families,', () => securityGroups(() => cluster))

describe('packets under policies of administrators, in both families,', () => adminPolicies(() => cluster))

describe('samples of packets, in both families,', () => samples(() => cluster))

describe('packets in random worlds, in both families,', () => worlds(() => cluster))

it('does what the example says', async () => {
  const name = '40-admin-policies'
  const check = exampleChecks[name]
  if (check === undefined) return expect.unreachable()
  const objects = readExample(name, 'dual')
  try {
    await applyAll(cluster.api, objects)
    const { api, kubeconfig } = cluster
    await check({ api, kubeconfig, stack: 'dual' }, objects)
  } finally {
    await deleteAll(cluster.api, objects)
  }
})
