import { describe, expect, it } from 'vitest'
import { container, names, renderChart, workload } from './render.ts'

describe('the speaker', () => {
  it('is not there unless it is asked for', async () => {
    const manifests = await renderChart({})
    expect(manifests.filter(({ metadata }) => metadata.name.includes('speaker'))).toEqual([])
  })

  it('has its flags, may write how its sessions are doing alone, and gets the password as a file', async () => {
    const args = ['--cluster-as=65000', '--neighbor-as=65001', '--neighbor-address=192.0.2.9']
    const passwordSecret = { name: 'bgp', key: 'md5' }
    const nodeSelector = { 'ovn.kubernetes.io/bgp': 'true' }
    const manifests = await renderChart({ bgpSpeaker: { enabled: true, args, passwordSecret, nodeSelector } })
    const speaker = workload(manifests, 'kube-ovn-speaker')
    expect(container(speaker, 'speaker').args).toEqual([
      '--secure-serving=false',
      '--auth-password-file=/run/bgp/md5',
      ...args,
    ])
    expect(speaker.spec?.template).toMatchObject({
      spec: { nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector }, hostNetwork: true },
    })
    const role = manifests.find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'system:kube-ovn-speaker',
    )
    const rights = (role?.rules ?? []).flatMap(({ resources, verbs }) =>
      verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
    )
    const written = ['create bgppeers', 'delete bgppeers', 'patch bgppeers/status']
    expect(rights.filter((right) => !/^(list|watch) /.test(right))).toEqual(written)
  })

  it('runs on nodes of its system alone, though a nodeSelector names that, too', async () => {
    const nodeSelector = { 'kubernetes.io/os': 'windows', edge: 'true' }
    const manifests = await renderChart({ bgpSpeaker: { enabled: true, nodeSelector } })
    expect(workload(manifests, 'kube-ovn-speaker').spec?.template).toMatchObject({
      spec: { nodeSelector: { 'kubernetes.io/os': 'linux', edge: 'true' } },
    })
  })

  it.each([
    { where: 'from Kubernetes 1.30 on', kubeVersion: '1.30.0', has: ['kube-ovn-speaker-bgp-peers'] },
    { where: 'before', kubeVersion: '1.29.14', has: [] },
  ])('is held to its node by $has.length policy $where', async ({ kubeVersion, has }) => {
    const manifests = await renderChart({ bgpSpeaker: { enabled: true } }, { kubeVersion })
    for (const kind of ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']) {
      const found = names(manifests.filter((object) => object.kind === kind))
      expect(found.filter((name) => name.includes('speaker'))).toEqual(has)
    }
  })

  it.each([false, true])(
    'has an account for NAT gateways that reads their addresses alone, with speakers on nodes: %s',
    async (enabled) => {
      const manifests = await renderChart({ bgpSpeaker: { enabled } })
      const named = (kind: string): readonly string[] =>
        names(manifests.filter((object) => object.kind === kind))
      expect(named('ServiceAccount')).toContain('vpc-nat-gw')
      const role = manifests.find(
        ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'system:vpc-nat-gw',
      )
      expect(role?.rules).toEqual([
        { apiGroups: ['kubeovn.io'], resources: ['iptables-eips'], verbs: ['list', 'watch'] },
      ])
      const binding = manifests.find(
        ({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name === 'vpc-nat-gw',
      )
      expect(binding).toMatchObject({
        roleRef: { kind: 'ClusterRole', name: 'system:vpc-nat-gw' },
        subjects: [{ kind: 'ServiceAccount', name: 'vpc-nat-gw', namespace: 'kube-system' }],
      })
    },
  )

  it('gets neighbours that differ as a file, each with a password of its own', async () => {
    const neighbors = [{ address: '192.0.2.9', as: 65_001, passwordFile: '/run/bgp/first' }]
    const passwordSecret = { name: 'bgp', key: '' }
    const manifests = await renderChart({ bgpSpeaker: { enabled: true, neighbors, passwordSecret } })
    const speaker = workload(manifests, 'kube-ovn-speaker')
    expect(container(speaker, 'speaker').args).toEqual([
      '--secure-serving=false',
      '--neighbors-file=/run/bgp-neighbors/neighbors.json',
    ])
    const map = manifests.find(({ metadata }) => metadata.name === 'kube-ovn-speaker-neighbors')
    expect(JSON.parse(map?.data?.['neighbors.json'] ?? '')).toEqual(neighbors)
    expect(speaker.spec?.template).toMatchObject({
      spec: {
        volumes: expect.arrayContaining([
          { name: 'passwords', secret: { secretName: 'bgp' } },
          { name: 'neighbors', configMap: { name: 'kube-ovn-speaker-neighbors' } },
        ]),
      },
    })
  })
})
