import {
  applyAll,
  deleteAll,
  idlePod,
  ofStack,
  readExample,
  untilPodsReady,
  waitForObjects,
  type ApiObject,
  type Cluster,
  type MatrixRuleInput,
  type Stack,
} from '@kube-ovn/lab'
import { describe, it } from 'vitest'
import { both } from './group-rules.ts'
import { blocked, expectClaims } from './claims.ts'

/** Ports at which nothing but the probe listens. */
const [openPort, closedPort] = [18_080, 18_081]

type Party = MatrixRuleInput['from']

function kubeOvn(kind: string, name: string, spec: object): ApiObject {
  return { apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec } as ApiObject
}

/** Networks with a namespace of their name that pods are in. */
const networks: readonly (readonly [
  what: string,
  namespace: string,
  objects: (stack: Stack) => readonly ApiObject[],
])[] = [
  [
    'an underlay',
    'wharf',
    (stack) => readExample('20-underlay', stack).filter(({ kind }) => kind !== 'DaemonSet'),
  ],
  [
    'a VPC of its own',
    'cove',
    (stack) => [
      kubeOvn('Vpc', 'coast', { namespaces: ['cove'] }),
      kubeOvn('Subnet', 'cove', {
        ...{ vpc: 'coast', namespaces: ['cove'] },
        cidrBlock: ofStack(stack, { ipv4: '10.46.0.0/24', ipv6: 'fd00:10:46::/112' }).join(),
      }),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cove' } },
    ],
  ],
]

const ofGuests = { remoteType: 'securityGroup', remoteAddress: '', remoteSecurityGroup: 'guests' }
const atOpenPort = { protocol: 'tcp', portRangeMin: openPort, portRangeMax: openPort }
const groups: readonly ApiObject[] = [
  kubeOvn('SecurityGroup', 'guests', { egressRules: both({}) }),
  kubeOvn('SecurityGroup', 'hosts', {
    ingressRules: both({ ...ofGuests, ...atOpenPort }),
    egressRules: both({}),
  }),
]

/** Where objects of these kinds are that another test of a suite may have had by the same names. */
const collections: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  Subnet: '/apis/kubeovn.io/v1/subnets',
  Vlan: '/apis/kubeovn.io/v1/vlans',
  ProviderNetwork: '/apis/kubeovn.io/v1/provider-networks',
}

async function untilGone({ api }: Cluster, objects: readonly ApiObject[]): Promise<void> {
  for (const { kind = '', metadata } of objects) {
    const collection = collections[kind]
    if (collection === undefined) continue
    const path = `${collection}?fieldSelector=metadata.name%3D${metadata.name}`
    await waitForObjects<ApiObject, true>(api, path, `${kind} ${metadata.name} is gone`, (found) =>
      found.length === 0 ? true : undefined,
    )
  }
}

/** So many ports that these have no rule each. */
const manyPorts = Array.from({ length: 20 }, (_, index) => ({ port: openPort - 2 * index }))

/** Packets between pods of networks that are not the default overlay. */
export function policiesOfFurtherNetworks(lab: () => Cluster): void {
  describe.each(networks)('in %s', (_what, namespace, objectsOf) => {
    const pod = (name: string, node: string, group?: string): ApiObject => {
      const annotations = group === undefined ? {} : { 'ovn.kubernetes.io/security_groups': group }
      return idlePod({ name, namespace, labels: { app: name }, annotations }, node)
    }
    const party = (app: string): Party => [{ namespace, pods: `app=${app}` }]
    const [server, friend, stranger] = [party('server'), party('friend'), party('stranger')]
    const asked = (from: Party, to: Party, port = openPort): MatrixRuleInput => ({
      from,
      to,
      by: ['tcp'],
      port,
    })
    const refused = (rule: MatrixRuleInput): MatrixRuleInput => ({ ...rule, ...blocked })
    const selected = (app: string) => ({ podSelector: { matchLabels: { app } } })

    const policy = (name: string, spec: object): ApiObject =>
      ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name, namespace },
        spec,
      }) as ApiObject
    const ofFriends = policy('friends', {
      ...selected('server'),
      ingress: [{ from: [selected('friend')], ports: manyPorts }],
    })

    const here = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
    const pods = (app: string) => ({ namespaceSelector: here, podSelector: { matchLabels: { app } } })
    const decree = (action: string, app: string): ApiObject =>
      ({
        apiVersion: 'policy.networking.k8s.io/v1alpha1',
        kind: 'AdminNetworkPolicy',
        metadata: { name: 'decree' },
        spec: {
          ...{ priority: 7, subject: { pods: pods('server') } },
          ingress: [
            {
              ...{ action, from: [{ pods: pods(app) }] },
              ports: [{ portNumber: { protocol: 'TCP', port: openPort } }],
            },
          ],
        },
      }) as ApiObject

    const own = (): readonly ApiObject[] => [
      ...groups,
      ...objectsOf(lab().topology.stack),
      ...[pod('server', 'node-1'), pod('friend', 'node-1'), pod('stranger', 'node-2')],
      ...[pod('host', 'node-1', 'hosts'), pod('guest', 'node-2', 'guests')],
    ]

    it('are decided by policies of users and administrators, and by security groups', async () => {
      const { api } = lab()
      await untilGone(lab(), own())
      const claims = (what: string, rules: readonly MatrixRuleInput[]) => expectClaims(lab(), what, rules)
      try {
        await applyAll(api, own())
        await untilPodsReady(api, namespace, '', 5)
        const all = [asked(friend, server), asked(stranger, server), asked(stranger, server, closedPort)]
        await claims('nobody is kept off', all)
        await claims('guests are let in by their group, and others are not', [
          asked(party('guest'), party('host')),
          refused(asked(party('guest'), party('host'), closedPort)),
          refused(asked(stranger, party('host'))),
          asked(party('host'), stranger),
        ])
        await applyAll(api, [ofFriends])
        await claims('friends are let in by the NetworkPolicy', [
          asked(friend, server),
          refused(asked(friend, server, closedPort)),
          refused(asked(stranger, server)),
          asked(server, stranger),
        ])
        await applyAll(api, [decree('Deny', 'friend')])
        await claims('the administrator denies them', [refused(asked(friend, server))])
        await applyAll(api, [decree('Allow', 'stranger')])
        await claims('the administrator lets strangers in, on the port alone', [
          ...[asked(friend, server), asked(stranger, server)],
          refused(asked(stranger, server, closedPort)),
        ])
        await deleteAll(api, [decree('Allow', 'stranger'), ofFriends])
        await claims('nobody is kept off any more', all)
      } finally {
        await deleteAll(api, [decree('Allow', 'stranger'), ofFriends, ...own()])
      }
    })
  })
}
