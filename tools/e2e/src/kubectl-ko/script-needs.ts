import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { deleteAll, kubectl, parseManifests, type ApiObject, type PodObject } from '@kube-ovn/lab'
import { describe, expect, it, onTestFinished } from 'vitest'
import { first, portOf, type KoSuite } from './suite.ts'

const namespace = 'kube-system'
const unserved = resolve(import.meta.dirname, '../../../../helm/kube-ovn/files/unserved-definitions.yaml')

interface Selected extends PodObject {
  readonly spec: PodObject['spec'] & { readonly containers: readonly { readonly name: string }[] }
}

interface EndpointSlice extends ApiObject {
  readonly endpoints: readonly {
    readonly conditions?: { readonly ready?: boolean }
    readonly targetRef?: { readonly name: string }
  }[]
}

/** The leaders of OVN, by label and Service. */
const leaders = ['ovn-nb', 'ovn-sb', 'ovn-northd'] as const

/** Objects that are asked for by name. */
const objects = [
  ...['ovn-central', 'kube-ovn-controller', 'kube-ovn-monitor'].map(
    (name) => `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
  ),
  ...['kube-ovn-cni', 'ovs-ovn', 'kube-ovn-pinger'].map(
    (name) => `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`,
  ),
  ...['ovn', 'kube-ovn-app'].map((name) => `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`),
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:ovn',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/ovn',
]

const database = (kind: 'nb' | 'sb', schema: string): readonly string[] => [
  `ovn-appctl -t /var/run/ovn/ovn${kind}_db.ctl cluster/status ${schema} | grep 'Role: leader'`,
  `ovn-appctl -t /var/run/ovn/ovn${kind}_db.ctl ovsdb-server/get-db-storage-status ${schema} | grep ok`,
  `ovsdb-tool cluster-to-standalone /etc/ovn/ovn${kind}_db.tried /etc/ovn/ovn${kind}_db.db`,
  `tar --create --file - /etc/ovn/ovn${kind}_db.tried | cat >/dev/null`,
  `rm /etc/ovn/ovn${kind}_db.tried`,
]

/** What is run in the container of the leader of a database. */
const onLeaders = {
  'ovn-nb': [
    'ovn-nbctl show',
    'ovn-nbctl lr-policy-list ovn-cluster',
    'ovn-nbctl lr-route-list ovn-cluster',
    'ovn-nbctl ls-lb-list ovn-default',
    'ovn-nbctl list address_set',
    'ovn-nbctl list acl',
    'ovn-nbctl --data=bare --no-heading --columns=mac find logical_router_port name=ovn-cluster-ovn-default | grep :',
    ...database('nb', 'OVN_Northbound'),
  ],
  'ovn-sb': ['ovn-sbctl show', 'ovn-trace --version', ...database('sb', 'OVN_Southbound')],
} as const

interface OnNode {
  /** The logical port of a pod of the node. */
  readonly port: string
  /** Its network namespace, as Open vSwitch has it. */
  readonly netns: string
  /** Of a family that pods have. */
  readonly loopback: string
}

/** Prints the network namespace of the logical port `$1`. */
const findNetns = `
  interface=$(ovs-vsctl --data=bare --no-heading --columns=name find interface external-ids:iface-id="$1")
  ovs-vsctl --data=bare --no-heading get interface "$interface" external-ids:pod_netns | tr --delete '"'`

/** Runs each argument, and tells of those that fail. */
const tryEach = `
  set -o pipefail
  for command; do
    said=$(eval "$command" 2>&1) || echo "$command: $said"
  done`

/** What is run in the containers of a node, by the label that finds their pod, and the name of the container. */
const onNodes: readonly {
  readonly app: string
  readonly container: string
  readonly commands: (node: OnNode) => readonly string[]
}[] = [
  {
    app: 'ovs',
    container: 'openvswitch',
    commands: ({ netns, port }) => [
      'ovs-vsctl show',
      'ovs-ofctl show br-int',
      'ovs-appctl version',
      'ovs-dpctl --version',
      'tcpdump --version',
      `ovs-vsctl --format=csv --data=bare --no-heading --columns=ofport find interface external_id:iface-id=${port} | grep '^[1-9]'`,
      'ip link show br-int',
      `stat ${netns}`,
      'ls /var/log/ovn/ovn-controller.log /var/log/openvswitch/ovs-vswitchd.log',
    ],
  },
  {
    app: 'kube-ovn-cni',
    container: 'cni-server',
    commands: ({ netns }) => [
      `nsenter --net=${netns} tcpdump --version`,
      `nsenter --net=${netns} ip link show eth0`,
      ...['arping', 'ndisc6', 'dmesg', 'tar'].map((name) => `command -v ${name}`),
      "bash /kube-ovn/env-check.sh | grep '^6) '",
    ],
  },
  {
    app: 'kube-ovn-pinger',
    container: 'pinger',
    commands: ({ loopback }) => [
      'tail /var/log/ovn/ovn-controller.log',
      'tail /var/log/openvswitch/ovs-vswitchd.log',
      'ovs-vsctl show | grep br-int',
      // Nobody is there, which is said and is no failure; and in a pod that knows no more than its name.
      `/kube-ovn/kube-ovn-pinger --mode=job --target-ip-ports=tcp-${loopback}-1 | grep '^FAILED.*${loopback}'`,
      'env --unset=POD_IPS /kube-ovn/kube-ovn-pinger --mode=job --network-mode=none',
    ],
  },
]

/** What the script `kubectl-ko` of Kube-OVN 1.17, and others like it, ask of a cluster. */
export function describeScriptNeeds(given: () => KoSuite): void {
  const select = (selector: string): Promise<readonly Selected[]> =>
    given().cluster.api.list(
      `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`,
    )

  const bash = (pod: Selected, container: string, script: string, ...args: readonly string[]) =>
    kubectl(
      given().cluster,
      ...['exec', '-n', namespace, pod.metadata.name, '-c', container, '--', 'bash', '-c', script, 'bash'],
      ...args,
    )

  describe('what other tools go by', () => {
    it.each(leaders)('one pod has the label %s-leader, and is behind the Service', async (name) => {
      const labelled = async (): Promise<readonly string[]> =>
        (await select(`${name}-leader=true`)).map(({ metadata }) => metadata.name)
      const served = async (): Promise<readonly string[]> => {
        const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
        const slices = await given().cluster.api.list<EndpointSlice>(
          `${path}?labelSelector=${encodeURIComponent(`kubernetes.io/service-name=${name}`)}`,
        )
        const ready = slices
          .flatMap(({ endpoints }) => endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
        return [...new Set(ready.map(({ targetRef }) => targetRef?.name ?? ''))]
      }
      const one = [expect.stringMatching(/^ovn-central-/)]
      await expect.poll(labelled, { timeout: 60_000 }).toEqual(one)
      await expect.poll(served, { timeout: 60_000 }).toEqual(one)
    })

    it.each([
      { app: 'ovn-central', container: 'ovn-central' },
      { app: 'kube-ovn-controller', container: 'kube-ovn-controller' },
      { app: 'kube-ovn-monitor', container: 'kube-ovn-monitor' },
      ...onNodes,
    ])('the first container of $app is $container', async ({ app, container }) => {
      const found = await select(`app=${app}`)
      expect(new Set(found.map(({ spec }) => spec.containers[0]?.name))).toEqual(new Set([container]))
    })

    it('objects have the names, pods and nodes the annotations, and containers the files and programs', async () => {
      const { cluster, shop } = given()
      await Promise.all(objects.map((path) => cluster.api.call('GET', path)))
      const pod = first(shop)
      const node = pod.spec.nodeName ?? ''
      const { metadata } = await cluster.api.call<ApiObject>('GET', `/api/v1/nodes/${node}`)
      for (const { annotations } of [metadata, pod.metadata])
        for (const key of ['ip_address', 'mac_address', 'logical_switch', 'cidr'])
          expect(annotations?.[`ovn.kubernetes.io/${key}`], key).toMatch(/./)
      expect(metadata.annotations?.['ovn.kubernetes.io/port_name']).toMatch(/./)

      for (const [name, commands] of Object.entries(onLeaders)) {
        const leader = first(await select(`${name}-leader=true`))
        expect(await bash(leader, 'ovn-central', tryEach, ...commands)).toBe('')
      }
      const port = portOf(pod)
      const there = async (app: string): Promise<Selected> =>
        first((await select(`app=${app}`)).filter(({ spec }) => spec.nodeName === node))
      const netns = (await bash(await there('ovs'), 'openvswitch', findNetns, port)).trim()
      const loopback = cluster.stack === 'ipv6' ? '::1' : '127.0.0.1'
      for (const { app, container, commands } of onNodes) {
        const found = await bash(await there(app), container, tryEach, ...commands({ port, netns, loopback }))
        expect(found).toBe('')
      }
    })

    it('definitions that are there for them alone are found, and serve nothing', async () => {
      const { api } = given().cluster
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      const present = new Set((await api.list(path)).map(({ metadata }) => metadata.name))
      // An earlier installation may have left some, with their objects.
      const definitions = parseManifests(await readFile(unserved, 'utf8')).filter(
        ({ metadata }) => !present.has(metadata.name),
      )
      onTestFinished(() => deleteAll(api, definitions))
      for (const definition of definitions) await api.create(definition)
      const found = (await api.list(path)).map(({ metadata }) => metadata.name)
      expect(found).toEqual(expect.arrayContaining(definitions.map(({ metadata }) => metadata.name)))
      const { resources } = await api.call<{ readonly resources: readonly { readonly name: string }[] }>(
        'GET',
        '/apis/kubeovn.io/v1',
      )
      const served = new Set(resources.map(({ name }) => `${name}.kubeovn.io`))
      expect(served).toContain('subnets.kubeovn.io')
      for (const { metadata } of definitions) expect(served).not.toContain(metadata.name)
    })
  })
}
