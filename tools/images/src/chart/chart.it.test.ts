import { apiGroup, controllerDefinitions } from '@kube-ovn/kube-api'
import { lintChart, renderNotes, renderNotesOn, sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { container, environment, names, renderChart, resourceOf, workload, type Manifest } from './render.ts'

const masters = { masterNodes: ['10.172.0.10', '10.172.0.11', '10.172.0.12'] }
const userspace = { ovsOvn: { datapath: 'userspace', tunnelNic: '10.172.1.0/24' } }
const workloads = [
  'ovn-central',
  'ovs-ovn',
  'kube-ovn-controller',
  'kube-ovn-cni',
  'kube-ovn-pinger',
  'kube-ovn-monitor',
]

describe('networking.stack', () => {
  const stacks = [
    { stack: 'IPv4', pods: '10.16.0.0/16', join: '100.64.0.0/16', policy: undefined },
    { stack: 'IPv6', pods: 'fd00:10:16::/112', join: 'fd00:100:64::/112', policy: undefined },
    {
      stack: 'Dual',
      pods: '10.16.0.0/16,fd00:10:16::/112',
      join: '100.64.0.0/16,fd00:100:64::/112',
      policy: 'PreferDualStack',
    },
  ]
  it.each(stacks)(
    '$stack selects prefixes and families of Services',
    async ({ stack, pods, join: nodes, policy }) => {
      const manifests = await renderChart({ networking: { stack } })
      const { args } = container(workload(manifests, 'kube-ovn-controller'), 'kube-ovn-controller')
      expect(args).toContain(`--default-cidr=${pods}`)
      expect(args).toContain(`--node-switch-cidr=${nodes}`)
      for (const service of manifests.filter(({ kind }) => kind === 'Service')) {
        expect(service.spec?.ipFamilyPolicy).toBe(policy)
      }
    },
  )

  it('refuses another word, and says what to write', async () => {
    await expect(renderChart({ networking: { stack: 'ipv4' } })).rejects.toThrow('write IPv4, IPv6 or Dual')
  })
})

describe('an underlay as the default subnet', () => {
  const vlan = { providerName: 'quay', interfaceName: 'eth1', name: 'wharf', id: '0' }

  it('is what the values say, and tunnels end where the node has its address', async () => {
    const networking = { networkType: 'vlan', vlan, exchangeLinkName: true }
    const manifests = await renderChart({ networking, agent: { interface: 'eth1' } })
    const { args } = container(workload(manifests, 'kube-ovn-controller'), 'kube-ovn-controller')
    expect(args).toEqual(
      expect.arrayContaining([
        '--network-type=vlan',
        '--default-provider-name=quay',
        '--default-interface-name=eth1',
        '--default-exchange-link-name=true',
        '--default-vlan-name=wharf',
        '--default-vlan-id=0',
      ]),
    )
    expect(container(workload(manifests, 'kube-ovn-cni'), 'cni-server').args).toContain('--iface=')
  })

  it('needs a NIC', async () => {
    await expect(renderChart({ networking: { networkType: 'vlan' } })).rejects.toThrow(
      'set networking.vlan.interfaceName',
    )
  })
})

describe('the databases', () => {
  it('have one replica, and every client knows one address, for each master', async () => {
    const manifests = await renderChart(masters)
    const addresses = masters.masterNodes.join(',')
    const central = workload(manifests, 'ovn-central')
    expect(central.spec?.replicas).toBe(3)
    expect(environment(container(central, 'ovn-central'), 'NODE_IPS')).toBe(addresses)
    expect(environment(container(workload(manifests, 'ovs-ovn'), 'openvswitch'), 'OVN_DB_IPS')).toBe(
      addresses,
    )
    const controller = container(workload(manifests, 'kube-ovn-controller'), 'kube-ovn-controller')
    expect(environment(controller, 'OVN_DB_IPS')).toBe(addresses)
  })
})

it('writes a large number of a collector set as one', async () => {
  const sampling = { probability: 1, collectorSet: 4_000_000_000 }
  const manifests = await renderChart({ networkPolicies: { sampling } })
  for (const name of ['kube-ovn-controller', 'kube-ovn-cni'])
    expect(JSON.stringify(workload(manifests, name))).toContain('--acl-sample-collector-set=4000000000"')
})

describe('masterNodes', () => {
  const nobody = [[], '', ',', [''], null].map((masterNodes) => ({ masterNodes }))
  it.each(nobody)(
    'that are $masterNodes are refused without a cluster: nobody would have a quorum',
    async ({ masterNodes }) => {
      const rendered = renderChart({ masterNodes })
      await expect(rendered).rejects.toThrow('list the addresses of these nodes in masterNodes')
    },
  )

  it.each([['fd00::1', 'fd00::2'], 'fd00::1,fd00::2', 'fd00::1, fd00::2', ['fd00::1', '', 'fd00::2']])(
    'may be a list or a text: %j',
    async (masterNodes) => {
      const central = workload(await renderChart({ masterNodes }), 'ovn-central')
      expect(central.spec?.replicas).toBe(2)
      expect(environment(container(central, 'ovn-central'), 'NODE_IPS')).toBe('fd00::1,fd00::2')
    },
  )

  it('need a label: without any the databases could run nowhere', async () => {
    const masterNodesLabels = { 'kube-ovn/role': null }
    await expect(renderChart({ ...masters, masterNodesLabels })).rejects.toThrow(
      'masterNodesLabels is empty, so that the OVN databases may run nowhere: write a label',
    )
    const labelled = { 'kube-ovn/role': null, 'node-role.kubernetes.io/control-plane': '' }
    const manifests = await renderChart({ ...masters, masterNodesLabels: labelled })
    for (const name of ['ovn-central', 'kube-ovn-monitor']) {
      expect(JSON.stringify(workload(manifests, name).spec?.template)).toContain(
        '{"nodeSelectorTerms":[{"matchExpressions":[{"key":"node-role.kubernetes.io/control-plane","operator":"Exists"}]}]}',
      )
    }
  })

  it('may be empty when the chart is only linted', async () => {
    await expect(lintChart()).resolves.toContain('0 chart(s) failed')
  })
})

describe('cni.versions', () => {
  async function argumentsOfInstaller(versions: readonly string[]): Promise<readonly string[]> {
    const agent = workload(await renderChart({ cni: { versions } }), 'kube-ovn-cni')
    return container(agent, 'install-cni').args ?? []
  }

  it('are left to the node unless they are given', async () => {
    expect((await argumentsOfInstaller([])).join(' ')).not.toContain('--cni-versions')
    expect(await argumentsOfInstaller(['1.0.0', '1.1.0'])).toContain('--cni-versions=1.0.0,1.1.0')
  })

  it('refuse one that no plugin speaks, and say what to write', async () => {
    await expect(renderChart({ cni: { versions: ['1.2.0'] } })).rejects.toThrow('write some of 0.1.0')
  })
})

describe('cni.mountToolingDirectory', () => {
  const programs = [
    ['kube-ovn-cni', 'install-cni'],
    ['kube-ovn-node-cleanup', 'cni'],
  ] as const

  it('has kubectl-ko put on the nodes, and taken off by an uninstallation', async () => {
    const cni = { mountToolingDirectory: true, toolingDirectory: '/opt/tools', binaryDirectory: '/plugins' }
    const manifests = await renderChart({ cni })
    for (const [name, own] of programs) {
      const found = workload(manifests, name)
      expect(container(found, own)).toMatchObject({
        args: expect.arrayContaining(['--tooling-dir=/tooling']),
        volumeMounts: expect.arrayContaining([{ name: 'tooling', mountPath: '/tooling' }]),
      })
      expect(found.spec?.template?.spec.volumes).toContainEqual({
        name: 'tooling',
        hostPath: { path: '/opt/tools', type: 'DirectoryOrCreate' },
      })
    }
    const { args } = container(workload(manifests, 'kube-ovn-cni'), 'install-cni')
    expect(args).toContain('--host-cni-bin-dir=/plugins')
  })

  it('is nothing unless it is asked for', async () => {
    const manifests = await renderChart({})
    for (const [name] of programs) expect(JSON.stringify(workload(manifests, name))).not.toContain('tooling')
  })
})

describe('a value of the original that somebody would come to harm by', () => {
  it.each([
    { values: { features: { enableOvnIpsec: true } }, says: 'features.enableOvnIpsec=true has no effect' },
    { values: { cni: { nonPrimaryCNI: true } }, says: 'cni.nonPrimaryCNI=true has no effect' },
    { values: { central: { hcp: { enabled: true } } }, says: 'central.hcp.enabled=true has no effect' },
    { values: { networking: { ENABLE_SSL: true } }, says: 'write networking.enableSsl' },
  ])('is refused as long as it is not served: $values', async ({ values, says }) => {
    await expect(renderChart(values)).rejects.toThrow(says)
  })
})

describe('ovsOvn.datapath', () => {
  it('is the kernel, without privileges for Open vSwitch once the module is loaded', async () => {
    const ovs = workload(await renderChart({}), 'ovs-ovn')
    expect(container(ovs, 'hostpath-init').securityContext?.privileged).toBe(true)
    expect(container(ovs, 'openvswitch').securityContext?.privileged).toBe(false)
    expect(environment(container(ovs, 'openvswitch'), 'OVS_DATAPATH_TYPE')).toBe('system')
  })

  it('userspace takes the NIC of the tunnels, and the agent its bridge', async () => {
    const manifests = await renderChart(userspace)
    const ovs = container(workload(manifests, 'ovs-ovn'), 'openvswitch')
    expect(environment(ovs, 'OVS_DATAPATH_TYPE')).toBe('netdev')
    expect(environment(ovs, 'USERSPACE_TUNNEL_NIC')).toBe('10.172.1.0/24')
    expect(ovs.securityContext?.privileged).toBe(true)
    expect(container(workload(manifests, 'kube-ovn-cni'), 'cni-server').args).toContain('--iface=br-phy')
  })

  it('userspace is refused without a NIC, and another word too', async () => {
    await expect(renderChart({ ovsOvn: { datapath: 'userspace' } })).rejects.toThrow('set ovsOvn.tunnelNic')
    await expect(renderChart({ ovsOvn: { datapath: 'netdev' } })).rejects.toThrow('write kernel or userspace')
  })
})

describe('an upgrade', () => {
  const changes = [
    { name: 'the MTU of pods', values: { networking: { pods: { mtu: 1300 } } }, rolls: ['kube-ovn-cni'] },
    {
      name: 'a gateway',
      values: { networking: { pods: { gateways: { v4: '10.16.0.9' } } } },
      rolls: ['kube-ovn-controller'],
    },
    { name: 'a probe', values: { ovsOvn: { probeInterval: 60_000 } }, rolls: ['ovn-central'] },
    { name: 'hardware offload', values: { features: { enableHardwareOffload: true } }, rolls: ['ovs-ovn'] },
    { name: "the agent's image", values: { agent: { image: { tag: 'v9' } } }, rolls: ['kube-ovn-cni'] },
    { name: 'a label of a Deployment', values: { controller: { labels: { team: 'net' } } }, rolls: [] },
    { name: 'the port of a metrics Service', values: { agent: { metrics: { port: 9000 } } }, rolls: [] },
  ]
  it.each(changes)('of $name rolls $rolls and nothing else', async ({ values, rolls }) => {
    const [before, after] = await Promise.all([renderChart({}), renderChart(values)])
    const changed = workloads.filter((name) => template(before, name) !== template(after, name))
    expect(changed).toEqual(rolls)
  })
})

describe('the hooks', () => {
  it('run at the end of an uninstallation only', async () => {
    const hooks = (await renderChart({}))
      .map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
      .filter((hook) => hook !== undefined)
    expect(new Set(hooks)).toEqual(new Set(['post-delete']))
  })

  it('clean the nodes unless that is switched off', async () => {
    expect(names(await renderChart({}))).toContain('kube-ovn-node-cleanup')
    expect(names(await renderChart({ uninstall: { cleanNodes: false } }))).not.toContain(
      'kube-ovn-node-cleanup',
    )
  })
})

describe('rights', () => {
  it('of the controller and of the hook cover every custom resource of ours', async () => {
    const manifests = await renderChart({})
    for (const { resource, hasStatusSubresource } of controllerDefinitions) {
      if (resource.group !== apiGroup) continue
      // What names resolve to CoreDNS writes.
      const tells = hasStatusSubresource && resource.kind !== 'DNSNameResolver'
      const wanted = [resource.plural, ...(tells ? [`${resource.plural}/status`] : [])]
      expect(customResources(manifests, 'system:ovn')).toEqual(expect.arrayContaining(wanted))
      expect(customResources(manifests, 'system:kube-ovn-post-delete-hook')).toContain(resource.plural)
    }
  })

  const policies = ['kube-ovn-cni-nodes', 'kube-ovn-cni-events']
  const served = 'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy'
  it.each([
    { where: 'from Kubernetes 1.30 on', cluster: { kubeVersion: '1.30.0-gke.7' }, has: policies },
    { where: 'where it is served', cluster: { apiVersions: ['v1/Node', served] }, has: policies },
    { where: 'before Kubernetes 1.30', cluster: { kubeVersion: '1.29.14' }, has: [] },
    {
      where: 'where it is served, before',
      cluster: { kubeVersion: '1.29.14', apiVersions: [served] },
      has: [],
    },
    { where: 'where it is not served', cluster: { apiVersions: ['v1/Node'] }, has: [] },
  ])(
    'of an agent are held to its node by $has.length policies $where, or the notes say that they are not',
    async ({ cluster, has }) => {
      const manifests = await renderChart({}, cluster)
      const kinds = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']
      expect(names(manifests.filter(({ kind }) => kind === kinds[0]))).toEqual(has)
      expect(names(manifests.filter(({ kind }) => kind === kinds[1]))).toEqual(has)
      const notes = await renderNotesOn(cluster)
      expect(notes).toContain('rollout status daemonset/kube-ovn-cni')
      expect(notes.includes('whoever takes the token of one node agent can write every Node')).toBe(
        has.length === 0,
      )
    },
  )

  it('never name everything', async () => {
    for (const { rules = [] } of await renderChart({})) {
      for (const { apiGroups, resources, verbs } of rules) {
        expect([...apiGroups, ...resources, ...verbs]).not.toContain('*')
      }
    }
  })
})

describe('what reads sockets of the host', () => {
  it.each([
    { name: 'kube-ovn-monitor', containerName: 'kube-ovn-monitor' },
    { name: 'kube-ovn-pinger', containerName: 'pinger' },
  ])('$name, is their owner, without capabilities, on a read-only root', async ({ name, containerName }) => {
    const found = workload(await renderChart({}), name)
    expect(container(found, containerName).securityContext).toEqual({
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  it.each([
    { values: {}, replicas: 3 },
    { values: { monitor: { replicas: 1 } }, replicas: 1 },
  ])(
    'has a monitor for each member of the databases, or as many as are asked for: $values',
    async ({ values, replicas }) => {
      const monitor = workload(await renderChart({ ...masters, ...values }), 'kube-ovn-monitor')
      expect(monitor.spec?.replicas).toBe(replicas)
      expect(monitor.spec?.template?.spec).toMatchObject({ serviceAccountName: 'kube-ovn-monitor' })
    },
  )
})

it.each([
  { name: 'ovn-nb', port: 6641 },
  { name: 'ovn-sb', port: 6642 },
  { name: 'ovn-northd', port: 6643 },
])('has a Service $name, which selects who leads', async ({ name, port }) => {
  const manifests = await renderChart(masters)
  const service = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
  expect(service?.spec).toMatchObject({
    selector: { app: 'ovn-central', [`${name}-leader`]: 'true' },
    ports: [{ port, targetPort: port }],
  })
  // Before anybody is labelled it leads nowhere: who needs the databases knows all members.
  for (const client of ['ovs-ovn', 'kube-ovn-controller']) {
    const [first] = workload(manifests, client).spec?.template?.spec.containers ?? []
    expect(first && environment(first, 'OVN_DB_IPS')).toBe(masters.masterNodes.join(','))
  }
})

it('has the files of the host where scripts look for them', async () => {
  const manifests = await renderChart({})
  const mounted = [
    { name: 'ovs-ovn', own: 'openvswitch', paths: ['/run/netns', '/var/log/ovn', '/var/log/openvswitch'] },
    { name: 'kube-ovn-cni', own: 'cni-server', paths: ['/run/netns'] },
    { name: 'kube-ovn-pinger', own: 'pinger', paths: ['/var/log/ovn', '/var/log/openvswitch'] },
    { name: 'ovn-central', own: 'ovn-central', paths: ['/var/run/ovn', '/etc/ovn'] },
  ]
  for (const { name, own, paths } of mounted) {
    const { volumeMounts = [] } = container(workload(manifests, name), own)
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(expect.arrayContaining(paths))
  }
})

it('keeps the labels by which tools select pods', async () => {
  const manifests = await renderChart({})
  const apps = workloads.map((name) => workload(manifests, name).spec?.template?.metadata.labels['app'])
  const [, , ...others] = workloads
  expect(apps).toEqual(['ovn-central', 'ovs', ...others])
})

describe('what Prometheus and Grafana find', () => {
  const kinds = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule']
  const isOurs = ({ kind, metadata }: Manifest): boolean =>
    kinds.includes(kind) || metadata.name.startsWith('kube-ovn-dashboard-')

  it('is nothing unless it is asked for', async () => {
    expect((await renderChart({})).filter(isOurs)).toEqual([])
  })

  it('is a monitor for each program, which selects its Service or its pods, rules and dashboards', async () => {
    const monitored = { serviceMonitor: { enabled: true } }
    const manifests = await renderChart({
      ...{ controller: monitored, agent: monitored, pinger: monitored, monitor: monitored },
      bgpSpeaker: { enabled: true, podMonitor: { enabled: true } },
      prometheusRule: {
        ...{ enabled: true, namespace: 'watch', labels: { release: 'prometheus' } },
        additionalGroups: [{ name: 'own', rules: [] }],
      },
      grafanaDashboards: { enabled: true, datasource: 'thanos-1' },
    })
    const found = manifests.filter(isOurs)
    const named = found.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(named.filter((name) => !name.startsWith('ConfigMap')).toSorted()).toEqual([
      'PodMonitor kube-ovn-speaker',
      'PrometheusRule kube-ovn',
      ...['cni', 'controller', 'monitor', 'pinger'].map((name) => `ServiceMonitor kube-ovn-${name}`),
    ])
    for (const { kind, metadata, spec } of found.filter((one) => one.kind === 'ServiceMonitor')) {
      const service = manifests.find((one) => one.kind === 'Service' && one.metadata.name === metadata.name)
      const selector = spec?.selector as { readonly matchLabels: object } | undefined
      expect(service?.metadata.labels, kind).toMatchObject(selector?.matchLabels ?? { missing: true })
    }
    const rule = found.find(({ kind }) => kind === 'PrometheusRule') as Manifest & {
      readonly spec: { readonly groups: readonly { readonly name: string }[] }
    }
    expect(rule.metadata).toMatchObject({ namespace: 'watch', labels: { release: 'prometheus' } })
    expect(rule.spec.groups.at(-1)).toEqual({ name: 'own', rules: [] })
    expect(rule.spec.groups.length).toBeGreaterThan(5)
    const dashboards = found.filter(({ kind }) => kind === 'ConfigMap')
    expect(dashboards).toHaveLength(6)
    for (const { metadata, data = {} } of dashboards) {
      expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' })
      const [text = ''] = Object.values(data)
      expect(JSON.parse(text)).toMatchObject({ tags: ['kube-ovn'] })
      expect(text).toContain('"thanos-1"')
      expect(text).not.toContain('DS_PROMETHEUS')
    }
  })

  it('is refused with a data source that would break the dashboards', async () => {
    const values = { grafanaDashboards: { enabled: true, datasource: 'a"b' } }
    await expect(renderChart(values)).rejects.toThrow('write letters, digits')
  })
})

describe('a real API server', () => {
  let api: KubeApi
  beforeAll(async () => {
    api = await sharedKubeApi()
  })

  it('is told after the installation which of its values have no effect', async () => {
    const values = {
      features: { SET_VXLAN_TX_OFF: true },
      validatingWebhook: { enabled: true },
    }
    const lines = (await renderNotes(values, api.kubeconfigPath)).split('\n')
    expect(lines.filter((line) => line.includes('has no effect'))).toEqual([
      '  features.SET_VXLAN_TX_OFF=true has no effect: the switch for the offload of VXLAN is not there yet; use ethtool on the node',
      expect.stringContaining('  validatingWebhook.enabled=true has no effect: '),
    ])
    expect(await renderNotes({}, api.kubeconfigPath)).not.toContain('has no effect')
  })

  it.each([
    { name: 'defaults', values: {} },
    { name: 'dual stack with three masters', values: { ...masters, networking: { stack: 'Dual' } } },
    { name: 'the userspace data path', values: userspace },
    { name: 'TLS', values: { networking: { enableSsl: true, tlsSecret: 'own' } } },
  ])('takes everything that is rendered with $name, as it is', async ({ values }) => {
    for (const manifest of await renderChart(values)) {
      const { name, namespace } = manifest.metadata
      const resource = resourceOf(manifest)
      const ref = { name, ...(namespace === undefined ? {} : { namespace }) }
      const options = { fieldManager: 'helm', force: true }
      // Server-side apply refuses fields that the schema does not know.
      const applied = await api.client.patch(resource, ref, 'application/apply-patch+yaml', manifest, options)
      expect(applied.metadata.name).toBe(name)
    }
  })
})

it('tells the controller where MetalLB is, which is its own namespace unless that is said', async () => {
  const flagOf = async (values: object) => {
    const controller = workload(await renderChart(values), 'kube-ovn-controller')
    return container(controller, 'kube-ovn-controller').args?.find((arg) => arg.includes('metallb'))
  }
  expect(await flagOf({})).toBe('--metallb-namespace=metallb-system')
  expect(await flagOf({ features: { metallbNamespace: 'balancers' } })).toBe('--metallb-namespace=balancers')
})

describe('features.ovnLbNodePorts', () => {
  it('takes load balancers for each Service, and says so', async () => {
    const features = { ovnLbNodePorts: true, loadBalancerLayout: 'per-service' }
    const { args } = container(
      workload(await renderChart({ features }), 'kube-ovn-controller'),
      'kube-ovn-controller',
    )
    expect(args).toContain('--ovn-lb-node-ports=true')
    await expect(renderChart({ features: { ovnLbNodePorts: true } })).rejects.toThrow(
      'write per-service there',
    )
  })
})

function template(manifests: readonly Manifest[], name: string): string {
  return JSON.stringify(workload(manifests, name).spec?.template)
}

function customResources(manifests: readonly Manifest[], role: string): readonly string[] {
  const { rules = [] } = manifests.find(({ metadata }) => metadata.name === role) ?? {}
  return rules
    .filter(({ apiGroups }) => apiGroups.includes('kubeovn.io'))
    .flatMap(({ resources }) => resources)
}
