interface KeptRights {
  /** As `describeRight` has them. */
  readonly rights: readonly string[]
  readonly why: string
}

/** Kinds of objects that are ours, and that the controller writes. */
const ownKinds = [
  ...['vpcs', 'subnets', 'ippools', 'ips', 'vips', 'vlans', 'provider-networks'],
  ...['security-groups', 'switch-lb-rules', 'router-lb-rules', 'ovn-eips', 'vpc-dnses', 'dnsnameresolvers'],
]

/** Rights of the chart that a run of all tests need not use. All others that it does not use are superfluous. */
export const keptRights: readonly KeptRights[] = [
  {
    why: 'the controller reads an object again when somebody else changed it at the same moment',
    rights: [
      ...ownKinds.map((kind) => `${kind}.kubeovn.io`),
      ...['bgppeers.kubeovn.io', 'egressfirewalls.k8s.ovn.org'],
      ...['adminnetworkpolicies', 'baselineadminnetworkpolicies', 'clusternetworkpolicies'].map(
        (kind) => `${kind}.policy.networking.k8s.io`,
      ),
      ...['pods', 'namespaces', 'nodes', 'services', 'endpoints'],
    ].map((resource) => `kube-system/ovn may get ${resource}`),
  },
  {
    why: 'so does the hook that takes off finalizers, which is the same for all kinds',
    rights: ownKinds.flatMap((kind) => [
      `kube-system/kube-ovn-post-delete-hook may get ${kind}.kubeovn.io`,
      `kube-system/kube-ovn-post-delete-hook may patch ${kind}.kubeovn.io`,
    ]),
  },
  {
    why: 'the same of what it makes in its own namespace',
    rights: ['configmaps', 'deployments.apps'].map(
      (resource) => `kube-system/ovn may get ${resource} in kube-system`,
    ),
  },
  {
    why: 'what is applied and is not there yet is created: the server asks for both rights, and notes a patch',
    rights: [
      'kube-system/ovn may create switch-lb-rules.kubeovn.io',
      'kube-system/ovn may create dnsnameresolvers.kubeovn.io',
      ...['configmaps', 'deployments.apps'].map(
        (resource) => `kube-system/ovn may create ${resource} in kube-system`,
      ),
    ],
  },
  {
    why: 'name servers in a Vpc are CoreDNS, which watches what it answers with',
    rights: ['namespaces', 'pods', 'services', 'endpointslices.discovery.k8s.io'].flatMap((resource) =>
      ['list', 'watch'].map((verb) => `kube-system/kube-ovn-vpc-dns may ${verb} ${resource}`),
    ),
  },
  {
    why: 'an event that repeats itself is counted in the one that there is',
    rights: ['kube-system/ovn may patch events', 'kube-system/kube-ovn-cni may patch events'],
  },
  {
    why: 'a default Vpc that upstream made gets our finalizer',
    rights: ['kube-system/ovn may patch vpcs.kubeovn.io'],
  },
]
