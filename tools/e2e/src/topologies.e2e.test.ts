import {
  createCluster,
  kubeletProbes,
  networkAttachments,
  physicalNetwork,
  presets,
  runCheck,
  seenCluster,
  underlay,
  type Check,
  type Cluster,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bfdNextHops } from './bfd-next-hops.ts'
import { describeInLab } from './describe-in-lab.ts'
import { useFerry } from './ferry.ts'
import { furtherNics } from './further-nics.ts'
import { gatewayMoves } from './gateway-moves.ts'
import { ipv6Clients } from './ipv6-clients.ts'
import { multicastGroups } from './multicast-groups.ts'
import { sharedWays } from './shared-ways.ts'
import { useSuiteLab } from './suite-lab.ts'
import { underlayNodes } from './underlay-nodes.ts'
import { vpcNics } from './vpc-nics.ts'
import { vpcTraces } from './vpc-traces.ts'

const describe = describeInLab('has networks of its own around its nodes')

/** All that presets have, in one topology. */
let cluster: Cluster
let seeing: Cluster | undefined

const lab = useSuiteLab(
  { id: 'topologies', ...presets['underlay'], hasNetworkAttachments: true },
  { values: { features: { enableTproxy: true } } },
)

beforeAll(async () => {
  ;({ cluster } = lab)
  seeing = await createCluster({
    ...{ id: 'topologies-2', nodes: 1, podNetwork: 'bridge' },
    ...{ sees: 'topologies', stack: cluster.topology.stack },
  })
})

afterAll(() => seeing?.[Symbol.asyncDispose]())

/** Every row that a check finds; those that do not hold, as text. */
async function run(on: Cluster, check: Check): Promise<{ readonly rows: number; readonly failed: string[] }> {
  const { rows } = await runCheck(on, check)
  const failed = rows
    .filter(({ isOk }) => !isOk)
    .map(({ name, expected, seen }) => `${name}: expected ${expected}, saw ${seen}`)
  return { rows: rows.length, failed }
}

describe('what is around the nodes', () => {
  it('has VLANs that nodes are hosts in, and routers of both kinds that learn from each other', async () => {
    // Two nodes in three VLANs, two routers.
    expect(await run(cluster, physicalNetwork)).toEqual({ rows: 8, failed: [] })
  })

  it('connects pods to a VLAN, to its gateway and to the overlay, and gives the NICs back', async () => {
    const { rows, failed } = await run(cluster, underlay)
    expect(failed).toEqual([])
    expect(rows).toBe({ dual: 22, ipv4: 20, ipv6: 18 }[cluster.topology.stack])
  })

  it('knows NetworkAttachmentDefinitions, and attaches pods to the networks that they describe', async () => {
    expect(await run(cluster, networkAttachments)).toEqual({ rows: 9, failed: [] })
  })

  it('has kubelets that probe pods of VPCs, also where two have one address', async () => {
    expect(await run(cluster, kubeletProbes)).toEqual({ rows: 5, failed: [] })
  })

  it('sees another cluster, and is seen by it', async () => {
    if (seeing === undefined) return expect.unreachable()
    expect(await run(seeing, seenCluster)).toEqual({ rows: 4, failed: [] })
  })
})

describe('packets of VPCs, one of them with two next hops', () => {
  const ferry = useFerry(() => cluster)
  vpcTraces(ferry)
  vpcNics(ferry)
  bfdNextHops(ferry)
  sharedWays(ferry)
  gatewayMoves(ferry)
})

describe('further NICs', () => furtherNics(() => cluster))

describe('machines in pods', () => ipv6Clients(() => cluster))

describe('what is sent to a group', () => multicastGroups(() => cluster))

describe('nodes of a physical network', () => underlayNodes(() => cluster))
